"""The numbers of a launch: wrong ones, those never written, those written where nothing belongs, changed inputs."""

from dataclasses import dataclass

import numpy as np

from .case import Case, Result
from .causes import likely_cause
from .compare import Mismatch, Rules
from .kernels_run import bits_of, poisoned
from .probe import Answer
from .tolerance import is_wrong
from .trees import upcast


@dataclass
class Wrong:
    """An array that is not as it should be. kind: values, outside (of what the kernel should fill), input."""

    kind: str
    name: str
    what: str
    mask: np.ndarray
    got: np.ndarray
    want: np.ndarray
    tolerance: object = None
    unwritten: int = 0

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
    found = [bad for name in want if (bad := _values(check, launch, name, after[name], want[name]))]
    found += [bad for name in want if (bad := _outside(name, before[name], after[name], want[name]))]
    names = [name for name, value in before.items() if isinstance(value, np.ndarray) and name not in launch.outs]
    mine = {id(after[name]) for name in launch.outs}
    return found + [bad for name in names if id(after[name]) not in mine and (bad := _input(name, before, after))]


def corner(array, want):
    """The part of an array that the wanted one covers: rows may be longer, and there may be more of them."""
    return array[tuple(slice(0, n) for n in want.shape)]


def tolerance(check, launch, got, want):
    """The tolerance of an array of floats; None for whole numbers, which must be equal."""
    rules = Rules(check.c, int(launch.K), got.dtype.name, None, scale=launch.scale)
    return rules.tolerance(want) if got.dtype.kind == "f" else None


def _values(check, launch, name, full, want):
    got = corner(full, want)
    allowed = tolerance(check, launch, got, want)
    mask = is_wrong(got, want, allowed.value) if allowed else got != want
    if not mask.any():
        return None
    silent = bits_of(got) == bits_of(poisoned(got)) if name in launch.out else np.zeros(got.shape, bool)
    what = f"{_many(mask, name)} {'is' if mask.sum() == 1 else 'are'} wrong"
    if (never := int((silent & mask).sum())) == mask.sum():
        what = f"{_many(mask, name)} {'was' if never == 1 else 'were'} never written"
    elif never:
        what += f", {never:,} of them never written"
    return Wrong("values", name, what, mask, got, want, allowed, never)


def _outside(name, before, after, want):
    mask = bits_of(before) != bits_of(after)
    corner(mask, want)[...] = False
    if not mask.any():
        return None
    part = " x ".join(map(str, want.shape))
    what = f"{_count(mask)} of {name} outside of its {part} part changed: not yours to write"
    return Wrong("outside", name, what, mask, after, before)


def _input(name, before, after):
    mask = bits_of(before[name]) != bits_of(after[name])
    what = f"{name} is an input, and the kernel changes {_count(mask)} of it"
    return Wrong("input", name, what, mask, after[name], before[name]) if mask.any() else None


def _count(mask):
    n = int(mask.sum())
    return f"{n:,} element{'s' * (n != 1)}"


def _many(mask, name):
    return f"{int(mask.sum()):,} of {mask.size:,} elements of {name}"


def is_like(check, wrong, run, bads):
    """Did this launch give what this known wrong function gives?"""
    try:
        like = wanted(wrong, run.launch, run.before)
    except Exception:
        return False
    for name, value in like.items():
        got = run.after.get(name)
        if not isinstance(got, np.ndarray) or value.ndim != got.ndim:
            return False
        got = corner(got, value)
        if got.shape != value.shape:
            return False
        allowed = tolerance(check, run.launch, got, value)
        differs = is_wrong(got, value, allowed.value) if allowed else got != value
        if (differs & ~(np.isnan(got) & np.isnan(value)) if got.dtype.kind == "f" else differs).any():
            return False
    return True


def cause_of(bad, runs):
    """A sentence on the likely cause of wrong numbers, or None. runs: [(Run, its Wrong of the same array)]."""
    if bad.kind == "outside":
        return "rows may be longer than what you fill of them: the guard must compare with the width, not the stride"
    if bad.kind == "input":
        return f"{bad.name} is only read: write into the output"
    if bad.unwritten:
        return _cause_of_unwritten(bad)
    pairs = []
    for run, other in runs:
        case = Case(tuple(v for v in run.before.values() if isinstance(v, np.ndarray)))
        names = [n for n, v in run.before.items() if isinstance(v, np.ndarray)]
        miss = Mismatch("values", bad.name, "", other.got, other.want, other.mask, other.tolerance)
        pairs.append((miss, Result(case, Answer(other.got), other.want, [miss], names)))
    return likely_cause(pairs, [r for _, r in pairs])


def _cause_of_unwritten(bad):
    if bad.unwritten == bad.mask.size:
        return "no thread writes to it: is the guard turned round, or the store missing?"
    return "no thread has these elements: look at the guard, and at the index that each block and thread computes"
