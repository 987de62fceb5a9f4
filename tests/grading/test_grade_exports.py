"""Gradebook, points by hand, and grades for Canvas, Moodle and Gradescope, all made from result files."""

import argparse
import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.grading.marks import export, gradebook, lms, marks, mistakes, tables
from course_tools.grading.verdict import results

ROOT = Path(__file__).resolve().parents[2]
ONE, TWO = "01-serial-backprop", "02-minibatch-and-blas"
HEAD = "Student,ID,SIS User ID,SIS Login ID,Section,Exercise 01 serial backprop (90001),Homework B (90002),Final Score"
CANVAS = f"""{HEAD}
    Points Possible,,,,,3.00,10.00,(read only)
"Doe, Jane",11,s1,jdoe,A,,,1.00
"Okafor, Chidi",12,s2,cokafor,A,EX,,
"Müller, Max",13,s3,mmueller,A,,,"2,00"
"Absent, Ada",14,s4,aabsent,A,,7.00,
"""
MOODLE = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (grade),\
Feedback comments
Participant 11,Jane Doe,jane@uni.example,Submitted,,10.00,Yes,-,
Participant 12,Chidi Okafor,chidi@uni.example,Submitted,4.00,10.00,No,"Friday, 1 May",kept
Participant 13,Max Müller,max@uni.example,Submitted,,10.00,Yes,-,Said before.
"""


def result(student, number="", neuron="pass", forward="pass", chapter=ONE, **more):
    """A Result of a chapter with two tasks of 1 and 2 points. neuron, forward: statuses."""
    tasks = [
        results.Task("neuron", neuron, 1 * (neuron == "pass"), 1, "said of neuron"),
        results.Task("forward", forward, 2 * (forward == "pass"), 2, "said of forward"),
    ]
    given = {"problems": [], "tasks": tasks, "isolation": "sandbox"} | more
    return results.Result(student, number, chapter, "a.ipynb", "d" * 64, "r", "0", 1, **given)


@pytest.fixture
def out(tmp_path):
    """Jane has all of both chapters, Chidi one task, Max none of it."""
    results.save(tmp_path, [result("doejane", "11"), result("doejane", "11", chapter=TWO)])
    results.save(tmp_path, [result("okaforchidi", "12", forward="wrong")])
    results.save(tmp_path, [result("Müller, Max", "", "timeout", "missing")])
    return tmp_path


def written(tmp_path, name, text, encoding="utf-8"):
    file = tmp_path / "given" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode(encoding))
    return file


def read_back(file):
    text = file.read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


# The gradebook ----------------------------------------------------------------------------------------------------


def test_gradebook_has_a_row_a_student(out):
    file = gradebook.write(out, marks.collect(out))
    assert file.read_bytes().startswith(b"\xef\xbb\xbf"), "Excel needs the BOM"
    head, *rows = read_back(file)
    assert head[:5] == ["Student", "ID", f"{ONE}: neuron /1", f"{ONE}: forward /2", f"{ONE} /3"]
    assert head[-3:] == ["Total", "Out of", "Notes"]
    assert rows == [
        ["doejane", "11", "1", "2", "3", "1", "2", "3", "6", "6", ""],
        ["Müller, Max", "", "0", "0", "0", "", "", "", "0", "6", "01 neuron: took too long"],
        ["okaforchidi", "12", "1", "0", "1", "", "", "", "1", "6", ""],
    ]


def test_gradebook_of_nobody(tmp_path):
    assert read_back(gradebook.write(tmp_path, marks.collect(tmp_path))) == [
        ["Student", "ID", "Total", "Out of", "Notes"]
    ]


@pytest.mark.parametrize(
    "name",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\uff1d1+1",
        '=HYPERLINK("http://x.example";"y")',
        "\n=1",
        "\u202e=1",
    ],
)
def test_no_name_begins_a_formula(tmp_path, name):
    cell = tables.safe(name)
    assert cell.startswith("'") and not set(cell) & set("\t\r\n\u202e")
    results.save(tmp_path, [result(name)])
    row = read_back(gradebook.write(tmp_path, marks.collect(tmp_path)))[1]
    assert row[0] == cell and row[-3] == "3"


@pytest.mark.parametrize("name", ["x;=1+1", 'x"=1+1', 'x"; @y'])
def test_no_formula_after_what_another_program_takes_for_a_comma(name):
    assert "'=" in tables.safe(name) or "'@" in tables.safe(name)


@pytest.mark.parametrize(
    "name", ["O'Hara, Sean", '"Bob"', "李雷", "نام", "Zo\u0308e", "a\u200db", "a-b", "1", "😀"]
)
def test_names_stay_as_they_are(tmp_path, name):
    results.save(tmp_path, [result(name)])
    assert read_back(gradebook.write(tmp_path, marks.collect(tmp_path)))[1][0] == name


def test_half_characters_and_long_names_can_be_written(tmp_path):
    assert tables.safe("a\ud800b") == "a?b"
    assert len(tables.safe("x" * 10**6)) < 1100


def test_notes_say_what_was_odd(tmp_path):
    odd = result(
        "a",
        problems=["tasks were moved"],
        isolation="none",
        neuron="inconclusive",
        forward="missing",
    )
    odd.tasks[1].message = "its cell was deleted"
    results.save(tmp_path, [odd])
    results.save(tmp_path, [result("b", chapter="", tasks=[], problems=["it is empty"])])
    rows = read_back(gradebook.write(tmp_path, marks.collect(tmp_path)))
    assert (
        "tasks were moved" in rows[1][-1]
        and "without a sandbox" in rows[1][-1]
        and "look at neuron" in rows[1][-1]
    )
    assert "01 forward: its cell was deleted" in rows[1][-1]
    assert rows[2][-1] == "a.ipynb: it is empty" and rows[2][-3] == "0"


# By hand ----------------------------------------------------------------------------------------------------------


def test_points_by_hand(out):
    text = (
        "Student,Chapter,Task,Points,Comment\ndoejane,1,neuron,0.5,Half of it.\ndoejane,02,,-1,A day late\n"
        '12,,forward,2,\nokaforchidi,,,"1,5",Report\n'
    )
    (out / "manual.csv").write_text(text)
    made = marks.collect(out)
    jane, _, chidi = made.students
    assert made.problems == []
    assert (jane.chapters[ONE].points, jane.chapters[TWO].points, jane.points) == (2.5, 2, 4.5)
    assert (
        jane.chapters[ONE].comments == {"neuron": ["Half of it."]}
        and jane.chapters[TWO].extra == -1
    )
    assert chidi.points == 4.5
    row = read_back(gradebook.write(out, made))[1]
    assert row[2:9] == ["0.5", "2", "0", "2.5", "1", "2", "-1"]


def test_points_by_hand_as_json_and_with_semicolons(out):
    (out / "manual.json").write_text(
        json.dumps([{"student": "Müller, Max", "points": 1, "comment": "oral"}])
    )
    assert marks.collect(out).students[1].points == 1
    file = written(out, "x.csv", "Student;Task;Points\r\nMüller, Max;neuron;1\r\n", "utf-8-sig")
    assert marks.collect(out, file).students[1].points == 1


@pytest.mark.parametrize(
    "row, said",
    [
        ("nobody,01,,1,", "no submission is by 'nobody'"),
        ("okaforchidi,02,,1,", "not one chapter"),
        ("doejane,,,1,", "not one chapter"),
        ("doejane,01,newron,1,", "there is no task 'newron', but neuron, forward"),
        ("doejane,01,neuron,one,", "no number of points"),
        ("doejane,01,neuron,nan,", "no number of points"),
        ("doejane,01,neuron,=1,", "no number of points"),
        ("doejane,01,neuron,20,", "20 points, but the task has 1"),
    ],
)
def test_what_is_wrong_in_points_by_hand_is_said(out, row, said):
    (out / "manual.csv").write_text(f"Student,Chapter,Task,Points,Comment\n{row}\n")
    (problem,) = marks.collect(out).problems
    assert problem.startswith("manual.csv:2: ") and said in problem


@pytest.mark.parametrize("text", ["", "Name,Points\na,1\n", "a\x00b"])
def test_a_file_of_another_form_is_refused(out, text):
    with pytest.raises(BadInput):
        marks.collect(out, written(out, "x.csv", text))


def test_names_that_look_like_formulas_can_be_given_points(tmp_path):
    results.save(tmp_path, [result("=1+1", forward="wrong")])
    (tmp_path / "manual.csv").write_text("Student,Points\n'=1+1,1\n")
    made = marks.collect(tmp_path)
    assert made.problems == [] and made.students[0].points == 2


def test_a_chapter_never_falls_below_zero(out):
    (out / "manual.csv").write_text("Student,Points\nokaforchidi,-5\n")
    assert marks.collect(out).students[2].points == 0


# Canvas -----------------------------------------------------------------------------------------------------------


def test_canvas_is_filled_in_and_else_kept(out):
    file = written(out, "canvas.csv", CANVAS.replace("\n", "\r\n"), "utf-8-sig")
    table, said = lms.canvas(marks.collect(out), file, {TWO: "Homework B"})
    before, after = (
        read_back(file),
        list(csv.reader(io.StringIO(table.text().lstrip("\ufeff"), newline=""))),
    )
    changed = {
        (i, j): cell
        for i, row in enumerate(after)
        for j, cell in enumerate(row)
        if cell != before[i][j]
    }
    assert changed == {(2, 5): "3", (2, 6): "10", (4, 5): "0"}
    assert table.text().startswith("\ufeff") and table.text().count("\r\n") == 6
    assert any("stays EX" in line for line in said) and any(
        "3 points are written as 10" in line for line in said
    )


def test_canvas_says_who_was_not_found(tmp_path):
    for student, number in (("stranger", "99"), ("doejane", "11"), ("Jane Doe", "")):
        results.save(tmp_path, [result(student, number)])
    table, said = lms.canvas(marks.collect(tmp_path), written(tmp_path, "c.csv", CANVAS))
    assert table.rows[2][5] == "3", "the number decides, not the name that anybody may give himself"
    assert any("'stranger': no row fits" in line for line in said)
    assert any("'Jane Doe': another student's number" in line for line in said)


def test_everybody_on_the_class_list_has_a_row(out):
    """Who handed in nothing has one at the end, without points; who might be somebody who did has none."""
    made = marks.collect(out)
    twice = CANVAS + '"Doe, Jane",15,s5,jdoe2,B,,,\n"=Formula",16,s6,x,B,,,\n'
    missing = lms.absent(made, written(out, "c.csv", twice))
    assert missing == [("Absent, Ada", "14"), ("Doe, Jane", "15"), ("=Formula", "16")]
    rows = read_back(gradebook.write(out, made, missing))
    assert len(rows) == 1 + 3 + 3 and {len(row) for row in rows} == {len(rows[0])}
    assert rows[4][:2] == ["Absent, Ada", "14"] and rows[4][-1] == gradebook.NOTHING
    assert not any(rows[4][2:-1]) and rows[6][0] == "'=Formula"


ABSENT = """Participant 14,Ada Absent,ada@uni.example,No submission,,10.00,Yes,-,
Participant 15,Jane Doe,jane2@uni.example,No submission,,10.00,Yes,-,
Participant 16,=Formula,x@uni.example,No submission,,10.00,Yes,-,
"""


def test_everybody_on_moodles_list_has_a_row(out):
    """As with Canvas's: who handed in nothing, also under the name of somebody who did; each once, on every page."""
    moodle = written(out, "m.csv", MOODLE + ABSENT)
    missing = lms.absent_in_moodle(marks.collect(out), moodle)
    assert missing == [("Ada Absent", "14"), ("Jane Doe", "15"), ("=Formula", "16")]
    canvas = written(out, "c.csv", CANVAS)
    export.write(
        options(
            out,
            "--moodle",
            f"1={moodle}",
            "--moodle",
            f"2={moodle}",
            "--canvas",
            canvas,
            "--column",
            "2=90002",
        )
    )
    rows = read_back(out / "gradebook.csv")[1:]
    assert [row[:2] for row in rows[3:]] == [
        ["Absent, Ada", "14"],
        ["Jane Doe", "15"],
        ["'=Formula", "16"],
    ]
    assert all(row[-1] == gradebook.NOTHING and not any(row[2:-1]) for row in rows[3:])
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count(gradebook.NOTHING) == 3 and "Absent, Ada" in page
    assert read_back(out / "moodle-01.csv")[4][:2] == ["Participant 14", "Ada Absent"]
    assert {row[4] for row in read_back(out / "moodle-01.csv")[4:]} == {""}


def test_two_of_the_same_name_get_nothing_by_name(tmp_path):
    results.save(tmp_path, [result("doejane")])
    twice = CANVAS + '"Doe, Jane",15,s5,jdoe2,B,,,\n'
    table, said = lms.canvas(marks.collect(tmp_path), written(tmp_path, "c.csv", twice))
    assert [row[5] for row in table.rows[2:]] == ["", "EX", "", "", ""]
    assert any("two rows or more fit" in line for line in said)


def test_canvas_by_login_and_with_semicolons(tmp_path):
    results.save(tmp_path, [result("mmueller")])
    text = "\n".join(";".join(row) for row in csv.reader(io.StringIO(CANVAS)))
    table, _ = lms.canvas(marks.collect(tmp_path), written(tmp_path, "c.csv", text))
    assert table.rows[4][5] == "3" and table.text().startswith("Student;ID;")


@pytest.mark.parametrize(
    "text, said",
    [
        ("Name,Points\na,1\n", "no gradebook of Canvas"),
        (CANVAS.replace("serial backprop", ""), "give --column '01=TITLE'"),
    ],
)
def test_other_files_are_not_taken_for_canvas(out, text, said):
    with pytest.raises(BadInput, match=said):
        lms.canvas(marks.collect(out), written(out, "c.csv", text))


# Moodle -----------------------------------------------------------------------------------------------------------


def test_moodle_is_filled_in(out):
    (out / "manual.csv").write_text("Student,Chapter,Comment\ndoejane,01,<b>Fine</b>\n")
    table, said = lms.moodle(marks.collect(out), written(out, "m.csv", MOODLE), ONE)
    grades = [row[4] for row in table.rows[1:]]
    assert grades == ["10.00", "4.00", "0.00"]
    assert "neuron: 1 of 1 (passed)" in table.rows[1][8] and "&lt;b&gt;Fine" in table.rows[1][8]
    assert table.rows[2][8] == "kept" and any("not be changed" in line for line in said)
    assert table.rows[3][8].startswith("Said before.<ul>")


def test_moodle_with_a_decimal_comma(out):
    given = MOODLE.replace("10.00", '"10,00"')
    table, _ = lms.moodle(marks.collect(out), written(out, "m.csv", given), ONE)
    assert table.rows[1][4] == "10,00"


def test_more_than_moodle_takes_is_said(out):
    (out / "manual.csv").write_text("Student,Chapter,Points\ndoejane,01,3\n")
    _, said = lms.moodle(marks.collect(out), written(out, "m.csv", MOODLE), ONE)
    assert any("20.00 is more than Moodle's maximum of 10" in line for line in said)


def test_other_files_are_not_taken_for_moodle(out):
    with pytest.raises(BadInput, match="no grading worksheet"):
        lms.moodle(marks.collect(out), written(out, "m.csv", CANVAS), ONE)


# Gradescope -------------------------------------------------------------------------------------------------------


def test_gradescope(tmp_path):
    given = result("a", forward="wrong")
    given.tasks[1].hidden = {"fresh inputs": "wrong"}
    given.tasks[1].message = "\x1b[31mred\x1b[0m " + "x" * 10**6
    results.save(tmp_path, [given])
    (student,) = marks.collect(tmp_path).students
    made = lms.gradescope(student.chapters[ONE])
    names = [test["name"] for test in made["tests"]]
    assert made["score"] == 1 and names == ["neuron", "forward", "forward: fresh inputs"]
    assert [test["visibility"] for test in made["tests"]] == ["visible", "visible", "hidden"]
    assert [test.get("score") for test in made["tests"]] == [1, 0, None]
    assert made["tests"][1]["output"].startswith("red x") and len(made["tests"][1]["output"]) < 5000
    json.dumps(made)


# All of it --------------------------------------------------------------------------------------------------------


def options(out, *given):
    parser = argparse.ArgumentParser()
    export.add_arguments(parser)
    args = parser.parse_args(list(map(str, given)))
    args.out = out
    return args


def test_everything_is_written(out):
    canvas, moodle = written(out, "c.csv", CANVAS), written(out, "m.csv", MOODLE)
    given = ["--canvas", canvas, "--column", "2=90002", "--moodle", f"1={moodle}", "--gradescope"]
    export.look(options(out, *given), [ONE, TWO])
    said = export.write(options(out, *given))
    names = sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file())
    for name in (
        "gradebook.csv",
        "index.html",
        "canvas.csv",
        "moodle-01.csv",
        "points-01.png",
        "mistakes-01.png",
        "feedback/doejane.html",
        "gradescope/01/doejane.json",
    ):
        assert name in names
    assert all(line.startswith(("canvas: ", "moodle: ")) for line in said)
    assert "mistakes-02.png" not in names, "nobody made one"


@pytest.mark.parametrize(
    "given, said",
    [
        (["--moodle", "m.csv"], "which chapter"),
        (["--moodle", "07=m.csv"], "no chapter '07'"),
        (["--column", "7"], "NN=TITLE"),
    ],
)
def test_wrong_options_are_refused(out, given, said):
    canvas = ["--canvas", written(out, "c.csv", CANVAS)] if "--column" in given else []
    with pytest.raises(BadInput, match=said):
        export.write(options(out, *given, *canvas))


@pytest.mark.parametrize(
    "given, said",
    [
        (["--column", "01=No such homework"], "no column to fill in.*01-serial.*0 assignments fit"),
        (["--column", "7=Homework B"], "no chapter '7'"),
        (["--moodle", "07=m.csv"], "no chapter '07'"),
        (["--moodle", "1=c.csv"], "no grading worksheet"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_graded(out, monkeypatch, given, said):
    monkeypatch.chdir(written(out, "m.csv", MOODLE).parent)
    with pytest.raises(BadInput, match=re.compile(said, re.DOTALL)):
        export.look(options(out, "--canvas", written(out, "c.csv", CANVAS), *given), [ONE, TWO])


@pytest.mark.parametrize("status", ["inconclusive", "not-run-here"])
def test_what_was_not_decided_is_no_zero(tmp_path, status):
    """Canvas's and Moodle's cells stay as they were until it is decided or points are given by hand."""
    results.save(tmp_path, [result("doejane", "11", forward=status)])
    files = written(tmp_path, "c.csv", CANVAS), written(tmp_path, "m.csv", MOODLE)
    before = [tables.read(file).rows for file in files]

    def filled():
        made = marks.collect(tmp_path)
        return lms.canvas(made, files[0]), lms.moodle(made, files[1], ONE)

    for rows, (table, said) in zip(before, filled(), strict=True):
        assert table.rows == rows and any("forward not decided" in line for line in said)
    (tmp_path / "manual.csv").write_text(f"student,chapter,task,points\ndoejane,{ONE},forward,1\n")
    for rows, (table, said) in zip(before, filled(), strict=True):
        assert table.rows != rows and not any("not decided" in line for line in said)


def test_the_instructors_own_export_is_never_overwritten(out):
    file = out / "canvas.csv"
    file.write_text(CANVAS)
    with pytest.raises(BadInput, match="would be overwritten"):
        export.write(options(out, "--canvas", file))
    assert file.read_text() == CANVAS


# Mistakes ---------------------------------------------------------------------------------------------------------


def test_a_wrong_answer_resembles_the_planted_one_whose_message_it_gets():
    mutants = {
        "no-bias": "the bias b is missing",
        "mirrored": "mirrored",
        "minus": "the BIAS b",
        "any": "not right yet",
    }

    def seen(message, status="wrong", **more):
        return mistakes.resembles(results.Task("neuron", status, 0, 1, message, **more), mutants)

    assert seen("neuron: where [0]\n  cause: the bias  b is missing") == "no-bias"
    assert seen("it is mirrored") == "mirrored"
    assert seen("12 differs from 13") == mistakes.OTHER
    assert (
        seen("1 of 3 cases not right yet: it stopped with ValueError: x")
        == "stopped with ValueError"
    )
    assert seen("neuron is not written yet") == mistakes.BLANK
    assert seen("", "timeout") == "took too long"
    assert seen("the public check passes", hidden={"fresh inputs": "wrong"}) == mistakes.PUBLIC_ONLY
    assert seen("it is mirrored", resembles="given") == "given"


def test_planted_answers_come_from_the_sources():
    made = mistakes.planted(["00-start-here", "99-none"], ROOT)
    assert (
        made["00-start-here"]["affine"]["no-bias"] == "the bias b is missing"
        and made["99-none"] == {}
    )


# The example ------------------------------------------------------------------------------------------------------


def test_thirty_submissions_are_made_and_the_same_each_time(tmp_path):
    for name in ("a", "b"):
        subprocess.run(
            [sys.executable, ROOT / "examples" / "make_thirty.py", tmp_path / name],
            check=True,
            cwd=ROOT,
        )
    files = sorted(
        path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()
    )
    assert sum(path.suffix == ".ipynb" for path in files) == 30
    assert all(
        (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
        for path in files
    )
    head, *rows = read_back(tmp_path / "a" / "expected.csv")
    assert head == ["Student", "ID", "affine", "one-hot", "to-rows", "Total"] and len(rows) == 30
    assert sorted({row[-1] for row in rows}) == ["0", "1", "2", "3", "4"]


def test_the_example_is_read_as_a_download_of_canvas(tmp_path):
    from course_tools.grading.intake import handed_in

    subprocess.run(
        [sys.executable, ROOT / "examples" / "make_thirty.py", tmp_path], check=True, cwd=ROOT
    )
    expected = {row[0]: row[1] for row in read_back(tmp_path / "expected.csv")[1:]}
    assert {one.student: one.id for one in handed_in.collect(tmp_path / "submissions")} == expected
