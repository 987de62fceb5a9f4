"""The checks of chapter 03: no false alarm, other right ways pass, and whatever a student's threads do, it ends soon.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import _thread
import gc
import itertools
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import threads
from course_lib.checks import ch03
from course_lib.checks.ch03.race import PATIENCE, Traffic, shared
from course_lib.checks.ch03.work import make_batch, scaled, sums_of_shards
from course_lib.checks.kit import threads as guard
from course_lib.checks.kit.core import CheckFailed

CHECKS = [name for name in vars(ch03) if name.startswith("check_")]


def shards_by_numpy(B, T):
    return tuple(slice(part[0], part[-1] + 1) for part in np.array_split(np.arange(B), T))


def combine_flat(sums, sizes):
    rows = np.array([np.concatenate([x.ravel() for pair in grads for x in pair]) for grads in sums])
    mean, out, at = rows.sum(axis=0) / np.float32(sum(sizes)), [], 0
    for dW, db in sums[0]:
        out.append(
            [mean[at : at + dW.size].reshape(dW.shape), mean[at + dW.size : at + dW.size + db.size]]
        )
        at += dW.size + db.size
    return out


def fork_join_by_futures(gradient_sum, params, X, Y, T):
    rows = threads.shards(len(X), T)
    with ThreadPoolExecutor(T) as pool:
        futures = [pool.submit(gradient_sum, params, X[s], Y[s]) for s in rows]
    return combine_flat([future.result() for future in futures], [s.stop - s.start for s in rows])


def fork_join_by_the_library(gradient_sum, params, X, Y, T):
    rows = threads.shards(len(X), T)
    sums = threads.fork_join([lambda s=s: gradient_sum(params, X[s], Y[s]) for s in rows])
    return combine_flat(sums, [s.stop - s.start for s in rows])


def fork_join_last_one_here(gradient_sum, params, X, Y, T):
    """T - 1 threads, and the caller does the last shard."""
    rows, sums, faults = threads.shards(len(X), T), {}, []

    def work(t):
        try:
            sums[t] = gradient_sum(params, X[rows[t]], Y[rows[t]])
        except ArithmeticError as fault:
            faults.append(fault)

    forked = [threading.Thread(target=work, args=(t,)) for t in range(T - 1)]
    for thread in forked:
        thread.start()
    work(T - 1)
    for thread in forked:
        thread.join()
    if faults:
        raise RuntimeError("a worker failed") from faults[0]
    return combine_flat([sums[t] for t in range(T)], [s.stop - s.start for s in rows])


def fork_join_pool_not_closed(gradient_sum, params, X, Y, T):
    rows, pool = threads.shards(len(X), T), ThreadPoolExecutor(T)
    futures = [pool.submit(gradient_sum, params, X[s], Y[s]) for s in rows]
    wait(futures)
    return combine_flat([future.result() for future in futures], [s.stop - s.start for s in rows])


def reduce_with_a_loop(partials, out, t, B):
    s = threads.shards(partials.shape[1], len(partials))[t]
    total = partials[0, s].copy()
    for row in partials[1:]:
        total += row[s]
    np.divide(total, B, out=out[s])


def sum_with_a_lock(part_of, T, total):
    lock = threading.Lock()

    def work(t):
        part = part_of(t)
        with lock:
            total[:] += part

    threads.fork_join([lambda t=t: work(t) for t in range(T)])


def sum_with_a_lock_by_elements(part_of, T, total):
    lock = threading.Lock()

    def work(t):
        for i, x in enumerate(part_of(t)):
            with lock:
                total[i] += x

    threads.fork_join([lambda t=t: work(t) for t in range(T)])


def sum_of_rows(part_of, T, total):
    rows = np.empty((T, len(total)))

    def work(t):
        rows[t] = part_of(t)

    threads.fork_join([lambda t=t: work(t) for t in range(T)])
    np.add(total, rows.sum(axis=0), out=total)


def speedup_in_integers(B, T, c, s, o):
    one = B * c + s
    many = ((B + T - 1) // T) * c + s + o * T * (T > 1)
    return np.float64(one / many), one / (T * many)


def pick_with_argmin(B, cores, seconds):
    return np.argmin([seconds(B, T) for T in np.arange(1, min(B, cores) + 1)]) + 1


def pinned_by_the_library(calls, cores, pin):
    with pin(max(cores // len(calls), 1)):
        return tuple(threads.fork_join(calls))


def train_with_the_library(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        grads = fork_join_by_the_library(gradient_sum, params, X, Y, min(T, len(X)))
        for pair, dpair in zip(params, grads, strict=True):
            for p, dp in zip(pair, dpair, strict=True):
                np.subtract(p, eta * dp, out=p)


RIGHT = [
    ("shards", shards_by_numpy),
    ("shards", threads.shards),
    ("combine", combine_flat),
    ("fork_join_gradient", fork_join_by_futures),
    ("fork_join_gradient", fork_join_by_the_library),
    ("fork_join_gradient", fork_join_last_one_here),
    ("fork_join_gradient", fork_join_pool_not_closed),
    ("reduce_slice", reduce_with_a_loop),
    ("shared_sum", sum_with_a_lock),
    ("shared_sum", sum_with_a_lock_by_elements),
    ("shared_sum", sum_of_rows),
    ("predict_speedup", speedup_in_integers),
    ("pick_threads", pick_with_argmin),
    ("run_pinned", pinned_by_the_library),
    ("train_parallel", train_with_the_library),
]


@pytest.mark.parametrize("name, right", RIGHT, ids=[right.__name__ for _, right in RIGHT])
def test_another_right_way_passes_on_many_seeds(name, right, capsys):
    """And the checks leave no thread behind."""
    before = set(threading.enumerate())
    waits = "lock" in right.__name__ or "fork" in name or name in ("run_pinned", "train_parallel")
    seeds = range(2 if waits else 10)
    for seed in seeds:
        getattr(ch03, f"check_{name}")(right, seed=seed)
    assert capsys.readouterr().out.count("✔") == len(seeds)
    gc.collect()  # a pool that nobody closed ends with its last reference
    left = [t for t in threading.enumerate() if t not in before]
    for thread in left:
        thread.join(1)
    assert not any(t.is_alive() for t in left)


def test_every_check_has_a_right_way_above():
    assert {f"check_{name}" for name, _ in RIGHT} == set(CHECKS)


# The guard ------------------------------------------------------------------------------------------------------


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(guard, "DEADLINE", 0.5)


def hangs_on_a_lock(gradient_sum, params, X, Y, T):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def hangs_on_itself(gradient_sum, params, X, Y, T):
    stop = threading.Event()
    worker = threading.Thread(target=stop.wait)
    worker.start()
    worker.join()


def spins(gradient_sum, params, X, Y, T):
    while True:
        time.sleep(0.01)


@pytest.mark.parametrize("hanging", [hangs_on_a_lock, hangs_on_itself, spins])
def test_what_hangs_ends_with_a_message_and_a_line(hanging, quick):
    with pytest.raises(CheckFailed) as failure:
        ch03.check_fork_join_gradient(hanging, seed=1)
    rows = dict(failure.value.report.rows)
    assert "did not finish" in rows["what"]
    assert f"of {hanging.__name__}" in rows["where"]


def test_the_hooks_are_put_back_after_a_hang(quick):
    before = threading.excepthook, threading.getprofile()
    with pytest.raises(CheckFailed):
        ch03.check_fork_join_gradient(hangs_on_a_lock, seed=1)
    assert (threading.excepthook, threading.getprofile()) == before and sys.getprofile() is None


def test_a_worker_left_running_is_told():
    def forgets(part_of, T, total):
        done = sum_of_rows(part_of, T, total)
        threading.Thread(target=time.sleep, args=(1,)).start()
        return done

    with pytest.raises(CheckFailed, match="of your threads still ran"):
        ch03.check_shared_sum(forgets, seed=1)


def test_a_thread_that_python_did_not_start_is_none_that_was_left():
    def call():
        known, done = threading.Event(), threading.Event()
        _thread.start_new_thread(
            lambda: (threading.current_thread(), known.set(), done.wait(1)), ()
        )
        known.wait()
        return sum(isinstance(t, threading._DummyThread) for t in threading.enumerate())

    assert guard.value_of(call) > 0


def test_an_error_lost_in_a_worker_is_told_with_its_text(capfd):
    def broken(part_of, T, total):
        def work(t):
            total[:] += part_of(t) + undefined_name  # noqa: F821

        worker = threading.Thread(target=work, args=(0,))
        worker.start()
        worker.join()

    with pytest.raises(CheckFailed, match="NameError: name 'undefined_name'"):
        ch03.check_shared_sum(broken, seed=1)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", CHECKS)
def test_a_blank_is_not_written_yet(name):
    def blank(*args):
        raise NotImplementedError("write it")

    with pytest.raises(CheckFailed, match="is not written yet"):
        getattr(ch03, name)(blank, seed=1)


def test_a_blank_in_a_worker_names_the_function_that_is_blank():
    def shards(B, T):
        raise NotImplementedError("write shards")

    def fork_join_gradient(gradient_sum, params, X, Y, T):
        def work():
            shards(len(X), T)

        worker = threading.Thread(target=work)
        worker.start()
        worker.join()

    with pytest.raises(CheckFailed) as failure:
        ch03.check_fork_join_gradient(fork_join_gradient, seed=1)
    assert "is not written yet" in str(failure.value)


# The race -------------------------------------------------------------------------------------------------------

UNGUARDED = {
    "+=": lambda total, part: total.__iadd__(part),
    "[:] = +": lambda total, part: total.__setitem__(slice(None), total + part),
    "add out": lambda total, part: np.add(total, part, out=total),
    "copyto": lambda total, part: np.copyto(total, total + part),
    "add.at": lambda total, part: np.add.at(total, np.arange(len(part)), part),
    "elements": lambda total, part: [
        total.__setitem__(i, total[i] + x) for i, x in enumerate(part)
    ],
    "slices": lambda total, part: [
        total[i : i + 2].__iadd__(part[i : i + 2]) for i in range(0, len(part), 2)
    ],
}


@pytest.mark.parametrize("way", UNGUARDED)
def test_a_race_is_certain_however_total_is_written(way):
    def races(part_of, T, total):
        threads.fork_join([lambda t=t: UNGUARDED[way](total, part_of(t)) for t in range(T)])

    for seed in range(3):
        with pytest.raises(CheckFailed, match="a lost update"):
            ch03.check_shared_sum(races, seed=seed)


def test_a_write_waits_for_the_others_on_a_machine_that_stands_still(monkeypatch):
    """A second goes by between two looks at the clock; the other thread comes all the same, and is waited for."""
    clock = SimpleNamespace(monotonic=itertools.count().__next__, sleep=time.sleep)
    monkeypatch.setattr("course_lib.checks.ch03.race.time", clock)
    traffic = Traffic()

    def other():
        traffic.enter()
        time.sleep(0.02)
        traffic.before_write()

    late = threading.Thread(target=other)
    late.start()
    while not traffic.workers:
        time.sleep(0.001)
    traffic.before_write()
    late.join()
    assert not traffic.in_vain


@pytest.mark.parametrize("way", UNGUARDED)
def test_the_shared_array_computes_rightly_with_one_thread(way):
    total = shared(np.arange(4.0), Traffic())
    UNGUARDED[way](total, np.full(4, 2.0))
    assert np.array_equal(np.asarray(total), np.arange(4.0) + 2)
    assert float(total.sum()) == 14 and np.array_equal(
        np.stack([total, total])[1], np.arange(4.0) + 2
    )


@pytest.mark.slow
def test_a_lock_is_waited_for_but_not_long(capsys, monkeypatch):
    """Whoever waits says when it gives up; a clock that only these waits move on adds them up."""
    waited = []

    def sleep(seconds):
        waited.append(seconds)
        time.sleep(seconds)

    clock = SimpleNamespace(monotonic=lambda: sum(waited), sleep=sleep)
    monkeypatch.setattr("course_lib.checks.ch03.race.time", clock)
    monkeypatch.setattr(
        guard, "DEADLINE", 600.0
    )  # the guard's own clock goes on: a busy machine may be slow
    ch03.check_shared_sum(sum_with_a_lock, seed=1)
    assert PATIENCE <= sum(waited) < 20 * PATIENCE


# The pieces -----------------------------------------------------------------------------------------------------


def test_the_parts_of_the_shards_add_up_to_the_whole():
    params, X, Y = make_batch(np.random.default_rng(1), 14)
    whole = sums_of_shards(params, X, Y, 1)[0]
    parts = sums_of_shards(params, X, Y, 4)
    for (dW, db), layer in zip(whole, zip(*parts, strict=True), strict=True):
        assert np.allclose(sum(p[0] for p in layer), dW) and np.allclose(
            sum(p[1] for p in layer), db
        )
    assert scaled(whole, 2)[0][0][0, 0] == 2 * whole[0][0][0, 0]


def test_a_nan_in_a_gradient_is_never_right():
    def with_nan(gradient_sum, params, X, Y, T):
        grads = fork_join_by_the_library(gradient_sum, params, X, Y, T)
        grads[-1][1][-1] = np.nan
        return grads

    with pytest.raises(CheckFailed, match="differ"):
        ch03.check_fork_join_gradient(with_nan, seed=1)
