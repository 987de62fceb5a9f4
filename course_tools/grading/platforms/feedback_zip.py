"""`course class feedback`: all feedback in one zip, named so that Canvas and Moodle give each student their own.

Canvas (Grades > assignment > Upload submissions) finds student and submission by the file's name in its download, and
shows what comes back under the name that the student gave: so a notebook comes back as a notebook, with the feedback
in it. Moodle (View all submissions > Upload multiple feedback files in a zip; the assignment must allow feedback
files) finds the student by the folder's name in its download, and takes any file.
"""

import json
import zipfile
from pathlib import Path, PurePosixPath

from course_lib.errors import BadInput
from course_tools.grading.intake import handed_in
from course_tools.grading.marks import export, feedback, tables
from course_tools.text import count

WHEN = (2000, 1, 1, 0, 0, 0)


def add_arguments(parser):
    """The arguments of `class feedback`."""
    parser.add_argument("submissions", type=Path, help="the LMS's download, as it was graded")
    parser.add_argument("--chapter", metavar="NN", help="where more than one was graded")
    parser.add_argument("--canvas", type=Path, metavar="FILE.zip", help="write it for Canvas")
    parser.add_argument("--moodle", type=Path, metavar="FILE.zip", help="write it for Moodle")
    export.add_marks(parser)


def command(args):
    """Write the zip. Exit status: 0 all have theirs, 1 some have none."""
    if (args.canvas is None) == (args.moodle is None):
        raise BadInput("give --canvas FILE.zip or --moodle FILE.zip")
    made, said = export.collected(args)
    if args.chapter is None and len(made.columns) != 1:
        raise BadInput(f"give --chapter NN, one of: {', '.join(made.columns) or 'none'}")
    name = export.chapter_of(made.columns, args.chapter or next(iter(made.columns)))
    entries, without = (_canvas if args.canvas else _moodle)(args.submissions, made, name)
    if not entries:
        lms_name = "Canvas" if args.canvas else "Moodle"
        raise BadInput(f"no file in {args.submissions} is named as {lms_name} names its download")
    out = args.canvas or args.moodle
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zipped:
        for path, data in sorted(entries.items()):
            entry = zipfile.ZipInfo(path, WHEN)
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            zipped.writestr(entry, data)
    for line in [*said, *without]:
        print(line)
    print(f"{out}: feedback for {count(len(entries), 'student')}")
    return 1 if without else 0


def _students(place, made, name):
    """(student's marks or None, submission)"""
    known = {one.name: one for one in made.students}
    for submission in handed_in.collect(place):
        student = known.get(submission.student)
        yield student if student and name in student.chapters else None, submission


def _canvas(place, made, name):
    entries, without = {}, []
    for student, submission in _students(place, made, name):
        files = [one for one in submission.files if handed_in.CANVAS.fullmatch(_top(one))]
        mine = [one for one in files if student and _top(one).endswith(".ipynb")]
        wanted = student.chapters[name].result.digest if student else ""
        best = [one for one in mine if one.digest == wanted]
        if best:
            entries[_top(best[-1])] = json.dumps(_notebook(student, name), indent=1)
        elif files:
            without.append(f"{submission.student!r:.80}: no graded notebook of {name}, no feedback")
    return entries, without


def _moodle(place, made, name):
    entries, without = {}, []
    for student, submission in _students(place, made, name):
        folder = next(
            (top for one in submission.files if handed_in.MOODLE.fullmatch(top := _top(one))), ""
        )
        if folder and student:
            page = feedback.student_page(student, {name: made.columns[name]})
            entries[f"{folder}/feedback-{name[:2]}.html"] = page
        elif folder:
            without.append(f"{submission.student!r:.80}: no graded notebook of {name}, no feedback")
    return entries, without


def _top(file):
    return PurePosixPath(file.path).parts[0] if file.path else ""


def _notebook(student, name):
    """The feedback of a chapter as a notebook of text cells; what is a student's or a check's word is shown as code."""
    chapter = student.chapters[name]
    points = f"{tables.number(chapter.points)} of {tables.number(chapter.out_of)} points"
    cells = [f"# Feedback on {name}\n\n{points}"]
    cells += [_as_code(chapter.late)] if chapter.late else []
    cells += [_as_code(text) for text in chapter.comments.get("", [])]
    for task in chapter.tasks:
        earned = f"{tables.number(task.points)} of {tables.number(task.out_of)}"
        words = feedback.WORDS.get(task.status, "")
        said = [feedback.message(task)] if task.status != "pass" and task.message else []
        said += chapter.comments.get(task.task, [])
        heading = f"## {task.task}: {earned} points, {words}"
        cells.append("\n\n".join([heading, *map(_as_code, said)]))
    return {
        "cells": [
            {"cell_type": "markdown", "id": f"feedback-{i}", "metadata": {}, "source": text}
            for i, text in enumerate(cells)
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _as_code(text):
    """Indented by four: Markdown shows it as it is, whatever it holds."""
    return "\n".join(f"    {line}" for line in feedback.shown(text).split("\n"))
