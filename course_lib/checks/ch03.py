"""The checks of chapter 03: shards, partial sums, fork and join, reduction, races, cost models, BLAS threads."""

import math
import threading

import numpy as np

from .ch03_guard import Meeting, guarded, outcome, value_of
from .ch03_race import Traffic, shared
from .ch03_work import (
    Workers,
    added,
    alike,
    explain_gradient,
    gradient_sum,
    make_batch,
    misses,
    scaled,
    sums_of_shards,
)
from .core import Case, Check, normal, poison, property_check, ragged, require
from .probe import short_error, students_line
from .trees import a_thing, copied, same

# 1. shards ------------------------------------------------------------------------------------------------------


def _as_slices(got, B, T):
    """The slices as (start, stop) pairs of whole numbers, or a failure that says what they are instead."""
    require(got is not None, "shards returned None", cause="end with `return` and the list of slices")
    require(isinstance(got, (list, tuple)), "the result must be a list of slices", got=a_thing(got))
    wrong = [item for item in got if not isinstance(item, slice)]
    require(not wrong, "an entry of the list is no slice", got=a_thing(wrong[0]) if wrong else None,
            cause="slice(start, stop), so that X[s] and Y[s] are views and nothing is copied")
    whole = all(isinstance(end, (int, np.integer)) for s in got for end in (s.start, s.stop))
    require(whole, "a slice must have a whole number as start and as stop", got=str(got),
            cause="// divides whole numbers; / gives a float, and a slice of floats cannot cut an array")
    require(all(s.step in (None, 1) for s in got), "the shards must be contiguous, without a step", got=str(got),
            cause="every T-th row is a partition, too, but its rows do not lie together in memory")
    require(len(got) == T, f"{len(got)} shards for B = {B}, T = {T}: there must be one for each thread",
            cause="T threads, T shards; [000] algorithm 3 has B/T of them in print, a slip")
    return [(int(s.start), int(s.stop)) for s in got]


def _check_cover(pairs, B, T):
    rows = [r for a, b in pairs for r in range(a, b)]
    lost, twice = sorted(set(range(B)) - set(rows)), sorted({r for r in rows if rows.count(r) > 1})
    where = f"B = {B}, T = {T}: {', '.join(f'{a} to {b - 1}' for a, b in pairs)}"
    require(not twice, f"{len(twice)} rows are in two shards, the first is row {min(twice, default=0)}", where=where,
            cause="stop is not included in a slice: the next shard begins at stop, not before it")
    rest = f"B // T = {B // T} rows for each thread leave B % T = {B % T} over: somebody must take them"
    require(not lost, f"{len(lost)} of {B} rows are in no shard, the first is row {min(lost, default=0)}", where=where,
            cause=rest if len(lost) == B % T else "stop is not included in a slice: the next shard begins at stop")
    require(rows == list(range(B)), "the shards are not in order, or go beyond the batch", where=where)
    sizes = [b - a for a, b in pairs]
    uneven = f"shards of {min(sizes)} and of {max(sizes)} rows: sizes may differ by one"
    require(max(sizes) - min(sizes) <= 1, uneven, where=where, cause=_uneven_cause(sizes, B, T))
    require(sizes == sorted(sizes, reverse=True), "the larger shards come first", where=where, got=str(sizes),
            cause="the first B % T shards have one row more; here the order is another")


def _uneven_cause(sizes, B, T):
    if sizes[0] == -(-B // T) and min(sizes) == sizes[-1]:
        return "B / T was rounded up for all, and the last thread has too little: only the first B % T take one more"
    if sorted(sizes)[-2:] == [B // T, B // T + B % T]:
        return "the rest went to one thread, and all wait for that one: give one row each to the first B % T"
    return "all wait for the thread with most rows: even them out"


@property_check("shards")
def check_shards(fn, *, rng):
    """T slices that cover 0 to B - 1 once, in order, sizes within one, the larger first."""
    plan = [(12, 4), (14, 4), (7, 7), (1, 1), (5, 1), (int(rng.integers(20, 60)) * 3 + 2, 3),
            (int(rng.integers(10, 30)) * 7 + 5, 7), (9, 8), (64, 3)]
    for B, T in plan:
        _check_cover(_as_slices(fn(B, T), B, T), B, T)
    return f"{len(plan)} pairs of B and T: every row once, and no shard more than a row larger than another"


# 2. combine -----------------------------------------------------------------------------------------------------


def _combine_cases(rng):
    cases = []
    for sizes, label in (([5, 4, 4], "3 uneven shards"), ([9, 9], "2 even shards"), ([7], "one shard"),
                         ([3, 3, 2, 2], "4 uneven shards"), ([6, 1], "a shard of one row")):
        shapes = ragged(rng, 4, 2, 9)
        sums = [[(normal(rng, *shapes[:2]), normal(rng, shapes[1])), (normal(rng, *shapes[2:]), normal(rng, shapes[3]))]
                for _ in sizes]
        cases.append(Case((sums, sizes), label, scale=4.0))
    return cases


def _combined(weigh, divisor=lambda sizes: 1.0, pick=lambda sums: sums):
    """The mean gradient, and with weigh, divisor or pick changed: a known wrong way."""
    def combine(sums, sizes):
        chosen = pick(list(zip(sums, sizes, strict=True)))
        return scaled(added([scaled(s, weigh(n)) for s, n in chosen]), 1 / divisor(sizes))
    return combine


def _one(n):
    return 1.0


_combine = _combined(_one, sum)


def _in_part(part):
    """dW (0) or db (1) is left undivided."""
    def combine(sums, sizes):
        factors = [1.0 if p == part else 1 / sum(sizes) for p in (0, 1)]
        return [(dW * factors[0], db * factors[1]) for dW, db in added(sums)]
    return combine

check_combine = Check(
    "combine", _combine_cases, _combine, K=8, each=("dW", "db"), axes={"dW": ("input", "neuron"), "db": ("neuron",)},
    diagnoses=[
        (_combined(_one), "the sum over the batch is not divided: the gradient of the mean loss is the sum over B"),
        (_in_part(0), "dW is not divided by B, db is: both are means over the batch"),
        (_in_part(1), "db is not divided by B, dW is: both are means over the batch"),
        (_combined(_one, len), "divided by T, the number of threads: the mean is over B examples"),
        (_combined(_one, lambda sizes: sum(sizes) // len(sizes)),
         "divided by B/T, the size of a shard: the mean is over all B examples of the batch"),
        (_combined(_one, lambda sizes: sum(sizes) / len(sizes)),
         "divided by B/T, the size of a shard: the mean is over all B examples of the batch"),
        (_combined(_one, lambda sizes: sizes[0]), "divided by the size of one shard: the mean is over all B examples"),
        (_combined(_one, lambda sizes: sizes[-1]), "divided by the size of one shard: the mean is over all B examples"),
        (_combined(lambda n: 1 / n, len),
         "the mean of the shards' means: right only where all shards are equal. With uneven shards it weighs the "
         "examples of the small ones more"),
        (_combined(lambda n: 1 / n), "the sum of the shards' means: it is T times too large"),
        (_combined(lambda n: n, sum), "each part is weighed with its size: that is for means; these are sums already"),
        (_combined(_one, lambda sizes: sum(sizes) * len(sizes)), "divided by B and by T: by B, once"),
        (_combined(_one, sum, lambda pairs: pairs[:1]), "only the first shard's part is in it"),
        (_combined(_one, sum, lambda pairs: pairs[-1:]), "only the last shard's part is in it: = where += belongs?"),
        (_combined(_one, sum, lambda pairs: pairs[:-1]), "the last shard's part is missing"),
        (_combined(_one, sum, lambda pairs: pairs[1:]), "the first shard's part is missing"),
        (_combined(_one, sum, lambda pairs: [pairs[0], *pairs]),
         "the first shard's part is counted twice: begin with it, or add it, not both"),
    ],
)

# 3. fork_join_gradient ------------------------------------------------------------------------------------------


def _check_calls(workers, T):
    """Was every shard computed once, and side by side?"""
    calls = sorted(workers.calls, key=lambda shard: -1 if shard is None else shard)
    lost = [t for t in range(T) if t not in calls]
    again = {t: calls.count(t) for t in calls if calls.count(t) > 1}
    if again:
        t, times = next(iter(again.items()))
        require(False, f"shard {t} was computed {times} times" + (f", and shard {lost[0]} never" if lost else ""),
                cause="a function made in a loop reads the loop's variable when it runs, not when it was made, and by "
                      "then the loop has gone on: hand the value over, Thread(target=work, args=(t,))")
    require(not lost, f"shard {lost[0] if lost else ''} was never computed", cause="start() runs a thread; making it "
            "does not. Is there one for every shard?")
    require(not workers.meeting.missed, "no two shards were at work at the same time",
            cause="Thread(target=work(t)) calls work at once, here and now; run() does, too; and a join right after "
                  "start waits before the next one is forked. First start them all, then join them all")


def _check_fork_join(fn, params, X, Y, T, slow):
    workers = Workers(len(X), T, slow=slow)
    given, held = (params, X, Y), copied((params, X, Y))
    run = guarded(fn, workers, params, X, Y, T, watch=workers.unfinished)
    if run.error is not None and not isinstance(run.error, NotImplementedError):
        _explain_stop(fn, run, workers, T)
    require(not _at_work(run), f"it returned while {_at_work(run)} of its threads were still at work",
            cause="there is no join, or not of all threads: t.join() waits until thread t has ended")
    got = outcome(run)
    _check_calls(workers, T)
    require(same(given, held), "params, X or Y were changed", cause="the workers share them: read them, no more")
    _require_gradient(got, sums_of_shards(params, X, Y, T), len(X), len(X) + 12, slow)


def _at_work(run):
    """How many threads were at a shard when the call ended; an idle pool is none."""
    return min(run.busy, run.noted)


def _explain_stop(fn, run, workers, T):
    """It stopped with an exception: is it the join that is missing, a shard, or a place for a part?"""
    what, line = f"it stopped with {short_error(run.error)}", students_line(run.error, fn)
    require(not _at_work(run), what + f", while {_at_work(run)} of its threads were still at work",
            where=line, cause="the parts were added up before the join: a part that is not ready is None, or not there")
    if not run.faults and workers.calls:
        _check_calls(workers, T)
        require("NoneType" not in str(run.error), what, where=line,
                cause="a part is None when all threads have ended: each must write to its own place, sums[t]")


def _require_gradient(got, shards, B, K, late=None):
    want = scaled(added(shards), 1 / B)
    found = misses(got, want, K)
    if found:
        cause = explain_gradient(got, shards, B, K, late) if found[0].kind == "values" else None
        if found[0].kind == "none" and got is None:
            cause = "end with `return` and the list of (dW, db)"
        require(False, found[0].what, where=f"B = {B}, T = {len(shards)}", cause=cause)


def _check_fault(fn, rng):
    """A worker that raises must be heard of, and the others waited for."""
    params, X, Y = make_batch(rng, 11)
    T = 3
    workers = Workers(len(X), T, slow=0, fault=int(rng.integers(1, T)))
    run = guarded(fn, workers, params, X, Y, T, watch=workers.unfinished)
    told, chain = False, run.error
    while chain is not None:
        told = told or isinstance(chain, ArithmeticError)
        chain = chain.__cause__ or chain.__context__
    what = f"shard {workers.fault} raised an ArithmeticError, and the caller never heard of it"
    if run.error is not None and not told:
        what += f": it stopped with {type(run.error).__name__} instead"
    require(told, what, cause="an exception ends only its own thread, and join() does not raise it: catch it in the "
            "worker, keep it in a list, and raise it after the join")
    require(not _at_work(run), "after a fault in one worker another one was still at work when the caller went on",
            cause="join all threads first, always; then raise what was caught")


@property_check("fork_join_gradient")
def check_fork_join_gradient(fn, *, rng):
    """Equal to serial for uneven shards, all workers side by side, all joined, faults passed on."""
    for B, T in ((int(rng.integers(3, 7)) * 3 + 2, 3), (8, 4), (5, 1), (int(rng.integers(5, 9)) * 2 + 1, 2)):
        params, X, Y = make_batch(rng, B)
        _check_fork_join(fn, params, X, Y, T, slow=int(rng.integers(T)))
    _check_fault(fn, rng)
    return "4 batches equal to serial, the workers side by side, all of them joined; a worker's fault is passed on"


# 4. reduce_slice ------------------------------------------------------------------------------------------------


def _own_entries(fn, partials, out, t, B):
    """The entries of out that thread t writes; out is poisoned, so that a written entry can be told."""
    before = partials.copy()
    value_of(fn, partials, out, t, B)
    require(same(partials, before), f"thread {t} changes the partial sums", where=f"partials of shape {partials.shape}",
            cause="`total = partials[0, s]` is a view: += writes into the buffer that the other threads read")
    return ~np.isnan(out)


def _slice_cause(got, partials, own, t, B):
    """Why are these entries of out wrong?"""
    T, rows = len(partials), partials[:, own].astype(np.float64)
    total = rows.sum(axis=0)

    def like(want):
        return np.allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(rows).max(initial=1e-30))

    for divisor, text in ((1, "the sum is not divided: divide by B"), (T, "divided by T: the mean is over B examples"),
                          (B / T, "divided by B/T, the size of a shard: by B, all examples of the batch")):
        if like(total / divisor):
            return text
    for lost in range(T):
        if like((total - rows[lost]) / B):
            return f"the partial sum of thread {lost} is missing: range over all {T} rows of partials"
        if like((total + rows[lost]) / B):
            return f"the partial sum of thread {lost} is counted twice: begin with it, or add it, not both"
    if like(rows[t] / B):
        return f"only thread {t}'s own partial sum is in it: slice t of ALL partials is added up"
    return None


def _nothing_cause(fn, partials, t, B):
    zeros = np.zeros(partials.shape[1], dtype=np.float32)
    value_of(fn, partials.copy(), zeros, t, B)
    if zeros.any():
        return "`out[s] += ...` adds to what is there, and nothing is there yet: out[s] = ..."
    return "`out = ...` makes a new array that nobody sees: write into the one that is there, out[s] = ..."


def _check_reduction(fn, rng, T, n, B):
    partials, want = normal(rng, T, n), None
    want = partials.astype(np.float64).sum(axis=0) / B
    written = np.zeros(n, dtype=int)
    for t in rng.permutation(T).tolist():
        out = poison(n)
        own = _own_entries(fn, partials, out, t, B)
        require(own.any(), f"thread {t} wrote nothing into out (or NaN)", where=f"partials of shape {(T, n)}",
                cause=None if own.any() else _nothing_cause(fn, partials, t, B))
        require(own.sum() <= -(-n // T), f"thread {t} wrote {int(own.sum())} of {n} entries, more than its slice has",
                where=f"partials of shape {(T, n)}",
                cause="each thread writes its own slice of out and no other, not even zeros: then no lock is needed")
        scale = 8 * (T + 1) * np.finfo(np.float32).eps * np.abs(partials).max() / B
        wrong = own & ~(np.abs(out - want) <= scale)
        got, wanted = ((float(a[wrong][0]) if wrong.any() else None) for a in (out, want))
        require(not wrong.any(), f"{int(wrong.sum())} of the {int(own.sum())} entries that thread {t} wrote are wrong",
                got=got, wanted=wanted, where=f"partials of shape {(T, n)}, B = {B}",
                cause=_slice_cause(out[own], partials, own, t, B) if wrong.any() else None)
        written += own
    _check_ownership(written, T, n)
    return partials, written


def _check_ownership(written, T, n):
    where = f"partials of shape {(T, n)}"
    doubled, lost = int((written > 1).sum()), int((written == 0).sum())
    require(not doubled, f"{doubled} of {n} entries are written by more than one thread", where=where,
            cause="each thread must write its own slice of out, and no other: then no lock is needed. "
                  "out[shards(n, T)[t]], not all of out")
    require(not lost, f"{lost} of {n} entries are written by no thread", where=where,
            cause=f"n // T = {n // T} entries for each thread leave {n % T} over: cut with your shards(n, T)")


@property_check("reduce_slice")
def check_reduce_slice(fn, *, rng):
    """Slice t, and nothing else, is the sum of slice t over all partials, over B; whatever order the threads run in."""
    for T, n in ((3, int(rng.integers(5, 9)) * 3 + 2), (4, 4), (2, 9), (1, 5), (5, 23)):
        _check_reduction(fn, rng, T, n, B=int(rng.integers(20, 50)) * 2 + 1)
    return "5 buffers: every entry written once, by one thread, in a random order of the threads"


# 5. shared_sum --------------------------------------------------------------------------------------------------


def _lost_shards(got, start, parts):
    """Which parts are missing from got, if that explains it."""
    T = len(parts)
    for mask in range(1 << T):
        chosen = [t for t in range(T) if mask >> t & 1]
        if np.array_equal(got, start + sum((parts[t] for t in chosen), np.zeros_like(start))):
            return [t for t in range(T) if t not in chosen]
    return None


def _race_cause(got, start, parts, raced):
    """Why total is wrong. raced: worker threads have written to it."""
    lost = _lost_shards(got, start, parts)
    if _lost_shards(got, np.zeros_like(start), parts) is not None:
        return "what total held before is gone: add to it"
    if lost is None:
        done = [i for i in range(len(got)) if got[i] == start[i] + sum(p[i] for p in parts)]
        if not done:
            return None
        return ("a lost update: of some entries only. Two threads read the same number, and the one that writes last "
                "wins: guard the whole of read, add and write, with ONE lock for all threads, or keep parts apart")
    if len(lost) == len(parts):
        return "nothing was added to total: total = total + ... makes a new array; write total += ... or total[:] = ..."
    which = f"the part of shard {' and '.join(map(str, lost))} is gone"
    if not raced:
        return f"{which}: it was computed, and never added"
    return (f"a lost update: {which}. Two threads read total before "
            "either wrote it, and the one that writes last wins. Either ONE lock, made before the threads and shared "
            "by all, around read, add and write; or, better, a place of its own for each part, added up after the join")


def _check_shared_sum(fn, rng, T, n):
    start = rng.integers(-9, 9, n).astype(np.float64)
    parts = [rng.integers(1, 99, n).astype(np.float64) * 2**t for t in range(T)]
    traffic, meeting, asked = Traffic(), Meeting(T), list[int]()

    def part_of(t):
        asked.append(t)
        traffic.enter()
        meeting.wait()
        return parts[t].copy()

    total = shared(start, traffic)
    run = guarded(fn, part_of, T, total, watch=lambda: np.array(total).view(np.ndarray))
    got, alive = run.noted, run.busy
    early = alive and (run.error is not None or not np.array_equal(got, start + sum(parts)))
    require(not early, f"{alive} of your threads were still at work when it had ended"
            + (f" (with {short_error(run.error)})" if run.error else ""),
            cause="there is no join, or not of all threads: a part that is not ready yet cannot be added")
    outcome(run)
    lost = [t for t in range(T) if t not in asked]
    require(not lost, f"part_of({min(lost, default=0)}) was never called",
            cause="a part and a thread for each t from 0 to T - 1; a function made in a loop must be handed its t")
    require(len(traffic.workers) >= min(T, 2), f"all {T} parts were computed by one thread",
            cause="one thread for each part: Thread(target=work, args=(t,)), without calling work")
    require(not meeting.missed, "no two parts were computed at the same time",
            cause="part_of(t) is called while the lock is held, or a thread is joined before the next is started: "
                  "only the addition needs the lock")
    right = np.array_equal(got, start + sum(parts))
    require(right, f"total is wrong in {int((got != start + sum(parts)).sum())} of {n} entries", where=f"{T} threads",
            got=str(got[:4].tolist()), wanted=str((start + sum(parts))[:4].tolist()),
            cause=None if right else _race_cause(got, start, parts, bool(traffic.workers & traffic.writers)))


@property_check("shared_sum")
def check_shared_sum(fn, *, rng):
    """Nothing is lost when all threads read total before any of them writes."""
    for T, n in ((2, 5), (3, 4), (1, 3)):
        _check_shared_sum(fn, rng, T, n)
    return "no update lost, with every write held back until all threads had read"


# 6. predict_speedup ---------------------------------------------------------------------------------------------


def _times(B, T, c, s, o, rows=None, serial=None, overhead=None):
    """(t(B, 1), t(B, T)) of the model, with a part replaced: a known wrong way."""
    rows = math.ceil(B / T) if rows is None else rows
    serial = s if serial is None else serial
    overhead = (o * T if T > 1 else 0.0) if overhead is None else overhead
    return B * c + s, rows * c + serial + overhead


def _speedup_by(times=_times, result=lambda one, many, T: (one / many, one / many / T)):
    def predict_speedup(B, T, c, s, o):
        one, many = times(B, T, c, s, o)
        return result(one, many, T)
    return predict_speedup


def _speedup_true(B, T, c, s, o):
    return _speedup_by()(B, T, c, s, o)


def _speedup_cases(rng):
    def costs():
        return tuple(float(x) for x in rng.uniform(0.5, 2, 3) * (1e-4, 3e-3, 4e-4))

    plan = [(64, 4, "even shards"), (67, 4, "uneven shards"), (1024, 8, "a large batch"), (5, 3, "a small batch"),
            (50, 1, "one thread"), (17, 16, "a shard of two rows")]
    return [Case((B, T, *costs()), label) for B, T, label in plan]


check_predict_speedup = Check(
    "predict_speedup", _speedup_cases, _speedup_true, K=8, dtype=None, parts=("speed-up", "efficiency"),
    diagnoses=[
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, rows=B / T)),
         "B / T rows for each thread: with uneven shards the step waits for the largest, ceil(B / T) rows"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, rows=B // T)),
         "B // T is the smallest shard: the step waits for the largest, ceil(B / T) rows"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, serial=s / T)),
         "s is divided by T: it is the part that one thread does alone (Amdahl's serial part)"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, serial=0.0)),
         "the serial part s is missing from t(B, T): it does not go away with more threads"),
        (_speedup_by(lambda B, T, c, s, o: (B * c, _times(B, T, c, s, o)[1])),
         "the serial part s is missing from t(B, 1): one thread does it, too"),
        (_speedup_by(lambda B, T, c, s, o: (B * c, _times(B, T, c, s, o, serial=0.0)[1])),
         "the serial part s is missing from both times"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, overhead=o * T)),
         "the cost of handing work over is charged to one thread, too: with T = 1 nothing is handed over"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, overhead=o if T > 1 else 0.0)),
         "o is the cost for each thread: T of them cost o T"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, overhead=0.0)),
         "the cost of the threads, o for each, is missing: that is Amdahl's law with threads for nothing"),
        (_speedup_by(lambda B, T, c, s, o: _times(B, T, c, s, o, rows=B)),
         "the examples are not shared out: each thread has ceil(B / T) of the rows"),
        (_speedup_by(result=lambda one, many, T: (many / one, many / one / T)),
         "upside down: the speed-up is t(B, 1) / t(B, T), above 1 when threads pay"),
        (_speedup_by(result=lambda one, many, T: (one / many, one / many)),
         "the efficiency is the speed-up divided by T, the share of T that is reached"),
        (_speedup_by(result=lambda one, many, T: (one / many, T * many / one)),
         "the efficiency is upside down: speed-up / T, at most 1 in this model"),
        (_speedup_by(result=lambda one, many, T: (one / many, one / many * T)),
         "the efficiency is the speed-up divided by T, not times T"),
        (_speedup_by(result=lambda one, many, T: (one / many, 100 * one / many / T)),
         "the efficiency is a fraction of 1 here, not per cent"),
    ],
)

# 7. pick_threads ------------------------------------------------------------------------------------------------


class _Costs:
    """Seconds of a step with T threads, from a table; it notes what it is asked, and refuses what cannot be."""

    def __init__(self, B, table):
        self.B, self.table, self.asked = B, table, []

    def __call__(self, B, T):
        require(B == self.B, "seconds was asked for another batch size", got=B, wanted=self.B)
        whole = isinstance(T, (int, np.integer))
        require(whole and T >= 1, "seconds was asked for an impossible number of threads", got=str(T),
                wanted="1 or more", cause="range(cores) begins with 0: range(1, ... + 1)")
        require(T <= self.B, f"seconds was asked for {T} threads and {self.B} examples",
                cause="a thread without an example has nothing to do: at most min(cores, B)")
        require(len(self.table) >= T, f"seconds was asked for {T} threads on {len(self.table)} cores",
                cause="more threads than cores take turns: at most min(cores, B)")
        self.asked.append(int(T))
        return self.table[T - 1]


def _pick_plan(rng):
    """(B, seconds for T = 1, 2, ..., label): where the minimum lies differs from table to table."""
    wave = np.array([9.0, 5.0, 6.0, 3.0, 4.0, 7.0]) * rng.uniform(0.5, 2)
    return [
        (99, np.sort(rng.uniform(1, 9, 8))[::-1], "more threads are always quicker"),
        (50, np.sort(rng.uniform(1, 9, 6)), "every further thread costs more than it saves"),
        (64, np.array([9.0, 5.0, 3.0, 4.0, 6.0, 8.0]) * rng.uniform(0.5, 2), "a minimum in the middle"),
        (64, wave, "worse with 3 threads than with 2, best with 4"),
        (3, np.sort(rng.uniform(1, 9, 8))[::-1], "3 examples, 8 cores"),
        (40, np.array([4.0, 2.0, 2.0, 2.0]), "three equal times"),
        (7, np.array([3.0]), "one core"),
    ]


def _pick_cause(got, costs, best):
    table, most = costs.table, min(costs.B, len(costs.table))
    if not isinstance(got, (int, np.integer)):
        return "the number of threads is asked for" + (", not its time" if got in table else "")
    if got == best - 1:
        return "one too few: table entries count from 0, threads from 1"
    if 1 <= got <= most and table[got - 1] == table[best - 1]:
        return "as quick with fewer threads: of equal times take the fewest, the cores may serve somebody else"
    if not costs.asked:
        return "seconds was never asked: hand-over and reduction can cost more than a further thread saves"
    if len(set(costs.asked)) < most:
        tried = ", ".join(map(str, sorted(set(costs.asked))))
        return f"only T = {tried} was asked for: times can rise and fall again, so ask for all of 1 to {most}"
    if got == int(np.argmax(table[:most])) + 1:
        return "that is the slowest: the smallest time is asked for"
    return None


@property_check("pick_threads")
def check_pick_threads(fn, *, rng):
    """The quickest T from 1 to min(cores, B); of equal ones the fewest threads."""
    plan = _pick_plan(rng)
    for B, table, label in plan:
        costs = _Costs(B, table)
        got = fn(B, len(table), costs)
        require(got is not None, "pick_threads returned None", cause="end with `return` and the number of threads")
        best = int(np.argmin(table[: min(B, len(table))])) + 1
        require(isinstance(got, (int, np.integer)) and got == best, f"not the quickest number of threads: {label}",
                got=str(got), wanted=str(best), where=f"B = {B}, {len(table)} cores, seconds "
                + ", ".join(f"{x:.2f}" for x in table), cause=_pick_cause(got, costs, best))
    return f"{len(plan)} cost tables, the quickest T in each, never more than cores or examples"


# 8. run_pinned --------------------------------------------------------------------------------------------------


class _Blas:
    """Stands for a BLAS: one number of threads for the whole process, set by the context manager `pin`."""

    def __init__(self, threads):
        self.threads, self.pins, self.by, self.made = threads, [], [], 0

    def pin(self, n):
        """As measure.blas_threads: `with pin(n):` gives n threads inside."""
        require(isinstance(n, (int, np.integer)), "pin got a number of threads that is not whole", got=repr(n),
                cause="cores / workers is a float: use //")
        require(n >= 1, f"pin({n}): a BLAS cannot work with {n} threads",
                cause="more workers than cores make cores // workers zero: max(1, ...)")
        self.made += 1
        return _Pin(self, int(n))


class _Pin:
    """No generator: one that is thrown away would put the old number back by itself."""

    def __init__(self, blas, n):
        self.blas, self.n, self.old = blas, n, None

    def __enter__(self):
        self.old, self.blas.threads = self.blas.threads, self.n
        self.blas.pins.append(self.n)
        self.blas.by.append(threading.current_thread())
        return self.n

    def __exit__(self, *error):
        self.blas.threads = self.old


def _pinned_calls(blas, workers, meeting, seen, fault=None):
    def make(t):
        def call():
            meeting.wait()
            seen[t] = blas.threads
            if t == fault:
                raise ArithmeticError(f"call {t} failed")
            return 10 * t + 1
        return call
    return [make(t) for t in range(workers)]


def _check_pins(blas, workers, cores, seen):
    budget = max(1, cores // workers)
    require(bool(blas.pins) or not blas.made, "pin(n) was called, but not in a `with`",
            cause="a context manager does nothing until it is entered: `with pin(n):` around the fork and the join")
    require(bool(blas.pins), "pin was never called: every worker's products use all BLAS threads",
            where=f"{workers} workers on {cores} cores: {workers} times {cores} = {workers * cores} threads",
            cause="oversubscription. `with pin(...):` around the fork and the join")
    inside = [t for t in blas.by if t.name != "check"]
    require(not inside, f"pin was called by {len(inside)} of the workers",
            cause="the number of BLAS threads is one setting for the whole process: the worker that leaves first "
                  "resets it for all. Set it once, by the caller, around fork and join")
    require(blas.pins == [budget], f"pin({blas.pins[0]}) for {workers} workers on {cores} cores",
            got=str(blas.pins), wanted=str([budget]), cause=_pin_cause(blas.pins[0], workers, cores))
    require(all(n == budget for n in seen.values()), "the pin did not hold while the workers ran",
            got=str(sorted(seen.values())), wanted=str(budget),
            cause="fork and join must both stand inside the `with`: outside it the old setting is back")


def _pin_cause(n, workers, cores):
    if n == cores and workers > 1:
        return f"oversubscription: {workers} workers times {n} BLAS threads are {workers * n} threads for {cores} cores"
    if n == workers and n != -(-cores // workers):
        return "the number of workers is not what each of them may use: cores // workers"
    if n * workers > cores and n > 1:
        return f"rounded up: {workers} workers times {n} BLAS threads are more than {cores} cores"
    return "cores are left idle: each worker may use cores // workers" if n == 1 else None


def _check_pinned_run(fn, workers, cores):
    blas, meeting, seen = _Blas(cores), Meeting(workers), dict[int, int]()
    got = value_of(fn, _pinned_calls(blas, workers, meeting, seen), cores, blas.pin)
    where = f"{workers} workers on {cores} cores"
    require(len(seen) == workers, f"{len(seen)} of {workers} calls were made", where=where)
    require(not meeting.missed, "no two calls ran at the same time", where=where,
            cause="Thread(target=call()) calls here and now; first start all threads, then join all")
    _check_pins(blas, workers, cores, seen)
    want = [10 * t + 1 for t in range(workers)]
    right = isinstance(got, (list, tuple)) and list(got) == want
    require(right, "the results are not those of the calls, in their order", str(got), wanted=str(want), where=where,
            cause="append adds in the order in which threads end: results[t] = ... keeps the order of the calls")
    require(blas.threads == cores, f"afterwards BLAS has {blas.threads} threads, before it had {cores}", where=where,
            cause="`with pin(n):` puts the old number back at its end")


@property_check("run_pinned")
def check_run_pinned(fn, *, rng):
    """Each worker gets cores // workers BLAS threads, set once by the caller, and put back, after a fault as well."""
    for workers, cores in ((2, 8), (3, 8), (1, 6), (4, 4), (4, 3)):
        _check_pinned_run(fn, workers, cores)
    blas, meeting = _Blas(6), Meeting(2)
    run = guarded(fn, _pinned_calls(blas, 2, meeting, {}, fault=1), 6, blas.pin)
    require(run.error is not None, "call 1 raised an ArithmeticError, and the caller never heard of it",
            cause="catch it in the worker, keep it, raise it after the join")
    require(blas.threads == 6, f"after a fault in a worker BLAS has {blas.threads} threads, before it had 6",
            cause="`with pin(n):` puts the old number back even when an exception passes")
    return "5 budgets kept, the setting put back each time, after a fault as well"


# 9. train_parallel ----------------------------------------------------------------------------------------------


class _Steps:
    """Batches that note what params are when the next batch is asked for: after each step."""

    def __init__(self, params, batches):
        self.params, self.batches, self.after = params, batches, []

    def __iter__(self):
        for batch in self.batches:
            yield batch
            self.after.append(copied(self.params))


def _serial_steps(params, batches, eta):
    """params after each step of plain gradient descent, float64, without threads."""
    now = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
    after = []
    for X, Y in batches:
        grads = gradient_sum(now, X.astype(np.float64), Y.astype(np.float64))
        now = [(W - eta * dW / len(X), b - eta * db / len(X)) for (W, b), (dW, db) in zip(now, grads, strict=True)]
        after.append(now)
    return after


def _step_cause(got, before, want, rows, threads, K):
    """Compare the move that was made with the right one, and with known wrong ones."""
    moved = [(W - V, b - c) for (W, b), (V, c) in zip(got, before, strict=True)]
    right = [(W - V, b - c) for (W, b), (V, c) in zip(want, before, strict=True)]
    T = min(rows, threads)
    if rows < threads and alike(moved, scaled(right, 0.0), 100 * K):
        return f"a batch of {rows} rows made no step: fewer rows than threads call for fewer threads, not for no step"
    for factor, text in ((0.0, "params did not change: W -= eta * dW changes the array itself, W = W - ... does not"),
                         (-1.0, "W += eta dW climbs the loss: descend"), (2.0, "the step was made twice"),
                         (float(rows), "not divided by the number of examples in the batch"),
                         (float(T), "the step is T times too large: does every thread make it?"),
                         (1.0 / T, "the step is divided by T: the mean over B is all that is needed")):
        if alike(moved, scaled(right, factor), 100 * K):
            return text
    for layer, (was, is_, should) in enumerate(zip(before, got, want, strict=True)):
        for part, name in enumerate("Wb"):
            if same(was[part], is_[part]) and not np.allclose(was[part], should[part], rtol=1e-6, atol=0):
                return f"{name} of layer {layer} is not updated: walk over all of params and grads, W and b"
    return None


def _of_some_rows(params, X, Y):
    if len(X) == 0:
        raise ValueError("gradient_sum got no rows: a batch smaller than T needs fewer threads, min(T, len(X))")
    return gradient_sum(params, X, Y)


def _check_training(fn, rng, rows, T, eta):
    params, X, Y = make_batch(rng, sum(rows))
    ends = np.cumsum([0, *rows]).tolist()
    batches = [(X[a:b], Y[a:b]) for a, b in zip(ends, ends[1:], strict=False)]
    steps, first = _Steps(params, batches), copied(params)
    value_of(fn, _of_some_rows, params, steps, T, eta)
    require(len(steps.after) == len(rows), f"{len(steps.after)} of {len(rows)} batches were used",
            cause="one step for each batch: does a return stand inside the loop?")
    idle = all(same(after, first) for after in steps.after) and not same(params, first)
    require(not idle, "all batches were taken before the first step was made",
            cause="take a batch, make its step, take the next: the gradient must be that at the parameters after the "
                  "step before")
    before = first
    for i, want in enumerate(_serial_steps(first, batches, eta)):
        got, K = steps.after[i], 40 * (i + 1)
        if misses(got, want, K):
            cause = _step_cause(got, before, want, rows[i], T, K)
            cause = cause or _ragged_cause(i, rows)
            require(False, f"after step {i + 1} of {len(rows)} the parameters are not those of serial training",
                    where=f"T = {T}, batches of {', '.join(map(str, rows))}", cause=cause)
        before = got


def _ragged_cause(i, rows):
    if rows[i] != rows[0]:
        return (f"the steps before are right, and this batch has {rows[i]} rows, not {rows[0]}: divide by its own "
                "number of rows")
    if i:
        return "the first step is right: is the gradient of each batch taken at the parameters after the step before?"
    return None


@property_check("train_parallel")
def check_train_parallel(fn, *, rng):
    """Equal to serial training after every step, ragged last batches included, even with fewer rows than threads."""
    for rows, T in (((8, 8, 5), 3), ((7, 7, 2), 4), ((6, 6, 6), 1)):
        _check_training(fn, rng, rows, T, eta=0.01)
    return "3 trainings equal to serial after every step; a last batch of 2 rows with 4 threads is fine"
