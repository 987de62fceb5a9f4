"""Shards, fork and join, the pool, the barrier: every call runs, every fault arrives, no thread is left."""

import gc
import sys
import sysconfig
import threading
import time
import weakref

import pytest
from thread_tools import interrupt_after, needs_signals, no_thread_left

from course_lib import threads
from course_lib.errors import BadInput
from course_lib.threads import Pool, ThreadFault, fork_join, shards
from course_lib.threads.barrier import Barrier
from course_lib.threads.shards import cut, rows_text


@pytest.fixture(autouse=True)
def nothing_left():
    with no_thread_left():
        yield


def fail(text="broken"):
    raise ValueError(text)


# shards


def test_shards_cover_each_row_once_and_evenly():
    for B in range(1, 30):
        for T in range(1, B + 1):
            found = shards(B, T)
            assert [row for s in found for row in range(s.start, s.stop)] == list(range(B))
            sizes = [s.stop - s.start for s in found]
            assert (
                len(sizes) == T
                and sizes == sorted(sizes, reverse=True)
                and sizes[0] - sizes[-1] <= 1
            )


@pytest.mark.parametrize(
    "B, T", [(4, 5), (4, 0), (4, -1), (4, 1.0), (4, True), (4, None), (0, 1), (-3, 1), (2.5, 1)]
)
def test_shards_refuses(B, T):
    with pytest.raises(BadInput) as caught:
        shards(B, T)
    assert "whole number" in str(caught.value) and "\n" not in str(caught.value)


def test_cut_may_leave_slices_empty():
    assert [s.stop - s.start for s in cut(2, 4)] == [1, 1, 0, 0]
    assert [rows_text(s) for s in (slice(34, 52), slice(3, 4), slice(3, 3))] == [
        "rows 34 to 51",
        "row 3",
        "no rows",
    ]


# fork_join and Pool


def test_results_come_in_the_order_of_the_calls():
    waits = [0.03, 0.0, 0.02, 0.01]
    calls = [lambda i=i, s=s: (time.sleep(s), i)[1] for i, s in enumerate(waits)]
    assert fork_join(calls) == [0, 1, 2, 3]
    with Pool(4) as pool:
        assert pool.run(calls) == [0, 1, 2, 3] and pool.run(calls[:2]) == [0, 1]


def test_calls_run_at_the_same_time():
    meeting = threading.Barrier(3)
    for run in (fork_join, Pool(3).run):
        assert sorted(run([lambda: meeting.wait(10)] * 3)) == [0, 1, 2]


def test_a_pool_keeps_its_threads_and_fork_join_makes_new_ones():
    with Pool(2) as pool:
        first, again = (set(pool.run([threading.current_thread] * 2)) for _ in range(2))
    assert first == again and len(first) == 2
    assert not set(fork_join([threading.current_thread] * 2)) & set(
        fork_join([threading.current_thread] * 2)
    )


@pytest.mark.parametrize(
    "where, text", [(None, "call 1"), (["a", "b", "c"], "b"), (lambda t: f"shard {t}", "shard 1")]
)
def test_a_fault_names_place_thread_and_cause(where, text):
    calls = [lambda: 1, fail, lambda: 3]
    with Pool(3) as pool:
        for run in (pool.run, fork_join, pool.run):
            with pytest.raises(ThreadFault) as caught:
                run(calls, where)
            fault = caught.value
            assert (fault.where, fault.thread) == (text, 1) and isinstance(
                fault.__cause__, ValueError
            )
            assert str(fault) == f"{text} (thread 1): ValueError: broken"
        assert pool.run([lambda: "works again"]) == ["works again"]


def test_the_other_calls_end_before_the_fault_is_raised():
    ended = []
    with pytest.raises(ThreadFault):
        fork_join([fail, lambda: (time.sleep(0.05), ended.append(1))])
    assert ended == [1]


def test_a_fault_that_names_its_place_itself_is_left_as_it_is():
    fault = ThreadFault("layer 3, grad", 0, KeyError("x"))

    def call():
        raise fault

    with pytest.raises(ThreadFault) as caught:
        fork_join([call], ["elsewhere"])
    assert caught.value is fault


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit()])
def test_nothing_a_call_can_raise_ends_a_thread_of_the_pool(error):
    def call():
        raise error

    with Pool(1) as pool:
        with pytest.raises(ThreadFault) as caught:
            pool.run([call])
        assert caught.value.__cause__ is error and pool.run([lambda: 1]) == [1]


@pytest.mark.parametrize("make", [threading.Barrier, Barrier])
def test_a_fault_ends_the_wait_of_others_and_is_the_one_that_is_told(make):
    for failing in range(3):
        barrier = make(3)

        def wait(i, barrier=barrier):
            return barrier.wait(*([i] if make is Barrier else []))

        calls = [lambda i=i: wait(i) for i in range(3)]
        calls[failing] = lambda: (time.sleep(0.02), fail())
        with Pool(3) as pool, pytest.raises(ThreadFault) as caught:
            pool.run(calls, abort=lambda error, barrier=barrier: barrier.abort())
        assert caught.value.thread == failing and isinstance(caught.value.__cause__, ValueError)


@needs_signals
def test_an_interrupt_ends_the_wait_and_the_pool_goes_on():
    barrier = threading.Barrier(3)  # of three, two come: they would wait for ever
    with Pool(2) as pool:
        with interrupt_after(0.1):
            pool.run([barrier.wait] * 2, abort=lambda error: barrier.abort())
        assert pool.run([lambda: 1, lambda: 2]) == [1, 2]


@needs_signals
def test_an_interrupt_lets_calls_end_first():
    ended = []
    with interrupt_after(0.05):
        fork_join([lambda: (time.sleep(0.2), ended.append(1))])
    assert ended == [1]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_an_interrupt_while_the_calls_are_handed_out(first):
    """Calls may need each other to end, so those not yet handed out still run, and each runs once."""

    class Interrupted:
        def __init__(self, inbox):
            self.inbox, self.left = inbox, 1

        def put(self, job):
            if self.left and job is not None:
                self.left = 0
                raise KeyboardInterrupt
            self.inbox.put(job)

    barrier, ran = threading.Barrier(3), []
    with Pool(3) as pool:
        inbox, pool._inboxes[first] = pool._inboxes[first], Interrupted(pool._inboxes[first])
        with pytest.raises(KeyboardInterrupt):
            pool.run([lambda t=t: (barrier.wait(10), ran.append(t)) for t in range(3)])
        pool._inboxes[first] = inbox
        assert sorted(ran) == [0, 1, 2] and pool.run([int] * 3) == [0, 0, 0] and len(ran) == 3


def test_an_abort_that_fails_hides_nothing_and_ends_no_thread():
    with Pool(1) as pool:
        with pytest.raises(ThreadFault, match="ValueError: broken"):
            pool.run([fail], abort=lambda: None)  # takes no argument: a TypeError
        assert pool.run([int]) == [0]


def test_bad_calls():
    with Pool(2) as pool:
        for calls in ([], [int] * 3):
            with pytest.raises(
                BadInput, match="number of calls must be a whole number from 1 to 2"
            ):
                pool.run(calls)
        with pytest.raises(ThreadFault, match="a call of this pool cannot use the pool"):
            pool.run([lambda: pool.run([int])])
    with pytest.raises(BadInput, match="closed"):
        pool.run([int])
    with pytest.raises(BadInput, match="number of calls"):
        fork_join([])
    for T in (0, -1, 1.5, True, "2", None):
        with pytest.raises(BadInput, match="T must be a whole number"):
            Pool(T)
    pool.close()  # twice does no harm


def test_two_threads_may_use_one_pool():
    with Pool(2) as pool:
        meeting = threading.Barrier(2)  # broken if calls of two runs were mixed
        runs = [lambda: [pool.run([lambda: meeting.wait(10)] * 2) for _ in range(20)]] * 3
        assert len(fork_join(runs)) == 3


def test_a_pool_that_is_dropped_ends_its_threads():
    pool = Pool(3)
    pool.run([lambda: 1] * 3)
    inside = pool._threads
    del pool
    gc.collect()
    for thread in inside:
        thread.join(5)
        assert not thread.is_alive()


def test_an_idle_pool_keeps_nothing_of_a_job_alive():
    class Big:
        def __call__(self):
            return 1

    with Pool(1) as pool:
        big = Big()
        gone = weakref.ref(big)
        pool.run([big])
        del big
        deadline = time.monotonic() + 60
        while gone() is not None and time.monotonic() < deadline:
            gc.collect()
        assert gone() is None


def test_more_threads_than_the_system_gives(monkeypatch):
    start, started = threading.Thread.start, []

    def limited(self):
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    monkeypatch.setattr(threading.Thread, "start", limited)
    with pytest.raises(BadInput, match="no more than 2 threads, not T = 9"):
        Pool(9)
    assert not any(thread.is_alive() for thread in started)


# the barrier


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_nobody_passes_the_barrier_before_all_have_come(n):
    barrier, come = Barrier(n), [0] * n

    def call(i):
        for step in range(1, 200):
            come[i] = step
            barrier.wait(i)
            assert min(come) >= step
            barrier.wait(i)

    fork_join([lambda i=i: call(i) for i in range(n)], abort=lambda error: barrier.abort())


def test_an_aborted_barrier_turns_all_away_until_it_is_reset():
    barrier = Barrier(2)
    barrier.abort()
    for i in range(2):
        with pytest.raises(threading.BrokenBarrierError):
            barrier.wait(i)
    for _ in range(2):
        barrier.reset()
    assert fork_join([lambda i=i: barrier.wait(i) for i in range(2)]) == [None, None]


# the GIL


@pytest.mark.parametrize(
    "disabled, on, words",
    [
        (0, True, "has a GIL"),
        (None, True, "has a GIL"),
        (1, True, "its GIL is on"),
        (1, False, "its GIL is off"),
    ],
)
def test_gil_state(monkeypatch, disabled, on, words):
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: disabled)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: on, raising=False)
    assert words in threads.gil_state() and threads.gil_state().count(".") == 1
