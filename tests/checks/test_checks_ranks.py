"""RankCheck: right functions of any style pass; each kind of mistake gets its words; a verdict is quick."""

import os
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from mpi4py import MPI

from course_lib import mpi
from course_lib.checks.kit.core import CheckBroken, CheckFailed, NotWritten, normal
from course_lib.checks.kit.known.planted import Task
from course_lib.checks.kit.ranks import remembered
from course_lib.checks.kit.ranks.check import (
    RankCase,
    RankCheck,
    at_most_bytes,
    at_most_messages,
    at_most_seconds,
    at_most_total_messages,
    exactly_collectives,
    no_collectives,
    no_messages,
    same_bits_on_all_ranks,
)
from course_lib.errors import BadInput

SLOW = float(os.environ.get("COURSE_SLOW", "1"))


def cases(rng, n):
    return [
        RankCase([(normal(rng, 3 * n + 2),) for _ in range(n)], "3 p + 2 numbers", K=n),
        RankCase(
            [(normal(rng, max(n - 1, 1)),) for _ in range(n)], "fewer numbers than ranks", K=n
        ),
    ]


def total(ranks):
    return sum(x for (x,) in ranks)


check_total = RankCheck(
    "total",
    cases,
    total,
    limits=[
        at_most_messages(lambda n, case: 2 * (n - 1)),
        no_collectives(),
        same_bits_on_all_ranks(),
    ],
)
check_with_mpi = RankCheck(
    "total", cases, total, limits=[exactly_collectives({"Allreduce": 1}), no_messages()]
)


def failure(check, fn):
    with pytest.raises(CheckFailed) as caught:
        check(fn, seed=1)
    assert not [
        thread for thread in threading.enumerate() if thread.name.startswith("pretend rank")
    ]
    return str(caught.value)


@pytest.mark.parametrize(
    "fn",
    [
        lambda comm, x: mpi.ring_allreduce(comm, x.copy()),
        lambda comm, x: mpi.tree_allreduce(comm, x.copy()),
        lambda comm, given: mpi.doubling_allreduce(mpi.CountingComm(comm), given + 0),
    ],
)
def test_right_functions_pass(fn, capsys):
    check = RankCheck("total", cases, total, limits=[no_collectives(), same_bits_on_all_ranks()])
    begin = time.process_time()
    check(fn, seed=1)
    assert time.process_time() - begin < 2 * SLOW
    words = "12 rehearsals with 1 to 6 ranks right; within limits: collectives and the same bits"
    assert words in capsys.readouterr().out


def test_mpis_own(capsys):
    def own(comm, x):
        out = np.empty_like(x)
        comm.Allreduce(x, out)
        return out

    check_with_mpi(own, seed=1)
    said = failure(check_total, own)
    assert (
        "rank 0 calls Allreduce 1 time; the task wants no collective" in said
        and "the numbers are right" in said
    )
    said = failure(check_with_mpi, lambda comm, x: mpi.ring_allreduce(comm, x.copy()))
    assert (
        "rank 0 calls no collective; the task wants Allreduce 1 time" in said
        and "with 1 rank," in said
    )


def test_blank():
    def helper(comm, x):
        raise NotImplementedError("write helper")

    def total(comm, x):
        return helper(comm, x)

    with pytest.raises(NotWritten, match="helper is not written yet"):
        check_total(total)

    def total(comm, x):
        raise NotImplementedError("write total")

    with pytest.raises(NotWritten, match="total is not written yet"):
        check_total(total)
    assert "must be a function" in failure(check_total, 3.0)


def test_a_deadlock_names_its_lines():
    def total(comm, x):
        total, got = x.copy(), np.empty_like(x)
        for k in range(1, comm.size):
            comm.Send(x, dest=(comm.rank + k) % comm.size)
            comm.Recv(got, source=(comm.rank - k) % comm.size)
            total += got
        return total

    said = failure(check_total, total)
    assert "10 of 12 rehearsals not right yet" in said and "deadlock: every rank waits" in said
    assert (
        "rank 0 waits in Send(dest=1), line" in said
        and "0 waits for 1, 1 waits for 0: a ring" in said
    )
    assert "right for 1 rank" in said and "comm.Send(x, dest=(comm.rank + k)" in said
    eager = RankCheck("total", cases, total_of_all, eager=10**6, schedules=(1,))
    eager(total, seed=1)


def reduced_into_empty(comm, x):
    got = np.empty_like(x)
    comm.Reduce(x, got)
    return got


def test_ranks_that_are_to_return_nothing():
    def root_alone(ranks):
        return [total(ranks), *[None] * (len(ranks) - 1)]

    check = RankCheck("total", cases, root_alone)
    said = failure(check, lambda comm, x: mpi.ring_allreduce(comm, x.copy()))
    assert "these ranks are to return None" in said
    said = failure(check, lambda comm, x: 2 * mpi.ring_allreduce(comm, x.copy()))
    assert "to return None" not in said


def test_a_case_tells_what_a_wrong_truth_value_in_it_shows():
    def equal(rng, n):
        nan = np.full(3, np.nan, np.float32)
        return [
            RankCase((np.ones(3, np.float32),), "numbers"),
            RankCase((nan,), "NaN", shows="NaN is not equal to itself"),
        ]

    check = RankCheck("is_itself", equal, lambda ranks: True, dtype=None)
    assert "NaN is not equal to itself" in failure(check, lambda comm, x: bool((x == x).all()))
    assert "not equal" not in failure(check, lambda comm, x: False)


def total_of_all(ranks):
    return [total(ranks) for _ in ranks]


def test_wrong_numbers():
    said = failure(check_total, lambda comm, x: x)
    assert "8 of 8 entries of rank 0's result differ; so on all ranks" in said
    assert "nothing from the other ranks is in it" in said
    said = failure(check_total, lambda comm, x: mpi.ring_allreduce(comm, x.copy()) / comm.size)
    assert "p times too small" in said and "got" in said and "2 ranks, 3 p + 2 numbers" in said
    said = failure(check_total, lambda comm, x: mpi.ring_allreduce(comm, x.copy()) * comm.size)
    assert "p times too large" in said
    said = failure(check_total, lambda comm, x: comm.reduce(x))
    assert (
        "rank 1's result is None; the other ranks' are right" in said
        and "gives its result only to the root" in said
    )
    said = failure(check_total, reduced_into_empty)
    assert "Reduce gives its result only to the root" in said
    said = failure(check_total, lambda comm, x: mpi.ring_allreduce(comm, x.astype(np.float64)))
    assert "dtype float64, not float32" in said
    said = failure(check_total, lambda comm, x: np.full_like(x, np.nan))
    assert "NaN comes from 0 / 0, inf - inf" in said
    said = failure(check_total, lambda comm, x: mpi.ring_allreduce(comm, x[:-1].copy()))
    assert "shape (4,), not (5,)" in said


def test_results_on_wrong_ranks():
    def shifted(rng, n):
        return [RankCase([(normal(rng, 4),) for _ in range(n)])]

    check = RankCheck("shift", shifted, lambda ranks: [ranks[r - 1][0] for r in range(len(ranks))])

    def shift(comm, x, step=1):
        got = np.empty_like(x)
        comm.Sendrecv(
            x, (comm.rank + step) % comm.size, recvbuf=got, source=(comm.rank - step) % comm.size
        )
        return got

    check(shift, seed=1)
    assert "right results on the wrong ranks" in failure(check, lambda comm, x: shift(comm, x, -1))


def test_the_isend_bug_and_what_is_left():
    def total(comm, x):
        total, got, going = x.copy(), np.empty_like(x), x.copy()
        for _ in range(comm.size - 1):
            request = comm.Isend(going, dest=(comm.rank + 1) % comm.size)
            comm.Recv(got, source=(comm.rank - 1) % comm.size)
            total += got
            going[:] = got
            request.Wait()
        return total

    said = failure(check_total, total)
    assert (
        "the numbers are right, but buffer: rank" in said and "request = comm.Isend(going" in said
    )

    def left(comm, x):
        total = mpi.ring_allreduce(comm, x.copy())
        comm.isend(comm.rank, dest=0)
        return total

    assert "the numbers are right, but leftover: rank 0 never receives" in failure(
        check_total, left
    )


def test_an_argument_that_changes():
    said = failure(check_total, mpi.ring_allreduce)
    assert "an argument is changed" in said and "rank 0's array has changed" in said
    assert "work on a copy, array.copy()" in " ".join(said.split())
    inplace = RankCheck("total", cases, total, inplace=0)
    inplace(lambda comm, x: mpi.ring_allreduce(comm, x), seed=1)
    said = failure(inplace, lambda comm, x: mpi.ring_allreduce(comm, x.copy()))
    assert "x on rank 0" in said


def test_outputs_arrive_poisoned():
    def into(rng, n):
        return [RankCase([(normal(rng, 4), np.zeros((n, 4), np.float32)) for _ in range(n)])]

    check = RankCheck(
        "gather", into, lambda ranks: np.stack([x for x, _ in ranks]), inplace=1, out=(1,)
    )
    check(lambda comm, x, rows: comm.Allgather(x, rows), seed=1)

    def gather(comm, x, rows):
        if comm.rank < 2:
            comm.Send(x, dest=1 - comm.rank) if comm.rank and comm.size > 1 else None
        rows[comm.rank] = x
        if comm.rank == 0 and comm.size > 1:
            comm.Recv(rows[1], source=1)

    assert "entries of rows on rank 1 differ" in failure(check, gather)


def test_exceptions_and_endless_loops():
    def total(comm, x):
        if comm.rank == 1:
            raise IndexError("list index out of range")
        comm.Barrier()

    said = failure(check_total, total)
    assert (
        "rank 1 stopped with IndexError: list index out of range" in said
        and "raise IndexError" in said
    )
    assert "rank 0 waits in Barrier()" in said and "an index beyond the end" in said

    def forever(comm, x):
        while True:
            pass

    begin = time.process_time()
    assert "timeout: after 3 s rank 0 was still running" in failure(check_total, forever)
    assert time.process_time() - begin < 5 * SLOW
    assert "dest=1, but the ranks are 0 to 0" in failure(
        check_total, lambda comm, x: comm.Send(x, dest=1)
    )


def test_causes_of_the_author():
    check = RankCheck(
        "total",
        cases,
        total,
        causes=[(lambda e: e["tool"] == "deadlock", "odd ranks receive first")],
    )
    assert "odd ranks receive first" in failure(
        check, lambda comm, x: comm.recv(source=0) if comm.rank else x
    )


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (at_most_messages(1), "with 3 ranks, rank 0 sends 4 messages; the task wants at most 1"),
        (
            at_most_messages(lambda n, case, rank: 4 if rank == 0 else 2),
            "rank 1 sends 4 messages; the task wants",
        ),
        (
            at_most_bytes(lambda n, case: 4 * len(case.args[0][0])),
            "rank 0 sends 60 bytes; the task wants at most 44",
        ),
        (
            at_most_total_messages(7),
            "3 ranks 12 messages are sent in total; the task wants at most 7",
        ),
        (
            at_most_seconds(lambda n, case: 3, 1.0, 0.0),
            "it takes 4 s on the model's clock; the task wants at most 3 s",
        ),
        (lambda report, n, case: ("so be it", "why not") if n > 2 else None, "so be it"),
    ],
)
def test_limits(limit, words):
    check = RankCheck("total", cases, total, limits=[limit], ranks=(3,))
    said = failure(check, lambda comm, x: mpi.ring_allreduce(comm, x.copy()))
    assert words in said and "the numbers are right, but a limit of the task is not met" in said


def test_other_bits():
    def each_in_its_own_order(comm, x):
        rows = comm.allgather(x)
        return sum(rows[comm.rank :] + rows[: comm.rank])

    check = RankCheck("total", cases, total, limits=[same_bits_on_all_ranks()])
    assert "but not the same bits" in failure(check, each_in_its_own_order)


def test_broken_checks_are_the_authors_fault():
    right = lambda comm, x: mpi.ring_allreduce(comm, x.copy())  # noqa: E731
    for check in (
        RankCheck("total", lambda rng, n: 1 / 0, total),
        RankCheck("total", lambda rng, n: [], total),
        RankCheck("total", lambda rng, n: [RankCase([(1,)] * 9)], total),
        RankCheck("total", cases, lambda ranks: 1 / 0),
        RankCheck("total", cases, lambda ranks: [1, 2]),
        RankCheck("total", cases, total, limits=[lambda report, n, case: 1 / 0]),
    ):
        with pytest.raises(CheckBroken):
            check(right, seed=1)
    with pytest.raises(BadInput, match="several networks"):
        RankCheck("x", cases, total, limits=[at_most_seconds(1, 1, 0), at_most_seconds(1, 2, 0)])(
            right
        )


def test_world_is_known_too():
    check_with_mpi(
        lambda comm, x: MPI.COMM_WORLD.Allreduce(x, out := np.empty_like(x)) or out, seed=1
    )


def test_a_message_too_long_by_its_dtype_is_told_so():
    def total(comm, x):
        if comm.rank:
            comm.Send(x.astype(np.float64), dest=0)
        for rank in range(1, comm.size) if comm.rank == 0 else ():
            comm.Recv(np.empty_like(x), source=rank)
        return x

    said = failure(check_total, total)
    assert "different dtype from the array that receives it" in " ".join(said.split())
    assert "as long as the longest part" not in " ".join(said.split())


# What known mistakes did, kept ----------------------------------------------------------------------------------------


def known_answer(source):
    """The function `f` of a known answer with this source."""
    return Task("task", "check_f", "f", source, (), ()).value_of(source)


def rehearsals_of(monkeypatch, fatal=None):
    """(rehearse a known answer, what was really run)."""
    really = []

    def run_case(known, n, case, check, schedule, seconds):
        really.append((known, n))
        return SimpleNamespace(fatal=fatal)

    monkeypatch.setattr(remembered, "run_case", run_case)
    monkeypatch.setattr(remembered, "_kept", {})

    def rehearse(known, n=2, x=1.0, early=False):
        run = SimpleNamespace(n=n, schedule=None, case=RankCase((np.full(3, x),)))
        return remembered.rehearsed(SimpleNamespace(name="f"), known, run, early, 0.5)

    return rehearse, really


def test_a_known_mistake_is_rehearsed_once_for_the_same_run(monkeypatch):
    rehearse, really = rehearsals_of(monkeypatch)
    twice = "def f(comm, x):\n    return 2 * x"
    assert rehearse(known_answer(twice)) is rehearse(known_answer(twice)) and len(really) == 1
    rehearse(known_answer(twice), n=3)
    rehearse(known_answer(twice), x=2.0)
    rehearse(known_answer(twice), early=True)
    assert len(really) == 4, "other ranks, another case, another way to look"


def test_known_mistakes_with_the_same_function_and_another_helper_are_two(monkeypatch):
    rehearse, really = rehearsals_of(monkeypatch)
    for factor in (2, 3):
        helper = f"def g(x):\n    return {factor} * x\n"
        rehearse(known_answer(helper + "def f(comm, x):\n    return g(x)"))
    assert len(really) == 2


def test_no_rehearsal_is_kept_of_a_students_function_or_of_one_that_was_cut_off(monkeypatch):
    rehearse, really = rehearsals_of(monkeypatch, fatal={"tool": "timeout"})
    slow = known_answer("def f(comm, x):\n    return x")
    assert rehearse(slow) and rehearse(slow) and len(really) == 2
    rehearse, really = rehearsals_of(monkeypatch)
    assert rehearse(students := lambda comm, x: x) and rehearse(students) and len(really) == 2


def test_so_many_rehearsals_are_kept_and_no_more(monkeypatch):
    rehearse, really = rehearsals_of(monkeypatch)
    monkeypatch.setattr(remembered, "MOST", 2)
    known = known_answer("def f(comm, x):\n    return x")
    for n in (1, 2, 3, 3, 1):
        rehearse(known, n=n)
    assert [n for _, n in really] == [1, 2, 3, 1]
