"""The check of the budget, workers times BLAS threads."""

import functools
import threading
import time
from contextlib import contextmanager

import numpy as np

from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import at, cause_of_numbers, function_check
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.threads import (
    HELD_BACK,
    Meeting,
    come_late,
    guarded,
    likely_again,
    outcome,
    require_met,
    require_told,
)


class _Blas:
    """Stands for a BLAS: one number of threads for the whole process, set by the context manager `pin`."""

    def __init__(self, threads, workers):
        self.threads, self.pins, self.by, self.made = threads, [], [], 0
        self.few = workers > threads  # fewer cores than workers

    def pin(self, n):
        """As measure.blas_threads: `with pin(n):` gives n threads inside."""
        require(
            isinstance(n, (int, np.integer)),
            "pin got a number of threads that is not whole",
            got=repr(n),
            cause="/ gives a float, and so do np.floor and np.ceil: cores // workers is whole",
        )
        require(
            n >= 1,
            f"pin({n}): a BLAS cannot work with {n} threads",
            cause="more workers than cores make cores // workers zero: max(1, ...)"
            if self.few and n == 0
            else "each worker has cores // workers threads, and at least one",
        )
        self.made += 1
        return _Pin(self, int(n))


class _Pin:
    """No generator: one that is thrown away would put the old number back by itself."""

    def __init__(self, blas, n):
        self.blas, self.n, self.old = blas, n, None

    def __enter__(self):
        time.sleep(3 * HELD_BACK)  # a worker that runs already now begins, and sees the old number
        self.old, self.blas.threads = self.blas.threads, self.n
        self.blas.pins.append(self.n)
        self.blas.by.append(threading.current_thread())
        return self.n

    def __exit__(self, *error):
        self.blas.threads = self.old


class _Calls:
    """The list of calls for run_pinned, and what was seen in them: BLAS threads at the start and after the meeting."""

    def __init__(self, blas, workers, fault=None, slow=None, nothing=None):
        self.blas, self.fault, self.slow = blas, fault, slow
        self.results = [None if t == nothing else 10 * t + 1 for t in range(workers)]
        self.meeting, self.seen, self.made, self.ended = Meeting(workers), [], [0] * workers, 0
        self.list = [functools.partial(self._call, t) for t in range(workers)]

    def _call(self, t):
        self.made[t] += 1
        self.seen.append(self.blas.threads)
        self.meeting.wait()
        try:
            if t == self.slow:
                come_late()
            self.seen.append(self.blas.threads)
            if t == self.fault:
                raise ArithmeticError(f"call {t} failed")
            return self.results[t]
        finally:
            self.ended += 1

    def unfinished(self):
        return len(self.made) - self.ended


def _check_entered(blas, workers, cores):
    """Was pin entered, and by the caller?"""
    require(
        bool(blas.pins) or not blas.made,
        "pin(n) was called, but not in a `with` statement",
        cause="a context manager does nothing until you enter it: `with pin(n):` around the fork and the join",
    )
    require(
        bool(blas.pins),
        f"pin was never called: every worker's products use all BLAS threads, {workers * cores} in all",
        cause="oversubscription. `with pin(...):` around the fork and the join"
        if workers > 1
        else "one call, too, is made inside of `with pin(...):`",
    )
    inside = [t for t in blas.by if t.name != "check"]
    require(
        not inside,
        f"pin was called by {len(inside)} of the workers",
        cause="the number of BLAS threads is one setting for the whole process: the worker that leaves first "
        "resets it for all. Set it once, by the caller, around fork and join",
    )


def _check_pins(fn, blas, workers, cores, seen):
    _check_entered(blas, workers, cores)
    budget = max(1, cores // workers)
    require(
        set(blas.pins) != {budget} or len(blas.pins) == 1,
        f"pin was entered {len(blas.pins)} times",
        cause="once is enough: one `with pin(...):` around both fork and join",
    )
    right = blas.pins == [budget]
    require(
        right,
        f"pin({blas.pins[0]}): {workers} workers times {blas.pins[0]} BLAS threads are {workers * blas.pins[0]}",
        got=str(blas.pins),
        wanted=str([budget]),
        cause=None if right else cause_of_numbers(_BUDGETS, fn, 0),
    )
    require(
        all(n == budget for n in seen),
        "the pin did not hold while the workers ran",
        got=str(sorted(set(seen))),
        wanted=str([budget]),
        cause="fork and join must both be inside the `with`: before it and after it the old setting applies",
    )


BUDGETS = ((2, 8), (3, 8), (1, 6), (4, 4), (9, 3))  # workers, cores


def _pins_of(fn, workers, cores):
    """The numbers that it pins, of workers that do nothing."""
    pins = []

    @contextmanager
    def pin(n):
        pins.append(n)
        yield n

    fn([int] * workers, cores, pin)
    return pins


_BUDGETS = Check(
    "run_pinned",
    lambda rng: [Case(budget, f"{budget[0]} workers, {budget[1]} cores") for budget in BUDGETS],
    lambda workers, cores: [max(1, cores // workers)],
    dtype=None,
    call=_pins_of,
)


def _check_pinned_run(fn, workers, cores, nothing=None):
    blas = _Blas(cores, workers)
    calls = _Calls(blas, workers, slow=0, nothing=nothing)
    special = "" if nothing is None else f", call {nothing} returns None"
    with at(f"{workers} workers on {cores} cores{special}"):
        got = _run(fn, blas, calls, cores, nothing)
        _check_each_once(calls)
        _check_pins(fn, blas, workers, cores, calls.seen)
        want = calls.results
        require(
            isinstance(got, (list, tuple))
            and len(got) == workers
            and all(map(_is_number, got, want)),
            "the results are not those of the calls, in their order",
            str(got)[:200],
            wanted=str(want),
            cause=_results_cause(got, want),
        )
        require(
            blas.threads == cores,
            f"afterwards BLAS has {blas.threads} threads, before it had {cores}",
            cause="`with pin(n):` restores the old number at its end",
        )


def _run(fn, blas, calls, cores, nothing):
    given = list(calls.list)
    run = guarded(fn, given, cores, blas.pin, watch=calls.unfinished)
    require(
        run.error is not None or not run.at_work,
        f"it returned while {run.at_work} of its threads were still at work",
        cause="join them all, inside the `with`: a sleep does not replace a join",
    )
    require(
        run.error is None or nothing is None,
        f"it stopped with {short_error(run.error) if run.error else ''}",
        cause="None is a result like any other: only an exception means that a call has failed",
    )
    got = outcome(run)
    require(
        same_calls(given, calls.list),
        "the list of calls was changed",
        cause="it belongs to the caller: only read it",
    )
    return got


def same_calls(given, calls):
    """Are these the same objects in the same order?"""
    return len(given) == len(calls) and all(a is b for a, b in zip(given, calls, strict=True))


def _check_each_once(calls):
    lost = [t for t, n in enumerate(calls.made) if not n]
    again = [t for t, n in enumerate(calls.made) if n > 1]
    first = min(again, default=0)
    require(
        not again,
        f"call {first} was made {calls.made[first]} times",
        likely=likely_again(calls.made, "call"),
    )
    require(
        not lost,
        f"call {min(lost, default=0)} was never made",
        cause="is there a thread for each, and is it started?",
    )
    require_met(
        calls.meeting,
        "calls ran",
        "each has ended before the next one begins, as in a loop of the caller's, with Thread(target=call()), which "
        "calls here and now, with a join or result() in the loop that starts the threads, or with a lock around the "
        "call: first start all, then join all",
        "one thread for each call, also where there are more calls than cores: start all of them before the first "
        "join (a pool: as many threads as calls)",
    )


def _is_number(got, want):
    if want is None:
        return got is None
    return np.ndim(got) == 0 and isinstance(got, (int, float, np.number)) and got == want


def _results_cause(got, want):
    if got is None:
        return "end with `return` and the list of results"
    if isinstance(got, (list, tuple)) and sorted(map(str, got)) == sorted(map(str, want)):
        return (
            "they are in another order: append adds in the order in which threads end, and insert(0, ...) in reverse; "
            "results[t] = ... keeps the order of the calls"
        )
    if isinstance(got, (list, tuple)) and any(hasattr(item, "result") for item in got):
        return "these are futures: each one's .result() is what its call returned"
    if isinstance(got, list) and len(got) < len(want) and got == [r for r in want if r is not None]:
        return "a result that is None was left out: None is a result like any other"
    return None


@function_check("run_pinned", slow=True)
def check_run_pinned(fn, *, rng):
    """Each worker gets cores // workers BLAS threads, set once by the caller, and put back, after a fault as well."""
    for workers, cores in BUDGETS:
        _check_pinned_run(fn, workers, cores)
    _check_pinned_run(fn, 2, 8, nothing=1)
    for fault in (0, 1):
        blas = _Blas(6, 2)
        calls = _Calls(blas, 2, fault=fault, slow=1 - fault)
        run = guarded(fn, calls.list, 6, blas.pin, watch=calls.unfinished)
        require_told(run, f"call {fault}")
        require(
            blas.threads == 6,
            f"after a fault in a worker BLAS has {blas.threads} threads, before it had 6",
            cause="`with pin(n):` restores the old number even when an exception passes",
        )
    return "5 budgets kept, the setting restored each time, also after a fault"
