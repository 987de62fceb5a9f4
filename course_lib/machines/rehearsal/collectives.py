"""Collectives of the pretend communicator: all ranks give something, each gets what the collective's rule says.

Every collective waits for all ranks here, also those that MPI lets a rank leave early; a right program cannot tell.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from course_lib.machines.rehearsal.arrival.same_order import look_back
from course_lib.machines.rehearsal.buffers import describe
from course_lib.machines.rehearsal.memory import layout
from course_lib.machines.rehearsal.requests import Request


@dataclass
class Call:
    """What one rank brings to a collective.

    rule: its name without the I, v and _block of MPI's spelling. terms: what must be the same on all ranks, by name.
    give: NumPy arrays, or pickled objects: one, or one for each rank. land: `Piece`s of memory for what it gets.
    sent: those of what was given, which must not change before the Wait. buffers: what it was given as send and as
    receive buffer, each a Buffer or None. combine: adds two up. result: of a call in lower case, from what it gets.
    names: what the program calls the arrays of the buffers, each a set.
    """

    name: str
    rule: str
    terms: dict
    give: list
    land: list = field(default_factory=list)
    sent: tuple | list = ()
    buffers: tuple = (None, None)
    combine: Callable | None = None
    result: Callable = lambda got: None
    got: list = field(default_factory=list)
    names: list = field(default_factory=list)

    @property
    def layouts(self):
        """Of the two buffers; what is sent in place lies as what is received."""
        sent, taken = self.buffers
        pair = sent or taken, taken or sent
        return [buffer and buffer.layout for buffer in pair]

    @property
    def arrays(self):
        """Of the two buffers, None where there is none."""
        buffers = self.buffers if self.rule != "Bcast" else [next(b for b in self.buffers if b)]
        return [buffer and buffer.given for buffer in buffers]

    def __str__(self):
        said = [
            f"{key}={self.terms[key]}"
            for key in ("root", "op")
            if self.terms.get(key, "SUM") != "SUM"
        ]
        of = [self.terms[key] for key in ("size", "type") if key in self.terms]
        return f"{self.name}({', '.join(said)})" + (f" of {of[0]}" if of else "")


class Collecting(Request):
    """A rank's request for its part of a collective."""

    def __init__(self, rank, world, call, peers, held):
        super().__init__(rank, world, str(call), peers, held, sizeof(call.give))
        self.call = call
        whole = [buffer.array for buffer in call.buffers if buffer and buffer.array is not None]
        self.take(list(call.sent), call.land, whole)

    def partner(self):
        """All ranks, and so none."""

    def land(self, status):
        self.let_go()
        for piece, value in zip(self.call.land, self.call.got, strict=False):
            piece.put(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
        self.value = self.call.result(self.call.got)


def complete(world, key, ranks, calls):
    """All ranks have come: exchange, if they agree; if not, nobody ever leaves, and the report says why."""
    what = disagreement(calls)
    if what is None:
        root = calls[0].terms.get("root", 0)
        for call, got in zip(calls, exchange(calls[0].rule, calls, root), strict=True):
            call.got = got
        what = next(
            (text for r, call in zip(ranks, calls, strict=True) if (text := _misfit(r, call))), None
        )
    if what is not None:
        world.mismatches.append((what, dict(zip(ranks, calls, strict=True))))
        return
    nbytes = max(max(sizeof(call.give), sizeof(call.got)) for call in calls)
    begin, end = world.links.together(
        ranks, max(call.request.begin for call in calls), call.rule, nbytes
    )
    for call in calls:
        call.request.moved, call.request.time = begin, end
    layout.of_collective(world, calls[0].rule, calls, calls[0].terms.get("root", 0))
    look_back(world, key, dict(zip(ranks, calls, strict=True)))


def disagreement(calls):
    """What is not the same in all of these calls: "collective", "root", "op", "type" or "size"; or None."""
    if len({call.name for call in calls}) > 1:
        return "another collective"
    other = (k for k in calls[0].terms if len({call.terms.get(k) for call in calls}) > 1)
    key = next(other, None)
    if key == "size" and len({call.terms[key].split()[0] for call in calls}) == 1:
        key = "type"  # as many numbers: "2 int64" and "2 float64"
    return key and f"another {key}"


def exchange(rule, calls, root):
    """What each rank gets: a list for each. The rules of all collectives, Singh 2018's pictures as code."""
    n, ranks = len(calls), range(len(calls))
    rules = {
        "Barrier": lambda: [[]] * n,
        "Bcast": lambda: [calls[root].give[:1]] * n,
        "Scatter": lambda: [[calls[root].give[r]] for r in ranks],
        "Gather": lambda: [[call.give[0] for call in calls] if r == root else [] for r in ranks],
        "Allgather": lambda: [[call.give[0] for call in calls]] * n,
        "Alltoall": lambda: [[call.give[r] for call in calls] for r in ranks],
        "Reduce": lambda: [[total(calls)] if r == root else [] for r in ranks],
        "Allreduce": lambda: [[total(calls)]] * n,
        "Reduce_scatter": lambda: _cut(total(calls), [len(call.land[0].now()) for call in calls]),
        "Scan": lambda: [[total(calls[: r + 1])] for r in ranks],
        "Exscan": lambda: [[total(calls[:r])] if r else [] for r in ranks],
    }
    return rules[rule]()


def total(calls):
    """The sum, or what `combine` makes, of what these ranks give, in their order."""
    value = calls[0].give[0]
    for call in calls[1:]:
        value = call.combine(value, call.give[0])
    return value


def _cut(whole, sizes):
    """The parts of an array, of so many bytes each."""
    ends = np.cumsum(sizes) // whole.itemsize
    return [[part] for part in np.split(whole, ends)[: len(sizes)]]


def sizeof(values):
    """Bytes of a list of arrays or pickled objects."""
    return sum(value.nbytes if isinstance(value, np.ndarray) else len(value) for value in values)


def _misfit(rank, call):
    """What a rank gets and its memory must agree in size and type."""
    for piece, value in zip(call.land, call.got, strict=False):
        room = len(piece.now())
        if room != value.nbytes or piece.dtype != value.dtype:
            return (
                f"another size: rank {rank} is sent {describe(value.nbytes, value.dtype)}, but its buffer "
                f"takes {describe(room, piece.dtype)}"
            )
    return None
