"""Targets and their verdicts, from the raw runs."""

from collections.abc import Callable
from typing import Any, NamedTuple

from course_tools.bench.frame.tables import Runs, digits, known, median, quartiles, ratio

MET, MISSED = "met", "NOT MET"
NOISY, ABSENT = "too noisy to judge", "not measured"


class Found(NamedTuple):
    """What is held against a target: its median, and its ends where each side ran more than once."""

    got: float | None
    ends: tuple[float, float] | None


def alone(runs: Runs | None) -> Found:
    """The runs of one way; the ends are its quartiles."""
    several = len(known(runs)) > 1
    return Found(median(runs), quartiles(known(runs))[1:] if several else None)


def over(top: Runs | None, bottom: Runs | None) -> Found:
    """How many times the one is of the other: the median of the ratios within a round.

    The ends: the lower quartile of the one over the upper of the other, and the upper over the lower.
    """
    return _both(ratio(top, bottom), top, bottom, lambda one, other: one / other)


def beyond(top: Runs | None, bottom: Runs | None) -> Found:
    """By how much the one is more than the other, of runs that had no rounds in common; the ends as in `over`."""
    both = known(top) and known(bottom)
    got = quartiles(known(top))[0] - quartiles(known(bottom))[0] if both else None
    return _both(got, top, bottom, lambda one, other: one - other)


def _both(got: float | None, top: Any, bottom: Any, how: Callable[[float, float], float]) -> Found:
    if got is None or len(known(top)) < 2 or len(known(bottom)) < 2:
        return Found(got, None)
    (_, low, high), (_, least, most) = quartiles(top), quartiles(bottom)
    return Found(got, (how(low, most), how(high, least)))


class Target(NamedTuple):
    """What was wanted, where, what was found, and the verdict.

    The verdict must be the same at the median and at both ends of the quartile ranges (`alone`, `over`, `beyond`; the
    table shows them as the range). All within the bound is "met", all beyond it "NOT MET"; otherwise the runs vary too
    much, and it is "too noisy to judge". A single run has no spread: it can miss a target, but within the bound it is
    "too noisy to judge". A number that is counted, not timed, is exact. Nothing at all is "not measured".
    """

    what: str
    where: str
    want: str
    got: float | None
    ends: tuple[float, float] | None
    verdict: str

    @property
    def met(self) -> bool | None:
        """None where that cannot be said."""
        return {MET: True, MISSED: False}.get(self.verdict)

    def row(self) -> tuple[str, ...]:
        """A line of the table."""
        ends = " to ".join(map(digits, self.ends)) if self.ends else ""
        return (self.what, self.where, self.want, digits(self.got), ends, self.verdict)


def at_most(what: str, where: str, bound: float, found: Found, absent: str = ABSENT) -> Target:
    """A target whose number is to be at most that."""
    return _judged(what, where, f"at most {bound:g}", found, lambda x: x <= bound, absent)


def at_least(what: str, where: str, bound: float, found: Found, absent: str = ABSENT) -> Target:
    """A target whose number is to be at least that."""
    return _judged(what, where, f"at least {bound:g}", found, lambda x: x >= bound, absent)


def none_at_all(what: str, where: str, number: int) -> Target:
    """A target that is counted."""
    return Target(what, where, "none", float(number), None, MISSED if number else MET)


def _judged(what: str, where: str, want: str, found: Found, within: Any, absent: str) -> Target:
    verdicts = [within(value) for value in (found.got, *(found.ends or ())) if value is not None]
    verdict = absent
    if verdicts:
        resolved = MET if found.ends and all(verdicts) else NOISY
        verdict = resolved if any(verdicts) else MISSED
    return Target(what, where, want, *found, verdict)
