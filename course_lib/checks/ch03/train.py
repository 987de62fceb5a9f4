"""The check of a parallel training: equal to serial after every step."""

import threading
from collections import Counter

import numpy as np

from course_lib.checks.ch03.race import Traffic, plain_gradient
from course_lib.checks.ch03.work import (
    LOST_UPDATE,
    as_parts,
    first_row,
    gradient_sum,
    make_batch,
    misses,
)
from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import (
    at,
    cause_of_numbers,
    function_check,
)
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.threads import Meeting, guarded, outcome, require_met, require_told
from course_lib.checks.kit.trees import copied, same


class _Noted:
    """A gradient_sum that notes for each batch what params are when it is first called, and who calls it for what."""

    def __init__(self, rows, T, fault=None, traffic=None):
        self.ends, self.fault = np.cumsum([0, *rows]).tolist(), fault
        self.traffic = traffic
        self.before: dict = {}
        self.calls: list[list] = [[] for _ in rows]
        self.threads: list[set] = [set() for _ in rows]
        self.meetings = [Meeting(min(T, n)) for n in rows]
        self._lock = threading.Lock()

    def __call__(self, params, X, Y):
        if len(X) == 0:
            require(
                False,
                "gradient_sum got no rows",
                cause="a batch smaller than T needs fewer threads: at most len(X), one per row; and in no batch may a "
                "shard be empty, as where sizes are rounded up",
            )
        first = first_row(X)
        i = -1 if first is None else int(np.searchsorted(self.ends, first, side="right")) - 1
        if 0 <= i < len(self.calls):
            with self._lock:
                self.before.setdefault(i, copied(params))
                self.calls[i].append((first, len(X)))
                self.threads[i].add(threading.current_thread())
            if not any(meeting.missed for meeting in self.meetings):
                self.meetings[i].wait()
            if i == self.fault:
                raise ArithmeticError(f"a shard of batch {i} cannot be computed")
        return as_parts(gradient_sum(params, X, Y), self.traffic)


def _serial_steps(params, batches, eta):
    """params after each step of plain gradient descent, float64, without threads."""
    now = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
    after = []
    for X, Y in batches:
        grads = gradient_sum(now, X.astype(np.float64), Y.astype(np.float64))
        now = [
            (W - eta * dW / len(X), b - eta * db / len(X))
            for (W, b), (dW, db) in zip(now, grads, strict=True)
        ]
        after.append(now)
    return after


def _make_batches(rng, rows):
    """(params, pairs (X, Y) of so many rows)."""
    params, X, Y = make_batch(rng, sum(rows))
    ends = np.cumsum([0, *rows]).tolist()
    return params, [(X[a:b], Y[a:b]) for a, b in zip(ends, ends[1:], strict=False)]


def _plain_cases(rng):
    """Trainings without a watch on the threads: even, ragged, with fewer rows than threads, in one thread."""
    cases = []
    for rows, T in (((8,), 3), ((7, 3), 4), ((8, 8, 5), 3), ((2,), 5), ((6, 6), 1)):
        params, batches = _make_batches(rng, rows)
        label = f"T = {T}, batches of {', '.join(map(str, rows))}"
        cases.append(Case((gradient_sum, params, batches, T, 0.2), label))
    return cases


def _trained(fn, gradient_sum, params, batches, T, eta):
    fn(gradient_sum, params, iter(batches), T, eta)
    return params


_NUMBERS = Check(
    "train_parallel",
    _plain_cases,
    lambda gradient_sum, params, batches, T, eta: _serial_steps(params, batches, eta)[-1],
    K=120,
    c=8.0,
    each=("W", "b"),
    may_change=(1,),
    call=_trained,
)


def _check_training(fn, rng, rows, T, eta):
    params, batches = _make_batches(rng, rows)
    first, held, noted, given = copied(params), list(params), _Noted(rows, T), copied(batches)
    steps = _serial_steps(first, batches, eta)
    with at(f"T = {T}, batches of {', '.join(map(str, rows))}"):
        _run(fn, noted, params, batches, T, eta)
        require(same(batches, given), "X or Y of a batch was changed", cause="only read them")
        _check_used(noted, rows, T)
        after = [*(noted.before[i] for i in range(1, len(rows))), copied(params)]
        _check_moved(first, after)
        wrong = [i for i, want in enumerate(steps) if misses(after[i], want, 40 * (i + 1))]
        require(
            not wrong,
            f"after step {min(wrong, default=0) + 1} of {len(rows)} the parameters are not those of serial training",
            cause=cause_of_numbers(_NUMBERS, fn, int(rng.integers(2**31))) if wrong else None,
        )
        _check_hands(noted, rows, T)
        require(
            all(a is b for a, b in zip(sum(held, ()), sum(params, ()), strict=True)),
            "params hold other arrays than before",
            cause="the step must change the arrays themselves, W -= eta * dW: other code that holds the old ones (a "
            "model, another thread) never sees the new ones",
        )


def _run(fn, noted, params, batches, T, eta):
    run = guarded(fn, noted, params, iter(batches), T, eta)
    indexed = isinstance(run.error, TypeError) and "list_iterator" in str(run.error)
    require(
        not indexed,
        f"it stopped with {short_error(run.error) if indexed else ''}",
        cause="batches yields its pairs one after the other, once: walk over it, `for X, Y in batches`. It need not "
        "have a length or an index",
    )
    outcome(run)


def _check_used(noted, rows, T):
    """Was a gradient taken of every batch?"""
    unused = [i for i in range(len(rows)) if not noted.calls[i]]
    cause = "one step for each batch: is a return inside the loop?"
    if len(unused) == 1 and rows[unused[0]] < T:
        cause = (
            f"a batch of {min(rows)} rows made no step: with fewer rows than threads use fewer "
            "threads, but still make the step"
        )
    first = min(unused, default=0)
    require(not unused, f"batch {first + 1} of {len(rows)} got no gradient", cause=cause)


def _check_moved(first, after):
    """Were the caller's arrays changed, and by each step? after: what they held after each."""
    require(
        len(after) == 1 or not same(after[-1], first) or same(after[0], first),
        "the arrays in params are as they were at the beginning",
        cause="the steps were made on different arrays: `params = [...]` or `W = W - ...` makes new ones; W -= eta "
        "* dW changes the caller's",
    )
    require(
        len(after) == 1
        or same(after[-1], first)
        or not all(same(now, first) for now in after[:-1]),
        "all gradients were taken with the parameters as they were before the first step",
        cause="take a batch, make its step, then take the next: each gradient must use the parameters after the "
        "step before",
    )


def _check_hands(noted, rows, T):
    """Did min(T, rows) threads share each batch?"""
    for i, n in enumerate(rows):
        want, got = min(T, n), len(noted.calls[i])
        made = [t for t in noted.threads[i] if t.name != "check"]
        require(
            want == 1 or bool(made),
            "no thread was at work",
            cause="fork_join_gradient takes the gradient, with min(T, rows of the batch) threads",
        )
        require(
            got == want,
            f"batch {i + 1}, of {n} rows, was computed in {got} parts, not in {want}",
            cause=_cause_of_parts(noted.calls[i], want, rows[:i]),
        )
        require_met(
            noted.meetings[i],
            f"parts of batch {i + 1} were computed",
            "each part is waited for before the next one is begun, or a lock is held around it: first start all "
            "threads, then join all",
        )


def _cause_of_parts(calls, want, earlier):
    """Of so many calls of gradient_sum in a batch, not as many as threads are wanted; earlier: the batches' rows."""
    times = set(Counter(calls).values())
    if times == {len(calls) // want} != {1}:
        return (
            f"the gradient of the batch was taken {len(calls) // want} times. Once is enough: fork_join_gradient "
            "returns that of all layers, and after it all of them make the step"
        )
    if len(calls) in earlier:
        return (
            "min(T, rows of this batch) threads: is T changed, and not restored for the next batch?"
        )
    return f"min(T, rows of this batch) threads, here {want}"


def _check_race(fn, rng, rows=(8, 8), T=3, eta=0.2):
    """All was right; is it still, when each write of a worker waits for the others to have read?"""
    params, batches = _make_batches(rng, rows)
    want = _serial_steps(copied(params), batches, eta)[-1]
    noted = _Noted(rows, T, traffic=Traffic())
    outcome(guarded(fn, noted, params, iter(batches), T, eta, stumble=True))
    require(
        not misses(plain_gradient(params), want, 40 * len(rows)),
        "the parameters are wrong when the threads of a step add at the same time",
        where=f"T = {T}, each write of a worker held back until the others have read",
        cause=LOST_UPDATE,
    )


def _check_training_fault(fn, rng):
    params, batches = _make_batches(rng, (6, 6, 6))
    noted = _Noted((6, 6, 6), 2, fault=1)
    run = guarded(fn, noted, params, iter(batches), 2, 0.01)
    require_told(run, "a shard of batch 2")


@function_check("train_parallel", changes=True, slow=True)
def check_train_parallel(fn, *, rng):
    """Equal to serial training after every step, ragged last batches included, even with fewer rows than threads."""
    for rows, T in (((8, 8, 5), 3), ((7, 3, 7), 4), ((7, 7, 2), 5), ((6, 6, 6), 1)):
        _check_training(fn, rng, rows, T, eta=0.2)
    _check_race(fn, rng)
    _check_training_fault(fn, rng)
    return "4 trainings equal to serial after every step; a last batch of 2 rows with 5 threads is fine"
