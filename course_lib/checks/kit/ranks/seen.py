"""What a wrong sum over ranks is made of: how often the numbers of each rank are in it.

A fact about the run that is shown, worked out from the numbers alone: it holds whatever the mistake was.
"""

import numpy as np

from course_lib.checks.kit.trees import leaves

MOST = 8  # times that a summand is looked for


def counted(run):
    """Whose numbers are missing in a sum, stand in it more than once, or do not belong there; or None."""
    _, miss = run.wrong[0]
    if miss.kind != "values" or run.n < 2 or miss.want.dtype.kind != "f":
        return None
    for given in _of_all_ranks(run, miss.want):
        right = _weights(given, miss.want.ravel())
        largest = np.abs(right).max() if right is not None else 0
        if not largest:
            continue
        belongs = np.abs(right) > 1e-3 * largest
        for where, at in _stretches(miss, run.n):
            found = _weights(given[:, at], miss.got.ravel()[at])
            said = found is not None and _said(found / np.where(belongs, right, largest), belongs)
            if said:
                return said + where + ": each rank's must count once" * bool(belongs.all())
    return None


def _of_all_ranks(run, want):
    """Summands of the shape that is wanted, a row for each rank: an array that each was given, or its sum of rows."""
    kept = [[_summand(leaf, want.shape) for leaf in _held(args)] for args in run.args]
    for arrays in zip(*kept, strict=False):
        if want.size and all(array is not None for array in arrays):
            yield np.array(arrays)


def _held(args):
    """The arrays of a rank's arguments, also of an object that gives them one by one."""
    for leaf in leaves(args):
        found = leaves(list(vars(leaf).values())) if hasattr(leaf, "__dict__") else [leaf]
        yield from (
            each for each in found if isinstance(each, np.ndarray) and each.dtype.kind == "f"
        )


def _summand(array, shape):
    array = array.sum(axis=0) if array.shape[1:] == shape else array
    return np.float64(array).ravel() if array.shape == shape else None


def _weights(given, total):
    """c with total = c @ given, if there is one alone and more numbers say so than there are ranks; or None."""
    if len(total) <= len(given) or not np.isfinite(total).all() or not np.isfinite(given).all():
        return None
    weights, _, rank, _ = np.linalg.lstsq(given.T, np.float64(total), rcond=None)
    close = np.allclose(weights @ given, total, rtol=0, atol=1e-5 * np.abs(total).max())
    return weights if close and rank == len(given) else None


def _stretches(miss, n):
    """(words, entries): all that is wrong; then the first of n parts that has something wrong in it."""
    wrong = np.flatnonzero(miss.wrong)
    yield " in all that is wrong" * (len(wrong) < miss.want.size), wrong
    parts = np.array_split(np.arange(miss.want.size), n)
    part = next(part for part in parts if np.isin(part, wrong).any())
    yield f" in entries {part[0]} to {part[-1]}" + ", flattened" * (miss.want.ndim > 1), part


def _said(times, belongs):
    """ "the numbers of rank 0 count twice, those of rank 1 are missing"; None where they are no whole numbers."""
    whole = np.round(times)
    if np.abs(times - whole).max() > 1e-2 or whole.min() < 0 or not 0 < whole.max() <= MOST:
        return None
    groups: dict = {}
    for rank, (count, here) in enumerate(zip(whole.astype(int), belongs, strict=True)):
        if count != here:
            often = "count twice" if count == 2 else f"count {count} times"
            what = ("are missing" if not count else often) if here else "do not belong there"
            groups.setdefault(what, []).append(str(rank))
    said = [f"of rank{'s' * (len(r) > 1)} {', '.join(r)} {what}" for what, r in groups.items()]
    return "the numbers " + ", those ".join(said) if said else None
