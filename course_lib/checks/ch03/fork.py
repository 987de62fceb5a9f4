"""The check of a gradient by fork and join: side by side, all joined, faults passed on."""

from course_lib.checks.ch03.race import Traffic, plain_gradient
from course_lib.checks.ch03.work import (
    KEPT,
    LOST_UPDATE,
    Workers,
    added,
    alike,
    explain_gradient,
    kept_defaults,
    make_batch,
    misses,
    scaled,
    sums_of_shards,
)
from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import at, function_check, require_in_time
from course_lib.checks.kit.probe import short_error, students_line
from course_lib.checks.kit.threads import (
    JOIN_MISSING,
    cause_of_early_stop,
    guarded,
    likely_again,
    outcome,
    require_told,
)
from course_lib.checks.kit.trees import copied, same


def _check_calls(workers, T):
    """Was every shard computed once, and side by side?"""
    calls, B = workers.calls, sum(n for _, n in workers.rows)
    counts = [calls.count(rows) for rows in workers.rows]
    lost, again = [t for t in range(T) if not counts[t]], [t for t in range(T) if counts[t] > 1]
    first = min(again, default=0)
    require(
        not again,
        f"shard {first} was computed {counts[first]} times"
        + (f", and shard {lost[0]} never" if lost else ""),
        likely=likely_again(counts, "shard"),
    )
    _check_rows([rows for rows in calls if rows not in workers.rows], lost, B, T)
    require(
        not lost,
        f"shard {min(lost, default='')} was never computed",
        cause="is there a thread for every shard, and is it started? (start() runs a thread; making it does not)",
    )
    require_in_time(
        not workers.meeting.missed,
        "no two shards were at work at the same time"
        if workers.most < 2
        else f"at most {workers.most} of {T} shards were at work at the same time",
        cause=_apart_cause(workers, T),
    )


def _check_rows(strange, lost, B, T):
    """strange: (first row, number) of what was computed and is no shard."""
    if not strange:
        return
    first, n = strange[0]
    require(n > 0, "gradient_sum got no rows", cause="a shard is empty: cut with your shards(B, T)")
    require(
        first is not None,
        "gradient_sum got rows that are not those of X",
        cause="either X and Y are swapped, gradient_sum(params, X[s], Y[s]), or X was changed, or copied and changed: "
        "the shards are slices of it",
    )
    cause = f"the shards are those of shards({B}, {T}), one for each thread, X and Y cut by the same slice"
    if (first, n) == (0, B):
        cause = "all of X was passed, not a shard of it: gradient_sum(params, X[s], Y[s])"
    never = f", and shard {lost[0]} was never computed" if lost else ""
    require(False, f"{n} rows from row {first} on are no shard{never}", cause=cause)


_BY_CALLER = (
    "the caller computed all of them, one after the other: Thread(target=work(t)) calls work here and now, and run() "
    "does, too; a thread begins with start()"
)
_BY_ONE = (
    "one thread computed all shards, one after the other: either it, or a pool of one thread, got all of them, or each "
    "result is waited for before the next shard is handed out. First hand out all, then collect"
)


def _apart_cause(workers, T):
    made = {t for t in workers.threads if t.name != "check"}
    if not made:
        return _BY_CALLER
    if len(workers.threads) == 1:
        return _BY_ONE
    if workers.most == len(workers.threads) < T:
        return f"{len(workers.threads)} threads for {T} shards: each shard needs its own thread (or use a pool of T)"
    if workers.alone:
        return "the caller computes a shard before the others are forked: start them, do your own, then join"
    if workers.most == T - 1 and workers.last.name == "check":
        return "the caller computes its own shard after the join: start the others, do your own, then join"
    if workers.queued:
        return (
            "the threads run, but wait for each other: is there a lock around the work, or is each result waited "
            "for before the next shard is handed out?"
        )
    return (
        "a join right after start (or another wait) waits before the next one is forked: first start them all, then "
        "join them all" + (", and hold no lock around the work" if workers.remote else "")
    )


def _check_fork_join(fn, params, X, Y, T, slow):
    workers = Workers(len(X), T, slow=slow)
    workers.remote = hasattr(fn, "aftermath")  # of another process: its threads are not all seen
    given, held = (params, X, Y), copied((params, X, Y))
    run = guarded(fn, workers, params, X, Y, T, watch=workers.unfinished)
    if run.error is not None and not isinstance(run.error, NotImplementedError):
        _explain_stop(fn, run, workers, T)
    require(
        not run.at_work,
        f"it returned while {run.at_work} of its threads were still at work",
        cause=JOIN_MISSING,
    )
    got = outcome(run)
    _check_calls(workers, T)
    require(
        same(given, held),
        "params, X or Y were changed",
        cause="the workers share them: only read them",
    )
    if found := misses(
        got, scaled(added(sums_of_shards(params, X, Y, T)), 1 / len(X)), len(X) + 12
    ):
        _explain_gradient(fn, got, found[0], given, T, slow)


_STARTS = "start() runs a thread; making it does not"
_NEVER = (
    f"either no thread was started: {_STARTS}; or an exception that came before gradient_sum was caught, and nobody "
    "heard of it"
)
_TOLD = {  # by words of the error
    "group argument": "Thread(target=work, args=(t,)): both names must be written, for the first place is another "
    "argument's",
    "and 'slice'": "combine expects the numbers of rows, [s.stop - s.start for s in slices]",
}


def _explain_stop(fn, run, workers, T):
    """It stopped with an exception: is it the join that is missing, a shard, or a place for a part?"""
    what, line = f"it stopped with {short_error(run.error)}", students_line(run.error, fn)
    require(
        not run.at_work,
        what + f", while {run.at_work} of its threads were still at work",
        where=line,
        cause=cause_of_early_stop(run.error),
    )
    never = not workers.calls and ("NoneType" in str(run.error) or "cannot join" in str(run.error))
    require(
        not never or bool(run.faults),
        what + ", and no shard was ever computed",
        where=line,
        cause=_STARTS if "cannot join" in str(run.error) else _NEVER,
    )
    for words, cause in _TOLD.items():
        require(words not in str(run.error), what, where=line, cause=cause)
    require(not kept_defaults(fn), what, where=line, cause=KEPT)
    if not run.faults and workers.calls:
        _check_calls(workers, T)
        require(
            "NoneType" not in str(run.error),
            what,
            where=line,
            likely="a part is None when all threads have ended: each must write to its own place, sums[t]",
        )


def _explain_gradient(fn, got, miss, given, T, slow):
    require(not kept_defaults(fn), miss.what, cause=KEPT)
    cause = None
    if miss.kind == "values":
        params, X, Y = given
        shards, B = sums_of_shards(params, X, Y, T), len(X)

        def explain(late):
            return explain_gradient(got, shards, B, B + 12, late)

        cause = explain(slow)
        if cause != explain(None) and _is_wrong_alike(fn, got, given, T, (slow + 1) % T):
            cause = explain(None)  # the same part is missing when another comes late
    if miss.kind == "none" and got is None:
        cause = "end with `return` and the list of (dW, db)"
    require(False, miss.what, cause=cause)


def _is_wrong_alike(fn, got, given, T, slow):
    """Does it give the same when another shard comes late?"""
    workers = Workers(len(given[1]), T, slow=slow)
    return alike(guarded(fn, workers, *given, T).value, got, len(given[1]) + 12)


def _check_fault(fn, rng, fault, slow):
    """A worker that raises must be heard of, and the others waited for."""
    params, X, Y = make_batch(rng, 11)
    workers = Workers(len(X), 3, slow=slow, fault=fault)
    run = guarded(fn, workers, params, X, Y, 3, watch=workers.unfinished)
    if fault == "caller" and not workers.raised:
        return  # it computes none itself
    who = "the caller's own shard" if fault == "caller" else f"shard {fault}"
    require_told(run, who, ", the caller's own fault as well" * (fault == "caller"))


def _check_race(fn, rng):
    """All was right; is it still, when each write of a worker waits for the others to have read?"""
    params, X, Y = make_batch(rng, 8)
    workers = Workers(len(X), 3, traffic=Traffic())
    got = plain_gradient(outcome(guarded(fn, workers, params, X, Y, 3, stumble=True)))
    want = scaled(added(sums_of_shards(params, X, Y, 3)), 1 / len(X))
    require(
        not misses(got, want, len(X) + 12),
        "the gradient is wrong when the threads add at the same time",
        where="B = 8, T = 3, each write of a worker held back until the others have read",
        cause=LOST_UPDATE,
    )


@function_check("fork_join_gradient", slow=True)
def check_fork_join_gradient(fn, *, rng):
    """Equal to serial for uneven shards, all workers side by side, all joined, faults passed on."""
    for B, T in (
        (int(rng.integers(3, 7)) * 3 + 2, 3),
        (18, 9),  # more threads than a pool of its own size has
        (5, 1),
        (int(rng.integers(5, 9)) * 2 + 1, 2),
    ):
        params, X, Y = make_batch(rng, B)
        with at(f"B = {B}, T = {T}"):
            _check_fork_join(fn, params, X, Y, T, slow=int(rng.integers(T)))
    _check_race(fn, rng)
    _check_fault(fn, rng, fault=int(rng.integers(1, 3)), slow=0)
    _check_fault(fn, rng, fault=0, slow=2)
    _check_fault(fn, rng, fault="caller", slow=None)
    return "4 batches equal to serial, the workers side by side, all of them joined; a worker's fault is passed on"
