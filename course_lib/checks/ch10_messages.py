"""The checks of chapter 10 on messages: a ring that must not stand still, and two arrays for many blocks."""

import numpy as np

from course_lib import mpi

from .ch10_collectives import ALONE_LAST
from .core import normal
from .ranks import RankCase, RankCheck
from .ranks_limits import at_most_bytes, at_most_messages, at_most_seconds, no_collectives

# pass_on --------------------------------------------------------------------------------------------------------------


def _rings(rng, n):
    sizes = (int(rng.integers(20, 60)), 1)
    return [RankCase([(normal(rng, size),) for _ in range(n)], label=f"{size} numbers") for size in sizes]


def _from(step):
    return lambda ranks: [ranks[(r + step) % len(ranks)][0] for r in range(len(ranks))]


def _alone(error):
    return error["tool"] == "deadlock" and set(error["ranks"]) == {0}


check_pass_on = RankCheck(
    "pass_on", _rings, _from(-1), ranks=ALONE_LAST,
    limits=[
        no_collectives("a collective moves far more than one neighbour's array: one message a rank will do"),
        at_most_messages(1, "everybody has one array to hand on"),
        at_most_bytes(lambda n, case: case.args[0][0].nbytes,
                      "a small letter sends a pickle: take Sendrecv, with a capital S, and an array to receive into"),
    ],
    diagnoses=[
        (_from(1), "this is the right neighbour's array: send to the right, receive from the left"),
        (_from(0), "this is the rank's own array: return what came"),
        (lambda ranks: [np.full_like(x, np.nan) for x, in ranks], "what comes is read before its Wait: until "
                                                                  "then it is NaN "
         "here, and on real ranks whatever was there before"),
    ],
    causes=[(_alone, "one rank alone is its own neighbour, and a Send waits for a Recv that it would have to "
                     "call itself: "
             "Sendrecv, or Irecv before Send, works for it as well")],
)  # fmt: skip

# stream ---------------------------------------------------------------------------------------------------------------


class Maker:
    """make(comm, i, out): fills out with row i of a table; a second of work on the model's clock."""

    def __init__(self, table):
        self.table = table

    def __call__(self, comm, i, out):
        if comm.rank != 0:
            raise ValueError(f"make was called on rank {comm.rank}: rank 0 makes the blocks")
        mpi.compute(comm, 1.0)
        out[:] = self.table[i]


def _streams(rng, n):
    def case(k, size):
        return RankCase((Maker(normal(rng, k, size, dtype=np.float64)), k, size), label=f"{k} blocks of {size} numbers")

    return [case(5, int(rng.integers(3, 9))), case(2, 4), case(1, 3), case(0, 2)]


def _blocks(ranks):
    make = ranks[0][0]
    return [make.table if r == 1 else None for r in range(len(ranks))]


AT_ONCE = ("making and sending do not happen at the same time: rank 0 waits for a block before it makes the "
           "next one. Wait "
           "only for the send of the array that is needed now, two blocks ago")  # fmt: skip

check_stream = RankCheck(
    "stream", _streams, _blocks, ranks=(2, 3, 4), dtype=None, axes=("row", "number"),
    limits=[
        no_collectives("blocks go from rank 0 to rank 1: the other ranks have nothing to do with it"),
        at_most_messages(lambda n, case, rank: case.args[1] if rank == 0 else 0, "one message a block"),
        at_most_bytes(lambda n, case, rank: 8 * case.args[1] * case.args[2] if rank == 0 else 0,
                      "a small letter sends a pickle: Isend, with a capital I"),
        at_most_seconds(lambda n, case: case.args[1] + 1 if case.args[1] else 0, 1.0, 0.0, AT_ONCE),
    ],
)  # fmt: skip
