"""Files, folders and names made to end the run, to hide a row, or to take another student's: each has its row."""

import json
import os
import resource
import subprocess
import sys
import zipfile

import pytest

from course_lib.errors import BadInput
from course_tools.grading.commands import grade
from course_tools.grading.deadlines import clock
from course_tools.grading.intake import files, handed_in, notebook
from course_tools.grading.intake.files import File
from course_tools.grading.sandbox import sandbox
from course_tools.grading.similarity import tokens
from course_tools.grading.verdict import results, runner

NOTEBOOK = json.dumps({"nbformat": 4, "cells": []})
EVE = "Eve_3_assignsubmission_file_"


@pytest.fixture
def top(tmp_path):
    """A download of Moodle, with a notebook by Ann."""
    (tmp_path / "in" / "Ann_1_assignsubmission_file_").mkdir(parents=True)
    (tmp_path / "in" / "Ann_1_assignsubmission_file_" / "x.ipynb").write_text(NOTEBOOK)
    return tmp_path / "in"


def said_of(top):
    """{student: problem of the first file}, Ann as she was."""
    found = {one.student: one.files for one in handed_in.collect(top)}
    assert [file.data for file in found.pop("Ann")] == [NOTEBOOK.encode()]
    return {student: given[0].problem for student, given in found.items()}


def pack(file, *names, was="", now=""):
    """A zip of notebooks; the bytes `was` become `now`: names that no program would write."""
    with zipfile.ZipFile(file, "w") as packed:
        for name in names:
            packed.writestr(name, NOTEBOOK)
    file.write_bytes(
        file.read_bytes().replace(was.encode(), now.encode()) if was else file.read_bytes()
    )


def no_name(top):
    (top / EVE).mkdir()
    pack(top / EVE / "hw.zip", "X.pdf", was="X.pdf", now="\0.pdf")


def encrypted(top):
    (top / EVE).mkdir()
    pack(top / EVE / "hw.zip", "a.ipynb")
    data = bytearray((top / EVE / "hw.zip").read_bytes())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    (top / EVE / "hw.zip").write_bytes(data)


def points_alone(top):
    (top / EVE).mkdir()
    pack(top / EVE / "..zip", "a.ipynb")


def a_link_to_a_folder(top):
    (top / EVE).symlink_to("/etc")


def an_empty_folder(top):
    (top / EVE).mkdir()


def hidden_files_alone(top):
    (top / EVE / ".ipynb_checkpoints").mkdir(parents=True)
    (top / EVE / ".00.ipynb").write_text(NOTEBOOK)


def folders_alone(top):
    (top / EVE / "a" / "b").mkdir(parents=True)


def a_pipe(top):
    (top / EVE).mkdir()
    os.mkfifo(top / EVE / "a.ipynb")


WAYS = {
    no_name: "only ''",
    encrypted: "encrypted",
    points_alone: "a folder without a file",
    a_link_to_a_folder: "a link, not followed",
    an_empty_folder: "a folder without a file",
    hidden_files_alone: "a folder without a file",
    folders_alone: "a folder without a file",
    a_pipe: "no plain file",
}


@pytest.mark.parametrize("way", WAYS)
def test_everybody_who_handed_in_anything_has_a_row(top, way):
    way(top)
    assert WAYS[way] in said_of(top)["Eve"]


def test_a_folder_that_cannot_be_read_is_a_row(top, monkeypatch):
    def scandir(path, real=os.scandir):
        if str(path).endswith(EVE):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    (top / EVE).mkdir()
    monkeypatch.setattr(os, "scandir", scandir)
    assert "cannot be read" in said_of(top)["Eve"]


def test_empty_folders_in_the_zip_of_a_class(tmp_path):
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        packed.writestr("Ann_1_assignsubmission_file_/x.ipynb", NOTEBOOK)
        packed.mkdir(EVE)
        packed.mkdir("Ann_1_assignsubmission_file_")
    assert said_of(tmp_path / "all.zip") == {
        "Eve": "no notebook (.ipynb) was handed in, only 'Eve_3_assignsubmission_file_: a folder without a file'"
    }


def test_a_name_that_begins_with_a_point_hides_nobody(top):
    (top / f".{EVE}").mkdir()
    (top / f".{EVE}" / "x.ipynb").write_text(NOTEBOOK)
    (top / ".git").mkdir()
    assert said_of(top) == {".Eve": ""}


def test_a_class_that_handed_in_reports_alone_has_its_rows(tmp_path):
    for name in ("Ann_1_assignsubmission_file_", EVE):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.pdf").write_text("x")
    assert [one.student for one in handed_in.collect(tmp_path)] == ["Ann", "Eve"]
    with pytest.raises(BadInput, match="no notebook"):
        handed_in.collect(tmp_path / EVE)


def test_nobody_can_choose_the_name_that_another_gets(tmp_path):
    """Two of one name get their numbers into it; a third one who calls himself so must not take their file."""
    for name in ("Sam_11", "Sam_12", "Sam (11)_13"):
        (tmp_path / f"{name}_assignsubmission_file_").mkdir()
        (tmp_path / f"{name}_assignsubmission_file_" / "x.ipynb").write_text(NOTEBOOK)
    found = {one.student: one.id for one in handed_in.collect(tmp_path)}
    assert found == {"Sam (11)": "11", "Sam (12)": "12", "Sam (11) (13)": "13"}


def test_names_whose_32_bit_hashes_are_one_have_files_of_their_own(tmp_path):
    """The first eight digits of their sha256 are the same: whoever looks for such a name finds one in a second."""
    one, other = "Ann Müller 19363", "Ann Müller 47654"
    marks = [results.hashlib.sha256(name.encode()).hexdigest() for name in (one, other)]
    assert marks[0][:8] == marks[1][:8] and results.MARK >= 16
    assert results.file_of(tmp_path, one) != results.file_of(tmp_path, other)


# Times -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stamp", ["2026-13-45 99:99:99 UTC", "2026-02-30 10:00:00 UTC"])
def test_a_time_that_no_calendar_has_ends_no_run(stamp):
    """nbgrader's folders are named by a process of the student's."""
    file = File("x.ipynb", b"", path=f"eve+03+{stamp}/x.ipynb")
    assert clock.sent(file).clock == clock.UNKNOWN


def test_a_files_time_may_be_any_number():
    assert clock.sent(File("x.ipynb", b"", sent=1e13, path="eve/x.ipynb")).clock == clock.UNKNOWN


# What parses -----------------------------------------------------------------------------------------------------


def test_a_file_of_brackets_is_not_parsed(top):
    """20 MB of empty objects would be 640 MB of memory; a dozen of them in a zip, minutes of the grader's time."""
    bomb = b'{"nbformat": 4, "cells": [' + b'{"a":{}},' * 300_000 + b"0]}"
    read = notebook.read(File("x.ipynb", bomb))
    assert not read.cells and "brackets" in read.problems[0]


def test_reading_all_that_a_student_handed_in_has_a_budget(monkeypatch, tmp_path):
    monkeypatch.setattr(grade, "READING", -1.0)
    said = []
    run = grade.Run.__new__(grade.Run)
    run.args, run.releases = type("Args", (), {"out": tmp_path}), {"a": None}
    monkeypatch.setattr(
        run, "_unreadable", lambda who, file, given, why: said.append(why), raising=False
    )
    one = handed_in.Submission("eve", files=[File("a.ipynb", b"["), File("b.ipynb", b"[")])
    assert run._read(one) == {} and said == [[grade.NOT_READ]] * 2


@pytest.mark.parametrize("version", ["9" * 4000, "true", "2.5", '"<b>"'])
def test_no_text_of_the_students_reaches_a_note_as_a_version(version):
    read = notebook.read(File("x", f'{{"cells": [], "nbformat": {version}}}'.encode()))
    assert read.problems[0] in ("it is JSON, but no notebook",)


def test_no_word_of_a_cells_type_reaches_a_note():
    """Only the three that Jupyter knows are named; "foreign" stands for all others."""
    cells = [
        {"id": "neuron", "cell_type": kind, "source": "x"} for kind in ("<b>", "full points", 7)
    ]
    read = notebook.read(File("x", json.dumps({"nbformat": 4, "cells": cells}).encode()))
    assert [kind for _, kind, _ in read.cells] == ["foreign", "foreign", "foreign"]


def test_comments_that_nobody_ends_take_no_quadratic_time():
    """Answers that are no Python, and kernels in texts, are read by a pattern."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for text in ("(" + "/*" * 45_000, "x = '''" + "/*/" * 30_000, "/" * 90_000):
        tokens.of(text)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 8


DEEP = (
    "-" * 90_000 + "1",
    "lambda:" * 14_000 + "1",
    "x[" * 40_000,
    "not " * 20_000 + "1",
    "f'{" * 30_000,
)


@pytest.mark.parametrize("number", range(len(DEEP)))
def test_no_depth_of_an_answer_ends_the_grader(number):
    """In a process of its own: a parser that runs out of stack would end this one."""
    code = (
        "from course_tools.grading.intake.assemble import names_in\n"
        "from course_tools.grading.release import library_use\n"
        "import sys\ntext = sys.stdin.read()\nnames_in(text), library_use.names_in(text)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=DEEP[number], text=True, timeout=60)
    assert done.returncode == 0


# Notes that are cut ----------------------------------------------------------------------------------------------


def test_notes_that_are_cut_say_how_many_more(tmp_path):
    (tmp_path / "eve").mkdir()
    (tmp_path / "ann.ipynb").write_text(NOTEBOOK)
    for n in range(8):
        (tmp_path / "eve" / f"{n}.pdf").write_text("")
    _, eve = handed_in.collect(tmp_path)
    assert eve.files[0].problem.endswith("'4.pdf' and 3 more")
    given = {"nbformat": 4, "cells": [7] * 9}
    read = notebook.read(File("x", json.dumps(given).encode()))
    assert read.problems == ["cells 1, 2, 3, 4, 5 and 4 more: cannot be read"]
    assert runner._some([str(n) for n in range(7)]) == "0, 1, 2, 3, 4 and 2 more"
    assert files.MANY and runner._some(["a"]) == "a"


# Where things lie ------------------------------------------------------------------------------------------------


def test_what_rooms_show_holds_no_submission(monkeypatch, tmp_path):
    """Every room shows /usr, and this Python: a clone in /usr/src, or results in .venv, would be read by students."""
    assert sandbox.shows("/usr/src/app") == "/usr" and sandbox.shows(tmp_path) == ""
    assert sandbox.shows(os.path.join(sys.prefix, "marks")) == os.path.realpath(sys.prefix)
