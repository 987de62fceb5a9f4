"""The cause of a kernel's failure, proved: a known mistake gives the same numbers and findings in every launch."""

import functools

import numpy as np

from course_lib.checks.kit.kernels.batch import HEADER, TOGETHER, candidates, stored
from course_lib.checks.kit.kernels.pairs import Known, found, is_part, pairs
from course_lib.checks.kit.kernels.source import without_comments
from course_lib.checks.kit.kernels.values import differs, tolerance
from course_lib.checks.kit.known.explain import slip_cause
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.known.own_numbers import numbers_in, with_other_numbers
from course_lib.checks.kit.limits import stopwatch
from course_lib.checks.kit.slips import cuda, merged

PART = "one of several mistakes: "  # an author's own cause of a finding says more
MOST = 4 * TOGETHER  # slips tried
SECONDS = 6.0  # of the processor, for launches, as `stopwatch` counts them: then no more mistakes are compiled


@guess
def proved(check, runs):
    """The sentence of the known mistake that did in all launches what the student's kernel did, or None.

    Planted answers first, then slips, batch by batch until one fits or the time is up, then pairs of what was tried.
    The smallest launch that failed is tried first, the others only with what fits it.
    """
    if any(error["tool"] == "timeout" for run in runs for error in run.report.errors):
        return None
    order = sorted(runs, key=lambda run: (not run.amiss, _size(run)))
    search = _Search(check, runs, order)
    place = check.cases.__module__, check.name
    steps = search.planted, search.with_its_numbers, search.slips
    known = (slip_cause(*place, search.fits, find) for find in steps)
    said = next((says for says in known if says), None)
    said = said or (slip_cause(*place, search.fits, search.pairs) and search.in_common())
    return said or search.partly()


class _Search:
    """What is tried for one kernel, and what each did in the first launch."""

    def __init__(self, check, runs, order):
        self.check, self.runs, self.order = check, runs, order
        self.spent, self.tried, self.found = 0.0, [], False
        self.two, self.fitting = {}, []

    def fits(self, known):
        """Does it do in all launches what the student's did?"""
        gone = stopwatch()
        try:
            return self._fits(known)
        finally:
            self.spent += gone()

    def _fits(self, known):
        first = known.again(self.order[0].launch)
        self.tried.append((known, first))
        if not _alike(self.check, self.order[0], first):
            return False
        rest = self.order[1:]
        alike = all(_alike(self.check, run, known.again(run.launch)) for run in rest)
        self.found = self.found or alike
        if alike and known.says in self.two:
            self.fitting.append(self.two[known.says])
        return alike

    def planted(self, task):
        """The planted answers, compiled at once."""
        return self._given(_values(task, task.planted), True)

    def with_its_numbers(self, task):
        """Those of them that may have another number, with one of the student's kernel."""
        numbers = numbers_in(without_comments(self.runs[0].report.source))
        return self._given(_values(task, with_other_numbers(task, numbers)), True)

    def slips(self, task):
        """The likely slips of the solution."""
        solution = task.value_of(task.solution)
        most = TOGETHER if HEADER.search(solution) else MOST  # templates take long to compile
        answer = without_comments(self.runs[0].report.source)
        slips = cuda.hinted(solution, _hints(self.runs), most, answer)
        return self._batches([(slip.says, slip.source) for slip in slips])

    def pairs(self, task):
        """Two of what was tried in one kernel."""
        solution = task.value_of(task.solution)
        if HEADER.search(solution):
            return
        found = pairs(self.check, self.order[0], self.tried, solution)
        self.two = {merged.told(*two): two for two, _ in found}
        yield from self._batches([(merged.told(*two), source) for two, source in found])

    def in_common(self):
        """The sentence of the pair that fits; of several what they share, and then the rest of two."""
        shared = set(self.fitting[0]).intersection(*self.fitting)
        if not shared:
            return None
        first = next(says for says in self.fitting[0] if says in shared)
        rest = [says for two in self.fitting for says in two if says != first]
        others = list(dict.fromkeys(rest))
        also = f"either: {others[0]}; or: {others[1]}" if len(others) > 1 else others[0]
        return merged.told(first, also)

    def partly(self):
        """The sentence of a planted answer that is all that some of the launches show, and spoils nothing besides."""
        for known, first in self.tried if _is_telling(self.order[0]) else ():
            if known.planted and _alike(self.check, self.order[0], first):
                seen = [(run, known.again(run.launch)) for run in self.order]
                if all(_alike(self.check, *one) or is_part(self.check, *one) for one in seen):
                    return PART + known.says
        return None

    def _batches(self, known):
        for first in range(0, len(known), TOGETHER):
            if not self.found and self.spent < SECONDS:
                yield from self._given(known[first : first + TOGETHER])

    def _given(self, known, planted=False):
        """Pairs (sentence, function that gives a `Known`) of pairs (sentence, source), compiled at once."""
        sources = [self.check.whole(source) for _, source in known]
        runners = candidates(sources, self.check.kernel)
        for (says, source), again in zip(known, runners, strict=True):
            if again:
                yield says, functools.partial(Known, says, source, again, planted)


def _values(task, cells):
    return [(says, task.value_of(source)) for says, source in cells]


def _is_telling(run):
    """Can equality in this launch be no luck? Not where an element or two are wrong, or were never written."""
    bad = [f for f in run.wrong if f.kind == "values" and f.got.dtype.kind == "f"]
    written = sum((f.mask & ~f.silent & np.isfinite(f.got)).sum() for f in bad)
    return written > 2 or any(e["tool"] == "memcheck" for e in run.report.errors)


def _size(run):
    return sum(value.size for value in run.before.values() if isinstance(value, np.ndarray))


def _hints(runs):
    """What is known of the failure, in the catalogue's words."""
    findings = [finding for run in runs for finding in run.wrong]
    words = {error["tool"] for run in runs for error in run.report.errors}
    words |= {"values" for finding in findings if finding.kind == "values"}
    silent = [f.silent for f in findings if f.silent is not None and f.silent.any()]
    return words | {"never written" for _ in silent[:1]}


def _alike(check, mine, other):
    """Did the student's kernel and a known mistake find and write the same in one launch?"""
    if found(mine.report.errors) != found(other.errors):
        return False
    if _all_as_before(mine) and stored(mine) != other.stores:
        return False  # numbers that stay as they were prove nothing by themselves
    return all(_same(check, mine, mine.after[name], other.after[name]) for name in mine.launch.outs)


def _all_as_before(run):
    names = run.launch.inout
    return bool(names) and all(np.array_equal(run.before[n], run.after[n]) for n in names)


def _same(check, run, got, like):
    """Equal but for rounding; what was never written, or is no number, on both sides."""
    if got.dtype.kind != "f":
        return np.array_equal(got, like)
    odd, odd_too = ~np.isfinite(got), ~np.isfinite(like)
    if not np.array_equal(odd, odd_too):
        return False
    got, like = np.where(odd, 0, got), np.where(odd, 0, like)
    return not np.any(differs(got, like, tolerance(check, run.launch, got, like)))
