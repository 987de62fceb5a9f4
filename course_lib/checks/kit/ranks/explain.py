"""The cause of a failure of ranks, proved: a known mistake gives the same results and findings in every rehearsal."""

from dataclasses import replace

from course_lib.checks.kit.compare import compare
from course_lib.checks.kit.explain import proved_cause, python_slips
from course_lib.checks.kit.ranks.running import run_case
from course_lib.checks.kit.trees import nan_is_inf, tree_map


def proved(check, runs):
    """The sentence of the known mistake that did in all rehearsals what the student's function did, or None."""
    if any(run.fatal and run.fatal["tool"] == "timeout" for run in runs):
        return None
    order = sorted(runs, key=lambda run: not (run.misses or run.report.errors))

    def fits(fn):
        return all(
            _alike(check, run, run_case(fn, run.n, run.case, check, run.schedule)) for run in order
        )

    return proved_cause(check.cases.__module__, check.name, fits, python_slips)


def _alike(check, mine, other):
    if _first_tool(mine) != _first_tool(other):
        return False
    if mine.fatal:
        return _said(mine) == _said(other)
    return all(_close(check, mine, a, b) for a, b in zip(mine.values, other.values, strict=True))


def _close(check, run, got, like):
    """Equal but for rounding, on the scale of the case or on their own: wrong results may be larger than right ones."""
    got, like = tree_map(nan_is_inf, got), tree_map(nan_is_inf, like)
    rules = check.rules(run, None)
    return not compare(got, like, replace(rules, scale=None)) or not compare(got, like, rules)


def _first_tool(run):
    error = run.fatal or run.finding
    return error and error["tool"]


def _said(run):
    """What ended the run: of an exception its words, of all else who waits in which call."""
    error = run.fatal
    if error["tool"] == "exception":
        return error["message"].split("\n")[0]
    return {rank: place["op"] for rank, place in error["ranks"].items()}
