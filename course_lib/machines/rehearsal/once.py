"""One run of a function on pretend ranks, in this process, and what came of it."""

import copy
import inspect
import pickle
import time
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

from course_lib.machines.rehearsal.arrival.order import Order
from course_lib.machines.rehearsal.calls.names import as_mpi
from course_lib.machines.rehearsal.comm import Comm
from course_lib.machines.rehearsal.memory.caught import written
from course_lib.machines.rehearsal.memory.pending import NAN
from course_lib.machines.rehearsal.memory.trail import Trail
from course_lib.machines.rehearsal.memory.unwritten import nothing_in_empty
from course_lib.machines.rehearsal.report import Report
from course_lib.machines.rehearsal.turns import Turns
from course_lib.machines.rehearsal.verdict import verdict
from course_lib.machines.rehearsal.world import World


@dataclass(frozen=True)
class How:
    """The settings of a run. eager, schedule, alpha, beta, timeout: as in `rehearse`.

    way: which poison; guard: arrays that MPI holds are read-only; watch: keep a trail. decisions: of an
    order of arrival, or None: messages come as they do.
    """

    eager: Any
    schedule: Any
    alpha: float
    beta: float
    timeout: float
    way: int = NAN
    guard: bool = False
    watch: bool = True
    decisions: tuple | None = None
    sleep: frozenset = frozenset()

    def but(self, **changes):
        """The same, with other settings."""
        return replace(self, **changes)


@dataclass
class Outcome:
    """report, and the arguments of each rank as they are afterwards; what further runs are compared by.

    lent: memory that MPI held. open: could a message have come from another rank? trails: each rank's steps.
    marks: {(what, rank): a number that changes with it}. forks: of an order of arrival. computed: seconds.
    written: what a guarded run caught.
    """

    report: Report
    after: list
    lent: list = field(default_factory=list)
    open: bool = False
    redundant: bool = False
    computed: float = 0.0
    trails: list = field(default_factory=list)
    marks: dict = field(default_factory=dict)
    forks: list = field(default_factory=list)
    written: dict | None = None


def play(copies, file, how, watcher=None):
    """An Outcome. copies: (fn, arguments) for each rank, pickled or not; watcher: an `apart.Watcher`."""
    n = len(copies)
    order = None if how.decisions is None else Order(how.decisions, how.sleep)
    world = World(n, how.eager, how.alpha, how.beta, how.way, how.guard, order)
    calls: list = []

    def call(rank):
        own, given = calls[rank.index]
        rank.comm = Comm(world, rank, list(range(n)))
        rank.alone = Comm(world, rank, [rank.index], ("self", rank.index))
        return own(rank.comm, *given)

    turns, begin = Turns(n, call, file, how.schedule, how.timeout), time.process_time()
    _prepare(turns, world, how, watcher)
    with as_mpi(turns, bool(how.alpha or how.beta)), nothing_in_empty():
        # in here, so that a COMM_WORLD that fn knows by another name becomes ours
        calls += [
            pickle.loads(made) if isinstance(made, bytes) else (made[0], copy.deepcopy(made[1]))
            for made in copies
        ]
        errors = turns.run(lambda: _end(world, turns, watcher))
    outcome = _outcome(world, turns, errors, [given for _, given in calls])
    outcome.computed = time.process_time() - begin
    return outcome


def _prepare(turns, world, how, watcher):
    world.ranks = turns.ranks
    if world.order:
        turns.at_rest = lambda: world.order.at_rest(world)
    for rank in turns.ranks if how.watch else ():
        rank.trail = Trail(turns.file, turns.is_mine)
    if watcher:
        turns.switched = watcher.switched
        watcher.begin(turns)


def _end(world, turns, watcher):
    if watcher:
        watcher.end()
    return verdict(world, turns)


def _outcome(world, turns, errors, after):
    ranks = turns.ranks
    counts = world.messages, world.bytes, world.collectives, world.events
    last = max(rank.clock for rank in ranks)
    results = [rank.result for rank in ranks]
    report = Report(results, errors, *counts, [rank.out.getvalue() for rank in ranks], last)
    order = world.order
    return Outcome(
        report,
        after,
        lent=world.lent,
        open=world.open,
        redundant=order is not None and order.redundant,
        trails=[rank.trail.steps for rank in ranks],
        marks=_marks(world, ranks) if world.lent or order else {},
        forks=order.forks if order else [],
        written=written(world, turns) if world.guard else None,
    )


def _marks(world, ranks):
    marks: dict = {}
    for rank in ranks:
        marks["sent", rank.index] = world.said[rank.index]
        marks["printed", rank.index] = zlib.crc32(rank.out.getvalue().encode())
        marks["result", rank.index] = _mark(rank.result)
    return marks


def _mark(value):
    try:
        return zlib.crc32(pickle.dumps(value))
    except Exception:
        return None


def copies_of(fn, args):
    """(fn, arguments) for each rank, pickled; where fn cannot be copied it is shared, with copies of the arguments."""
    try:
        import cloudpickle

        made: dict = {}
        for given in args:
            if id(given) not in made:
                made[id(given)] = cloudpickle.dumps((fn, given))
        return [made[id(given)] for given in args]
    except (
        Exception
    ):  # no cloudpickle, or a name of fn holds what cannot be copied: a cluster, an open file
        return [(fn, copy.deepcopy(given)) for given in args]


def file_of(fn):
    """The file that the function stands in."""
    fn = inspect.unwrap(getattr(fn, "func", fn))
    return getattr(getattr(fn, "__code__", None), "co_filename", None)
