"""Answers in words: found, shown without names, graded by keys, and back in the gradebook."""

import argparse
import csv
import json
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.__main__ import main
from course_tools.grading.intake import notebook
from course_tools.grading.marks import export, marks
from course_tools.grading.rubric import answers, questions
from course_tools.grading.verdict import results
from tests.support.lab_browser import chromium

ROOT = Path(__file__).resolve().parents[3]
ZERO = "00-start-here"
RUBRIC = """[[question]]
chapter = "0"
title = "Rows or columns"
after = "to-rows-check"
[[question.criterion]]
name = "Reason"
points = 2
comments = ["names the copies", "gives no reason"]
[[question.criterion]]
name = "Clarity"
points = 1
"""
WORDS = {
    "doejane": "Rows, since a row lies in one piece.\n\n<script>alert(1)</script>",
    "okaforchidi": "Columns.",
    "roejo": "",
}


def text_cell(text, name="mine"):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    made = tmp_path_factory.mktemp("words") / "release"
    assert main(["release", "00", "--quick", "--root", str(ROOT), "--out", str(made)]) == 0
    return made


@pytest.fixture
def place(tmp_path, release):
    """Three submissions, a rubric, the results of a run, and the page."""
    blank = json.loads((release / "exercises" / f"{ZERO}.ipynb").read_text(encoding="utf-8"))
    for number, (student, text) in enumerate(WORDS.items(), 11):
        cells = blank["cells"] + ([text_cell(text)] if text else [])
        where = [cell["id"] for cell in cells].index("to-rows-check")
        cells.insert(where + 1, cells.pop()) if text else None
        file = tmp_path / "in" / f"{student}_{number}_7_{ZERO}.ipynb"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(blank | {"cells": cells}), encoding="utf-8")
        task = results.Task("affine", "pass", 1, 1)
        made = results.Result(student, "", ZERO, "a", "d", "r", "0", 1, "sandbox", [task])
        results.save(tmp_path, [made])
    (tmp_path / "rubric.toml").write_text(RUBRIC, encoding="utf-8")
    words = ["--release", release, "--rubric", tmp_path / "rubric.toml", "--out", tmp_path]
    assert main(["class", "words", str(tmp_path / "in"), *map(str, words)]) == 0
    return tmp_path


def codes(place):
    rows = json.loads((place / "words" / "key.json").read_text(encoding="utf-8"))["answers"]
    return {row["student"]: row["code"] for row in rows}


def exported(place, *rows):
    """(said, {student: its row of the gradebook}) after words.csv with these rows."""
    file = place / "words.csv"
    with open(file, "w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream).writerows(
            [["Answer", "Question", "Criterion", "Points", "Comment"], *rows]
        )
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    export.add_arguments(parser)
    args = parser.parse_args(["--out", str(place), "--words", str(file)])
    export.look(args, [ZERO])
    said = export.write(args)
    with open(place / "gradebook.csv", encoding="utf-8-sig", newline="") as stream:
        return said, {row["Student"]: row for row in csv.DictReader(stream)}


COLUMN = f"{ZERO}: in words: Rows or columns /3"


# What is an answer ---------------------------------------------------------------------------------------------------


def written(cells, **where):
    given = {"title": "# T", "task": "x = 1", "done": "## Done"}
    question = questions.Question(ZERO, "t", (questions.Criterion("c", 1),), **where)
    return answers.written(notebook.Read(cells), given, question)


CELLS = [
    ("title", "markdown", "# T"),
    ("q", "markdown", "mine, above"),
    ("task", "code", "x = 2"),
    ("", "markdown", "mine, below"),
    ("", "code", "y = 1"),
    ("", "raw", "and more"),
    ("done", "markdown", "## Done\nchanged"),
]


@pytest.mark.parametrize(
    "where, text",
    [
        ({}, "mine, above\n\nmine, below\n\nand more\n\n## Done\nchanged"),
        ({"after": "task"}, "mine, below\n\nand more"),
        ({"after": "title"}, "mine, above"),
        ({"cell": "done"}, "## Done\nchanged"),
        ({"cell": "title"}, ""),
    ],
)
def test_a_students_words_are_told_from_what_was_handed_out(where, text):
    assert written(CELLS, **where) == text


def test_words_are_found_where_ids_are_lost():
    cells = [("", "markdown", "# T"), ("", "markdown", "mine")]
    assert written(cells) == "mine" and written(cells, after="title") == "mine"


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "must hold"),
        ("x = 1\n" + RUBRIC, "nothing else"),
        (RUBRIC.replace('"0"', '"7"'), "no chapter '7'"),
        (RUBRIC.replace("points = 2", "points = 10"), "from 1 to 9"),
        (RUBRIC.replace("Clarity", "Reason"), "two criteria"),
        (RUBRIC + RUBRIC, "same title"),
        (RUBRIC.replace("title =", "titel ="), "nothing is called 'titel'"),
        (RUBRIC.replace("after =", 'cell = "done"\nafter ='), "not both"),
    ],
)
def test_a_wrong_rubric_is_refused(tmp_path, text, says):
    file = tmp_path / "rubric.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        questions.read(file, [ZERO])
    assert says in str(error.value)


# The page ------------------------------------------------------------------------------------------------------------


def test_the_page_names_nobody_and_runs_nothing_of_theirs(place):
    page = (place / "words" / "page.html").read_text(encoding="utf-8")
    assert not [name for name in WORDS if name in page] and "src=" not in page
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    found = codes(place)
    assert found["doejane"] in page and found["roejo"] not in page, "there is nothing to read"


def test_what_has_been_read_keeps_its_code(place, release):
    before = codes(place)
    words = ["--release", release, "--rubric", place / "rubric.toml", "--out", place]
    assert main(["class", "words", str(place / "in"), *map(str, words)]) == 0
    assert codes(place) == before


def test_graded_by_keyboard_alone(place, tmp_path):
    """Two answers, every key, a reload in between, saved, and read back."""
    with chromium() as browser:
        page = browser.new_page(accept_downloads=True)
        errors: list = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if line.type == "error" else None)
        page.goto((place / "words" / "page.html").as_uri())
        first = page.locator("section:visible").get_attribute("data-code")
        for key in ("9", "2", "q", "Tab", "1", "Enter"):
            page.keyboard.press(key)
        page.keyboard.type('no "2"; n')
        page.keyboard.press("Escape")
        graded = page.get_by_text("1 of 2 answers graded")
        graded.wait_for()  # a busy browser comes to the keys later
        page.reload()
        graded.wait_for()
        page.keyboard.press("n")
        page.keyboard.press("0")
        with page.expect_download() as saved:
            page.keyboard.press("s")
        saved.value.save_as(tmp_path / "saved.csv")
        assert errors == []
    with open(tmp_path / "saved.csv", encoding="utf-8-sig", newline="") as stream:
        _, *rows = csv.reader(stream)
    mine = [row[2:] for row in rows if row[0] == first]
    assert mine == [["Reason", "2", "names the copies"], ["Clarity", "1", 'no "2"; n']]
    assert [row[3] for row in rows if row[0] != first] == ["0", ""]
    said, _ = exported(place, *rows)
    assert said == ["1 answers in words are not read to the end"]


# Back into the gradebook ---------------------------------------------------------------------------------------------


def test_points_and_comments_come_back(place):
    code = codes(place)
    rows = [(code[who], "Rows or columns", "Reason", 2, "good") for who in WORDS]
    rows += [(code[who], "Rows or columns", "Clarity", "0,5", "") for who in WORDS]
    said, found = exported(place, *rows)
    assert said == [] and found["doejane"][COLUMN] == "2.5"
    assert found["doejane"][f"{ZERO} /4"] == "3.5" and found["roejo"][COLUMN] == "0"
    page = next((place / "feedback").glob("doejane*")).read_text(encoding="utf-8")
    assert "Reason: 2 of 2. good" in page and "read and graded" in page


def test_what_is_not_read_is_not_nought(place):
    said, found = exported(place, (codes(place)["doejane"], "", "Reason", 2, ""))
    assert said == ["2 answers in words are not read to the end"]
    assert "not decided here" in found["doejane"]["Notes"]
    made = marks.collect(place)
    assert not made.students[0].chapters[ZERO].undecided, "without --words nothing is missing"


def test_slips_are_said(place):
    code = codes(place)["doejane"]
    said, _ = exported(place, (code, "", "Reason", 7, ""), ("QQQQQQ", "", "Reason", 1, ""))
    assert f"{code}: Reason has 2 points: 7 count" in said
    assert "no answer here has the code 'QQQQQQ': its row is left out" in said


def test_another_file_is_refused_before_anything_is_graded(place):
    file = place / "other.csv"
    file.write_text("a,b\n", encoding="utf-8")
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    export.add_arguments(parser)
    with pytest.raises(BadInput, match="the first row must be Answer"):
        export.look(parser.parse_args(["--out", str(place), "--words", str(file)]), [ZERO])
