"""What wrong numbers of a rank are made of: how often each rank's summand is in them, or whose rows they are.

Facts about the run that is shown, worked out from the numbers alone: they hold whatever the mistake was.
"""

import numpy as np

from course_lib.checks.kit.trees import leaves

TIMES = {0: "not at all", 1: "once", 2: "twice"}
MOST = 8  # times that a summand is looked for


def counted(run):
    """A sum in which a rank's summand is missing, or stands more than once: which, and where; or None."""
    rank, miss = run.wrong[0]
    if miss.kind != "values" or run.n < 2 or miss.want.dtype.kind != "f":
        return None
    for given in _of_all_ranks(run, miss.want):
        right = _weights(given, miss.want.ravel())
        if right is None or not np.all(np.abs(right) > 1e-3):
            continue
        for where, at in _stretches(miss, run.n):
            found = _weights(given[:, at], miss.got.ravel()[at])
            if found is not None and (said := _said(found / right)):
                return f"{where} {said}: each rank's must count once"
    return None


def _of_all_ranks(run, want):
    """Arrays of the shape of what is wanted that every rank was given, a row for each rank."""
    kept = [
        [leaf for leaf in leaves(args) if np.shape(leaf) == want.shape and want.size]
        for args in run.args
    ]
    for arrays in zip(*kept, strict=False):
        yield np.array([np.float64(array).ravel() for array in arrays])


def _weights(given, total):
    """c with total = c @ given, if more numbers say so than there are ranks; or None."""
    if len(total) < len(given) + 2 or not np.isfinite(total).all():
        return None
    weights = np.linalg.lstsq(given.T, np.float64(total), rcond=None)[0]
    close = np.allclose(weights @ given, total, rtol=0, atol=1e-5 * np.abs(given).max(initial=0))
    return weights if close else None


def _stretches(miss, n):
    """(words, entries): all that is wrong; then the first part of n that has something wrong in it."""
    wrong = np.flatnonzero(miss.wrong)
    yield "in all that is wrong," if len(wrong) < miss.want.size else "everywhere", wrong
    parts = np.array_split(np.arange(miss.want.size), n)
    part = next(part for part in parts if np.isin(part, wrong).any())
    yield f"in entries {part[0]} to {part[-1]}" + " when flattened" * (miss.want.ndim > 1), part


def _said(times):
    """ "the numbers of rank 0 count twice", or None if that is no way to say it."""
    whole = np.round(times)
    if np.abs(times - whole).max() > 1e-2 or not 0 <= whole.min() <= whole.max() <= MOST:
        return None
    groups: dict = {}
    for rank, count in enumerate(whole.astype(int)):
        groups.setdefault(count, []).append(str(rank))
    said = [
        f"the numbers of rank{'s' * (len(ranks) > 1)} {', '.join(ranks)} count {TIMES.get(count, f'{count} times')}"
        for count, ranks in groups.items()
        if count != 1
    ]
    return " and ".join(said) or None


def moved(run, names):
    """Rows, columns or entries of an argument that belong to another place: which came, which belong there; or None.

    names: of the arguments.
    """
    rank, miss = run.wrong[0]
    if miss.kind not in ("values", "shape") or not _is_array(miss.got) or not _is_array(miss.want):
        return None
    for owner in [rank, *range(run.n)]:
        for name, arg in zip(names, run.args[owner], strict=False):
            for leaf in filter(_is_array, leaves((arg,))):
                for axis in range(leaf.ndim):
                    came, belong = (_places(x, leaf, axis) for x in (miss.got, miss.want))
                    if came and belong and came != belong:
                        what = ("rows", "columns")[axis] if leaf.ndim > 1 else "entries"
                        whose = name if owner == rank else f"rank {owner}'s {name}"
                        return f"these are {what} {_list(came)} of {whose}; {_list(belong)} belong here"
    return None


def _is_array(x):
    return isinstance(x, np.ndarray) and x.dtype.kind == "f" and 0 < x.ndim < 3


def _places(part, whole, axis):
    """Which rows of `whole` those of `part` are, in order, where each is one of them alone; or None."""
    if part.ndim != whole.ndim or not part.size:
        return None
    part, whole = np.moveaxis(part, axis, 0), np.moveaxis(whole, axis, 0)
    if part.shape[1:] != whole.shape[1:]:
        return None
    found = [np.flatnonzero((whole == row).reshape(len(whole), -1).all(1)) for row in part]
    return [int(at[0]) for at in found] if all(len(at) == 1 for at in found) else None


def _list(places):
    """ "2 to 5", or "0, 3, 6"."""
    first, last = places[0], places[-1]
    if len(places) > 2 and places == list(range(first, last + 1)):
        return f"{first} to {last}"
    return ", ".join(map(str, places[:6])) + ", ..." * (len(places) > 6)
