"""The cause of a kernel's failure, proved: a known mistake gives the same numbers and findings in every launch."""

import numpy as np

from course_lib.checks.kit.explain import proved_cause
from course_lib.checks.kit.kernels.running import on_engine
from course_lib.checks.kit.kernels.values import differs, tolerance
from course_lib.checks.kit.slips import cuda

SECONDS = (
    1.0  # of a launch of a known mistake; those that are compared with end in a hundredth of it
)


def proved(check, runs):
    """The sentence of the known mistake that did in all launches what the student's kernel did, or None."""
    if any(error["tool"] == "timeout" for run in runs for error in run.report.errors):
        return None
    order = sorted(runs, key=lambda run: not (run.findings or run.report.errors))

    def fits(source):
        return all(_alike(check, run, _again(check, source, run)) for run in order)

    return proved_cause(check.cases.__module__, check.name, fits, _slips(_hints(runs)))


def _again(check, source, run):
    return on_engine(check.whole(source), check.kernel, run.launch, SECONDS)


def _hints(runs):
    """What is known of the failure, in the catalogue's words."""
    findings = [finding for run in runs for finding in run.findings]
    words = {error["tool"] for run in runs for error in run.report.errors}
    words |= {"values" for finding in findings if finding.kind == "values"}
    silent = [f.silent for f in findings if f.silent is not None and f.silent.any()]
    return words | {"never written" for _ in silent[:1]}


def _slips(hints):
    def slips(task):
        found = cuda.hinted(task.value_of(task.solution), hints)
        return [(slip.says, lambda slip=slip: slip.source) for slip in found]

    return slips


def _alike(check, mine, other):
    """Did two runs of one launch find and write the same?"""
    if _found(mine) != _found(other):
        return False
    return all(_same(check, mine, mine.after[name], other.after[name]) for name in mine.launch.outs)


def _found(run):
    return {(error["tool"], error["array"]) for error in run.report.errors}


def _same(check, run, got, like):
    """Equal but for rounding; what was never written, or is no number, on both sides."""
    if got.dtype.kind != "f":
        return np.array_equal(got, like)
    odd, odd_too = ~np.isfinite(got), ~np.isfinite(like)
    if not np.array_equal(odd, odd_too):
        return False
    got, like = np.where(odd, 0, got), np.where(odd, 0, like)
    return not np.any(differs(got, like, tolerance(check, run.launch, got, like)))
