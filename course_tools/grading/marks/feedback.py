"""An HTML page for each student, and an index for the instructor: self-contained, no scripts, everything escaped.

A student's page names hidden checks and never shows them. It does not show what the answers' cells printed either:
what a later cell prints may hold what a hidden check gave to an earlier answer.
"""

import re
from pathlib import Path

from course_tools.build.files import write as write_file
from course_tools.grading.marks import gradebook, tables
from course_tools.grading.verdict import results
from course_tools.text import render

LONGEST = 4000  # characters of a message
MOST = 60  # lines of a message
COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
WORDS = {
    "pass": "passed",
    "wrong": "not right yet",
    "error": "stopped with an error",
    "timeout": "took too long",
    "crashed": "ended the process it ran in",
    "missing": "no answer",
    "inconclusive": "could not be judged",
    "not-run-here": "could not be run on the grading machine",
    "read": "read and graded",
    "not-read": "not read yet",
}
SIGNS = {
    "pass": "\u2714",
    "missing": "\u2013",
    "inconclusive": "?",
    "not-run-here": "?",
    "read": "\u270e",
    "not-read": "?",
}  # others: a cross
NOTES = 5  # of a student, on the overview
PAGES = Path(__file__).with_name("pages")
STYLE = (PAGES / "page.css").read_text(encoding="utf-8")


def shown(text, longest=LONGEST):
    """Text of a student's for a page, which escapes it: no colour codes or control characters, at most so long."""
    begin = (
        COLOUR.sub("", str(text)[: 8 * longest])
        .replace("\r\n", "\n")
        .replace("\r", "\n")
        .strip("\n")
    )
    lines = [tables.plain(line.replace("\t", "    ")) for line in begin.split("\n")]
    cut = "\n".join(lines[:MOST])[:longest]
    whole = cut == "\n".join(lines) and len(str(text)) <= 8 * longest
    return cut if whole else f"{cut}\n... (the rest is left out)"


def message(task, longest=LONGEST):
    """The message of a task as plain text: what `shown` shows."""
    return shown(task.message, longest)


def student_page(student, columns, printed=False):
    """The page of one student. columns: `Marks.columns`; printed: also what cells printed (see the module's text)."""
    whole = sum(sum(tasks.values()) for tasks in columns.values())
    values = {"student": student, "columns": columns, "printed": printed, "whole": whole}
    return _page("student", f"Feedback: {student.name}", **values)


def index_page(out, marks, figures=(), absent=()):
    """The instructor's page: all students with links, what is to be known, the pictures of the class.

    absent: [(name, number)] of those on the class list who handed in nothing.
    """
    rows = [(one, _file(out, one).name, _first(gradebook.notes(one))) for one in marks.students]
    values = {"students": rows, "columns": marks.columns, "problems": marks.problems}
    values |= {"absent": [name for name, _ in absent], "nothing": gradebook.NOTHING}
    return _page("index", "Graded submissions", figures=figures, **values)


def _first(notes):
    """The first notes, and how many more the gradebook has."""
    more = [f"and {len(notes) - NOTES} more: see gradebook.csv"] if len(notes) > NOTES else []
    return [*notes[:NOTES], *more]


def _page(name, title, **values):
    helpers = {"shown": shown, "number": tables.number, "words": WORDS, "signs": SIGNS}
    return render(PAGES / f"{name}.html.jinja", title=title, **helpers, **values)


def write(out, marks, figures=(), absent=()):
    """Write out/feedback/<student>.html for each student and out/index.html for the instructor; return the index."""
    for student in marks.students:
        write_file(_file(out, student), student_page(student, marks.columns))
    index = out / "index.html"
    write_file(index, index_page(out, marks, figures, absent))
    return index


def _file(out, student):
    return (out / "feedback" / results.file_of(out, student.name).name).with_suffix(".html")
