"""The check of a shared sum: the race is forced."""

import threading

import numpy as np

from course_lib.checks.ch03.race import Traffic, shared
from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.threads import (
    JOIN_MISSING,
    Meeting,
    cause_of_early_stop,
    guarded,
    outcome,
    require_met,
)


def _lost_shards(got, start, parts):
    """Which parts are missing from got, if that explains it."""
    T = len(parts)
    for mask in range(1 << T):
        chosen = [t for t in range(T) if mask >> t & 1]
        if np.array_equal(got, start + sum((parts[t] for t in chosen), np.zeros_like(start))):
            return [t for t in range(T) if t not in chosen]
    return None


def _race_cause(got, start, parts, wrote):
    """Why total is wrong. wrote: the shards whose threads have come to a write of it."""
    right, T = start + sum(parts), len(parts)
    if _lost_shards(got, np.zeros_like(start), parts) is not None:
        return "the old content of total is lost: add to it"
    if np.allclose(got, right, rtol=1e-5, atol=0):
        return "right to seven digits: the parts were stored in an array of another dtype, as float32; they are float64"
    lost = _lost_shards(got, start, parts)
    if lost is None:
        return _repeated_cause(got, start, parts) or _partly_lost(got, start, parts)
    if len(lost) == T:
        return (
            "nothing was added to total itself: total = total + ... makes a new array, and so does a return of the "
            "sum; write total += ... or total[:] = ..."
        )
    which = f"the part of shard {' and '.join(map(str, lost))} is gone"
    if not wrote.issuperset(lost):
        return f"{which}: it was computed, and never added"
    return (
        f"a lost update: {which}. Two threads read total before either wrote it, and the one that writes last "
        "wins. Either ONE lock, made before the threads and shared by all, around read, add and write; or, "
        "better, a separate place for each part, added up after the join"
    )


def _repeated_cause(got, start, parts):
    """The same added T times?"""
    T = len(parts)
    if T > 1 and _lost_shards((got - start) / T, np.zeros_like(start), parts) is not None:
        return (
            f"the same numbers are added {T} times: either all threads write into one array ([array] * T is a list of "
            "one array, T times), or a loop adds one and the same in each round"
        )
    return None


def _partly_lost(got, start, parts):
    """Does each entry lack some parts, not all the same ones?"""
    each = [
        _lost_shards(got[i : i + 1], start[i : i + 1], [p[i : i + 1] for p in parts])
        for i in range(len(got))
    ]
    if None in each or any(len(lost) == len(parts) for lost in each):
        return None  # the one that writes last is never lost
    return (
        "a lost update: of some entries only. Two threads read the same number, and the one that writes last "
        "wins: guard the whole of read, add and write, with ONE lock for all threads, or keep parts apart"
    )


def _check_end(run, right):
    """How did it end: with all threads joined, and no error?"""
    unbound = (e for e in (*run.faults, run.error) if isinstance(e, UnboundLocalError))
    local = next((e for e in unbound if "'total'" in str(e)), None)
    require(
        local is None,
        f"it stopped with {short_error(local) if local else ''}",
        cause="`total += ...` or `total = ...` inside a function makes the name total its own, without a value: "
        "total[:] += ... writes into the array of the one outside",
    )
    require(
        right or not run.busy,
        f"{run.busy} of your threads were still there when it had ended"
        + (f" (with {short_error(run.error)})" if run.error else ""),
        cause=cause_of_early_stop(run.error)
        if run.error
        else f"{JOIN_MISSING} (a pool: use it in a `with`)",
    )
    outcome(run)


def _check_shared_sum(fn, rng, T, n):
    start = rng.integers(-9, 9, n).astype(np.float64)
    parts = [rng.integers(1, 99, n) * 2.0**t + rng.integers(1, 99, n) * 2.0**-34 for t in range(T)]
    traffic, meeting, asked, by = Traffic(), Meeting(T), list[int](), {}

    def part_of(t):
        asked.append(t)
        by[t] = threading.current_thread()
        traffic.enter()
        meeting.wait()
        return parts[t].copy()

    total = shared(start, traffic)
    run = guarded(
        fn, part_of, T, total, watch=lambda: np.array(total).view(np.ndarray), stumble=True
    )
    got, right = run.noted, np.array_equal(run.noted, start + sum(parts))
    _check_end(run, right)
    lost = [t for t in range(T) if t not in asked]
    require(
        not lost,
        f"part_of({min(lost, default=0)}) was never called",
        cause="one part and one thread for each t from 0 to T - 1; pass t to a function made in a loop",
    )
    require(
        len(traffic.workers) >= min(T, 2),
        f"all {T} parts were computed by one thread",
        cause="one thread for each part: Thread(target=work, args=(t,)), without calling work",
    )
    require_met(
        meeting,
        "parts were computed",
        "part_of(t) is called while the lock is held, or a thread is joined before the next is started, or before the "
        "caller's own part: only the addition needs the lock, and the join comes last",
    )
    require(
        right,
        f"total is wrong in {int((got != start + sum(parts)).sum())} of {n} entries",
        where=f"{T} threads",
        got=str(got[:4].tolist()),
        wanted=str((start + sum(parts))[:4].tolist()),
        cause=None
        if right
        else _race_cause(got, start, parts, {t for t in by if by[t] in traffic.writes}),
    )


@function_check("shared_sum", slow=True)
def check_shared_sum(fn, *, rng):
    """Nothing is lost when all threads read total before any of them writes."""
    for T, n in ((2, 5), (3, 4), (1, 3), (5, 3), (5, 3), (9, 3)):
        _check_shared_sum(fn, rng, T, n)
    return "no update lost, though each write waits a moment for the other threads to read"
