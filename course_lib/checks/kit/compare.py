"""Compare a result with the wanted one, part by part, and write down the first thing wrong with each part."""

from dataclasses import dataclass, replace

import numpy as np

from course_lib.checks.kit.tolerance import Tolerance, is_wrong
from course_lib.checks.kit.trees import a_thing, nan_is_inf, short, tree_map, working_dtype

NUMBER = (bool, int, float, np.generic)
SLIGHT = ("dtype", "changed")  # told only when nothing worse is


@dataclass
class Mismatch:
    """One part of a result that is not as wanted.

    kind: none, type, structure, shape, values, error, plain; and, where all values are right, those of SLIGHT.
    """

    kind: str
    name: str
    what: str
    got: object = None
    want: object = None
    wrong: np.ndarray | None = None  # where, for kind "values"
    tolerance: Tolerance | None = None


@dataclass(frozen=True)
class Rules:
    """How to compare: c, K and the working dtype of the tolerance, the wanted float dtype or None, names of parts."""

    c: float
    K: int
    working: str
    dtype: str | None
    parts: tuple = ()
    each: tuple = ()
    scale: float | str | None = None
    digits: int | None = None
    python_floats: bool = False
    either: bool = False  # 2.0 is as good as 2

    def tolerance(self, want):
        """The tolerance for a float array `want`."""
        sizes = np.abs(np.where(np.isfinite(want), want, 0.0))
        if self.scale is None:
            return Tolerance(
                self.c, self.K, self.working, float(sizes.max(initial=0.0)), self.digits
            )
        if isinstance(self.scale, str):  # "entry"; far below 1e-30, float32 has no digits left
            return Tolerance(
                self.c, self.K, self.working, np.maximum(sizes, 1e-30), self.digits, "|wanted|"
            )
        return Tolerance(
            self.c, self.K, self.working, self.scale, self.digits, "size of the numbers summed"
        )


def dtypes(told, args):
    """(the dtype of the tolerance, the wanted float dtype or None). told: "input" for that of the arguments."""
    working = working_dtype(args)
    wanted = working if isinstance(told, str) and told == "input" else told and np.dtype(told).name
    return wanted or working, wanted


def compare(got, want, rules, path=()):
    """All mismatches of a result tree against the wanted tree, in order; an empty list means right."""
    name = part_name(path, rules)
    if got is None and want is not None:
        return [Mismatch("none", name, f"{name} is None", got, want)]
    if isinstance(want, dict):
        return _compare_dict(got, want, rules, path, name)
    if isinstance(want, (list, tuple)):
        return _compare_sequence(got, want, rules, path, name)
    if isinstance(want, (np.ndarray, *NUMBER)):
        found = _compare_numbers(got, want, rules, name)
        return [found] if found else []
    return [] if _plainly_equal(got, want) else [_plain_mismatch(name, got, want)]


def close(got, like, rules):
    """Are they the same but for rounding, on the scale of the rules or on their own? NaN is like NaN here.

    A wrong result may be larger than the scale of a case, or known less exactly; whole, it may be a float or an int.
    """
    got, like = tree_map(nan_is_inf, got), tree_map(nan_is_inf, like)
    rules = replace(rules, either=True)
    return not compare(got, like, replace(rules, scale=None)) or not compare(got, like, rules)


def part_name(path, rules):
    """The name of a part: ("Z", "A") names the outer tuple, each=("dW", "db") the pairs inside a list."""
    if rules.each and len(path) == 2 and isinstance(path[1], int):
        return f"{rules.each[path[1]]}[{path[0]}]"
    if path and isinstance(path[0], int) and path[0] < len(rules.parts):
        return rules.parts[path[0]] + "".join(f"[{p!r}]" for p in path[1:])
    return "the result" if not path else "result" + "".join(f"[{p!r}]" for p in path)


def part_pairs(got, want, rules, path=()):
    """(name, got, wanted) of each part that is no list, of two trees of one form."""
    if isinstance(want, (dict, list, tuple)):
        keys = want if isinstance(want, dict) else range(min(len(got), len(want)))
        for key in keys:
            yield from part_pairs(got[key], want[key], rules, (*path, key))
    else:
        yield part_name(path, rules), got, want


def _compare_sequence(got, want, rules, path, name):
    if not isinstance(got, (list, tuple)):
        what = f"{name} is {a_thing(got)}, not a {type(want).__name__} of {len(want)} parts"
        return [Mismatch("type", name, what, got, want)]
    if len(got) != len(want):
        what = f"{name} has {len(got)} part{'s' * (len(got) != 1)}, not {len(want)}"
        return [Mismatch("structure", name, what, got, want)]
    pairs = enumerate(zip(got, want, strict=True))
    return [bad for i, (g, w) in pairs for bad in compare(g, w, rules, (*path, i))]


def _compare_dict(got, want, rules, path, name):
    if not isinstance(got, dict):
        return [Mismatch("type", name, f"{name} is {a_thing(got)}, not a dict", got, want)]
    if set(got) != set(want):
        lacks, extra = (
            sorted(map(str, set(want) - set(got))),
            sorted(map(str, set(got) - set(want))),
        )
        what = f"{name} lacks the keys {lacks}" if lacks else f"{name} has unknown keys {extra}"
        return [Mismatch("structure", name, what, got, want)]
    return [bad for key in want for bad in compare(got[key], want[key], rules, (*path, key))]


def _compare_numbers(got, want, rules, name):
    wanted = np.asarray(want)
    scalar = not isinstance(want, np.ndarray)
    if not isinstance(got, (np.ndarray, *NUMBER)):
        dtype = rules.dtype or "float" if wanted.dtype.kind == "f" else wanted.dtype.name
        thing = "one number" if scalar else f"a NumPy array {wanted.shape} {dtype}"
        return Mismatch("type", name, f"{name} is {a_thing(got)}, not {thing}", got, want)
    if not isinstance(got, np.ndarray) and wanted.ndim:
        return Mismatch(
            "shape", name, f"{name} is one number, not an array of shape {wanted.shape}", got, want
        )
    have = np.asarray(got)
    if have.dtype.kind not in "biuf":
        return Mismatch(
            "type", name, f"{name} has dtype {have.dtype}, not {wanted.dtype.name}", got, want
        )
    if have.shape != wanted.shape:
        thing = "one number" if scalar else f"{wanted.shape}"
        return Mismatch("shape", name, f"{name} has shape {have.shape}, not {thing}", have, wanted)
    if rules.either and scalar and have.dtype.kind == "f" and wanted.dtype.kind in "iu":
        wanted = wanted.astype(np.float64)
    return (
        _compare_values(have, wanted, rules, name)
        or _compare_dtype(got, have, wanted, rules, name)
        or (_compare_scalar(got, have, wanted, name) if scalar and rules.python_floats else None)
    )


def _compare_scalar(got, have, want, name):
    """A Python float where one is asked for; np.float64 is one."""
    if isinstance(got, float) or want.dtype.kind != "f":
        return None
    what = f"the value is right, but {name} is a NumPy {have.dtype}, not a Python float"
    return Mismatch("dtype", name, what, have, want)


def _compare_values(have, want, rules, name):
    if want.dtype.kind == "f":
        tolerance = rules.tolerance(want)
        wrong = is_wrong(have, want, tolerance.value)
    else:
        tolerance, wrong = None, have != want
    if not wrong.any():
        return None
    count = (
        f"{int(wrong.sum())} of {wrong.size} entries of {name} differ"
        if wrong.ndim
        else f"{name} differs"
    )
    return Mismatch("values", name, count, have, want, wrong, tolerance)


def _compare_dtype(got, have, want, rules, name):
    kind, wanted_kind = have.dtype.kind, want.dtype.kind
    wanted = rules.dtype or "float" if wanted_kind == "f" else want.dtype.name
    whole = kind in "iu" and wanted_kind in "iu"
    if wanted_kind == "f" and kind == "f":
        right = (
            rules.dtype is None or have.dtype.name == rules.dtype or not isinstance(got, np.ndarray)
        )
    else:  # a plain 0 or 1 may stand for 0.0 or 1.0; integers of any width are integers
        right = (
            kind == wanted_kind or whole or (wanted_kind == "f" and not isinstance(got, np.ndarray))
        )
    if right:
        return None
    return Mismatch(
        "dtype",
        name,
        f"the values are right, but {name} has dtype {have.dtype}, not {wanted}",
        have,
        want,
    )


def _plainly_equal(got, want):
    return type(got) is type(want) and got == want


def _plain_mismatch(name, got, want):
    return Mismatch(
        "plain", name, f"{name} is {short(repr(got))}, not {short(repr(want))}", got, want
    )
