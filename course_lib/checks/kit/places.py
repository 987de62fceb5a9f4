"""Right numbers in wrong places: rows, columns or entries of an argument, told by where they stand in it."""

import numpy as np

from course_lib.checks.kit.trees import paths


def misplaced(miss, names, args):
    """Which rows, columns or entries of an argument a result consists of, and which belong there; or None.

    A fact, whatever the mistake was: each of the numbers occurs once in the argument.
    """
    if miss.kind not in ("values", "shape") or not (_is_array(miss.got) and _is_array(miss.want)):
        return None
    named = [
        (name + "".join(f"[{key}]" for key in path), leaf)
        for name, arg in zip(names, args, strict=False)
        for path, leaf in paths(arg)
        if _is_array(leaf)
    ]
    said = (
        how(miss, name, whole) for how in (_slices, _entry) for name, whole in named if whole.size
    )
    return next(filter(None, said), None)


def _is_array(x):
    return isinstance(x, np.ndarray) and x.dtype.kind == "f" and 0 < x.ndim < 3


def _slices(miss, name, whole):
    for axis, what in enumerate(("rows", "columns") if whole.ndim > 1 else ("entries",)):
        came, belong = (_which(part, whole, axis) for part in (miss.got, miss.want))
        if came and belong and came != belong:
            return f"these are {what} {_list(came)} of {name}; {_list(belong)} belong here"
    return None


def _which(part, whole, axis):
    """The numbers of the rows of `whole` that those of `part` are, in order, where each is one alone; or None."""
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


def _entry(miss, name, whole):
    """The first wrong entry, where all are entries of the argument."""
    if miss.kind != "values" or miss.got.size < 3:
        return None
    at = int(np.flatnonzero(miss.wrong)[0])
    came, belong = (_which(part.ravel(), whole.ravel(), 0) for part in (miss.got, miss.want))
    if not came or not belong:
        return None
    mine, right = (
        f"{name}[{', '.join(str(int(i)) for i in np.unravel_index(places[at], whole.shape))}]"
        for places in (came, belong)
    )
    return f"all of it is in {name}, but in other places: the first that is wrong is {mine}, where {right} belongs"
