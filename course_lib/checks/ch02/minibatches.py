"""Shuffled mini-batches: nothing lost, doubled or mislabelled."""

from itertools import groupby, pairwise

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check


def _numbered(N, n, C):
    """X with its row number in column 0, Y one-hot with class = row number mod C: pairs can be told apart."""
    X = np.zeros((N, n), dtype=np.float32)
    X[:, 0] = np.arange(N)
    return X, np.eye(C, dtype=np.float32)[np.arange(N) % C]


def _batches(fn, X, Y, B, rng):
    """Call the student's function; demand a series of pairs of arrays, and unchanged inputs."""
    X_before, Y_before = X.copy(), Y.copy()
    given = fn(X, Y, B, rng)
    require(
        given is not None,
        "minibatches returned None",
        cause="end with `return ...`",
    )
    require(
        isinstance(given, (list, tuple)),
        f"minibatches returned a {type(given).__name__}, not a list of pairs",
        cause="a generator is used up after one pass: collect the pairs in a list"
        if hasattr(given, "__next__")
        else None,
    )
    batches = list(given)
    pairs = all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in batches)
    require(
        bool(pairs and batches),
        "each batch must be a pair (xb, yb)",
        got=(batches or ["no batch at all"])[0],
    )
    flat = [np.shape(part) for pair in batches for part in pair if np.ndim(part) != 2]
    require(
        not flat,
        "xb and yb must be matrices, one example per row",
        got=f"shape {flat[:1]}",
        cause="a batch of one is a matrix too, (1, n0)" if B == 1 else None,
    )
    _check_memory([np.asarray(xb) for xb, _ in batches])
    swapped = all(
        np.shape(xb)[1:] == Y.shape[1:] and np.shape(yb)[1:] == X.shape[1:] for xb, yb in batches
    )
    require(not swapped, "the pairs are (yb, xb)", cause="the images come first: (xb, yb)")
    widths = [np.shape(xb)[1:] + np.shape(yb)[1:] for xb, yb in batches]
    whole = X.shape[1:] + Y.shape[1:]
    require(
        all(width == whole for width in widths),
        "a batch has other columns than X and Y",
        got=f"{widths[0]}, of xb and of yb",
        wanted=f"{whole}",
    )
    found = {np.asarray(part).dtype.name for pair in batches for part in pair} - {"float32"}
    require(
        not found,
        f"there are batches of dtype {', '.join(sorted(found))}",
        wanted="float32, as X and Y are",
        cause="X[rows] keeps the dtype of X; a new array, as from np.zeros, is float64",
    )
    require(
        np.array_equal(X, X_before) and np.array_equal(Y, Y_before),
        "the caller's X or Y was changed",
        cause=_cause_of_change(X, X_before),
    )
    return batches


def _check_memory(images):
    """Has each batch memory of its own?"""
    shared = [(a, b) for a, b in pairwise(images) if np.shares_memory(a, b)]
    one = any(a.ctypes.data == b.ctypes.data for a, b in shared)
    require(
        not shared,
        "two batches lie in the same memory",
        cause="the batches share one array, so all of them hold the last batch: make a new array for each"
        if one
        else "a batch begins before the one before it ends: one begins where the other stops",
    )


def _cause_of_change(X, before):
    """Why the caller's arrays are not what they were."""
    if np.array_equal(np.sort(X[:, 0]), before[:, 0]):
        return (
            "rng.shuffle(X) works in place, and so does X[:] = ...: shuffle indices, order = rng.permutation(N), and "
            "take X[order]"
        )
    return "they belong to the caller: only read them"


def _check_sizes(batches, N, B):
    sizes, full = [len(xb) for xb, _ in batches], [B] * (N // B)
    splits = [
        [len(part) for part in np.array_split(range(N), n)] for n in (max(N // B, 1), -(-N // B))
    ]
    wanted = full + ([N % B] if N % B else [])
    causes = {
        "the ragged last batch is dropped: its examples would never be seen": sizes == full
        and N % B,
        _filled_up(batches): sizes == [*full, B] and N % B,
        "there is only one batch: B is not used": sizes == [N],
        "the short batch is not the last: permute the examples first, then cut, from the front": sizes
        != wanted
        and sorted(sizes) == sorted(wanted),
        "the sizes are nearly equal, as np.array_split makes them: batches have B examples, and the last has the "
        "remainder": sizes in splits,
        "order[-0:] is everything: add the rest only where there is one": sizes == [*full, N]
        and not N % B,
        "there is an empty batch at the end": sizes and sizes[-1] == 0,
        "there is an empty batch at the front: begin with order[0:B]. (np.split cuts at each place that it is given, "
        "so give it no 0)": sizes == [0, *wanted],
        "batches of size N // B: B is the size of a batch, not their number": sizes
        and sizes[0] == N // B != B,
    }
    cause = next((text for text, holds in causes.items() if holds), None)
    require(
        sizes == wanted,
        f"N = {N} examples in batches of B = {B}",
        got=_runs(sizes),
        wanted=_runs(wanted),
        cause=cause,
    )
    require(
        all(len(yb) == len(xb) for xb, yb in batches), "xb and yb of a batch have different lengths"
    )


def _filled_up(batches):
    """What the last batch, B rows long, is filled up with."""
    if (np.asarray(batches[-1][1]).sum(axis=1) != 1).any():
        return (
            "the last batch is filled up to B with rows that are no examples: it has what is left"
        )
    return "the last batch is filled up to B: some examples count twice"


def _runs(sizes):
    """Batch sizes in short: "54 of 8, 1 of 3"."""
    runs = [(size, len(list(same))) for size, same in groupby(sizes)]
    text = ", ".join(f"{n} of {size}" for size, n in runs[:8])
    return f"batches: {text}" + (", and more" if len(runs) > 8 else "")


def _check_rows(batches, X, C):
    """No example changed, lost or doubled, and each with its own label."""
    images, N = np.concatenate([np.asarray(xb) for xb, _ in batches]), len(X)
    known = np.isin(images[:, 0], X[:, 0])
    rows = np.where(known, images[:, 0], 0).astype(int)
    require(known.all() and (images == X[rows]).all(), "there are images that are not in X")
    labels = np.concatenate([np.asarray(yb) for _, yb in batches])
    times = np.bincount(rows, minlength=N)
    lost, doubled = int((times == 0).sum()), int((times > 1).sum())
    require(
        lost == doubled == 0,
        f"of {N} examples, {lost} are lost and {doubled} doubled",
        cause=_cause_of_doubled(batches),
    )
    require(
        np.array_equal(labels.argmax(axis=1), rows % C),
        "images and labels no longer belong together",
        cause="shuffle X and Y by the SAME permutation: one order, used for both",
    )
    return rows


def _cause_of_doubled(batches):
    """Is an example twice in one batch, or only in two of them?"""
    if any(len(np.unique(np.asarray(xb)[:, 0])) < len(xb) for xb, _ in batches):
        return "each epoch draws without replacement: rng.permutation(N), not rng.integers or rng.choice"
    return "each batch is drawn without the others: one order for the whole epoch, rng.permutation(N), before the loop"


def _check_shuffled(rows, B):
    """Are the examples shuffled over the whole epoch?"""
    require(
        (rows != np.arange(len(rows))).any(),
        "the examples come in the order of the file",
        cause="no shuffle: order = rng.permutation(N)",
    )
    inside = all(set(rows[s : s + B]) <= set(range(s, s + B)) for s in range(0, len(rows), B))
    require(
        np.ptp(rows[:B]) >= B,
        "every batch holds neighbours from the file",
        cause="the examples are shuffled inside of each batch alone: permute all of them before you cut"
        if inside
        else "the batches are shuffled, the examples are not: permute the examples before you cut",
    )


@function_check("minibatches")
def check_minibatches(fn, *, rng):
    """No example lost, doubled or mislabelled; ragged last batch kept; a new order at each call, from rng."""
    seed, C = int(rng.integers(1 << 30)), 7
    for N, B in ((int(rng.integers(30, 60)) * 8 + 3, 8), (24, 6), (19, 40), (5, 1)):
        X, Y = _numbered(N, 4, C)
        batches = _batches(fn, X, Y, B, np.random.default_rng(seed))
        _check_sizes(batches, N, B)
        _check_rows(batches, X, C)
    N, B = 203, 10
    X, Y = _numbered(N, 4, C)
    stream = np.random.default_rng(seed)
    first, second = (_check_rows(_batches(fn, X, Y, B, stream), X, C) for _ in range(2))
    _check_shuffled(first, B)
    require(
        (first != second).any(),
        "two epochs with one rng have the same order",
        cause="the order is the same each time: draw it again in each call, from the rng that is passed",
    )
    left = N % B
    require(
        set(first[-left:]) != set(second[-left:]),
        "the same examples are left over in both epochs",
        cause="the remainder is set aside before the shuffle: permute all N examples, then cut",
    )
    again = _check_rows(_batches(fn, X, Y, B, np.random.default_rng(seed)), X, C)
    require(
        np.array_equal(first, again),
        "the same seed gives another order",
        cause="draw only from rng, not from np.random",
    )
    return "nothing lost, doubled or mislabelled in 4 ragged splits, and a new order each epoch"
