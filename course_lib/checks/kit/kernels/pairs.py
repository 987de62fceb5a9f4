"""Two known mistakes in one kernel: which pairs may explain a launch, by what each of the two did there alone."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.kernels.batch import TOGETHER
from course_lib.checks.kit.kernels.source import without_comments
from course_lib.checks.kit.kernels.values import corner, differs, tolerance, wanted
from course_lib.checks.kit.slips import merged

MOST = TOGETHER
COVERED = 0.9  # of the wrong elements: two mistakes may mend some of each other's


@dataclass(frozen=True)
class Known:
    """A known mistake. again: (launch) -> what it did; planted: by the author of the task, or a slip of the kit's."""

    says: str
    source: str
    again: Callable
    planted: bool


@dataclass(frozen=True)
class _Part:
    """A mistake that may be one of two. tools: (tool, array) that spoke; wrong: which elements are; like: how much of
    what the student's kernel did it does by itself."""

    known: Known
    tools: frozenset
    wrong: np.ndarray
    changes: list
    like: float


def pairs(check, run, tried, solution):
    """At most `MOST` pairs ((sentence, sentence), source), likely ones first. run: the student's; tried: (Known, Seen).

    Each of the two gets wrong only what the student's gets wrong, both together nearly all of it.
    """
    want = wanted(check.reference, run.launch, run.before)
    mine, tools = _wrong(check, run, run.after, want), _tools(run.report.errors)
    base = without_comments(solution)
    parts = []
    for known, seen in tried:
        wrong, spoke = _wrong(check, run, seen.after, want), _tools(seen.errors)
        changes = merged.changes(base, without_comments(known.source))
        if spoke <= tools and not (wrong & ~mine).any() and merged.is_small(base, changes):
            parts.append(_Part(known, spoke, wrong, changes, _likeness(check, run, seen, want)))
    parts.sort(key=lambda part: -part.like)
    both = [two for two in itertools.combinations(parts, 2) if _may_be(*two, mine, tools)]
    both.sort(key=lambda two: (-two[0].like, not (two[0].known.planted and two[1].known.planted)))
    return [_told(base, *two) for two in both[:MOST]]


def is_part(check, run, seen):
    """Is what a known mistake does in this launch in what the student's kernel does there? It may do nothing.

    What it gets wrong must have the student's numbers, or the tools must have found the same of both.
    """
    if seen.errors:
        return found(seen.errors) == found(run.report.errors)
    want = wanted(check.reference, run.launch, run.before)
    for name, right in want.items():
        mine, like = (corner(after[name], right) for after in (run.after, seen.after))
        allowed = tolerance(check, run.launch, like, right)
        wrong = np.asarray(differs(like, right, allowed))
        same = ~np.asarray(differs(mine, like, allowed)) | ((mine != mine) & (like != like))
        if (wrong & ~same).any():
            return False
    return True


def _may_be(one, other, mine, tools):
    """Is one of them an author's, and do the two together do what the student's did?"""
    covered = ((one.wrong | other.wrong) & mine).sum() >= COVERED * mine.sum()
    likely = one.known.planted or other.known.planted
    return (
        likely
        and covered
        and one.tools | other.tools == tools
        and merged.apart(one.changes, other.changes)
    )


def _told(base, one, other):
    says = one.known.says, other.known.says
    return says, merged.made(base, one.changes + other.changes)


def _likeness(check, run, seen, want):
    """The share of elements that are the student's, and 1 more if the tools found the same."""
    same = []
    for name, right in want.items():
        got, like = (corner(after[name], right) for after in (run.after, seen.after))
        near = ~np.asarray(differs(got, like, tolerance(check, run.launch, got, right)))
        same.append(np.ravel(near | ((got != got) & (like != like))))
    return np.concatenate(same).mean() + (found(run.report.errors) == found(seen.errors))


def found(errors):
    """What the tools found: of what leaves an array the first index, of what is unset its kind, of barriers who.

    An access outside of an array ends its thread: how many end so tells a guard that is missing from one that is off by
    one, and what is then unset only follows, in arrays of any name.
    """
    kind = {"memcheck": "index", "initcheck": "kind", "synccheck": "thread"}
    outside = [e for e in errors if e["tool"] == "memcheck"]
    kept = [e for e in errors if not (outside and e["tool"] == "initcheck")]
    ended: Counter = Counter()
    for e in outside:
        ended[e["array"]] += e["count"] * (e["kind"] != "row")
    said = {(e["tool"], e["array"], e.get(kind.get(e["tool"], ""))) for e in kept}
    return said | set(ended.items())


def _tools(errors):
    return frozenset((error["tool"], error["array"]) for error in errors)


def _wrong(check, run, after, want):
    """Which elements of all outputs are not right, in a row."""
    masks = [np.zeros(0, bool)]
    for name, right in want.items():
        got = corner(after[name], right)
        masks.append(np.ravel(differs(got, right, tolerance(check, run.launch, got, right))))
    return np.concatenate(masks)
