"""What a student's own source shows of a failure: a parameter that is never used, an end left over."""

import re

import numpy as np

from course_lib.checks.kit.kernels.compiling import source_line
from course_lib.checks.kit.kernels.source import without_comments
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.known.planted import task_of

LOOP = re.compile(r"\bfor\s*\([^;]*;([^;]*);[^;{]*?\b\w+\s*\+=\s*([1-9]\d*)\b")
SHIFTED = re.compile(r"\b([A-Za-z_]\w*)\s*\+\s*(\d+)\b")


@guess
def read(check, runs, whole=False):
    """A fact of the source that the launches bear out, or None. whole: no unused float can explain it."""
    bare = without_comments(runs[0].report.source)
    return (
        _unused(check, runs[0].launch, bare, whole) or _left_over(runs, bare) or _beside(runs, bare)
    )


def _unused(check, launch, bare, whole):
    """Parameters that stand in the list of parameters alone, and which the solution needs."""
    task = task_of(check.cases.__module__, check.name)
    if not task:
        return None
    solution = without_comments(task.solution)
    names = _sizes(launch) if whole else launch.args
    names = [n for n in names if _times(n, bare) == 1 and _times(n, solution) > 1]
    told = " and ".join(f"`{name}`" for name in names)
    return (
        f"{told} {'is' if len(names) == 1 else 'are'} never used in your kernel" if names else None
    )


def _times(name, text):
    return len(re.findall(rf"\b{name}\b", text))


def _left_over(runs, bare):
    """A loop that takes several at a time, and wrong numbers exactly where its bound is no multiple of them."""
    bad = [run.amiss for run in runs]
    for condition, step in LOOP.findall(bare) if not all(bad) else ():
        ahead = [int(more) + 1 for _, more in SHIFTED.findall(condition)]
        for name in _sizes(runs[0].launch):
            cut = re.search(
                rf"\b{name}\b", re.sub(rf"^\s*\w+\s*(?:<|!=)\s*{name}\s*$", "", condition)
            )
            for many in [int(step), *ahead] if cut else ():
                if [int(run.launch.args[name]) % many != 0 for run in runs] == bad:
                    return (
                        f"the loop up to `{name}` takes {many} at a time, and all is wrong exactly where {name} is no "
                        f"multiple of {many}: what is left over at the end is not done"
                    )
    return None


def _sizes(launch):
    return [name for name, value in launch.args.items() if isinstance(value, np.integer)]


def _beside(runs, bare):
    """i is inside, which the guard or the loop has seen to, and i + 1 is not."""
    sizes = _sizes(runs[0].launch)
    errors, names = [e for run in runs for e in run.report.errors], runs[0].launch.args
    for error in [e for e in errors if e["tool"] == "memcheck" and e["array"] in names][:1]:
        line = source_line(runs[0].report.source, error["line"]) if error["line"] else ""
        for name, more in SHIFTED.findall(line):
            asked = re.search(rf"\b{name}\s*<\s*(\w+)\b", bare)
            itself = rf"\b{error['array']}\s*\[[^]]*\b{name}\b(?!\s*\+\s*\d)"
            further = re.search(rf"\b{name}\s*\+\s*\d+\s*<", bare)
            if asked and asked[1] in sizes and not further and re.search(itself, bare):
                return (
                    f"`{asked[0]}` is asked of {name}, but this access goes on to {name} + {more}: that one may "
                    "lie beyond the end, and needs a guard as well"
                )
    return None
