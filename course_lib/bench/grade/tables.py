"""The tables of `bench grade`, from the JSON's dict alone."""

from typing import Any

from course_lib.bench.grade.targets import beyond, targets, times
from course_lib.bench.summary import quartiles
from course_lib.bench.tables import Table, digits

WORDS = {True: "met", False: "NOT MET", None: "not measured"}
LABELS = {
    "course": "course grade",
    "course-whole": "course grade --whole",
    "nbval": "pytest --nbval",
    "nbgrader": "nbgrader autograde",
}


def target_table(result: dict[str, Any]) -> Table:
    """Each target, met or not."""
    lines = [(t.what, t.where, t.want, _signed(t.got), WORDS[t.met]) for t in targets(result)]
    return Table("Targets", ("target", "where", "wanted", "found", ""), lines)


def grader_table(result: dict[str, Any]) -> Table:
    """Every grader on the same submissions."""
    s = result["settings"]
    kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
    title = f"Chapter {result['chapter_name']}, {s['students']} submissions ({kinds}), {s['workers']} side by side"
    header = (
        "grader",
        "s in all",
        "s a submission",
        "submissions an hour",
        "peak memory",
        "its time over ours",
    )
    return Table(title, header, [_row(result, name) for name in LABELS])


def _row(result: dict[str, Any], name: str) -> tuple[str, ...]:
    found, count = result["graders"][name], result["settings"]["students"]
    if "seconds" not in found:
        return (LABELS[name], found["error"])
    each = found["seconds"] / count
    return (
        LABELS[name],
        digits(found["seconds"]),
        digits(each),
        digits(3600 / each),
        memory(found["peak"]),
        digits(times(result, name)),
    )


def solved_table(result: dict[str, Any]) -> Table:
    """One right submission at a time, with all cells."""
    graded, cells = (quartiles(result["solved"][key]) for key in ("graded", "cells"))
    lines = [
        (label, *(f"{value:.2f}" for value in found))
        for label, found in (
            ("from one result to the next", graded),
            ("its cells in plain IPython", cells),
        )
    ]
    lines.append(("beyond its cells", f"{beyond(result):.2f}", "", ""))
    title = f"A right submission of chapter {result['settings']['chapter']}, one at a time, seconds"
    return Table(title, ("", "median", "lower quartile", "upper quartile"), lines)


def memory_table(result: dict[str, Any]) -> Table:
    """Two classes, a small one and a large one."""
    lines = [
        (
            f"{found['students']}",
            digits(found["seconds"]),
            digits(found["seconds"] / found["students"]),
            memory(found["peak"]),
        )
        for found in result["memory"]
    ]
    title = f"Chapter {result['settings']['light']}, {result['settings']['workers']} side by side"
    return Table(title, ("submissions", "s in all", "s a submission", "peak memory"), lines)


def killed_line(result: dict[str, Any]) -> str:
    """What became of the run that was killed."""
    k = result["killed"]
    return (
        f"Of {k['students']} submissions, the grader killed (SIGKILL) after {k['after']:.1f} s and run again: "
        f"{k['kept']} were kept from the first run, {k['graded']} graded by the second; lost {k['lost']}, "
        f"of those kept changed {k['rewritten']}, different from an undisturbed run {k['different']}."
    )


def same_line(result: dict[str, Any]) -> str:
    """Do both graders that give points give the same?"""
    same = result["same_points"]
    if same is None:
        return "nbgrader's points were not compared: it was not run."
    return f"course grade and nbgrader gave the same points for {same['same']} of {same['tasks']} answers."


def noise_note(result: dict[str, Any]) -> str:
    """How busy the machine was with other things."""
    before, after = result["load"]["before"], result["load"]["after"]
    return (
        "Load average: "
        + ("unknown" if before is None else f"{before:g} before, {after:g} after")
        + "."
    )


def memory(size: int | None) -> str:
    """Bytes as MB."""
    return "" if size is None else f"{size / 1e6:,.0f} MB"


def _signed(value: float | None) -> str:
    if not value:
        return "" if value is None else "0"
    return f"-{digits(-value)}" if value < 0 else digits(value)
