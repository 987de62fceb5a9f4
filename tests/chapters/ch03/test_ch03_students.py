"""The checks of chapter 03 against what students write: refused with the cause, whatever the seed."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest

from course_lib.checks import ch03
from course_lib.checks.kit.core import CheckFailed
from course_lib.threads import fork_join, shards


def told(check, wrong, seed):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return " ".join(str(failure.value).split())


def run_all(calls, join=Thread.join, start=Thread.start):
    made = [Thread(target=call) for call in calls]
    for thread in made:
        start(thread)
    for thread in made:
        join(thread)


def mean(sums, B):
    return [
        (sum(dW for dW, _ in layer) / B, sum(db for _, db in layer) / B)
        for layer in zip(*sums, strict=True)
    ]


def by_fractions(B, T):
    return [slice(int(t * B / T), int((t + 1) * B / T)) for t in range(T)]


def by_array_split(B, T):
    return np.array_split(np.arange(B), T)


def empty_last(B, T):
    size = max(1, round(B / T))
    return [slice(t * size, B if t == T - 1 else (t + 1) * size) for t in range(T)]


def average_of_sums(sums, sizes):
    return [
        tuple(np.average([g[layer][p] for g in sums], axis=0, weights=sizes) for p in (0, 1))
        for layer in range(len(sums[0]))
    ]


def mean_of_sums(sums, sizes):
    return [
        tuple(np.mean([g[layer][p] for g in sums], axis=0) for p in (0, 1))
        for layer in range(len(sums[0]))
    ]


def by_the_last_shard(sums, sizes):
    return mean(sums, sizes[-1])


def fork(join=Thread.join, start=Thread.start, calls=None, store=None, give=mean):
    """A fork-join gradient with one piece replaced."""

    def gradient(gradient_sum, params, X, Y, T):
        rows, sums = shards(len(X), T), [None] * T

        def work(t):
            part = gradient_sum(params, X[rows[t]], Y[rows[t]])
            if store:
                store(sums, t, part)
            else:
                sums[t] = part

        run_all(
            (calls or (lambda work, T: [lambda t=t: work(t) for t in range(T)]))(work, T),
            join,
            start,
        )
        return give(sums, len(X))

    return gradient


def late_lambdas(work, T):
    return [lambda: work(t) for t in range(T)]  # noqa: B023


def swap(sums, t, part):
    sums[0] = (
        part
        if sums[0] is None
        else [(a + b, c + d) for (a, c), (b, d) in zip(sums[0], part, strict=True)]
    )


def pool_of_one(gradient_sum, params, X, Y, T):
    rows = shards(len(X), T)
    with ThreadPoolExecutor(1) as pool:
        sums = list(pool.map(lambda s: gradient_sum(params, X[s], Y[s]), rows))
    return mean(sums, len(X))


def futures_without_result(gradient_sum, params, X, Y, T):
    rows, sums = shards(len(X), T), [[(0 * W, 0 * b) for W, b in params]] * T

    def work(t):
        sums[t] = gradient_sum(params, X[rows[t]], Y[rows[t]])

    with ThreadPoolExecutor(T) as pool:
        for t in range(T):
            pool.submit(work, t)
    return mean(sums, len(X))


def one_example_left(gradient_sum, params, X, Y, T):
    return fork()(gradient_sum, params, X[:-1], Y[:-1], T)


def serial_after_all(gradient_sum, params, X, Y, T):
    return mean([gradient_sum(params, X[s], Y[s]) for s in shards(len(X), T)], len(X))


def whole_batch_at_once(gradient_sum, params, X, Y, T):
    return mean([gradient_sum(params, X, Y)], len(X))


def reduce_to_zero_first(partials, out, t, B):
    s = shards(partials.shape[1], len(partials))[t]
    out[:] = 0
    for row in partials:
        out[s] += row[s] / B


def reduce_transposed(partials, out, t, B):
    out[t] = partials[:, t].sum() / B


def reduce_by_examples(partials, out, t, B):
    s = shards(partials.shape[1], len(partials))[t]
    out[s] = partials[:, s].sum(axis=0) * len(partials) / B


def sums(write, lock=None):
    def shared_sum(part_of, T, total):
        run_all([lambda t=t: write(total, part_of(t), t) for t in range(T)])

    return shared_sum


def a_lock_of_its_own(total, part, t):
    with threading.Lock():
        total += part


LOCKS = [threading.Lock() for _ in range(8)]


def a_lock_for_each_thread(total, part, t):
    with LOCKS[t]:
        total += part


def first_thread_only(part_of, T, total):
    run_all([lambda: total.__iadd__(part_of(0))])


def no_thread_at_all(part_of, T, total):
    for t in range(T):
        total += part_of(t)


def a_returned_sum(part_of, T, total):
    parts = [None] * T
    run_all([lambda t=t: parts.__setitem__(t, part_of(t)) for t in range(T)])
    return total + sum(parts)


def amdahl(B, T, c, s, o):
    f = s / (B * c + s)
    speedup = 1 / (f + (1 - f) / T)
    return speedup, speedup / T


def gustafson(B, T, c, s, o):
    one, many = T * (B * c) + s, B * c + s + o * T * (T > 1)
    return one / many, one / many / T


def only_speedup(B, T, c, s, o):
    return (B * c + s) / (-(-B // T) * c + s + o * T * (T > 1))


def pick_by_efficiency(B, cores, seconds):
    return max(range(1, min(B, cores) + 1), key=lambda T: seconds(B, 1) / seconds(B, T) / T)


def pick_until_half(B, cores, seconds):
    best = 1
    for T in range(2, min(B, cores) + 1):
        if seconds(B, 1) / seconds(B, T) / T >= 0.5:
            best = T
    return best


def pin_without_with(calls, cores, pin):
    pin(max(1, cores // len(calls)))
    return pinned(calls)


def pinned(calls):
    results = [None] * len(calls)
    run_all([lambda t=t: results.__setitem__(t, calls[t]()) for t in range(len(calls))])
    return results


def pin_to_one_in_each(calls, cores, pin):
    def work(t):
        with pin(1):
            return calls[t]()

    return pinned([lambda t=t: work(t) for t in range(len(calls))])


def pin_after(calls, cores, pin):
    results = pinned(calls)
    with pin(max(1, cores // len(calls))):
        return results


def train(step):
    def train_parallel(gradient_sum, params, batches, T, eta):
        for X, Y in batches:
            grads = fork()(gradient_sum, params, X, Y, min(T, len(X)))
            step(params, grads, eta, len(X))

    return train_parallel


def weights_only(params, grads, eta, B):
    for (W, _), (dW, _) in zip(params, grads, strict=True):
        W -= eta * dW


def list_replaced(params, grads, eta, B):
    params[:] = [
        (W + eta * dW, b + eta * db) for (W, b), (dW, db) in zip(params, grads, strict=True)
    ]


def sums_not_means(params, grads, eta, B):
    for pair, dpair in zip(params, grads, strict=True):
        for p, dp in zip(pair, dpair, strict=True):
            p -= eta * B * dp


def hogwild(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        n = min(T, len(X))

        def work(s, X=X, Y=Y, n=n):
            for (W, b), (dW, db) in zip(params, gradient_sum(params, X[s], Y[s]), strict=True):
                W -= eta * dW / len(X[s])
                b -= eta * db / len(X[s])

        run_all([lambda s=s, work=work: work(s) for s in shards(len(X), n)])


def two_sections(part_of, T, total):
    lock = threading.Lock()

    def work(t):
        part = part_of(t)
        with lock:
            new = total + part
        with lock:
            total[:] = new

    run_all([lambda t=t: work(t) for t in range(T)])


def local_total(part_of, T, total):
    def work(t):
        part = part_of(t)
        total += part  # noqa: F823, F841

    run_all([lambda t=t: work(t) for t in range(T)])


def raises_at_the_first_join(calls):
    """Runs the calls; as soon as a joined thread has failed it raises, and does not wait for the others."""
    results, faults = [None] * len(calls), []

    def work(t):
        try:
            results[t] = calls[t]()
        except Exception as fault:
            faults.append(fault)

    made = [Thread(target=work, args=(t,)) for t in range(len(calls))]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()
        if faults:
            raise faults[0]
    return results


def fork_raises_early(gradient_sum, params, X, Y, T):
    cuts = shards(len(X), T)
    return mean(
        raises_at_the_first_join([lambda s=s: gradient_sum(params, X[s], Y[s]) for s in cuts]),
        len(X),
    )


def pinned_raises_early(calls, cores, pin):
    with pin(max(1, cores // len(calls))):
        return raises_at_the_first_join(calls)


def forked_before_the_pin(calls, cores, pin):
    results = [None] * len(calls)
    made = [
        Thread(target=lambda t=t: results.__setitem__(t, calls[t]())) for t in range(len(calls))
    ]
    for thread in made:
        thread.start()
    with pin(max(1, cores // len(calls))):
        for thread in made:
            thread.join()
    return results


def another_error(calls, cores, pin):
    with pin(max(1, cores // len(calls))), ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(call) for call in calls]
    if any(future.exception() for future in futures):
        raise RuntimeError("failed")
    return [future.result() for future in futures]


def calls_emptied(calls, cores, pin):
    with pin(max(1, cores // len(calls))), ThreadPoolExecutor(len(calls)) as pool:
        futures = [pool.submit(calls.pop(0)) for _ in range(len(calls))]
    return [future.result() for future in futures]


def twice(calls, cores, pin):
    with pin(max(1, cores // len(calls))), ThreadPoolExecutor(len(calls)) as pool:
        return [pool.submit(call).result() or pool.submit(call).result() for call in calls]


def a_sleep_for_a_join(thread):
    time.sleep(0.1)


def every_tth_entry(partials, out, t, B):
    out[t :: len(partials)] = partials[:, t :: len(partials)].sum(axis=0) / B


def floor_cuts(partials, out, t, B):
    T, n = partials.shape
    out[t * n // T : (t + 1) * n // T] = partials[:, t * n // T : (t + 1) * n // T].sum(axis=0) / B


def library_step(gradient_sum, params, X, Y, T, eta):
    for pair, dpair in zip(params, fork()(gradient_sum, params, X, Y, T), strict=True):
        for p, dp in zip(pair, dpair, strict=True):
            p -= eta * dp


def trains_alone(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        for (W, b), (dW, db) in zip(params, gradient_sum(params, X, Y), strict=True):
            W -= eta * dW / len(X)
            b -= eta * db / len(X)


def trains_with_fewer_and_fewer(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        T = min(T, len(X))
        library_step(gradient_sum, params, X, Y, T, eta)


def trains_new_arrays(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        grads = fork()(gradient_sum, params, X, Y, min(T, len(X)))
        params[:] = [
            (W - eta * dW, b - eta * db) for (W, b), (dW, db) in zip(params, grads, strict=True)
        ]


def trains_arrays_of_its_own(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        grads = fork()(gradient_sum, params, X, Y, min(T, len(X)))
        params = [
            (W - eta * dW, b - eta * db) for (W, b), (dW, db) in zip(params, grads, strict=True)
        ]


def threads_without_names(gradient_sum, params, X, Y, T):
    for thread in [Thread(gradient_sum, (params, X[s], Y[s])) for s in shards(len(X), T)]:
        thread.start()


def mean_over_threads(partials, out, t, B):
    s = shards(partials.shape[1], len(partials))[t]
    out[s] = partials[:, s].mean(axis=0) / B


def one_row_more(B, T, c, s, o):
    one, many = B * c + s, (B // T + 1) * c + s + (o * T if T > 1 else 0)
    return one / many, one / many / T


def trains_and_hides_faults(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        try:
            grads = pinned(
                [
                    lambda s=s, X=X, Y=Y: _or_none(gradient_sum, params, X[s], Y[s])
                    for s in shards(len(X), min(T, len(X)))
                ]
            )
            for pair, dpair in zip(params, mean(grads, len(X)), strict=True):
                for p, dp in zip(pair, dpair, strict=True):
                    p -= eta * dp
        except Exception:
            continue


def _or_none(gradient_sum, *args):
    try:
        return gradient_sum(*args)
    except Exception:
        return None


def trains_and_decays(gradient_sum, params, batches, T, eta):
    for X, Y in batches:
        for W, _ in params:
            W -= eta * 1e-3 * W
        library_step(gradient_sum, params, X, Y, min(T, len(X)), eta)


WRONG = [
    (ch03.check_shared_sum, two_sections, "a lost update"),
    (ch03.check_shared_sum, local_total, "total[:] +="),
    (ch03.check_fork_join_gradient, fork_raises_early, "join all threads first"),
    (ch03.check_fork_join_gradient, fork(join=a_sleep_for_a_join), "still at work"),
    (ch03.check_run_pinned, pinned_raises_early, "join all threads first"),
    (ch03.check_run_pinned, forked_before_the_pin, "the pin did not hold"),
    (ch03.check_run_pinned, another_error, "RuntimeError: failed instead"),
    (ch03.check_run_pinned, calls_emptied, "the list of calls was changed"),
    (ch03.check_run_pinned, twice, "no two calls ran"),
    (ch03.check_reduce_slice, every_tth_entry, "thread"),
    (ch03.check_reduce_slice, floor_cuts, "shards(n, T)[t]"),
    (ch03.check_train_parallel, trains_alone, "no thread was at work"),
    (ch03.check_train_parallel, trains_with_fewer_and_fewer, "is T changed"),
    (ch03.check_train_parallel, trains_new_arrays, "params hold other arrays"),
    (
        ch03.check_train_parallel,
        trains_arrays_of_its_own,
        "the steps were made on different arrays",
    ),
    (ch03.check_fork_join_gradient, threads_without_names, "both names must be written"),
    (
        ch03.check_fork_join_gradient,
        fork(give=lambda sums, B: sum([slice(B)])),
        "combine expects the numbers of rows",
    ),
    (ch03.check_reduce_slice, mean_over_threads, "divided by B and by T"),
    (ch03.check_predict_speedup, one_row_more, "one too many where it divides evenly"),
    (ch03.check_train_parallel, trains_and_hides_faults, "the caller never saw it"),
    (ch03.check_train_parallel, trains_and_decays, "after step 1"),
    (ch03.check_shards, by_fractions, "the larger shards come first"),
    (ch03.check_shards, by_array_split, "an entry of the list is not a slice"),
    (ch03.check_shards, empty_last, "sizes may differ by one"),
    (ch03.check_combine, average_of_sums, "weighted by its size"),
    (ch03.check_combine, mean_of_sums, "divided by T"),
    (ch03.check_combine, by_the_last_shard, "the size of one shard"),
    (ch03.check_fork_join_gradient, fork(join=lambda thread: thread.join(0.001)), "still at work"),
    (ch03.check_fork_join_gradient, fork(join=lambda thread: time.sleep(0.01)), "still at work"),
    (ch03.check_fork_join_gradient, fork(start=Thread.run), "no two shards"),
    (ch03.check_fork_join_gradient, fork(calls=late_lambdas), "reads the loop's variable"),
    (ch03.check_fork_join_gradient, fork(store=swap), "its own place"),
    (
        ch03.check_fork_join_gradient,
        fork(give=lambda sums, B: mean(sums, len(sums))),
        "divided by T",
    ),
    (
        ch03.check_fork_join_gradient,
        fork(give=lambda sums, B: mean(sums[1:], B)),
        "the part of shard 0 is missing",
    ),
    (
        ch03.check_fork_join_gradient,
        fork(give=lambda sums, B: mean([*sums, sums[0]], B)),
        "shard 0 is counted twice",
    ),
    (ch03.check_fork_join_gradient, fork(give=lambda sums, B: None), "None"),
    (ch03.check_fork_join_gradient, fork(), "ends only its own thread"),
    (ch03.check_fork_join_gradient, pool_of_one, "no two shards"),
    (ch03.check_fork_join_gradient, serial_after_all, "no two shards"),
    (ch03.check_fork_join_gradient, futures_without_result, "the caller never saw it"),
    (ch03.check_fork_join_gradient, whole_batch_at_once, "was never computed"),
    (ch03.check_reduce_slice, reduce_to_zero_first, "not even zeros"),
    (ch03.check_reduce_slice, reduce_transposed, "T, n = partials.shape"),
    (ch03.check_reduce_slice, reduce_by_examples, "divided by B/T"),
    (ch03.check_shared_sum, sums(a_lock_of_its_own), "ONE lock, made before the threads"),
    (ch03.check_shared_sum, sums(a_lock_for_each_thread), "ONE lock, made before the threads"),
    (ch03.check_shared_sum, first_thread_only, "part_of(1) was never called"),
    (ch03.check_shared_sum, no_thread_at_all, "computed by one thread"),
    (ch03.check_shared_sum, a_returned_sum, "makes a new array"),
    (ch03.check_predict_speedup, amdahl, "predict_speedup"),
    (ch03.check_predict_speedup, gustafson, "predict_speedup"),
    (ch03.check_predict_speedup, only_speedup, "efficiency"),
    (ch03.check_pick_threads, pick_by_efficiency, "not the quickest"),
    (ch03.check_pick_threads, pick_until_half, "not the quickest"),
    (ch03.check_run_pinned, pin_without_with, "not in a `with`"),
    (ch03.check_run_pinned, pin_to_one_in_each, "one setting for the whole process"),
    (ch03.check_run_pinned, pin_after, "both be inside"),
    (ch03.check_train_parallel, train(weights_only), "b of layer 0 is not updated"),
    (ch03.check_train_parallel, train(list_replaced), "after step 1"),
    (ch03.check_train_parallel, train(sums_not_means), "not divided by the number of examples"),
    (ch03.check_train_parallel, hogwild, "after step 1"),
]


@pytest.mark.parametrize(
    ("check", "wrong", "words"), WRONG, ids=[f"{i}-{w[1].__name__}" for i, w in enumerate(WRONG)]
)
def test_a_wrong_answer_of_a_student_is_refused_with_its_cause(check, wrong, words):
    threaded = check in (
        ch03.check_fork_join_gradient,
        ch03.check_shared_sum,
        ch03.check_run_pinned,
        ch03.check_train_parallel,
    )
    for seed in (
        (1,) if threaded else range(1, 11)
    ):  # the inputs hardly matter to the threads, and they take time
        text = told(check, wrong, seed)
        assert words in text, f"seed {seed}: {text}"


@pytest.mark.parametrize("name", [name for name in vars(ch03) if name.startswith("check_")])
def test_what_is_no_function_is_refused_and_breaks_nothing(name):
    for value in (None, 3, [1, 2]):
        with pytest.raises(CheckFailed):
            getattr(ch03, name)(value, seed=1)


def test_odd_results_are_refused_and_break_nothing():
    assert "not the quickest" in told(
        ch03.check_pick_threads, lambda B, cores, seconds: (seconds(B, 1), 1), 1
    )
    arrays = lambda calls, cores, pin: tuple(np.ones(2) for _ in calls)  # noqa: E731
    assert "was never made" in told(ch03.check_run_pinned, arrays, 1)


def test_batches_may_be_taken_ahead(capsys):
    def train_parallel(gradient_sum, params, batches, T, eta):
        for X, Y in list(batches):
            cuts = shards(len(X), min(T, len(X)))
            sums = fork_join([lambda s=s, X=X, Y=Y: gradient_sum(params, X[s], Y[s]) for s in cuts])
            for pair, dpair in zip(params, mean(sums, len(X)), strict=True):
                for p, dp in zip(pair, dpair, strict=True):
                    p -= eta * dp

    ch03.check_train_parallel(train_parallel, seed=1)
    assert "✔" in capsys.readouterr().out
