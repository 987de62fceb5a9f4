"""The checks of shards, of the sum of their gradients, and of the reduction by slices."""

from itertools import pairwise

import numpy as np

from course_lib.checks.ch03.work import added, scaled, shard_sizes, shard_slices
from course_lib.checks.kit.core import Case, Check, normal, poison, ragged, require
from course_lib.checks.kit.freeform import at, function_check, require_returned
from course_lib.checks.kit.threads import value_of
from course_lib.checks.kit.trees import a_thing, same

_EVERY_TH = "every T-th row is a partition, too, but its rows do not lie together in memory"
_STEP = "slice(start, stop): the third argument is a step"


def _as_slices(got, B, T):
    """The slices as (start, stop) pairs of whole numbers, or a failure that says what they are instead."""
    require_returned(got, "shards", "`return` and the list of slices")
    require(isinstance(got, (list, tuple)), "the result must be a list of slices", got=a_thing(got))
    wrong = [item for item in got if not isinstance(item, slice)]
    require(
        not wrong,
        "an entry of the list is not a slice",
        got=a_thing(wrong[0]) if wrong else None,
        cause="slice(start, stop), so that X[s] and Y[s] are views and nothing is copied",
    )
    require(
        all(s.step in (None, 1) for s in got),
        "the shards must be contiguous, without a step",
        got=str(got),
        cause=_EVERY_TH if all(s.step == T for s in got) else _STEP,
    )
    ends = [end for s in got for end in (s.start, s.stop)]
    whole = all(isinstance(end, (int, np.integer)) for end in ends)
    require(
        whole,
        "a slice must have whole numbers as start and stop",
        got=str(got),
        cause="give both ends, including the first 0 and the last B: other functions count the rows with them"
        if None in ends
        else "// divides whole numbers; / and np.linspace give floats, and a slice of floats cannot cut an array",
    )
    pairs = [(int(s.start), int(s.stop)) for s in got]
    require(
        len(got) == T,
        f"{len(got)} shards for B = {B}, T = {T}: there must be one for each thread",
        cause=_cause_of_count(pairs, B, T),
    )
    return pairs


def _cause_of_count(pairs, B, T):
    """Why there are not T shards: one is missing at an end, or another rule has made them."""
    starts, stops = {start for start, _ in pairs}, {stop for _, stop in pairs}
    if len(pairs) == T - 1 and 0 not in starts:
        return "the first shard is missing: it starts at row 0"
    if len(pairs) == T - 1 and B not in stops:
        return f"the last shard is missing: it stops at B = {B}"
    if len(pairs) == T + 1:
        return "T threads, T shards: the rows that are left over make no shard of their own"
    return "T threads, T shards; Kamra 2016, algorithm 3 has B/T of them in print, a slip"


def _check_cover(pairs, B, T):
    rows = [r for a, b in pairs for r in range(a, b)]
    lost, twice = sorted(set(range(B)) - set(rows)), sorted({r for r in rows if rows.count(r) > 1})
    require(
        not twice,
        f"{len(twice)} rows are in two shards, the first is row {min(twice, default=0)}",
        cause=_cause_of_overlap(pairs, B, T),
    )
    require(
        not lost,
        f"{len(lost)} of {B} rows are in no shard, the first is row {min(lost, default=0)}",
        cause=_cause_of_loss(pairs, B, T),
    )
    require(rows == list(range(B)), "the shards are not in order, or go beyond the batch")
    sizes = [b - a for a, b in pairs]
    uneven = f"shards of {min(sizes)} and of {max(sizes)} rows: sizes may differ by one"
    evenly = "all wait for the thread with the most rows: distribute them evenly"
    require(max(sizes) - min(sizes) <= 1, uneven, likely=evenly)
    require(
        sizes == sorted(sizes, reverse=True),
        "the larger shards come first",
        got=str(sizes),
        cause="the first B % T shards have one row more; here the order is another",
    )


def _cause_of_overlap(pairs, B, T):
    """Why rows are in two shards, or None."""
    if _steps(pairs) == {-1}:
        return "stop is not included in a slice: the next shard begins at stop, not before it"
    if [a for a, _ in pairs] == [t * (B // T) for t in range(T)]:
        return f"every shard begins at t x {B // T}, as if none before it were longer: the next shard begins at stop"
    return None


def _cause_of_loss(pairs, B, T):
    """Why rows are in no shard, or None: too short, one apart, or not from row 0 on."""
    if B % T and all(b - a == B // T for a, b in pairs):
        return f"B // T = {B // T} rows for each thread leave B % T = {B % T} over: some thread must take them"
    if _steps(pairs) == {1}:
        return "stop is not included in a slice: the next shard begins at stop"
    first = pairs[0][0]
    if first > 0 and _steps(pairs) == {0}:
        ends = ": here each begins where it should stop" * (first == shard_sizes(B, T)[0])
        return f"the first shard must begin at row 0, not at row {first}{ends}"
    return None


def _steps(pairs):
    """How far each shard begins behind the stop of the one before it."""
    return {after[0] - before[1] for before, after in pairwise(pairs)}


@function_check("shards")
def check_shards(fn, *, rng):
    """T slices that cover 0 to B - 1 once, in order, sizes within one, the larger first."""
    plan = [
        (12, 4),
        (14, 4),
        (7, 7),
        (1, 1),
        (5, 1),
        (int(rng.integers(20, 60)) * 3 + 2, 3),
        (int(rng.integers(10, 30)) * 7 + 5, 7),
        (9, 8),
        (64, 3),
    ]
    for B, T in plan:
        pairs = _as_slices(fn(B, T), B, T)
        with at(f"B = {B}, T = {T}: {', '.join(f'{a} to {b - 1}' for a, b in pairs)}"):
            _check_cover(pairs, B, T)
    return f"{len(plan)} pairs of B and T: every row once, and no shard more than a row larger than another"


def _combine_cases(rng):
    cases = []
    for sizes, label in (
        ([5, 4, 4], "3 uneven shards"),
        ([9, 9], "2 even shards"),
        ([7], "one shard"),
        ([3, 3, 2, 2], "4 uneven shards"),
        ([6, 1], "a shard of one row"),
    ):
        layers = 2 if len(sizes) > 1 else 3
        shapes = ragged(rng, 2 * layers, 2, 9)
        sums = [
            [
                (normal(rng, a, b), normal(rng, b))
                for a, b in zip(shapes[::2], shapes[1::2], strict=True)
            ]
            for _ in sizes
        ]
        cases.append(Case((sums, sizes), label, scale=4.0))
    return cases


def _combine(sums, sizes):
    return scaled(added(sums), 1 / sum(sizes))


check_combine = Check(
    "combine",
    _combine_cases,
    _combine,
    K=8,
    each=("dW", "db"),
    axes={"dW": ("input", "neuron"), "db": ("neuron",)},
)


def _written_by(fn, partials, t, B):
    """Which entries of out thread t writes, and rightly. out is poisoned, so that a written entry can be told."""
    (T, n), before, out = partials.shape, partials.copy(), poison(partials.shape[1])
    returned = value_of(fn, partials, out, t, B)
    own = ~np.isnan(out)
    require(
        same(partials, before),
        f"thread {t} changes the partial sums",
        cause="`total = partials[0, s]` is a view: += writes into the buffer that the other threads read, and so does "
        "/= on a row of it",
    )
    require(
        own.any(),
        f"thread {t} wrote nothing into out (or NaN)",
        cause=None if own.any() else _nothing_cause(fn, partials, t, B, returned),
    )
    require(
        own.sum() <= -(-n // T),
        f"thread {t} wrote {int(own.sum())} of {n} entries, more than its slice has",
        cause="each thread writes its own slice of out and no other, not even zeros: then no lock is needed",
    )
    _check_values(out, own, partials, t, B)
    return own


def _nothing_cause(fn, partials, t, B, returned):
    if returned is not None:
        return "the sum is returned, and nobody takes it: write it into the array that was passed, out[s] = ..."
    zeros = np.zeros(partials.shape[1], dtype=np.float32)
    value_of(fn, partials.copy(), zeros, t, B)
    if zeros.any():
        return "`out[s] += ...` adds to the old content, but out is uninitialised: out[s] = ..."
    return (
        "either `out = ...` makes a new array that the caller never sees: write into the one that was passed, "
        "out[s] = ...; or the slice is empty: do you cut the n parameters? Or only some threads write"
    )


def _check_values(out, own, partials, t, B):
    """The entries that thread t wrote (own) must be right."""
    want = partials.astype(np.float64).sum(axis=0) / B
    scale = 8 * (len(partials) + 1) * np.finfo(np.float32).eps * np.abs(partials).max() / B
    wrong = own & ~(np.abs(out - want) <= scale)
    got, wanted = ((float(a[wrong][0]) if wrong.any() else None) for a in (out, want))
    require(
        not wrong.any(),
        f"{int(wrong.sum())} of the {int(own.sum())} entries that thread {t} wrote are wrong",
        got=got,
        wanted=wanted,
    )


def _check_reduction(fn, rng, T, n, B):
    partials = normal(rng, T, n)
    own = {t: _written_by(fn, partials, t, B) for t in rng.permutation(T).tolist()}
    _check_ownership(np.sum([*own.values()], axis=0), T, n)
    for t, mine in enumerate(shard_slices(n, T)):
        got, want = np.flatnonzero(own[t]).tolist(), list(range(n))[mine]
        require(
            got == want,
            f"thread {t} wrote other entries than those of its slice",
            got=str(got),
            wanted=str(want),
            cause="all threads must cut in the same way: out[shards(n, T)[t]]",
        )


def _check_ownership(written, T, n):
    doubled, lost = int((written > 1).sum()), int((written == 0).sum())
    require(
        not doubled,
        f"{doubled} of {n} entries are written by more than one thread",
        cause="each thread must write its own slice of out, and no other: then no lock is needed. "
        "out[shards(n, T)[t]], not all of out",
    )
    require(
        not lost,
        f"{lost} of {n} entries are written by no thread",
        cause=f"n // T = {n // T} entries for each thread leave {n % T} over: cut with your shards(n, T)"
        if lost == n % T
        else "thread t takes slice t of n entries, n being the longer side: T, n = partials.shape"
        if lost == n - T
        else "cut the n entries with your shards(n, T), and write all of slice t",
    )


@function_check("reduce_slice", changes=True)
def check_reduce_slice(fn, *, rng):
    """Slice t, and nothing else, is the sum of slice t over all partials, over B; whatever order the threads run in."""
    for T, n in ((3, int(rng.integers(5, 9)) * 3 + 2), (4, 4), (2, 9), (1, 5), (5, 23)):
        B = int(rng.integers(20, 50)) * 2 + 1
        with at(f"partials of shape {(T, n)}, B = {B}"):
            _check_reduction(fn, rng, T, n, B)
    return "5 buffers: every entry written once, by one thread, in a random order of the threads"
