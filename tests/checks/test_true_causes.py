"""A cause is a claim: mistakes that share a symptom are told apart, or are told what is true of all of them."""

import importlib

import numpy as np
import pytest

from course_lib.checks.kit.known.planted import task_named
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.raised import cause_of_error
from course_lib.checks.kit.ranks.check import RankCase, RankCheck

SEED = 20160501


def told(chapter, task, source):
    """The cause that the check gives for an answer."""
    known = task_named(f"ch{chapter}", task)
    check = getattr(importlib.import_module(f"course_lib.checks.ch{chapter}"), known.check)
    with pytest.raises(CheckFailed) as failed:
        check(known.value_of(source), seed=SEED)
    return dict(failed.value.report.rows).get("cause", "")


RING = """
def pass_on(comm, mine):
    got, left, right = np.empty_like(mine), (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
"""
SWAP = "    comm.Sendrecv(mine, dest=right, recvbuf=got, source=left)\n"
LAST_SENDS_NOT = """    if comm.rank < comm.size - 1 or comm.size == 1:
        request = comm.Isend(mine, dest=right)
    comm.Recv(got, source=left)
    return got
"""
ODD_SENDS_FIRST = """    if comm.rank % 2:
        comm.Send(mine, dest=right)
    comm.Recv(got, source=left)
    if comm.rank % 2 == 0:
        comm.Send(mine, dest=right)
    return got
"""
WIDE = """    got = np.empty(len(mine))
    comm.Sendrecv(mine.astype(float), dest=right, recvbuf=got, source=left)
    return got.astype(np.float32)
"""
EXCHANGES = {
    "a rank that waits is not alone": (LAST_SENDS_NOT, "a send needs a receive"),
    "one rank waits in Recv": (ODD_SENDS_FIRST, "or its Recv for a Send"),
    "float64 is no pickle": (WIDE, "send mine as it is: float32"),
    "a Barrier is no allgather": (
        "    comm.Barrier()\n" + SWAP + "    return got\n",
        "a Barrier moves nothing",
    ),
    "odd ranks return nothing": (
        SWAP + "    if comm.rank % 2 == 0:\n        return got\n",
        "no `return` was reached",
    ),
    "a receive too many": (SWAP + "    comm.Recv(got, source=left)\n", "and neither sends"),
}


@pytest.mark.parametrize("name", EXCHANGES)
def test_exchanges(name):
    body, words = EXCHANGES[name]
    assert words in told("10", "pass-on", RING + body)


def stream(loop):
    head = task_named("ch10", "stream").solution.partition("    if comm.rank == 0:")[0]
    return head + "    if comm.rank == 0:\n" + loop


STREAMS = {
    "all are made first": (
        """        many = np.empty((k, n))
        for i in range(k):
            make(comm, i, many[i])
        for request in [comm.Isend(block, dest=1) for block in many]:
            request.Wait()
""",
        "all blocks are made before the first is sent",
    ),
    "made twice": (
        """        for i in range(k):
            block = np.empty(n)
            make(comm, i, block)
            make(comm, i, block)
            comm.Send(block, dest=1)
""",
        "make is called 10 times for 5 blocks",
    ),
    "made where there is none": (
        """        block = np.empty(n)
        make(comm, 0, block)
        for i in range(k):
            comm.Send(block, dest=1)
            if i + 1 < k:
                make(comm, i + 1, block)
""",
        "where k is 0 there is no block",
    ),
    "Send gives no request": (
        """        block = np.empty(n)
        for i in range(k):
            make(comm, i, block)
            comm.Send(block, dest=1).Wait()
""",
        "is it what Send returns?",
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams(name):
    loop, words = STREAMS[name]
    assert words in told("10", "stream", stream(loop))


CHANGED = {  # of the solution: what stands there instead, and what is told
    "sums that wait for a broadcast": (
        ("10", "global-mean", "comm.Allreduce(mine, total)"),
        "comm.Reduce(mine, total)\n    if comm.rank == 0:\n        comm.Bcast(total)",
        "a rank has returned without the collective",
    ),
    "another NaN than a receiving array's": (
        ("10", "global-mean", "comm.Allreduce(mine, total)\n    return"),
        "comm.Iallreduce(mine, total).Wait()\n    return 0 * np.log(len(X) - 3.0) +",
        "NaN comes from 0 / 0",
    ),
    "overlapped, and a Barrier": (
        ("11", "overlapped-sum", "return totals"),
        "comm.Barrier()\n    return totals",
        "rank 0 makes 5 collective calls: one for each layer",
    ),
    "the whole array is no slice": (("12", "split-two", "b2.copy()"), "b2", "updating the part"),
    "a list of texts is changed": (
        ("12", "backward-deep", "return grads"),
        "kinds.pop()\n    return grads",
        "you change the caller's own list: kinds.reverse(), .pop()",
    ),
    "a message that nobody receives": (
        (
            "13",
            "repaired",
            "            if after < comm.size:\n                comm.Recv(dA, after)",
        ),
        "            if after < comm.size and i < len(X) - 1:\n                comm.Recv(dA, after)",
        "a send needs a receive",
    ),
    "more than GPipe": (
        ("13", "one-f-one-b", "min(p - r, m)"),
        "min(2 * (p - r), m)",
        "rank 0 starts 8 forwards before its first backward",
    ),
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed_solutions(name):
    (chapter, task, old), new, words = CHANGED[name]
    solution = task_named(f"ch{chapter}", task).solution
    assert old in solution
    assert words in told(chapter, task, solution.replace(old, new))


def of(stop):
    with pytest.raises(Exception) as stopped:
        stop()
    return cause_of_error(f"{stopped.type.__name__}: {stopped.value}", "affine")


def test_errors_of_python():
    numbers, texts = np.ones(3), np.array(["a"])
    assert "softmax() is called with other arguments" in of(lambda: softmax())
    assert "after a function" in of(lambda: np.zeros[3])
    assert "list(...)" in of(lambda: zip([1])[0])
    assert "x[i][j]" in of(lambda: [[1]].__getitem__((0, 0)))
    assert "equally long" in of(lambda: np.array([[1, 2], [3]]))
    assert "mask" in of(lambda: numbers[np.array([True])])
    assert "whole number" in of(lambda: numbers[numbers])
    assert of(lambda: texts + numbers) is None


def softmax(z):
    return z


def test_a_result_on_another_rank_is_told():
    def total(comm, x):
        mine = comm.reduce(x, root=comm.size - 1)
        return mine if comm.rank == comm.size - 1 else None

    check = RankCheck(
        "total", sums, lambda ranks: [ranks[0][0] * len(ranks), *[None] * (len(ranks) - 1)]
    )
    with pytest.raises(CheckFailed) as failed:
        check(total, seed=SEED)
    told = dict(failed.value.report.rows)["cause"]
    assert told == "rank 1 has the result, and rank 0 is to have it"


def sums(rng, n):
    return [RankCase((np.ones(3, np.float32) * 2,), "numbers")]
