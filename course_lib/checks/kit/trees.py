"""Arguments and results as trees: arrays and numbers inside tuples, lists and dicts."""

import copy
from fractions import Fraction

import numpy as np

PLAIN = (int, float, bool, str, type(None))  # leaves that nobody can change


def tree_map(change, value):
    """The same tree with `change` applied to every leaf."""
    if isinstance(value, dict):
        return {key: tree_map(change, item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(tree_map(change, item) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(tree_map(change, item) for item in value)
    return change(value)


def copied(value):
    """A copy that shares no array with the original."""
    return tree_map(_copy_leaf, value)


def upcast(value):
    """A copy with every floating array and number in float64, as the reference gets it."""
    return tree_map(_upcast_leaf, value)


def leaves(value):
    """All leaves of the tree, in order."""
    found: list = []
    tree_map(found.append, value)
    return found


def paths(value, path=()):
    """(path, leaf) of every leaf, in order: ((0, 1), b) is params[0][1]."""
    if isinstance(value, (dict, list, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [pair for key, item in items for pair in paths(item, (*path, key))]
    return [(path, value)]


def nan_is_inf(leaf):
    """A leaf with NaN made infinite: infinities are compared as equal, so that one NaN is like another."""
    if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f":
        return np.where(np.isnan(leaf), np.inf, leaf)
    return np.inf if isinstance(leaf, float | np.floating) and leaf != leaf else leaf


def same(a, b):
    """Are two trees equal, bit for bit? NaN equals NaN here: poison that stays poison has not changed."""
    a, b = leaves(a), leaves(b)
    return len(a) == len(b) and all(_same_leaf(x, y) for x, y in zip(a, b, strict=True))


def working_dtype(value):
    """Name of the floating dtype of the arrays in a tree (the widest of them); float64 where there is none."""
    kinds = [x.dtype for x in leaves(value) if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
    return np.result_type(*kinds).name if kinds else "float64"


def describe(value):
    """A few words on an argument or a result: its shape and dtype, or a short number, or its type."""
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.dtype}"
    if isinstance(value, (bool, int, float, str, np.generic)) or value is None:
        return short(repr(value.item() if isinstance(value, np.generic) else value))
    if (
        isinstance(value, (list, tuple))
        and value
        and all(isinstance(x, np.ndarray) for x in leaves(value))
    ):
        return short(_shapes(value), 70)
    if isinstance(value, (list, tuple)):
        kind = type(value).__name__
        inside = ", ".join(describe(item) for item in value[:2]) + (
            ", ..." if len(value) > 2 else ""
        )
        return short(f"{kind} of {len(value)}: {inside}" if len(value) else f"an empty {kind}", 90)
    name = getattr(value, "__name__", None)
    return f"the function {name}" if callable(value) and name else f"a {type(value).__name__}"


def _shapes(value):
    """The shapes of a tree of arrays: "[((3, 4), (4,)), ((4, 5), (5,))]"."""
    if isinstance(value, np.ndarray):
        return str(value.shape)
    inside = ", ".join(_shapes(item) for item in value)
    return f"[{inside}]" if isinstance(value, list) else f"({inside})"


def numbers(value):
    """How many numbers an argument holds; None if it is not made of numbers alone."""
    if isinstance(value, np.ndarray):
        return value.size if value.dtype.kind in "biuf" else None
    if isinstance(value, (bool, int, float, str, Fraction, np.generic)):
        return 1
    if isinstance(value, (list, tuple)):
        counts = [numbers(item) for item in value]
        return None if None in counts else sum(counts)
    return None


def in_full(value):
    """All numbers of an argument, six digits each."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return "[" + ", ".join(in_full(item) for item in value) + "]"
    value = value.item() if isinstance(value, (np.generic, np.ndarray)) else value
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def a_thing(value):
    """A value with its article: "a list of 3", "a NumPy array (2, 3) float32", "7"."""
    if isinstance(value, np.ndarray):
        return f"a NumPy array {describe(value)}"
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return describe(value)
    name = type(value).__name__
    size = f" of {len(value)}" if isinstance(value, (list, tuple, dict)) else ""
    return ("an " if name[0] in "aeiou" else "a ") + name + size


def short(text, limit=60):
    """The text, cut with an ellipsis when it is longer than the limit."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _copy_leaf(leaf):
    if type(leaf) in PLAIN:
        return leaf
    if isinstance(leaf, np.ndarray):
        return leaf.copy(order="K")  # in memory as the original: W.T stays what it is
    try:
        return copy.deepcopy(leaf)
    except (TypeError, ValueError, copy.Error):  # generators, modules, locks: shared, not copied
        return leaf


def _upcast_leaf(leaf):
    if isinstance(leaf, (np.ndarray, np.generic)) and leaf.dtype.kind == "f":
        return leaf.astype(np.float64)
    return _copy_leaf(leaf)


def _same_leaf(x, y):
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        floating = x.dtype.kind in "fc" and y.dtype.kind in "fc"
        return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=floating)
    if isinstance(x, (int, float, str, bool, np.generic)):
        return type(x) is type(y) and (x == y or (x != x and y != y))
    return True  # other objects are not looked into
