"""Deadlines: by clocks that students cannot set, late days, penalties, extensions; nothing is taken off unasked."""

import argparse
import csv
import datetime
import json
import os
import zipfile
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.grading.deadlines import apply, clock, rules, worksheet
from course_tools.grading.intake import handed_in
from course_tools.grading.marks import export, feedback, gradebook, lms, marks
from course_tools.grading.verdict import results

ONE, TWO = "01-serial-backprop", "02-minibatch-and-blas"
RULES = """timezone = "Europe/Berlin"
[chapters.01]
due = 2026-11-20 23:59:00
close = 2026-11-27 23:59:00
[chapters.02]
due = 2026-12-04 23:59:00
[late]
grace = 15
days = 1
penalty = 10
[[extension]]
student = "okaforchidi"
chapter = "01"
days = 3
reason = "ill"
"""


def result(student, number="", chapter=ONE, points=10):
    tasks = [results.Task("forward", "pass", points, 10)]
    return results.Result(
        student, number, chapter, "a.ipynb", "d" * 64, "r", "0", 1, "sandbox", tasks
    )


def row(student, chapter, at, by=clock.FILES):
    cells = [student, "", chapter, "a.ipynb", "d" * 64, at, by]
    return (student, chapter), dict(zip(clock.COLUMNS, cells, strict=True))


@pytest.fixture
def given(tmp_path):
    """The rules of a file with this text."""

    def of(text=RULES):
        file = tmp_path / "deadlines.toml"
        file.write_text(text, encoding="utf-8")
        return rules.read(file)

    return of


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "marks"
    folder.mkdir()
    for student in ("doejane", "okaforchidi"):
        results.save(folder, [result(student, "11"), result(student, "11", TWO)])
    return folder


def applied(out, given, rows, moodle=None):
    made = marks.collect(out)
    said = apply.apply(made, given, dict(rows), moodle)
    return {one.name: one.chapters for one in made.students}, said, made


# The rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "at, off, says",
    [
        ("2026-11-20 22:00:00+01:00", 0, "in time"),
        ("2026-11-21 00:13:00+01:00", 0, "in time"),  # within the grace
        ("2026-11-20 23:20:00+00:00", 0, "1 day late, 1 late day used, 0 points off"),
        ("2026-11-22 12:00:00+01:00", 1, "2 days late, 1 late day used, 1 points off"),
        ("2026-11-27 23:59:00+01:00", 6, "7 days late, 1 late day used, 6 points off"),
        ("2026-11-28 00:00:00+01:00", 10, "closed 2026-11-27 23:59 CET: no points"),
    ],
)
def test_what_lateness_costs(out, given, at, off, says):
    found, _, _ = applied(out, given(), [row("doejane", ONE, at)])
    chapter = found["doejane"][ONE]
    assert (chapter.off, chapter.points) == (off, 10 - off)
    assert says in chapter.late and "(by the file's time)" in chapter.late


def test_late_days_are_used_up_in_the_order_of_the_deadlines(out, given):
    rows = [
        row("doejane", TWO, "2026-12-05 12:00:00+01:00"),
        row("doejane", ONE, "2026-11-21 12:00:00+01:00"),
    ]
    found, _, _ = applied(out, given(), rows)
    assert [found["doejane"][name].off for name in (ONE, TWO)] == [0, 1]


def test_an_extension_is_one_students(out, given):
    rows = [row(who, ONE, "2026-11-23 12:00:00+01:00") for who in ("doejane", "okaforchidi")]
    found, _, _ = applied(out, given(), rows)
    assert found["okaforchidi"][ONE].off == 0
    says = "due 2026-11-23 23:59 CET, extended: ill: in time"
    assert says in found["okaforchidi"][ONE].late
    assert found["doejane"][ONE].off == 2


def test_something_stays_where_the_rules_say_so(out, given):
    text = RULES.replace("penalty = 10", "penalty = 50\nleast = 40").replace("close", "#close")
    found, _, _ = applied(out, given(text), [row("doejane", ONE, "2026-12-20 12:00:00+01:00")])
    assert found["doejane"][ONE].points == 4


def test_an_unknown_time_costs_nothing_and_is_said(out, given):
    rows = [row("doejane", ONE, "", clock.MARKED), row("okaforchidi", TWO, "", clock.UNMARKED)]
    found, said, made = applied(out, given(), rows)
    assert found["doejane"][ONE].off == 0 and "marks it late" in found["doejane"][ONE].late
    assert "in time" in found["okaforchidi"][TWO].late
    assert "3 times are unknown" in said[-1]  # hers of both chapters, and his of the first
    notes = gradebook.rows(made)[1][-1]
    assert clock.UNDECIDED in notes


def test_the_instructors_word_beats_the_lms_and_the_lms_the_file(out, given):
    rows = [row("doejane", ONE, "2026-11-22 12:00:00+01:00")]
    at = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)
    found, _, _ = applied(out, given(), rows, {ONE: {"11": at}})
    assert found["doejane"][ONE].off == 0 and "by Moodle's worksheet" in found["doejane"][ONE].late
    text = RULES + '[[handed-in]]\nstudent="doejane"\nchapter="1"\nat=2026-11-23 12:00:00\n'
    found, _, _ = applied(out, given(text), rows, {ONE: {"11": at}})
    assert found["doejane"][ONE].off == 2 and "instructor's word" in found["doejane"][ONE].late


def test_an_entry_that_fits_nobody_is_said(out, given):
    _, said, _ = applied(out, given(RULES.replace("okaforchidi", "okaforchdi")), [])
    assert "deadlines.toml: no submission fits 'okaforchdi', '01'" in said


@pytest.mark.parametrize(
    "text, says",
    [
        ("x = 1", "no entry is called 'x'"),
        ('timezone = "Mars/Olympus"', "no time zone 'Mars/Olympus'"),
        ("[chapters.01]\ndue = 2026-11-20", "must be a time such as"),
        ("[chapters.01]\nclose = 2026-11-20 10:00:00", "chapters.01 lacks due"),
        ("[late]\npenalty = 200", "at most 100"),
        ("[late]\npenalty = -1", "a number from 0"),
        ('[[extension]]\nstudent = "a"\nchapter = "01"', "either due or days"),
        ("[extension]\nstudent = 1", "two brackets"),
        ("[[[", "cannot be read"),
    ],
)
def test_a_wrong_file_is_refused(given, text, says):
    with pytest.raises(BadInput, match=r"deadlines\.toml") as error:
        given(text)
    assert says in str(error.value)


# The clocks ----------------------------------------------------------------------------------------------------------


def zipped(file, names, when=(2026, 11, 21, 10, 0, 0)):
    with zipfile.ZipFile(file, "w") as made:
        for name, data in names.items():
            made.writestr(zipfile.ZipInfo(name, when), data)
    return file


def clocks(place):
    return {one.student: clock.sent(one.files[0]) for one in handed_in.collect(place)}


def test_moodles_files_have_times(tmp_path):
    place = zipped(tmp_path / "a.zip", {"Jane Doe_11_assignsubmission_file/01.ipynb": "{}"})
    found = clocks(place)["Jane Doe"]
    assert found.clock == clock.FILES and f"{found.at:%Y-%m-%d %H:%M}" == "2026-11-21 10:00"


def test_canvas_says_late_or_not(tmp_path):
    names = {"doejane_11_21_01.ipynb": "{}", "roejo_LATE_12_22_01.ipynb": "{}"}
    found = clocks(zipped(tmp_path / "a.zip", names))
    assert found["doejane"] == clock.Sent(None, clock.UNMARKED)
    assert found["roejo"] == clock.Sent(None, clock.MARKED)


def test_a_student_cannot_set_the_clock(tmp_path):
    """Neither with the times within a zip, nor with a time in a file's name."""
    early = zipped(tmp_path / "s.zip", {"2026-01-01 10.00.ipynb": "{}"}, (2026, 1, 1, 0, 0, 0))
    name = "Jane Doe_11_assignsubmission_file/s.zip"
    outer = zipped(tmp_path / "a.zip", {name: early.read_bytes()})
    assert clocks(outer)["Jane Doe"] == clock.Sent(None, clock.UNKNOWN)
    folder = tmp_path / "class" / "doe"
    folder.mkdir(parents=True)
    file = folder / "2026-01-01 10.00.00.ipynb"
    file.write_text("{}")
    os.utime(file, (2e9, 2e9))
    assert clocks(tmp_path / "class")["doe"].at.timestamp() == 2e9


def test_nbgraders_exchange_has_times(tmp_path):
    for stamp in ("2026-11-22 10:15:30 UTC", "2026-11-22 10:15:30.250000 UTC+x-7_Yz"):
        folder = tmp_path / f"jdoe+01+{stamp}"
        folder.mkdir()
        (folder / "01.ipynb").write_text("{}")
    (found,) = handed_in.collect(tmp_path)
    assert found.student == "jdoe" and len(found.files) == 2
    whens = {clock.sent(file) for file in found.files}
    at = datetime.datetime(2026, 11, 22, 10, 15, 30, tzinfo=datetime.UTC)
    assert whens == {clock.Sent(at, clock.EXCHANGE)}


def test_moodles_worksheet_has_times(tmp_path, given):
    file = tmp_path / "worksheet.csv"
    head = "Identifier,Full name,Grade,Last modified (submission)\n"
    lines = 'Participant 11,Jane,,"Friday, 20 November 2026, 10:15 PM"\nParticipant 12,Jo,,-\n'
    file.write_text(head + lines, encoding="utf-8")
    found = worksheet.times(file, given().zone)
    assert list(found) == ["11"] and found["11"].isoformat() == "2026-11-20T22:15:00+01:00"


def test_the_same_file_handed_in_again_keeps_its_first_time(tmp_path):
    rows: dict = {}
    for seconds in (1_800_000_000, 1_800_090_000):
        file = handed_in.files.File("a.ipynb", b"{}", sent=seconds, path="doe/a.ipynb")
        clock.note(rows, "doe", "", ONE, file)
    clock.save(tmp_path, rows)
    assert clock.load(tmp_path) == rows
    assert clock.of_row(rows["doe", ONE]).at.timestamp() == 1_800_000_000


# All that is made of it ------------------------------------------------------------------------------------------


def args(out, *words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    export.add_arguments(parser)
    return parser.parse_args(["--out", str(out), *words])


def test_nothing_is_taken_off_unasked(out):
    clock.save(out, dict([row("doejane", ONE, "2026-11-25 12:00:00+01:00")]))
    assert export.write(args(out)) == []
    assert "late" not in (out / "gradebook.csv").read_text(encoding="utf-8-sig")


def test_lateness_is_on_every_page_and_in_every_export(out, given, tmp_path):
    clock.save(out, dict([row("doejane", ONE, "2026-11-22 12:00:00+01:00")]))
    given()
    said = export.write(args(out, "--deadlines", str(tmp_path / "deadlines.toml")))
    assert "1 handed in late, 1 of them lose points" in said[-1]
    with open(out / "gradebook.csv", encoding="utf-8-sig", newline="") as stream:
        head, jane, _ = csv.reader(stream)
    cells = dict(zip(head, jane, strict=True))
    assert (cells[f"{ONE}: late"], cells[f"{ONE} /10"], cells["Total"]) == ("-1", "9", "19")
    says = "2 days late, 1 late day used, 1 points off"
    page = next((out / "feedback").glob("doejane*")).read_text(encoding="utf-8")
    index = (out / "index.html").read_text(encoding="utf-8")
    assert says in cells["Notes"] and says in page and says in index and said[-1] in index
    made = marks.collect(out)
    apply.apply(made, given(), clock.load(out))
    chapter = next(one for one in made.students if one.name == "doejane").chapters[ONE]
    assert says in lms.comment(chapter) and says in json.dumps(lms.gradescope(chapter))
    assert feedback.student_page(made.students[0], made.columns).count("late") >= 2
