"""`course class words`: one page with what students wrote in words, without their names; by keyboard alone.

out/words/page.html   open it, grade, press s: words.csv
out/words/key.json    whose answer is which: keep it to yourself until you have read all
"""

import base64
import hashlib
import json
import random
import secrets
from dataclasses import asdict
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.build import command as build
from course_tools.grading.intake import assemble, handed_in, newest, notebook
from course_tools.grading.marks import feedback
from course_tools.grading.release import manifest
from course_tools.grading.rubric import answers, questions
from course_tools.text import count, render

HERE = Path(__file__).parent
LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that is taken for another


def add_arguments(parser):
    """The arguments of `class words`."""
    parser.add_argument("submissions", type=Path, help="as for grade")
    parser.add_argument("--release", type=Path, required=True, metavar="DIR")
    parser.add_argument("--rubric", type=Path, required=True, metavar="FILE.toml")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="as for grade")


def command(args):
    """Write the page and its key. Exit status: 0."""
    release = manifest.load(args.release)
    asked = questions.read(args.rubric, release.chapters)
    _look(asked, release)
    file = args.out / "words" / "key.json"
    before = _before(file)
    rows = []
    for submission in handed_in.collect(args.submissions):
        for question, text in _of_student(submission, release, asked):
            rows.append(_row(submission, question, text, before))
    if not rows:
        raise BadInput("none of the submissions is of a chapter that the rubric names")
    key = {"questions": [asdict(one) | {"task": one.task} for one in asked], "answers": rows}
    build.write(args.out / "words" / "page.html", page(asked, rows))
    build.write(file, json.dumps(key, indent=1) + "\n")
    there = sum(bool(row["text"]) for row in rows)
    page_file, none = args.out / "words" / "page.html", len(rows) - there
    print(f"{page_file}: {count(there, 'answer')}; {count(none, 'student')} wrote nothing there")
    return 0


def _look(asked, release):
    for one in asked:
        cell = one.after or one.cell
        if cell and cell not in answers.handed_out(release, one.chapter):
            raise BadInput(f"{one.title!r}: {one.chapter} has no cell {cell!r}")


def _before(file):
    """{(student, chapter, title, sha256 of the text): code}: what has been read keeps its code."""
    if not file.is_file():
        return {}
    rows = json.loads(file.read_text(encoding="utf-8"))["answers"]
    return {_name(row): row["code"] for row in rows}


def _name(row):
    digest = hashlib.sha256(row["text"].encode("utf-8", "replace")).hexdigest()
    return row["student"], row["chapter"], row["title"], digest


def _of_student(submission, release, asked):
    """(question, text) of all that a student was asked and has handed in."""
    found: dict[str, list] = {}
    for file in submission.files:
        read = notebook.read(file)
        chapter = assemble.chapter_of(read, release) if read.cells else None
        if chapter:
            found.setdefault(chapter.name, []).append((file, read))
    for question in asked:
        if question.chapter in found:
            read = newest.last(found[question.chapter])[0][-1][1]
            given = answers.handed_out(release, question.chapter)
            yield question, answers.written(read, given, question)


def _row(submission, question, text, before):
    row = {"student": submission.student, "chapter": question.chapter, "title": question.title}
    row["text"] = text.encode("utf-8", "replace").decode("utf-8")
    code = "".join(secrets.choice(LETTERS) for _ in range(6))
    return row | {"code": before.get(_name(row), code)}


def page(asked, rows):
    """The page: answers of one question after the other, in an order that tells nothing."""
    groups = []
    for question in asked:
        mine = (question.chapter, question.title)
        here = [row for row in rows if (row["chapter"], row["title"]) == mine and row["text"]]
        random.Random(secrets.randbits(64)).shuffle(here)
        groups.append((question, here))
    script = (HERE / "page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {"groups": groups, "script": script, "digest": digest, "keys": questions.KEYS}
    more = {"shown": _shown, "style": feedback.STYLE, "title": "Answers in words"}
    return render(HERE / "page.html.jinja", **values, **more)


def _shown(text):
    """All of an answer: up to `answers.LONGEST` characters."""
    lines = text.replace("\r", "\n").split("\n")
    return "\n".join(feedback.shown(line, 2000) for line in lines[:1000])
