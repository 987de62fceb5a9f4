"""The cause of a kernel's failure, proved: a known mistake gives the same numbers and findings in every launch."""

import numpy as np

from course_lib.checks.kit.explain import slip_cause
from course_lib.checks.kit.kernels.batch import HEADER, TOGETHER, candidates
from course_lib.checks.kit.kernels.values import differs, tolerance
from course_lib.checks.kit.slips import cuda

MOST = 4 * TOGETHER  # slips tried


def proved(check, runs):
    """The sentence of the known mistake that did in all launches what the student's kernel did, or None.

    Planted answers first, then slips, batch by batch until one fits. The smallest launch that failed is tried first,
    the others only with what fits it.
    """
    if any(error["tool"] == "timeout" for run in runs for error in run.report.errors):
        return None
    order = sorted(runs, key=lambda run: (not (run.findings or run.report.errors), _size(run)))
    found: list = []

    def fits(again):
        if all(_alike(check, run, again(run.launch)) for run in order):
            found.append(again)
        return found[-1:] == [again]

    def planted(task):
        return _given(check, [(says, task.value_of(source)) for says, source in task.planted])

    def slips(task):
        solution = task.value_of(task.solution)
        most = TOGETHER if HEADER.search(solution) else MOST  # templates take long to compile
        slips = cuda.hinted(solution, _hints(runs), most)
        pairs = [(slip.says, slip.source) for slip in slips]
        for first in range(0, len(pairs), TOGETHER):
            if not found:
                yield from _given(check, pairs[first : first + TOGETHER])

    place = check.cases.__module__, check.name
    return slip_cause(*place, fits, planted) or slip_cause(*place, fits, slips)


def _size(run):
    return sum(value.size for value in run.before.values() if isinstance(value, np.ndarray))


def _given(check, pairs):
    """Pairs (sentence, function that gives a runner) of pairs (sentence, source), compiled at once."""
    runners = candidates([check.whole(source) for _, source in pairs], check.kernel)
    given = zip(pairs, runners, strict=True)
    return [(says, lambda again=again: again) for (says, _), again in given if again]


def _hints(runs):
    """What is known of the failure, in the catalogue's words."""
    findings = [finding for run in runs for finding in run.findings]
    words = {error["tool"] for run in runs for error in run.report.errors}
    words |= {"values" for finding in findings if finding.kind == "values"}
    silent = [f.silent for f in findings if f.silent is not None and f.silent.any()]
    return words | {"never written" for _ in silent[:1]}


def _alike(check, mine, other):
    """Did the student's kernel and a known mistake find and write the same in one launch?"""
    if _found(mine.report.errors) != _found(other.errors):
        return False
    return all(_same(check, mine, mine.after[name], other.after[name]) for name in mine.launch.outs)


def _found(errors):
    """What the tools found: of what leaves an array the first index, of what is unset its kind, of barriers who."""
    kind = {"memcheck": "index", "initcheck": "kind", "synccheck": "thread"}
    return {(e["tool"], e["array"], e.get(kind.get(e["tool"], ""))) for e in errors}


def _same(check, run, got, like):
    """Equal but for rounding; what was never written, or is no number, on both sides."""
    if got.dtype.kind != "f":
        return np.array_equal(got, like)
    odd, odd_too = ~np.isfinite(got), ~np.isfinite(like)
    if not np.array_equal(odd, odd_too):
        return False
    got, like = np.where(odd, 0, got), np.where(odd, 0, like)
    return not np.any(differs(got, like, tolerance(check, run.launch, got, like)))
