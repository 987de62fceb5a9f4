"""Partial credit: parts of a task with shares of its points, asked for by the instructor and stated in the exercise.

    [[task]]                   # partial.toml, for `release --partial`
    chapter = "00"
    task = "one-hot"
    parts = { "fresh inputs" = 50, "case: one label" = 20, dtype = 30 }     # percent, 100 together

"fresh inputs" is the course's own check, which needs all to be right. "case: one label" is one of its cases, by the
label that its message has. Each other part is a check of the instructor's: check_one_hot__dtype in
own/00-start-here.py, which raises where that part is wrong. A task without an entry is worth all or nothing.
"""

import dataclasses
import importlib
import json
import re
import tomllib
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.release.manifest import COURSE, of_part

CASE = "case: "  # how the name of a part begins that is a case of the course's check
SEEDS = range(5)  # inputs that are drawn to see which cases there always are
STATED = (
    "**Partial credit for `{}`**: {}. The check in this notebook tells whether all of it is right."
)


def read(file, chapters):
    """{(chapter, task): {part: percent}} of a file. chapters: {name: Chapter}. Raises BadInput."""
    try:
        given = tomllib.loads(Path(file).read_text(encoding="utf-8-sig"))
        rows = given.pop("task")
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None
    if given or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadInput(f"{file}: it must hold [[task]] entries and nothing else")
    made = {}
    for row in rows:
        if set(row) != {"chapter", "task", "parts"}:
            raise BadInput(f"{file}: a task needs chapter, task and parts, and nothing else: {row}")
        name = _chapter(file, str(row["chapter"]), chapters)
        if row["task"] not in [step.id for step in chapters[name].tasks]:
            raise BadInput(f"{file}: {name} has no task {row['task']!r}")
        made[name, row["task"]] = parts = _parts(f"{file}: {row['task']}", row["parts"])
        check = next(step.check for step in chapters[name].steps if step.of == row["task"])
        _are_cases(f"{file}: {row['task']}", {one for one in parts if one.startswith(CASE)}, check)
    return made


def _are_cases(where, named, check):
    """Does the course's check have these cases, whatever inputs it draws?"""
    if not named:
        return
    module, _, function = check.partition(".")
    found = getattr(importlib.import_module(f"course_lib.checks.{module}"), function)
    if not hasattr(found, "only"):
        raise BadInput(f"{where}: the course's check has no cases that can have a share")
    drawn = [{case.label for case in found.draw(seed)} for seed in SEEDS]
    there = set.intersection(*drawn) - {""}
    if strange := sorted(one for one in named if one.removeprefix(CASE) not in there):
        raise BadInput(f"{where}: there is no {strange[0]!r}; its cases are {sorted(there)}")


def _chapter(file, wanted, chapters):
    found = [name for name in chapters if wanted in (name, name[:2], name[:2].lstrip("0") or "0")]
    if len(found) != 1:
        raise BadInput(f"{file}: the release has no chapter {wanted!r}")
    return found[0]


def _parts(where, parts):
    if not isinstance(parts, dict) or COURSE not in parts or len(parts) < 2:
        raise BadInput(f'{where}: parts are "{COURSE}" and at least one of your own')
    for name, percent in parts.items():
        if isinstance(percent, bool) or not isinstance(percent, int) or percent < 1:
            raise BadInput(f"{where}: {name} must be a whole number of percent, not {percent!r}")
        if not _is_courses(name) and not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise BadInput(
                f"{where}: {name!r} must be letters, digits and hyphens: it names a check"
            )
    if sum(parts.values()) != 100:
        raise BadInput(f"{where}: the parts are {sum(parts.values())} percent together, not 100")
    return {COURSE: parts[COURSE]} | {name: parts[name] for name in sorted(set(parts) - {COURSE})}


def _is_courses(part):
    """Is this part the course's check or one of its cases, and not an instructor's?"""
    return part == COURSE or part.startswith(CASE)


def check_of(task, part, courses):
    """The name of the check of a part other than the course's whole check, which is called `courses`."""
    if part.startswith(CASE):
        return f"{courses}#{part.removeprefix(CASE)}"
    return f"hidden.{of_part(task, part)}"


def checks(parts, chapter):
    """The names of the checks that the instructor's module of a chapter must have for these parts."""
    return {
        of_part(task, part)
        for (name, task), shares in parts.items()
        if name == chapter
        for part in shares
        if not _is_courses(part)
    }


def entered(chapter, parts):
    """The Chapter with the parts of its tasks."""
    steps = tuple(
        dataclasses.replace(step, parts=parts.get((chapter.name, step.id)))
        if step.kind == "task"
        else step
        for step in chapter.steps
    )
    return dataclasses.replace(chapter, steps=steps)


def stated(text, chapter):
    """The exercise's file with a sentence above each task that has parts."""
    wanted = {step.id: step.parts for step in chapter.tasks if step.parts}
    if not wanted:
        return text
    made = json.loads(text)
    before: dict = {}
    for cell in made["cells"]:
        if cell["id"] in wanted:
            shares = ", ".join(f"{name} {share} %" for name, share in wanted[cell["id"]].items())
            source = "".join(before["source"]) + "\n\n" + STATED.format(cell["id"], shares)
            before["source"] = source.splitlines(keepends=True)
        if cell["cell_type"] == "markdown":
            before = cell
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def earned(step, hidden):
    """The points of a task whose parts ended with these statuses: {part: status}."""
    percent = sum(share for part, share in step.parts.items() if hidden.get(part) == "pass")
    points = round(step.points * percent / 100, 2)
    return int(points) if points == int(points) else points
