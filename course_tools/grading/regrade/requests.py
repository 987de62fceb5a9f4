"""What is to be graded anew: a CSV of requests, or a task.

Requests: columns Student, Chapter, Task, Reason; the last two may stay empty. Student: as in the gradebook, or the ID.
"""

from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.marks import export, tables

COLUMNS = ("student", "chapter", "task", "reason")


@dataclass(frozen=True)
class Request:
    """One. student: "" for everybody; task: "" for all of the chapter's."""

    student: str
    chapter: str
    task: str
    reason: str = ""

    def fits(self, student, number, chapter):
        """Is this student's chapter meant?"""
        return self.chapter == chapter and self.student in ("", student, number)


def read(given, chapters):
    """[Request] of what stands after --regrade. chapters: {name: manifest.Chapter}. Raises BadInput."""
    if given is None:
        return []
    if Path(given).is_file():
        return _of_csv(Path(given), chapters)
    name, _, task = given.rpartition(":")
    names = [export.chapter_of(sorted(chapters), name)] if name else sorted(chapters)
    found = [one for one in names if task in _tasks(chapters[one])]
    if len(found) != 1:
        why = "no chapter has" if not found else "more than one chapter has"
        raise BadInput(
            f"--regrade {given}: {why} a task {task!r}, and there is no such file: "
            "give a CSV of requests, or a task such as 03:neuron"
        )
    return [Request("", found[0], task)]


def _tasks(chapter):
    return [step.id for step in chapter.tasks]


def _of_csv(file, chapters):
    rows = tables.read(file).rows
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    if not {"student", "chapter"} <= set(head) or not set(head) <= {*COLUMNS, ""}:
        raise BadInput(f"{file}: the first row must name Student, Chapter, Task, Reason")
    made = []
    for line, row in enumerate(rows[1:], 2):
        cells = dict.fromkeys(COLUMNS, "") | dict(zip(head, map(str.strip, row), strict=False))
        student = cells["student"].removeprefix("'")
        chapter = export.chapter_of(sorted(chapters), cells["chapter"])
        if not student:
            raise BadInput(f"{file}:{line}: who asks for it? Student is empty")
        if cells["task"] and cells["task"] not in _tasks(chapters[chapter]):
            there = ", ".join(_tasks(chapters[chapter]))
            raise BadInput(f"{file}:{line}: there is no task {cells['task']!r:.60}, but {there}")
        made.append(Request(student, chapter, cells["task"], cells["reason"]))
    return made
