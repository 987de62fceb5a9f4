"""Likely causes in the form of a result: parts swapped or left out, lists not filled to the end, lists extended.

Each rule gets the failing results of a check, and `alike(value, want, result)`: are the two the same but for rounding?
"""

from itertools import permutations

import numpy as np

from course_lib.checks.kit.trees import leaves


def cause_of_form(check, results, alike):
    """A sentence, or None. results: the failing ones that gave an answer."""
    for rule in (_swapped_parts, _swapped_in_pairs, _part_alone, _unfilled, _extended):
        text = rule(check, results, alike)
        if text:
            return text
    return None


def _swapped_parts(check, results, alike):
    """The parts of a tuple in another order, the same in all cases."""
    n = _parts(results)
    if not n or any(
        not isinstance(r.answer.value, (list, tuple)) or len(r.answer.value) != n for r in results
    ):
        return None
    for order in list(permutations(range(n)))[1:]:
        if all(alike(tuple(r.answer.value[i] for i in order), r.want, r) for r in results):
            return f"the right parts, but swapped: return {_names(check, n)}, in this order"
    return None


def _parts(results):
    """How many parts the wanted tuple has, if it is one of 2 to 4 in all cases."""
    sizes = {len(r.want) if isinstance(r.want, tuple) else 0 for r in results}
    n = sizes.pop() if len(sizes) == 1 else 0
    return n if 2 <= n <= 4 else 0


def _names(check, n):
    return ", ".join(check.parts[:n] if len(check.parts) >= n else (f"part {i}" for i in range(n)))


def _swapped_in_pairs(check, results, alike):
    """(db, dW) where (dW, db) belongs, throughout a list of pairs."""
    if len(check.each) != 2:
        return None
    for r in results:
        pairs = r.answer.value if isinstance(r.answer.value, (list, tuple)) else ()
        if not pairs or any(not isinstance(p, (list, tuple)) or len(p) != 2 for p in pairs):
            return None
        if not alike([(second, first) for first, second in pairs], r.want, r):
            return None
    return f"the two are swapped in each pair: ({', '.join(check.each)}), in this order"


def _part_alone(check, results, alike):
    """One part of the tuple alone."""
    n = _parts(results)
    for i in range(n):
        if all(
            not isinstance(r.answer.value, tuple) and alike(r.answer.value, r.want[i], r)
            for r in results
        ):
            names = _names(check, n)
            return f"only {names.split(', ')[i]} is returned: return {names}, with a comma between them"
    return None


def _unfilled(check, results, alike):
    """None among the entries of a list: it was returned before the loop had filled it."""
    lists = [r.answer.value for r in results if isinstance(r.answer.value, list)]
    if len(lists) < len(results) or any(all(x is not None for x in values) for values in lists):
        return None
    full = [[i for i, x in enumerate(values) if x is not None] for values in lists]
    sizes = [len(values) for values in lists]
    said = "your function does return its list, but some entries were never filled: "
    if not any(full):
        return (
            said
            + "the loop does not run at all; range(n - 1, 0) is empty, going down needs a third number, -1"
        )
    if (
        all(found == list(range(1, n)) for found, n in zip(full, sizes, strict=True))
        and max(sizes) > 2
    ):
        return said + (
            "the loop stops before entry 0; range(n - 1, 0, -1) leaves 0 out, "
            "range(n - 1, -1, -1) or reversed(range(n)) do not"
        )
    if all(len(found) <= 1 for found in full):
        return said + "`return` is inside the loop, so the loop ends after its first round"
    if all(found == list(range(n - 1)) for found, n in zip(full, sizes, strict=True)):
        return said + "the loop stops before the last entry"
    return said + "look at where the loop begins and ends, and whether `return` is inside it"


def _extended(check, results, alike):
    """`list += array` has put in the entries one by one."""
    flat = [_flat(r.answer.value) for r in results]
    wanted = [_flat_arrays(r.want) for r in results]
    if any(f is None for f in (*flat, *wanted)) or not _all_alike(flat, wanted, results, alike):
        return None
    return "the list holds single numbers: `list += array` puts in the entries one by one; use list.append(array)"


def _all_alike(flat, wanted, results, alike):
    return all(
        f.shape == w.shape and alike(f, w, r) for f, w, r in zip(flat, wanted, results, strict=True)
    )


def _flat(value):
    """A list of numbers as an array, or None."""
    if (
        isinstance(value, list)
        and value
        and all(isinstance(x, (float, np.floating)) for x in value)
    ):
        return np.array(value)
    return None


def _flat_arrays(want):
    """A wanted list of arrays as one array, or None."""
    if isinstance(want, list) and want and all(isinstance(x, np.ndarray) for x in leaves(want)):
        return np.concatenate([np.ravel(x) for x in leaves(want)])
    return None
