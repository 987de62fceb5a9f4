"""The tables of `bench grade` and its targets, from the JSON's dict alone."""

from collections.abc import Iterator

from course_tools.bench import frame
from course_tools.bench.frame import Found, Result, Table, Target, digits, over, quartiles

LABELS = {
    "course": "course grade",
    "course-whole": "course grade --whole",
    "nbval": "pytest --nbval",
    "nbgrader": "nbgrader autograde",
}
GRADERS = ("s in all", "s a submission", "submissions an hour", "peak memory", "its time over ours")


def targets(result: Result) -> Iterator[Target]:
    """All targets, in the order of the list in docs/bench-grade.md."""
    s, killed = result["settings"], result["killed"]
    where, more = f"a right submission of chapter {s['chapter']}", _beyond(result)
    yield frame.at_most("Seconds beyond what its cells take", where, 0.5, more)
    where, rate = f"chapter {s['chapter']}, {s['students']} submissions", over(*_rounds(result))
    yield frame.at_least("Submissions an hour over nbgrader's", where, 5, rate)
    few, many = (found["students"] for found in result["memory"])
    where, growth = f"{many} over {few} submissions", _growth(result)
    yield frame.at_most("Peak memory over that of the smaller class", where, 1.1, growth)
    bad = killed["lost"] + killed["rewritten"] + killed["different"]
    what = "Results lost, changed or different after a kill"
    yield frame.none_at_all(what, f"{killed['students']} submissions", bad)


def _beyond(result: Result) -> Found:
    """Seconds of our grader for a right submission, less those of its cells in plain IPython."""
    return frame.beyond(result["solved"]["graded"], result["solved"]["cells"])


def _rounds(result: Result) -> list[list[float]]:
    """Seconds of nbgrader and of ours, in each round; of a grader without a number, none."""
    found = (result["graders"][name] for name in ("nbgrader", "course"))
    return [one.get("rounds") or [one["seconds"]] if "seconds" in one else [] for one in found]


def _growth(result: Result) -> Found:
    """The peak memory of the larger class over that of the smaller: the highest peak that was seen of each.

    The ends: the same of the peaks' quartiles. A recorded run that kept the highest peak only has no ends.
    """
    few, many = result["memory"]
    got = many["peak"] / few["peak"] if few["peak"] and many["peak"] else None
    return over(many.get("peaks"), few.get("peaks"))._replace(got=got)


def grader_table(result: Result) -> Table:
    """Every grader on the same submissions."""
    s = result["settings"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
    title = f"Chapter {result['chapter_name']}, {s['students']} submissions ({kinds}), {s['workers']} side by side"
    if s.get("chooses"):
        title += ", ours as many as it chooses"
    return Table(title, ("grader", *GRADERS), [_row(result, name) for name in LABELS])


def _row(result: Result, name: str) -> tuple[str, ...]:
    found, count = result["graders"][name], result["settings"]["students"]
    if "seconds" not in found:
        return (LABELS[name], found["error"])
    each = found["seconds"] / count
    told = map(digits, (found["seconds"], each, 3600 / each))
    times = found["seconds"] / result["graders"]["course"]["seconds"]
    return (LABELS[name], *told, memory(found["peak"]), digits(times))


def solved_table(result: Result) -> Table:
    """One right submission at a time, with all cells."""
    names = {"graded": "from one result to the next", "cells": "its cells in plain IPython"}
    lines = []
    for key, label in names.items():
        runs = result["solved"][key]
        shown = quartiles(runs) if len(runs) > 1 else quartiles(runs)[:1]
        lines.append((label, *(f"{value:.2f}" for value in shown), *[""] * (3 - len(shown))))
    lines.append(("beyond its cells", f"{_beyond(result).got:.2f}", "", ""))
    title = f"A right submission of chapter {result['settings']['chapter']}, one at a time, seconds"
    return Table(title, ("", "median", "lower quartile", "upper quartile"), lines)


def memory_table(result: Result) -> Table:
    """Two classes, a small one and a large one."""
    lines = []
    for found in result["memory"]:
        count, seconds = found["students"], found["seconds"]
        each = seconds / count
        lines.append((str(count), digits(seconds), digits(each), memory(found["peak"])))
    title = f"Chapter {result['settings']['light']}, {result['settings']['workers']} side by side"
    return Table(title, ("submissions", "s in all", "s a submission", "peak memory"), lines)


def killed_line(result: Result) -> str:
    """What became of the run that was killed."""
    k = result["killed"]
    return (
        f"Of {k['students']} submissions, the grader killed (SIGKILL) after {k['after']:.1f} s and run again: "
        f"{k['kept']} were kept from the first run, {k['graded']} graded by the second; lost {k['lost']}, "
        f"of those kept changed {k['rewritten']}, different from an undisturbed run {k['different']}."
    )


def same_line(result: Result) -> str:
    """Do both graders that give points give the same?"""
    same = result["same_points"]
    if same is None:
        return "nbgrader's points were not compared: it was not run."
    return f"course grade and nbgrader gave the same points for {same['same']} of {same['tasks']} answers."


def memory(size: int | None) -> str:
    """Bytes as MB."""
    return "" if size is None else f"{size / 1e6:,.0f} MB"
