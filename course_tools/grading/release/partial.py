"""Partial credit: parts of a task with shares of its points, asked for by the instructor and stated in the exercise.

    [[task]]                   # partial.toml, for `release --partial`
    chapter = "00"
    task = "one-hot"
    parts = { "fresh inputs" = 50, shape = 25, dtype = 25 }     # percent, 100 together

"fresh inputs" is the course's own check, which needs all to be right. Each other part is a check of the instructor's:
check_one_hot__shape in own/00-start-here.py, which raises where that part is wrong. A task without an entry is worth
all or nothing.
"""

import dataclasses
import json
import re
import tomllib
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.release.manifest import COURSE, of_part

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
        made[name, row["task"]] = _parts(f"{file}: {row['task']}", row["parts"])
    return made


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
        if name != COURSE and not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            raise BadInput(
                f"{where}: {name!r} must be letters, digits and hyphens: it names a check"
            )
    if sum(parts.values()) != 100:
        raise BadInput(f"{where}: the parts are {sum(parts.values())} percent together, not 100")
    return {COURSE: parts[COURSE]} | {name: parts[name] for name in sorted(set(parts) - {COURSE})}


def checks(parts, chapter):
    """The names of the checks that the instructor's module of a chapter must have for these parts."""
    return {
        of_part(task, part)
        for (name, task), shares in parts.items()
        if name == chapter
        for part in shares
        if part != COURSE
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
