"""Run a function on pretend ranks, one at a time, and say what happened."""

import copy
import inspect
import pickle
from contextlib import contextmanager

from course_lib.errors import BadInput, check_count
from course_lib.machines.rehearsal.comm import Comm
from course_lib.machines.rehearsal.report import Report
from course_lib.machines.rehearsal.requests import Request
from course_lib.machines.rehearsal.turns import Turns
from course_lib.machines.rehearsal.verdict import verdict
from course_lib.machines.rehearsal.world import World

MOST = 64  # ranks


def rehearse(fn, n, *args, eager=None, schedule=None, alpha=0.0, beta=0.0, timeout=5.0, show=True):
    """Call fn(comm, *args) on n pretend ranks, and return a `Report`. Never raises what fn raises, and never hangs.

    fn: written for mpi4py; comm is used like an mpi4py communicator of size n, with the constants of `mpi4py.MPI`
    (also MPI.COMM_WORLD, MPI.Request.Waitall and MPI.Status, while it runs). Each rank gets its own copies of
    args, of fn and of the names that fn uses, as real ranks do (those of the notebook, not those inside imported
    modules; of args alone where fn uses something that cannot be copied).
    eager: messages of at most so many bytes are sent without waiting for their receiver. None: no message is, so that
    every program that rests on buffering deadlocks, as the MPI standard allows it to; MPICH's own limit depends
    on how its ranks are connected.
    schedule: None runs the rank that is furthest behind on the model's clock; a seed draws another order,
    and so another winner for ANY_SOURCE. The same seed gives the same run.
    alpha, beta: seconds a message, seconds a byte of the model's clock, which starts at 0: see `model.py`. Work takes
    what comm.compute(seconds) says; where alpha or beta is not 0, MPI.Wtime() is this clock.
    timeout: seconds of computing for all ranks together (of waiting, sleep and the like, five times as long).
    show: print what the ranks print, in rank order, as %%px does.
    Raises BadInput unless n is 1 to 64.

    What its silence does not prove: other numbers of ranks, other orders of arrival (ANY_SOURCE), other inputs; that
    buffers are not *read* too early (an Irecv's buffer holds NaN until its Wait, which shows in the result only); the
    last bits of a sum (collectives add in rank order here, real ones may not); and the speed of anything.
    """
    report, _ = rehearse_each(
        fn, [args] * check_count("n", n), eager, schedule, alpha, beta, timeout
    )
    for rank, text in enumerate(report.printed if show else ()):
        for line in text.splitlines():
            print(f"[rank {rank}] {line}")
    return report


def rehearse_each(fn, args, eager=None, schedule=None, alpha=0.0, beta=0.0, timeout=5.0):
    """As rehearse, with args[r] for rank r; returns (Report, the arguments of each rank as they are afterwards)."""
    n = len(args)
    if n > MOST:
        raise BadInput(f"n must be at most {MOST} pretend ranks, not {n}")
    world, copies = World(n, eager, alpha, beta), _copies(fn, args)
    calls: list = []

    def call(rank):
        own, given = calls[rank.index]
        rank.comm = Comm(world, rank, list(range(n)))
        return own(rank.comm, *given)

    turns = Turns(n, call, _file(fn), schedule, timeout)
    with _as_mpi(turns, bool(alpha or beta)):
        # in here, so that a COMM_WORLD that fn knows by another name becomes ours
        calls += [pickle.loads(made) if isinstance(made, bytes) else made for made in copies]
        errors = turns.run(lambda: verdict(world, turns))
    results = [rank.result for rank in turns.ranks]
    counts = world.messages, world.bytes, world.collectives, world.events
    printed = [rank.out.getvalue() for rank in turns.ranks]
    last = max(rank.clock for rank in turns.ranks)
    return Report(results, errors, *counts, printed, last), [given for _, given in calls]


def compute(comm, seconds):
    """Work of so many seconds on the model's clock; nothing at all on a real communicator."""
    work = getattr(comm, "compute", None)
    if work is not None:
        work(seconds)


def _copies(fn, args):
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


def _file(fn):
    """The file that the function stands in."""
    fn = inspect.unwrap(getattr(fn, "func", fn))
    return getattr(getattr(fn, "__code__", None), "co_filename", None)


class _World:
    """MPI.COMM_WORLD while a rehearsal runs: that of the rank whose turn it is."""

    def __init__(self, turns):
        self._turns = turns

    def __getattr__(self, name):
        return getattr(self._turns.running.comm, name)


@contextmanager
def _as_mpi(turns, clock):
    """Names of mpi4py.MPI that a rehearsal has its own of, put back afterwards."""
    from mpi4py import MPI

    names = {"COMM_WORLD": _World(turns), "Request": Request}
    if clock:
        names["Wtime"] = lambda: turns.running.clock
    before = {name: getattr(MPI, name) for name in names}
    vars(MPI).update(names)
    try:
        yield
    finally:
        vars(MPI).update(before)
