"""The checks of chapter 04: their references are the library's, other right answers pass, and nothing hangs.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from course_lib import threads
from course_lib.checks import ch04
from course_lib.checks.ch04 import costs as ch04_costs
from course_lib.checks.ch04 import patience
from course_lib.checks.ch04 import schedules as ch04_schedules
from course_lib.checks.kit.core import CheckFailed

SHAPES = [(L, k) for L in range(1, 13) for k in range(1, L + 1)]


# The references of the checks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("L", "k"), SHAPES)
def test_the_checks_and_the_library_mean_the_same_schedule(L, k):
    parent, children = ch04_schedules.leapfrog(L, k)
    schedule = threads.leapfrog_schedule(L, k)
    assert [tuple(task) for task in schedule] == ch04_schedules.flat(parent, children)
    assert schedule.fork == len(parent)


@pytest.mark.parametrize(("L", "k"), SHAPES)
def test_the_checks_and_the_library_mean_the_same_makespan(L, k):
    f2, f3 = [1 + 0.1 * layer for layer in range(L)], [2 + 0.3 * layer for layer in range(L)]
    for schedule in (threads.leapfrog_schedule(L, k), threads.deferred_schedule(L, k, f2, f3)):
        mine = ch04_costs._makespan(list(schedule), schedule.fork, f2, f3)
        assert mine == pytest.approx(threads.simulate(schedule, f2, f3).makespan, rel=1e-12)


def test_the_checks_and_the_library_mean_the_same_formulas():
    for k in (1, 2, 5):
        costs = threads.predicted_costs(7, k, 0.3, 0.5, 0.7)
        mine = ch04_costs._costs(k, 7 * 0.3, 7 * 0.5, 7 * 0.7)
        assert mine == pytest.approx([costs["serial"], costs["leapfrog"], costs["deferred"]])


def test_the_checks_and_the_paper_mean_the_same_levels():
    for n in range(2, 20):
        for k in range(1, n):
            for j in range(k):
                assert ch04_schedules._levels(n, k, j) == levels_by_the_printed_loops(n, k, j)


def levels_by_the_printed_loops(L, k, j):
    levels = []
    while j < L - k - 1:
        i = 0
        while i < k:
            if i == k - 1:
                levels.append(L - 1 - j - i)
            i += 1
        j += k
    return levels


# Other right answers ---------------------------------------------------------------------------------------------


def coverage_with_numpy(tasks, L):
    layers = [layer for _, kind, layer in tasks if kind == "grad" and layer in range(L)]
    return np.bincount(np.array(layers, dtype=int), minlength=L)


def schedule_by_the_printed_loops(L, k):
    if k < 1 or k > L:
        raise ValueError("no")
    parent = [("delta", L - 1), ("grad", L - 1)]
    for i in range(L - 2, L - k - 1, -1):
        parent.append(("delta", i))
        parent.append(("grad", i))
    children = []
    for start in range(k):
        j, tasks = start, []
        while j < L - k:
            for i in range(k):
                tasks.append(("delta", L - 2 - j - i))
            tasks.append(["grad", L - 1 - j - k])
            j += k
        children.append(tuple(tasks))
    return [parent, children]


def walk_with_einsum(tasks, dZ, params, A, grads):
    deltas, at = [dZ], dZ
    for kind, layer in tasks:
        if kind == "grad":
            grads[layer] = [np.einsum("bi,bj->ij", A[layer], at), np.ones(len(at), np.float32) @ at]
            continue
        at = np.einsum("bj,ij->bi", at, params[layer + 1][0])
        at *= 1 - A[layer + 1] * A[layer + 1]
        deltas += [at]
    return deltas


def fork_with_an_executor(parent, children, dZ, walk):
    deltas = walk(parent, dZ)
    with ThreadPoolExecutor(len(children)) as pool:
        for future in [pool.submit(walk, tasks, deltas[j]) for j, tasks in enumerate(children)]:
            future.result()


def fork_of_those_with_work(parent, children, dZ, walk):
    deltas, wrong = walk(parent, dZ), {}

    class Child(threading.Thread):
        def __init__(self, j):
            super().__init__()
            self.j = j

        def run(self):
            try:
                walk(children[self.j], deltas[self.j])
            except ArithmeticError as error:
                wrong[self.j] = error

    forked = [Child(j) for j, tasks in enumerate(children) if tasks]
    [t.start() for t in forked]
    [t.join() for t in forked]
    for error in wrong.values():
        raise RuntimeError("a child failed") from error


def deferred_with_an_executor(L, k, delta, grad):
    """A pool of k - 1, and the chain's thread helps by doing what nobody has begun."""
    if k == 1:
        dZ, grads = None, [None] * L
        for layer in reversed(range(L)):
            dZ = delta(layer, dZ)
            grads[layer] = grad(layer, dZ)
        return grads
    with ThreadPoolExecutor(k - 1) as pool:
        futures, dZ = {}, None
        deltas = {}
        for layer in reversed(range(L)):
            deltas[layer] = dZ = delta(layer, dZ)
            futures[layer] = pool.submit(grad, layer, dZ)
        own = {layer: grad(layer, deltas[layer]) for layer in range(L) if futures[layer].cancel()}
        return [own[layer] if layer in own else futures[layer].result() for layer in range(L)]


def deferred_with_a_condition(L, k, delta, grad):
    """No queue: a list of what is ready, a condition, and a flag that the chain has ended."""
    ready, grads, wrong, ended, news = [], [None] * L, [], [False], threading.Condition()

    def work():
        while True:
            with news:
                news.wait_for(lambda: ready or ended[0])
                if not ready:
                    return
                layer, dZ = ready.pop(0)
            try:
                grads[layer] = grad(layer, dZ)
            except Exception as error:
                wrong.append(error)

    others = [threading.Thread(target=work) for _ in range(k - 1)]
    for thread in others:
        thread.start()
    dZ = None
    try:
        for layer in range(L - 1, -1, -1):
            dZ = delta(layer, dZ)
            with news:
                ready.append((layer, dZ))
                news.notify()
    finally:
        with news:
            ended[0] = True
            news.notify_all()
        work()
        for thread in others:
            thread.join()
    if wrong:
        raise wrong[0]
    return grads


def costs_as_a_list(k, f1, f2, f3):
    back = f2 + f3
    return [f1 + back, back - f3 * (1 - 1 / k) + f1, np.float64(max(f1 + f2, f1 + back / k))]


def makespan_by_threads(tasks, fork, f2, f3):
    """Round after round, until every thread has found what it waits for."""
    todo = {
        t: [(n, *task[1:]) for n, task in enumerate(tasks) if task[0] == t]
        for t in {task[0] for task in tasks}
    }
    free, end, ends = dict.fromkeys(todo, 0), {}, {}
    L = 1 + max(layer for _, _, layer in tasks)
    while any(todo.values()):
        for t, own in todo.items():
            while own:
                n, kind, layer = own[0]
                source = layer + (kind == "delta")
                there = 0 if source == L else end.get((t, source), end.get((0, source)))
                parents = [ends.get(m) for m in range(fork)] if n >= fork else []
                if there is None or None in parents:
                    break
                own.pop(0)
                free[t] = ends[n] = (
                    max([free[t], there, *parents]) + (f3 if kind == "grad" else f2)[layer]
                )
                if kind == "delta":
                    end.setdefault((t, layer), ends[n])
    return np.float64(max(free.values()))


def smallest_by_formula(f1, f2, f3, wanted):
    if wanted == 0:
        return 1
    of_f3 = wanted * (f1 + f2 + f3) / f3 if f3 else 1
    return np.int64(ceil(1 / (1 - Fraction(of_f3)))) if of_f3 < 1 else 0


RIGHT = [
    ("coverage", coverage_with_numpy, 40),
    ("thread_levels", levels_by_the_printed_loops, 40),
    ("leapfrog_schedule", schedule_by_the_printed_loops, 40),
    ("walk", walk_with_einsum, 40),
    ("leapfrog_backward", fork_with_an_executor, 3),
    ("leapfrog_backward", fork_of_those_with_work, 3),
    ("deferred_backward", deferred_with_an_executor, 2),
    ("deferred_backward", deferred_with_a_condition, 2),
    ("step_costs", costs_as_a_list, 40),
    ("makespan", makespan_by_threads, 40),
    ("smallest_k", smallest_by_formula, 20),
]


@pytest.mark.parametrize(
    ("name", "right", "seeds"), RIGHT, ids=[right.__name__ for _, right, _ in RIGHT]
)
def test_another_right_way_passes_on_many_seeds(name, right, seeds, capsys):
    check = getattr(ch04, f"check_{name}")
    for seed in range(seeds):
        check(right, seed=seed)
    assert capsys.readouterr().out.count("✔") == seeds


# Nothing hangs, nothing is left ----------------------------------------------------------------------------------


def waits_for_ever(L, k, delta, grad):
    threading.Event().wait()


STOP = threading.Event()


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        (ch04.check_deferred_backward, waits_for_ever),
        (
            ch04.check_leapfrog_backward,
            lambda parent, children, dZ, walk: threading.Lock().acquire() and STOP.wait(),
        ),
    ],
)
def test_an_answer_that_hangs_is_told_in_some_seconds(check, wrong, monkeypatch):
    monkeypatch.setattr("course_lib.checks.kit.threads.DEADLINE", 1.0)
    STOP.clear()
    try:
        with pytest.raises(CheckFailed, match="within 1 s"):
            check(wrong, seed=1)
    finally:
        STOP.set()  # only now: nobody has waited for the end of the answer


def forgets_to_go_on(n, k, j=0):
    while j < n - k - 1:
        pass


def loops_for_ever(f1, f2, f3, wanted):
    while True:
        pass


@pytest.mark.parametrize(
    ("check", "wrong", "words"),
    [
        (ch04.check_thread_levels, forgets_to_go_on, "each loop must advance"),
        (ch04.check_leapfrog_schedule, forgets_to_go_on, "each loop must advance"),
        (ch04.check_smallest_k, loops_for_ever, "does k grow in each round"),
    ],
)
def test_a_loop_without_end_is_told_and_stopped(check, wrong, words, monkeypatch):
    monkeypatch.setattr("course_lib.checks.ch04.patience.PATIENCE", 0.5)
    with pytest.raises(CheckFailed, match=words):
        check(wrong, seed=1)
    if hasattr(time, "pthread_getcpuclockid"):
        assert not [t for t in threading.enumerate() if t.name == "check" and is_busy(t)]


def test_a_call_that_is_kept_waiting_is_no_loop_without_end(monkeypatch):
    """As on a machine with other things to do: more than PATIENCE by the clock, next to nothing of the processor."""
    monkeypatch.setattr(patience, "PATIENCE", 0.2)
    patience.must_end(time.sleep, [(0.3 if patience.TELLS else 0.0,)], "a loop without end")


def is_busy(thread):
    clock = time.pthread_getcpuclockid(thread.ident)
    began = time.clock_gettime(clock)
    time.sleep(0.1)
    return thread.is_alive() and time.clock_gettime(clock) - began > 0.02


def test_a_right_answer_leaves_no_thread(capsys):
    before = set(threading.enumerate())
    ch04.check_leapfrog_backward(fork_with_an_executor, seed=5)
    ch04.check_deferred_backward(deferred_with_a_condition, seed=5)
    assert not [t for t in threading.enumerate() if t not in before]


def test_a_blank_is_a_blank():
    def leapfrog_backward(parent, children, dZ, walk):
        raise NotImplementedError("write leapfrog-backward")

    def walk_in_a_thread(parent, children, dZ, walk):
        leapfrog_backward(parent, children, dZ, walk)

    for blank in (leapfrog_backward, walk_in_a_thread):
        with pytest.raises(CheckFailed, match="not written yet"):
            ch04.check_leapfrog_backward(blank, seed=1)


def test_a_seed_draws_the_same_inputs_again():
    texts = []
    for _ in range(2):
        with pytest.raises(CheckFailed) as failure:
            ch04.check_makespan(lambda tasks, fork, f2, f3: 0.0, seed=77)
        texts.append(str(failure.value))
    assert texts[0] == texts[1]
