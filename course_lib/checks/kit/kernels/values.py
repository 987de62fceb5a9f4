"""The numbers of a launch: wrong ones, those never written, those written where nothing belongs, changed inputs."""

from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.case import Case, Result
from course_lib.checks.kit.causes import likely_cause
from course_lib.checks.kit.compare import Mismatch, Rules
from course_lib.checks.kit.kernels.batch import stored
from course_lib.checks.kit.kernels.pattern import LAST, is_last_alone, pattern
from course_lib.checks.kit.kernels.running import bits_of
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.probe import Answer
from course_lib.checks.kit.tolerance import Tolerance, is_wrong
from course_lib.checks.kit.trees import upcast

IN_C = {  # what is said of Python, as it is in a kernel
    "the fractions are": "the fractions are lost: an integer division (1 / 2 is 0, but 1.0f / 2 is 0.5f), "
    "or an int where a float belongs",
    "all zeros": "all zeros: an integer division (2 / 7 is 0), or the difference of two equal values",
    "NaN comes from": "NaN comes from 0 / 0, inf - inf, inf / inf, the logarithm of a negative number, "
    "or a variable that was never initialised",
    "infinity comes from": "infinity comes from a division by zero, logf(0), expf of a large number, "
    "or a variable that was never initialised",
    "the same result": "the same result for every input: does the kernel use its parameters?",
}
UNMOVED = (
    "either no thread writes these elements (check the guard, and the index that a thread computes), or what is "
    "written is the number that was there"
)
BEYOND_A_ROW = (
    "threads beyond the edge write too: the guard must compare with the width of the part to fill, not with the row "
    "length in memory"
)
BEYOND_THE_END = (
    "a guard is missing, or lets too much pass: an element may be written only if its own index is below the number of "
    "elements to fill"
)
PLACES = "check the index of the store or of the load, and its stride"


@dataclass
class Wrong:
    """An array that is not as it should be. kind: values, outside (of what the kernel should fill), input."""

    kind: str
    name: str
    what: str
    mask: np.ndarray
    got: np.ndarray
    want: np.ndarray
    tolerance: Tolerance | None = None
    silent: np.ndarray | None = None  # where nothing was written

    @property
    def first(self):
        """Index of the first wrong element."""
        return tuple(int(i) for i in np.argwhere(self.mask)[0])


def wanted(reference, launch, before):
    """{name: wanted array}: what the reference says of a launch, floats in float64. It may fill a corner only."""
    with np.errstate(all="ignore"):
        value = reference(**upcast(before))
    if not isinstance(value, dict):
        values = value if isinstance(value, tuple) else (value,)
        value = dict(zip(launch.outs, values, strict=True))
    return {name: np.asarray(array) for name, array in value.items()}


def wrongs(check, launch, before, after, want):
    """All that is `Wrong` after a launch, wrong numbers first."""
    found = [
        bad for name in want if (bad := _values(check, launch, name, before, after, want[name]))
    ]
    found += [
        bad for name in want if (bad := _outside(name, before[name], after[name], want[name]))
    ]
    mine = {id(after[name]) for name in launch.outs}
    inputs = [
        n for n, value in after.items() if isinstance(value, np.ndarray) and id(value) not in mine
    ]
    return found + [bad for name in inputs if (bad := _input(name, before[name], after[name]))]


def corner(array, want):
    """The part of an array that the wanted one covers: rows may be longer, and there may be more of them."""
    return array[tuple(slice(0, n) for n in want.shape)]


def tolerance(check, launch, got, want):
    """The tolerance of an array of floats; None for whole numbers, which must be equal."""
    rules = Rules(check.c, int(launch.K), got.dtype.name, None, scale=launch.scale)
    return rules.tolerance(want) if got.dtype.kind == "f" else None


def differs(got, want, allowed):
    """Where numbers are not as wanted; a NaN never is."""
    return is_wrong(got, want, allowed.value) if allowed else got != want


def _values(check, launch, name, before, after, want):
    got, old = corner(after[name], want), corner(before[name], want)
    allowed = tolerance(check, launch, got, want)
    mask = np.asarray(differs(got, want, allowed))
    if not mask.any():
        return None
    silent = mask & (bits_of(got) == bits_of(old))
    return Wrong(
        "values",
        name,
        _how_many(name, mask, silent, name in launch.out),
        mask,
        got,
        want,
        allowed,
        silent,
    )


def _how_many(name, mask, silent, poisoned):
    wrong, never = int(mask.sum()), int(silent.sum())
    many = f"{wrong:,} of {mask.size:,} elements of {name}"
    if never == wrong and poisoned:
        return f"{many} {'was' if wrong == 1 else 'were'} never written"
    if never == wrong:
        return f"{many} should change but {'is as it was' if wrong == 1 else 'are as they were'}"
    as_before = "never written" if poisoned else "as before"
    also = f", {never:,} of them {as_before}" if never else ""
    return f"{many} {'is' if wrong == 1 else 'are'} wrong{also}"


def _outside(name, before, after, want):
    mask = bits_of(before) != bits_of(after)
    corner(mask, want)[...] = False
    if not mask.any():
        return None
    part = (
        f"first {want.shape[0]:,}"
        if want.ndim == 1
        else f"{' x '.join(map(str, want.shape))} elements"
    )
    verb = "was" if mask.sum() == 1 else "were"
    what = f"{_count(mask)} of {name} beyond the {part} that the kernel must fill {verb} changed"
    return Wrong("outside", name, what, mask, after, before)


def _input(name, before, after):
    mask = bits_of(before) != bits_of(after)
    return (
        Wrong(
            "input",
            name,
            f"{_count(mask)} of {name} changed, but {name} is an input",
            mask,
            after,
            before,
        )
        if mask.any()
        else None
    )


def _count(mask):
    n = int(mask.sum())
    return f"{n:,} element{'s' * (n != 1)}"


@guess
def cause_of(bad, pairs):
    """A sentence on the likely cause of what is `Wrong`, or None. pairs: (Run, its Wrong of the same array)."""
    if bad.kind == "outside":
        return BEYOND_A_ROW if bad.mask.ndim > 1 else BEYOND_THE_END
    if bad.kind == "input":
        return f"{bad.name} is an input: write to the output instead"
    if bad.silent.sum() == bad.mask.size:
        return _not_written(bad, pairs[0][0])
    found = _everywhere(pairs) if not bad.silent.any() else None
    said = (
        _gap_read(bad, pairs[0][0])
        or _huge(bad)
        or found
        or _misplaced(bad)
        or pattern(bad.mask, pairs[0][0].launch)
    )
    if said == LAST and not all(is_last_alone(other.mask) for _, other in pairs):
        said = None
    return said or (_not_written(bad, pairs[0][0]) if bad.silent.any() else None)


def _not_written(bad, run):
    """Of elements that are as they were."""
    if _are_stored(bad, run):
        return UNMOVED
    if bad.silent.sum() == bad.mask.size:
        return f"no thread writes to {bad.name}: is the guard inverted, or the store missing?"
    return "no thread writes these elements: check the guard, and the index that a thread computes"


def _are_stored(bad, run):
    """Are there stores to an array that held numbers before? What is as it was may have been written all the same."""
    return bad.name in run.launch.inout and bad.name in stored(run)


def _gap_read(bad, run):
    """NaN where a number belongs, and an input that holds NaN: authors put it where nobody should read."""
    if (
        bad.got.dtype.kind != "f"
        or not (np.isnan(bad.got) & ~bad.silent & np.isfinite(bad.want)).any()
    ):
        return None
    names = [
        name
        for name, value in run.before.items()
        if name not in run.launch.outs
        and isinstance(value, np.ndarray)
        and value.dtype.kind == "f"
        and np.isnan(value).any()
    ]
    return (
        (
            f"NaN: {' or '.join(names)} was read where it holds no data, in the gap after a row or past the "
            "end. Is the stride the row length in memory, and does the loop end in time?"
        )
        if names
        else None
    )


def _huge(bad):
    """Numbers such as the engine puts into variables that were never set (`UNSET` in its compiler.py)."""
    size = np.abs(bad.got[bad.mask & ~bad.silent]) if bad.got.dtype.kind == "f" else np.zeros(0)
    if not np.isfinite(size).any() or not (size > 1e37).all():
        return None
    return (
        "such a large number comes from a variable that was never initialised: "
        "is each sum or vector set before it is used?"
    )


def _misplaced(bad):
    """Are the wrong numbers right ones, in other places?"""
    written, allowed = bad.mask & ~bad.silent, bad.tolerance
    if not allowed or written.sum() < 4 or len(np.unique(bad.want)) < bad.want.size / 2:
        return None
    known, got = np.sort(bad.want, axis=None), bad.got[written]
    at = np.searchsorted(known, got).clip(1, known.size - 1)
    off = np.minimum(np.abs(got - known[at - 1]), np.abs(got - known[at]))
    if not (off <= np.max(allowed.value)).mean() > 0.9:
        return None
    if not bad.want[written].any():
        return (
            "0 belongs here, and these are numbers of other places: what is loaded past the edge?"
        )
    return f"right numbers in the wrong places: {_moved(bad) or PLACES}"


def _moved(bad):
    """Whole rows of a matrix, or columns, in the place of others: which, of the first two, or None."""
    if bad.got.ndim != 2 or bad.silent.any():
        return None
    for axis in (0, 1):
        got, want, wrong = (np.moveaxis(a, axis, 0) for a in (bad.got, bad.want, bad.mask))
        allowed = np.moveaxis(np.broadcast_to(bad.tolerance.value, bad.want.shape), axis, 0)
        at = np.flatnonzero(wrong.any(1))
        homes = [np.flatnonzero(~is_wrong(got[i], want, allowed).any(1)) for i in at]
        if len(at) > 1 and all(len(home) == 1 for home in homes):
            place = f"{bad.name}[i][{{}}]" if axis else f"{bad.name}[{{}}][j]"
            two = [
                f"{place} holds what belongs in {place}".format(i, homes[n][0])
                for n, i in enumerate(at[:2])
            ]
            more = ", ..." if len(at) > 2 else ""
            return f"{', '.join(two)}{more}: it is computed for one place, and stored in another"
    return None


def _everywhere(pairs):
    """The rules that fit any task: transposed, a factor, the sign, ..., for floats as for whole numbers."""
    misses = []
    for run, bad in pairs:
        arrays = {name: v for name, v in run.before.items() if isinstance(v, np.ndarray)}
        miss = Mismatch("values", bad.name, "", bad.got, bad.want, bad.mask, bad.tolerance)
        case = Case(tuple(arrays.values()))
        misses.append((miss, Result(case, Answer(bad.got), bad.want, [miss], list(arrays))))
    said = likely_cause(misses, [result for _, result in misses])
    return said and next((text for words, text in IN_C.items() if said.startswith(words)), said)
