"""What the checks of kernels and of ranks have in common: runs that are not right, limits that are not kept."""

from typing import Any

from course_lib.checks.kit.messages import cannot_check


class Tried:
    """What came of a launch or of a rehearsal. report: what the machine found; wrong: all that is not as wanted."""

    report: Any
    wrong: list

    @property
    def amiss(self):
        """Was anything found, or is anything wrong?"""
        return bool(self.report.errors or self.wrong)


def is_late_alone(runs):
    """Is it all that was found that the last run took too long?"""
    tools = {error["tool"] for run in runs for error in run.report.errors}
    return tools == {"timeout"} and not any(run.wrong for run in runs)


def unkept(name, limits, runs, seed, tell):
    """(run, (what, cause, ...)) of the first limit of the check of `name` that is not kept, or None.

    tell: (limit, run) -> what that limit says of the run.
    """
    for limit in limits:
        for run in runs:
            try:
                broken = tell(limit, run)
            except Exception as error:
                raise cannot_check(name, "a limit raises", error, seed) from error
            if broken:
                return run, broken
    return None
