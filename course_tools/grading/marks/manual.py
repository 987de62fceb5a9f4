"""Points and comments given by hand: a file of the instructor's that grading reads and never writes.

manual.csv: columns Student, Chapter, Task, Points, Comment; or manual.json: a list of objects with these names in lower
case. A row with a task: its points replace those that the task earned. A row without a task: its points are added to
the chapter's (a report handed in on paper: 5; a day late: -2). No points: a comment alone. Where only one chapter is
graded, Chapter may stay empty.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.marks import tables

COLUMNS = ("student", "chapter", "task", "points", "comment")


@dataclass(frozen=True)
class Entry:
    """One row. where: "manual.csv:3", for what is said about it; points: a float, or None."""

    where: str
    student: str
    chapter: str = ""
    task: str = ""
    points: float | None = None
    comment: str = ""


def read(file):
    """([Entry], [problem]) of a file. Raises BadInput where it is not of this form at all."""
    file = Path(file)
    rows = _json(file) if file.suffix == ".json" else _csv(file)
    entries, problems = [], []
    for line, row in rows:
        where = f"{file.name}:{line}"
        try:
            entries.append(Entry(where, **row | {"points": tables.points_in(row["points"])}))
        except ValueError:
            problems.append(
                f"{where}: {row['points']!r:.40} is no number of points; the row is left out"
            )
    return entries, problems


def _csv(file):
    rows = tables.read(file).rows
    head = [name.strip().lower() for name in rows[0]] if rows else []
    if "student" not in head or not set(head) <= {*COLUMNS, ""}:
        said = ", ".join(name.capitalize() for name in COLUMNS)
        raise BadInput(
            f"{file}: the first row must name the columns {said}, not {', '.join(head) or 'nothing'}"
        )
    for line, row in enumerate(rows[1:], 2):
        cells = dict(zip(head, map(str.strip, row), strict=False))
        yield line, {name: cells.get(name, "") for name in COLUMNS}


def _json(file):
    try:
        given = json.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}") from None
    good = isinstance(given, list) and all(
        isinstance(row, dict) and set(row) <= set(COLUMNS) for row in given
    )
    if not good:
        raise BadInput(
            f"{file}: a list of objects is needed, each with some of {', '.join(COLUMNS)}"
        )
    for place, row in enumerate(given, 1):
        texts = {name: "" if row.get(name) is None else str(row[name]).strip() for name in COLUMNS}
        yield place, texts
