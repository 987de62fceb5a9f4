"""The checks of chapter 04 against what students write: refused with the cause, on several seeds."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import ceil
from queue import Empty, Queue, SimpleQueue

import numpy as np
import pytest

from course_lib.checks import ch04
from course_lib.checks.kit.core import CheckFailed


def told(check, wrong, seed):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return " ".join(str(failure.value).split())


# Schedules -------------------------------------------------------------------------------------------------------


def counted_with_a_counter(tasks, L):
    counts = Counter(layer for _, kind, layer in tasks if kind == "grad")
    return [counts[layer] for layer in sorted(counts)]


def counted_into_a_dict(tasks, L):
    return dict(Counter(layer for _, kind, layer in tasks if kind == "grad" and 0 <= layer < L))


def counted_with_modulo(tasks, L):
    counts = [0] * L
    for _, kind, layer in tasks:
        if kind == "grad" and layer < L:
            counts[layer % L] += 1
    return counts


def nobody_counted(tasks, L):
    return [0] * L


def loops(strict=True, first=None):
    def levels(n, k, j):
        found = []
        while j < n - k - 1 if strict else j <= n - k - 1:
            found.append(n - 1 - j - (k - 1 if first is None else first))
            j += k
        return found

    return levels


def one_loop_only(n, k, j):
    return [n - 1 - j - (k - 1)] if j < n - k - 1 else []


def scheduled(
    change=lambda parent, children, L, k: (parent, children),
    refuse=True,
    top=lambda L, k, j: L - 2 - j,
):
    def schedule(L, k):
        if refuse and not 1 <= k <= L:
            raise ValueError("k")
        parent = [
            (kind, layer) for layer in range(L - 1, L - k - 1, -1) for kind in ("delta", "grad")
        ]
        children = []
        for j in range(k):
            wanted, tasks = range(L - 1 - j - k, -1, -k), []
            for layer in range(top(L, k, j), min(wanted, default=L) - 1, -1):
                tasks += [("delta", layer)] + [("grad", layer)] * (layer in wanted)
            children.append(tasks)
        return change(parent, children, L, k)

    return schedule


def parent_without_gradients(parent, children, L, k):
    return [t for t in parent if t[0] == "delta" or t[1] == L - 1], children


def with_threads(parent, children, L, k):
    return [(0, *t) for t in parent], children


# Walks -----------------------------------------------------------------------------------------------------------


def walked(delta=None, grad=None, give=lambda deltas: deltas):
    def walk(tasks, dZ, params, A, grads):
        deltas = [dZ]
        for kind, layer in tasks:
            if kind == "delta":
                W = params[layer + 1][0]
                dZ = delta(dZ, W, A, layer) if delta else (dZ @ W.T) * (1 - A[layer + 1] ** 2)
                deltas.append(dZ)
            else:
                grads[layer] = grad(A, layer, dZ) if grad else (A[layer].T @ dZ, dZ.sum(axis=0))
        return give(deltas)

    return walk


def sums_and_counts(A, layer, dZ):
    return A[layer].T @ dZ, dZ.sum(axis=1)


def zeroes_what_it_was_given(tasks, dZ, params, A, grads):
    walked()(tasks, dZ.copy(), params, A, grads)
    result = walked()(tasks, dZ.copy(), params, A, grads)
    dZ[:] = 0
    return result


def one_list_for_all(tasks, dZ, params, A, grads):
    grads.clear()
    return walked()(tasks, dZ, params, A, {})


# Fork and join ---------------------------------------------------------------------------------------------------


def forked(make, start=True, join=True, check=True):
    def backward(parent, children, dZ, walk):
        deltas, faults = walk(parent, dZ), []
        threads = make(children, deltas, walk, faults)
        for thread in threads:
            thread.start() if start else thread.run()
        for thread in threads:
            thread.join() if join else None
        if faults and check:
            raise faults[0]

    return backward


def work(tasks, dZ, walk, faults):
    try:
        walk(tasks, dZ)
    except Exception as error:
        faults.append(error)


def lambdas_in_a_loop(children, deltas, walk, faults):
    threads = []
    for j in range(len(children)):
        threads.append(threading.Thread(target=lambda: work(children[j], deltas[j], walk, faults)))  # noqa: B023
    return threads


def right_threads(children, deltas, walk, faults):
    return [
        threading.Thread(target=work, args=(c, d, walk, faults))
        for c, d in zip(children, deltas, strict=False)
    ]


def all_from_the_first(children, deltas, walk, faults):
    return [threading.Thread(target=work, args=(c, deltas[0], walk, faults)) for c in children]


def from_the_end(children, deltas, walk, faults):
    return [
        threading.Thread(target=work, args=(c, d, walk, faults))
        for c, d in zip(children, deltas[::-1], strict=False)
    ]


def daemon_threads(children, deltas, walk, faults):
    return [
        threading.Thread(target=work, args=(c, d, walk, faults), daemon=True)
        for c, d in zip(children, deltas, strict=False)
    ]


def children_first(parent, children, dZ, walk):
    threads = [threading.Thread(target=walk, args=(c, dZ)) for c in children]
    for thread in threads:
        thread.start()
    walk(parent, dZ)
    for thread in threads:
        thread.join()


def under_one_lock(parent, children, dZ, walk):
    lock = threading.Lock()

    def locked(tasks, dZ):
        with lock:
            walk(tasks, dZ)

    forked(lambda children, deltas, _, faults: right_threads(children, deltas, locked, faults))(
        parent, children, dZ, walk
    )


def another_error(parent, children, dZ, walk):
    try:
        forked(right_threads)(parent, children, dZ, walk)
    except ArithmeticError:
        raise RuntimeError("something went wrong") from None


def joined_until_one_failed(parent, children, dZ, walk):
    deltas, faults = walk(parent, dZ), []
    threads = right_threads(children, deltas, walk, faults)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
        if faults:
            raise faults[0]


def a_nap_for_a_join(parent, children, dZ, walk):
    deltas, faults = walk(parent, dZ), []
    for thread in right_threads(children, deltas, walk, faults):
        thread.start()
    time.sleep(0.3)
    if faults:
        raise faults[0]


def parent_twice(parent, children, dZ, walk):
    walk(parent, dZ)
    forked(right_threads)(parent, children, dZ, walk)


def started_before_the_parent(parent, children, dZ, walk):
    ready, deltas, faults = threading.Event(), [], []

    def wait(tasks, j):
        ready.wait()
        work(tasks, deltas[j], walk, faults)

    threads = [threading.Thread(target=wait, args=(c, j)) for j, c in enumerate(children)]
    for thread in threads:
        thread.start()
    deltas.extend(walk(parent, dZ))
    ready.set()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def own_tasks_only(parent, children, dZ, walk):
    deltas = walk(parent, dZ)
    for tasks, delta in zip(children, deltas, strict=False):
        walk(tasks[1:], delta)


# Queues ----------------------------------------------------------------------------------------------------------


def queued(
    *,
    nones=None,
    helps=True,
    finish=True,
    put=None,
    take=None,
    place=None,
    keep=True,
    waits="join",
    helpers=None,
):
    """The deferred scheme, with one thing or another that students do."""

    def deferred(L, k, delta, grad):
        grads, queue, faults = [None] * L, SimpleQueue(), []

        def worker():
            while (found := queue.get()) is not None:
                try:
                    value = grad(*found)
                    place(grads, found[0], value) if place else grads.__setitem__(found[0], value)
                except Exception as error:
                    faults.append(error)

        def tell():
            for _ in range(k if nones is None else nones):
                queue.put(None)

        others = [
            threading.Thread(target=worker) for _ in range(k - 1 if helpers is None else helpers(k))
        ]
        for thread in others:
            thread.start()
        dZ = None
        try:
            for layer in reversed(range(L)):
                dZ = delta(layer, dZ)
                queue.put((layer, dZ))
        except Exception:
            if finish:
                tell()
                for thread in others:
                    thread.join()
            raise
        tell()
        if helps:
            worker()
        for thread in others if waits == "join" else ():
            thread.join()
        if faults and keep:
            raise faults[0]
        return grads

    return deferred


def deferred_badly(*, timeout=None, own_guard=True, joins="all", buffer=False, raise_early=False):
    """The deferred scheme with faults that need an unlucky moment."""

    def deferred(L, k, delta, grad):
        grads, queue, faults, kept = [None] * L, Queue(), [], []

        def worker(guard=True):
            while True:
                try:
                    found = queue.get(timeout=timeout)
                except Empty:
                    return
                if found is None:
                    return
                try:
                    grads[found[0]] = grad(*found)
                except Exception as error:
                    if not guard:
                        raise
                    faults.append(error)

        others = [threading.Thread(target=worker) for _ in range(k - 1)]
        for thread in others:
            thread.start()
        dZ = None
        try:
            for layer in reversed(range(L)):
                dZ = delta(layer, dZ)
                if buffer and isinstance(dZ, np.ndarray):
                    kept[:] = kept or [np.empty_like(dZ)]
                    kept[0][...] = dZ
                    dZ = kept[0]
                queue.put((layer, dZ))
        except Exception as error:
            faults.append(error)
        for _ in range(k):
            queue.put(None)
        worker(own_guard)
        for thread in others if joins == "all" else others[:1]:
            thread.join()
            if raise_early and faults:
                raise faults[0]
        if faults:
            raise faults[0]
        return grads

    return deferred


def pool_of_k(L, k, delta, grad):
    with ThreadPoolExecutor(k) as pool:
        futures, dZ = {}, None
        for layer in reversed(range(L)):
            dZ = delta(layer, dZ)
            futures[layer] = pool.submit(grad, layer, dZ)
        return [futures[layer].result() for layer in range(L)]


def with_queue_join(L, k, delta, grad):
    """queue.join() waits for task_done(), which nobody calls."""
    grads, queue, dZ = [None] * L, Queue(), None

    def worker():
        while True:
            layer, dZ = queue.get()
            grads[layer] = grad(layer, dZ)

    for _ in range(k - 1):
        threading.Thread(target=worker, daemon=True).start()
    for layer in reversed(range(L)):
        dZ = delta(layer, dZ)
        queue.put((layer, dZ))
    queue.join()
    return grads


def serial_in_disguise(L, k, delta, grad):
    dZ, grads = None, [None] * L
    for layer in reversed(range(L)):
        dZ = delta(layer, dZ)
        grads[layer] = grad(layer, dZ)
    return grads


def upwards(L, k, delta, grad):
    dZ, grads = None, []
    for layer in range(L):
        dZ = delta(layer, dZ)
        grads.append(grad(layer, dZ))
    return grads


# Costs -----------------------------------------------------------------------------------------------------------


def costs(
    leapfrog=lambda k, a, b, c: a + b + c / k, deferred=lambda k, a, b, c: a + max(b, (b + c) / k)
):
    return lambda k, f1, f2, f3: (f1 + f2 + f3, leapfrog(k, f1, f2, f3), deferred(k, f1, f2, f3))


def busiest_thread(tasks, fork, f2, f3):
    busy = Counter()
    for thread, kind, layer in tasks:
        busy[thread] += (f2 if kind == "delta" else f3)[layer]
    return float(max(busy.values()))


def floats(f1, f2, f3, wanted):
    share = f3 / (f1 + f2 + f3)
    if wanted >= Fraction(f3, f1 + f2 + f3):
        return 1 if wanted == 0 else 0
    return ceil(1 / (1 - float(wanted) / share))


def papers_formula(f1, f2, f3, wanted):
    return ceil(1 / wanted) if wanted else 1


def divides_by_zero(f1, f2, f3, wanted):
    return ceil(1 / (1 - wanted * (f1 + f2 + f3) / Fraction(f3)))


FAST, SLOW = range(1, 16), range(1, 2)
WRONG = [
    (ch04.check_coverage, counted_with_a_counter, "not ", FAST),
    (ch04.check_coverage, counted_into_a_dict, "not a list", FAST),
    (ch04.check_coverage, counted_with_modulo, "LAST entry of a list", FAST),
    (ch04.check_coverage, nobody_counted, "coverage: ", FAST),
    (ch04.check_thread_levels, loops(strict=False), "level 1 is the input", FAST),
    (ch04.check_thread_levels, loops(first=0), "thread_levels: ", FAST),
    (ch04.check_thread_levels, one_loop_only, "only the first round", FAST),
    (ch04.check_leapfrog_schedule, scheduled(parent_without_gradients), "delta AND gradient", FAST),
    (ch04.check_leapfrog_schedule, scheduled(with_threads), "must be a list of pairs", FAST),
    (ch04.check_leapfrog_schedule, scheduled(lambda p, c, L, k: p), "must be the pair", FAST),
    (ch04.check_leapfrog_schedule, scheduled(lambda p, c, L, k: None), "returned None", FAST),
    (ch04.check_leapfrog_schedule, scheduled(refuse=False), "were accepted", FAST),
    (
        ch04.check_leapfrog_schedule,
        scheduled(lambda p, c, L, k: (p[:-1], c)),
        "down to layer L - k",
        FAST,
    ),
    (
        ch04.check_leapfrog_schedule,
        scheduled(lambda p, c, L, k: (p[1:], c)),
        "begins with eq. 4",
        FAST,
    ),
    (
        ch04.check_leapfrog_schedule,
        scheduled(top=lambda L, k, j: L - 2),
        "gets the delta of layer L - 1 - j",
        FAST,
    ),
    (
        ch04.check_leapfrog_schedule,
        scheduled(lambda p, c, L, k: (p, c[::-1])),
        "gets the delta",
        FAST,
    ),
    (ch04.check_walk, walked(delta=lambda dZ, W, A, layer: dZ @ W.T), "f' is missing", FAST),
    (
        ch04.check_walk,
        walked(delta=lambda dZ, W, A, layer: (dZ @ W.T) * A[layer + 1] ** 2),
        "1 - a^2, not a^2",
        FAST,
    ),
    (ch04.check_walk, walked(grad=sums_and_counts), "axis 1 is the wrong axis", FAST),
    (
        ch04.check_walk,
        walked(grad=lambda A, layer, dZ: (A[layer].T @ dZ / len(dZ), dZ.sum(axis=0))),
        "divided by `len(dZ)`, and should not be",
        FAST,
    ),
    (
        ch04.check_walk,
        walked(grad=lambda A, layer, dZ: (dZ.sum(axis=0), A[layer].T @ dZ)),
        "are swapped",
        FAST,
    ),
    (
        ch04.check_walk,
        walked(give=lambda deltas: deltas[1:]),
        "is returned without its first entry",
        FAST,
    ),
    (ch04.check_walk, walked(give=lambda deltas: None), "None", FAST),
    (ch04.check_walk, zeroes_what_it_was_given, "changes its argument dZ", FAST),
    (ch04.check_walk, one_list_for_all, "grads", FAST),
    (ch04.check_leapfrog_backward, forked(lambdas_in_a_loop), "variable when it runs", SLOW),
    (
        ch04.check_leapfrog_backward,
        forked(right_threads, start=False, join=False),
        "no two threads",
        SLOW,
    ),
    (ch04.check_leapfrog_backward, forked(right_threads, join=False), "still at work", SLOW),
    (ch04.check_leapfrog_backward, forked(daemon_threads, join=False), "still at work", SLOW),
    (ch04.check_leapfrog_backward, forked(right_threads, check=False), "was lost", SLOW),
    (
        ch04.check_leapfrog_backward,
        forked(all_from_the_first),
        "all threads start from the same delta",
        SLOW,
    ),
    (ch04.check_leapfrog_backward, forked(from_the_end), "thread j gets deltas[j]", SLOW),
    (ch04.check_leapfrog_backward, children_first, "before the parent had finished its part", SLOW),
    (ch04.check_leapfrog_backward, under_one_lock, "no two threads", SLOW),
    (
        ch04.check_leapfrog_backward,
        another_error,
        "an exception in a thread became RuntimeError",
        SLOW,
    ),
    (ch04.check_leapfrog_backward, lambda parent, children, dZ, walk: None, "never called", SLOW),
    (
        ch04.check_leapfrog_backward,
        joined_until_one_failed,
        "other threads were still at work",
        SLOW,
    ),
    (ch04.check_leapfrog_backward, a_nap_for_a_join, "still at work", SLOW),
    (ch04.check_leapfrog_backward, parent_twice, "the parent's tasks were done 2 times", SLOW),
    (ch04.check_leapfrog_backward, started_before_the_parent, "still waited", SLOW),
    (ch04.check_leapfrog_backward, own_tasks_only, "neither the parent's nor a child's", SLOW),
    (ch04.check_deferred_backward, deferred_badly(timeout=0.05), "a get with a timeout", SLOW),
    (ch04.check_deferred_backward, deferred_badly(own_guard=False), "first join all threads", SLOW),
    (
        ch04.check_deferred_backward,
        deferred_badly(raise_early=True),
        "first join all threads",
        SLOW,
    ),
    (ch04.check_deferred_backward, deferred_badly(joins="first"), "still there", SLOW),
    (ch04.check_deferred_backward, deferred_badly(buffer=True), "one buffer for all deltas", SLOW),
    (ch04.check_deferred_backward, pool_of_k, "one of the k", SLOW),
    (ch04.check_deferred_backward, queued(nones=1), "put in one for each of them", SLOW),
    (ch04.check_deferred_backward, queued(finish=False), "the other threads never learned", SLOW),
    (ch04.check_deferred_backward, queued(helps=False), "its thread must help", SLOW),
    (ch04.check_deferred_backward, queued(keep=False), "an exception was lost", SLOW),
    (ch04.check_deferred_backward, queued(waits="no"), "still there", SLOW),
    (
        ch04.check_deferred_backward,
        queued(place=lambda g, layer, v: g.__setitem__(-layer - 1, v)),
        "in their places",
        SLOW,
    ),
    (
        ch04.check_deferred_backward,
        queued(helpers=lambda k: max(k - 2, 0)),
        "no gradient had begun",
        SLOW,
    ),
    (ch04.check_deferred_backward, with_queue_join, "within 5 s", SLOW),
    (ch04.check_deferred_backward, serial_in_disguise, "before the chain was done", SLOW),
    (ch04.check_deferred_backward, upwards, "the chain goes from L - 1 down to 0", SLOW),
    (
        ch04.check_step_costs,
        costs(leapfrog=lambda k, a, b, c: (a + b + c) / k),
        "Only f3 is shared",
        FAST,
    ),
    (
        ch04.check_step_costs,
        costs(deferred=lambda k, a, b, c: max(b, (b + c) / k)),
        "without the term `f1`",
        FAST,
    ),
    (
        ch04.check_step_costs,
        costs(deferred=lambda k, a, b, c: a + (b + c) / k),
        "the chain is missing",
        FAST,
    ),
    (
        ch04.check_step_costs,
        costs(deferred=lambda k, a, b, c: a + b + (b + c) / k),
        "not their sum",
        FAST,
    ),
    (ch04.check_step_costs, lambda k, a, b, c: a + b + c, "step_costs: ", FAST),
    (ch04.check_makespan, busiest_thread, "the time that a thread waits", FAST),
    (ch04.check_makespan, lambda tasks, fork, f2, f3: sum(f2) + sum(f3), "makespan: ", FAST),
    (ch04.check_smallest_k, papers_formula, "formula of Saraiya 2018", SLOW),
    (ch04.check_smallest_k, lambda *f: 0, "here one is", SLOW),
    (ch04.check_smallest_k, floats, "not the smallest k", SLOW),
    (ch04.check_smallest_k, divides_by_zero, "smallest_k is not right yet", SLOW),
    (ch04.check_smallest_k, lambda f1, f2, f3, wanted: 2.0, "must be a whole number", SLOW),
    (ch04.check_smallest_k, lambda f1, f2, f3, wanted: 7, "not the smallest k", SLOW),
]


@pytest.mark.parametrize(
    ("check", "wrong", "words", "seeds"),
    WRONG,
    ids=[
        f"{getattr(w[0], 'name', getattr(w[0], '__name__', '?'))}-{i}" for i, w in enumerate(WRONG)
    ],
)
def test_a_wrong_answer_of_a_student_is_refused_with_its_cause(check, wrong, words, seeds):
    """Over 20 s of processor for some: the search for a cause tries many known mistakes."""
    for seed in seeds:
        text = told(check, wrong, seed)
        assert words in text, f"seed {seed}: {text}"


def test_the_ghost_at_layer_minus_1_is_found_by_the_check():
    """Without the fence, Python's counts[-1] fills the hole at the last layer: the mistake that chapter 04 is about."""

    def no_fence(tasks, L):
        counts = np.zeros(L, dtype=int)
        for _, kind, layer in tasks:
            if kind == "grad" and layer < L:
                counts[layer] += 1
        return counts

    assert "LAST entry" in told(ch04.check_coverage, no_fence, 1)


def in_floats(saving):
    """smallest_k with the saving of k threads computed in floats."""

    def smallest_k(f1, f2, f3, wanted):
        if wanted >= Fraction(f3, f1 + f2 + f3):
            return 1 if wanted == 0 else 0
        k = 1
        while saving(k, f1, f2, f3) < float(wanted):
            k += 1
        return k

    return smallest_k


@pytest.mark.parametrize(
    "saving",
    [
        lambda k, f1, f2, f3: (1 - 1 / k) * f3 / (f1 + f2 + f3),
        lambda k, f1, f2, f3: (1 - 1 / k) * (f3 / (f1 + f2 + f3)),
        lambda k, f1, f2, f3: f3 / (f1 + f2 + f3) - f3 / (f1 + f2 + f3) / k,
        lambda k, f1, f2, f3: (f3 - f3 / k) / (f1 + f2 + f3),
        lambda k, f1, f2, f3: (k - 1) / k * f3 / (f1 + f2 + f3),
    ],
)
def test_rounded_numbers_are_refused_whatever_is_drawn(saving, monkeypatch):
    monkeypatch.setenv("COURSE_CAUSES", "0")
    for seed in range(30):
        assert "not the smallest k" in told(ch04.check_smallest_k, in_floats(saving), seed)
