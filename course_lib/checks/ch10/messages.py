"""The checks of chapter 10 on messages: a ring that must not stand still, and two arrays for many blocks."""

import re

import numpy as np

from course_lib import mpi
from course_lib.checks.ch10.collectives import ALONE_LAST
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import (
    at_most_bytes,
    at_most_messages,
    at_most_seconds,
    if_pickled,
    no_collectives,
)
from course_lib.checks.kit.words import count

# pass_on --------------------------------------------------------------------------------------------------------------


def _rings(rng, n):
    sizes = (int(rng.integers(20, 60)), 1)
    return [
        RankCase([(normal(rng, size),) for _ in range(n)], label=f"{size} numbers")
        for size in sizes
    ]


def _from(step):
    return lambda ranks: [ranks[(r + step) % len(ranks)][0] for r in range(len(ranks))]


def _alone(error):
    """Rank 0 waits, and there is no other."""
    everyone = error["tool"] == "deadlock" and "every rank waits" in error["message"]
    return everyone and set(error["ranks"]) == {0}


def from_nobody(error):
    """Rank 0 is done, and others wait for it: as where it receives from rank - 1, which is MPICH's PROC_NULL."""
    return error["tool"] == "deadlock" and "rank 0 has finished" in error["message"]


FROM_NOBODY = (
    "rank 0 is done, and others still wait for it. Does it receive from rank - 1 without % size? That is -1, "
    "which MPICH treats as MPI.PROC_NULL, no rank at all, so the receive returns at once. Or does it leave without "
    "having sent all?"
)

check_pass_on = RankCheck(
    "pass_on",
    _rings,
    _from(-1),
    ranks=ALONE_LAST,
    limits=[
        no_collectives(
            "a collective moves far more than one neighbour's array: one message per rank is enough"
        ),
        at_most_messages(1, "each rank has one array to pass on"),
        at_most_bytes(
            lambda n, case: case.args[0][0].nbytes,
            if_pickled(
                "a lower-case call sends a pickle: use Sendrecv, with a capital S, and an array to receive into",
                "send mine as it is: float32, no more numbers than it has, and as one message",
            ),
        ),
    ],
    causes=[
        (
            _alone,
            "a single rank is its own neighbour, and its Send waits for a Recv, or its Recv for a Send, that it would "
            "have to call itself: Sendrecv, or Irecv before Send, works there too",
        ),
        (from_nobody, FROM_NOBODY),
    ],
)

# stream ---------------------------------------------------------------------------------------------------------------


BEYOND = "blocks have the numbers 0 to k - 1, with k ="


class Maker:
    """make(comm, i, out): fills out with row i of a table; a second of work on the model's clock."""

    def __init__(self, table):
        self.table = table

    def __call__(self, comm, i, out):
        if comm.rank != 0:
            raise ValueError(f"make was called on rank {comm.rank}: rank 0 makes the blocks")
        if not 0 <= i < len(self.table):
            raise ValueError(f"make(comm, {i}, ...): {BEYOND} {len(self.table)}")
        mpi.compute(comm, 1.0)
        out[:] = self.table[i]


def _streams(rng, n):
    def case(k, size):
        label = f"{count(k, 'block')} of {size} numbers"
        return RankCase((Maker(normal(rng, k, size, dtype=np.float64)), k, size), label=label)

    return [case(5, int(rng.integers(3, 9))), case(2, 4), case(1, 3), case(0, 2)]


def _blocks(ranks):
    make = ranks[0][0]
    return [make.table if r == 1 else None for r in range(len(ranks))]


def _no_request(error):
    return (
        error["tool"] == "exception"
        and "NoneType" in error["message"]
        and "Wait" in error["message"]
    )


SEND = 1.5  # seconds of a message on the model's clock; making a block takes one second
AT_ONCE = (
    "making and sending do not overlap: rank 0 waits for a block before it makes the next one. Wait only for "
    "the send of the array that is needed now, two blocks ago"
)


def _why_slow(report, n, case):
    """What rank 0 does too often, or too late."""
    k, mine = case.args[1], [event for event in report.events if event["rank"] == 0]
    made = [at for at, event in enumerate(mine) if event["op"] == "compute"]
    if len(made) != k:
        return f"make is called {count(len(made), 'time')} for {count(k, 'block')}: once for each is enough"
    if k > 1 and not any("end" in event["op"].lower() for event in mine[: made[-1]]):
        return "all blocks are made before the first is sent: send each as soon as it is made"
    if report.seconds < k * (1 + SEND) - 1e-9:
        return AT_ONCE.replace("overlap", "overlap enough", 1)
    return AT_ONCE


def _beyond(error):
    """make stopped: of which block, of how many, in numbers; or None."""
    found = re.search(rf"make\(comm, (-?\d+), \.\.\.\): {BEYOND} (\d+)", error["message"])
    return found and (int(found[1]), int(found[2])) if error["tool"] == "exception" else None


@limit("messages")
def _a_message_a_block(report, n, case):
    """Rank 0 sends k messages, and no other rank any."""
    sent, k = report.messages, case.args[1]
    other = next((r for r in range(1, n) if sent[r]), None)
    if other is not None:
        return (
            f"rank {other} sends a message: blocks go from rank 0 to rank 1",
            "only rank 0 sends",
        )
    return (
        None
        if sent[0] == k
        else (
            f"rank 0 sends {count(sent[0], 'message')} for {count(k, 'block')}",
            "send one message per block, as soon as it is made",
        )
    )


@limit("two arrays")
def _two_arrays(report, n, case):
    """Block i is begun when the send of block i - 2 is over, at 1 + SEND (i - 1), and not before."""
    begun = [
        event["begin"] for event in report.events if event["rank"] == 0 and event["op"] == "compute"
    ]
    early = next((i for i, t in enumerate(begun) if i > 1 and t < 1 + SEND * (i - 1) - 1e-9), None)
    return (
        None
        if early is None
        else (
            f"rank 0 makes block {early} before the send of block {early - 2} is over",
            "it has more than two arrays, or sends copies: make block i in the array of block i - 2, once that has "
            "been sent",
        )
    )


check_stream = RankCheck(
    "stream",
    _streams,
    _blocks,
    ranks=(2, 3, 4),
    dtype=None,
    axes=("row", "number"),
    limits=[
        no_collectives("blocks go from rank 0 to rank 1: the other ranks take no part"),
        _a_message_a_block,
        at_most_bytes(
            lambda n, case, rank: 8 * case.args[1] * case.args[2] if rank == 0 else 0,
            if_pickled(
                "a lower-case call sends a pickle: use Isend, with a capital I",
                "a message has the n float64 of its block, and no more",
            ),
        ),
        at_most_seconds(
            lambda n, case: SEND * case.args[1] + 1 if case.args[1] else 0, SEND, 0.0, _why_slow
        ),
        _two_arrays,
    ],
    causes=[
        (
            lambda error: (found := _beyond(error)) and found[1] == 0,
            "where k is 0 there is no block: make none, in front of the loop either",
        ),
        (
            _beyond,
            "rank 0 makes a block that does not exist: the loop goes one step too far or counts from 1, or makes two "
            "at a time and does not end between them where k is odd",
        ),
        (
            _no_request,
            "a request that does not exist yet is None, even at the end, if there was only one block, or "
            "none: if request: request.Wait(). Or is it what Send returns? That is None, too: Isend gives a request",
        ),
    ],
)
