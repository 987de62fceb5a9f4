"""Whose is it? Names inside of what a student handed in decide nothing; no file makes the grader slow or silent."""

import io
import json
import os
import random
import zipfile

import pytest

from course_lib.errors import BadInput
from course_tools.grading.intake import files, handed_in, notebook
from course_tools.grading.release import library_use
from course_tools.grading.verdict import results

NOTEBOOK = json.dumps({"nbformat": 4, "cells": []})


def found(top):
    return {
        one.student: (one.id, [file.name for file in one.files]) for one in handed_in.collect(top)
    }


def put(top, *names):
    for name in names:
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(NOTEBOOK)


def pack(file, *names):
    with zipfile.ZipFile(file, "w") as packed:
        for name in names:
            packed.writestr(name, NOTEBOOK)


def test_a_zip_speaks_for_its_student_alone(tmp_path):
    put(tmp_path, "victim_4001_11_00.ipynb")
    pack(
        tmp_path / "mallory_4002_12_hw.zip",
        "victim_4001_99_00.ipynb",
        "Victim_4001_assignsubmission_file_/00.ipynb",
    )
    assert found(tmp_path) == {
        "victim": ("4001", ["00.ipynb"]),
        "mallory": ("4002", ["00.ipynb", "victim_4001_99_00.ipynb"]),
    }


def test_a_students_folder_speaks_for_that_student_alone(tmp_path):
    below = "Eve_4_assignsubmission_file_/Victim_1_assignsubmission_file_/victim_1_2_x.ipynb"
    put(tmp_path, "bob/victim_1_2_00.ipynb", below, "ann/a.ipynb")
    assert found(tmp_path) == {
        "bob": ("", ["victim_1_2_00.ipynb"]),
        "Eve": ("4", ["victim_1_2_x.ipynb"]),
        "ann": ("", ["a.ipynb"]),
    }


def test_a_download_in_a_folder_of_its_own(tmp_path):
    put(tmp_path, "submissions/doe_1_2_00.ipynb", "submissions/roe_LATE_3_4_00-1.ipynb")
    assert found(tmp_path) == {"doe": ("1", ["00.ipynb"]), "roe": ("3", ["00.ipynb"])}


def test_a_chosen_name_is_not_enough_to_be_somebody(tmp_path):
    put(tmp_path, "smithjohn_1_11_00.ipynb", "smithjohn_2_12_00.ipynb", "doe_3_13_00.ipynb")
    assert [(one.student, one.id, len(one.files)) for one in handed_in.collect(tmp_path)] == [
        ("doe", "3", 1),
        ("smithjohn (1)", "1", 1),
        ("smithjohn (2)", "2", 1),
    ]


def test_what_is_no_notebook_by_its_name_gets_a_row_as_well(tmp_path):
    put(tmp_path, "A.IPYNB")
    pack(tmp_path / "B.Zip", "x.Ipynb")
    assert found(tmp_path)["A"] == ("", ["A.IPYNB"]) and found(tmp_path)["B"] == ("", ["x.Ipynb"])


def test_zips_in_the_download_of_a_class_are_read(tmp_path):
    """Canvas packs what students packed; deeper than that, nobody looks."""
    pack(tmp_path / "in.zip", "x.ipynb", "y.ipynb")
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as packed:
        packed.write(tmp_path / "in.zip", "hw.zip")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        packed.write(tmp_path / "in.zip", "carol_1_2_hw.zip")
        packed.write(tmp_path / "twice.zip", "dave_3_4_hw.zip")
    carol, dave = handed_in.collect(tmp_path / "all.zip")
    assert carol.id == "1" and [file.data.decode() for file in carol.files] == [NOTEBOOK] * 2
    assert [file.name for file in carol.files] == ["x.ipynb", "y.ipynb"]
    assert "zip within a zip" in dave.files[0].problem


def test_who_handed_in_no_notebook_has_a_row_that_says_what_there_was(tmp_path):
    put(tmp_path, "ann/x.ipynb", "ann/photo.png", "bob/report.pdf", "bob/02.py", "eve/x.ipynb.txt")
    put(tmp_path, "class list.csv", ".DS_Store", "bob/Thumbs.db")
    said = {
        one.student: [file.problem for file in one.files] for one in handed_in.collect(tmp_path)
    }
    only = "no notebook (.ipynb) was handed in, only "
    assert said == {
        "ann": [""],
        "bob": [only + "'02.py', 'report.pdf'"],
        "eve": [only + "'x.ipynb.txt'"],
    }
    pack(tmp_path / "dan.zip")
    pack(tmp_path / "finn.zip", "notes.txt")
    found = {one.student: one.files[0].problem for one in handed_in.collect(tmp_path)}
    assert found["dan"] == "the zip is empty" and found["finn"] == only + "'notes.txt'"


def test_canvas_says_who_was_late(tmp_path):
    put(tmp_path, "doe_LATE_1_2_00.ipynb", "roe_3_4_00.ipynb")
    assert [one.files[0].late for one in handed_in.collect(tmp_path)] == [True, False]


METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@pytest.mark.parametrize("method", METHODS)
def test_a_damaged_zip_costs_its_student_alone(tmp_path, method):
    """Each of 250 damaged zips: no error, a row for its student, and the neighbour's notebook as it was."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", method) as packed:
        for name in ("a.ipynb", "b.ipynb"):
            packed.writestr(name, NOTEBOOK * 20)
    chance = random.Random(method)
    for number in range(250):
        data = bytearray(whole.getvalue())
        if number % 5 == 4:
            del data[chance.randrange(len(data)) :]
        for _ in range(chance.randrange(1, 4) if data else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        top = tmp_path / str(number)
        put(top, "ann/x.ipynb")
        (top / "zed.zip").write_bytes(data)
        with zipfile.ZipFile(top / "all.zip", "w") as packed:
            packed.writestr("ann_1_2_x.ipynb", NOTEBOOK)
            packed.writestr("zed_3_4_hw.zip", data)
        for place in (top, top / "all.zip"):
            ann, *others = [one for one in handed_in.collect(place) if one.student != "all"]
            assert ann.files[0].data.decode() == NOTEBOOK
            assert [one.student for one in others] == ["zed"]
            assert all(file.data is not None or file.problem for file in others[0].files)


def test_a_class_zip_that_is_none(tmp_path):
    pack(tmp_path / "all.zip", "a.ipynb")
    data = bytearray((tmp_path / "all.zip").read_bytes())
    data[data.index(b"PK\x01\x02")] = 0
    (tmp_path / "all.zip").write_bytes(data)
    with pytest.raises(BadInput, match="zip that cannot be read"):
        handed_in.collect(tmp_path / "all.zip")


def test_a_million_cells(tmp_path):
    cells = [{"id": str(n), "cell_type": "code", "source": ""} for n in range(100_000)]
    cells += [{"cell_type": "<b>x</b>", "source": "x"}, 7]
    given = {"nbformat": 4, "cells": cells[-2:] + cells}
    read = notebook.read(files.File("x", json.dumps(given).encode()))
    assert len(read.cells) < 1001 and len(read.problems) == 2 and len(str(read.problems)) < 300
    assert read.cells[0][1] == "foreign"


def test_no_zip_holds_more_than_can_be_looked_at(tmp_path):
    pack(tmp_path / "a.zip", *(f"{n}.ipynb" for n in range(files.MANY + 50)))
    pack(tmp_path / "b.zip", *(f"{n}.ipynb" for n in range(files.ENTRIES + 1)))
    a, b = handed_in.collect(tmp_path)
    assert len(a.files) == files.MANY + 1 and "left out" in a.files[-1].problem
    assert len(b.files) == 1 and "files" in b.files[0].problem


@pytest.mark.parametrize("name", ["manual", "Manual", "m_ller-0cc0bc2f", "m-00000000"])
def test_no_name_takes_the_file_of_another(tmp_path, name):
    """manual.json holds the points by hand; a name that needs no mark of its own must not look like one that has it."""
    file = results.file_of(tmp_path, name)
    assert file.stem != name and file.stem.lower() not in (
        "manual",
        results.file_of(tmp_path, "müller").stem,
    )


TEXTS = {
    "empty lines": ("\n", 90_000),
    "spaces": ("\n \t", 30_000),
    "short lines": ("x=1\n", 20_000),
    "deep": ("(", 90_000),
    "magic": ("%\n", 45_000),
    "too long": ("x=1\n", 1_000_000),
}


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_of_an_answer_holds_up_the_grader(name):
    """It is parsed where nothing limits the time: a pattern with two ways to match, or a long text, takes hours."""
    text, times = TEXTS[name]
    given = {"nbformat": 4, "cells": [{"id": "a", "cell_type": "code", "source": text * times}]}
    began = os.times().user
    read = notebook.read(files.File("x", json.dumps(given).encode()))
    for _, _, source in read.cells:
        library_use.names_in(source)
    assert os.times().user - began < 8 and ("longer" in str(read.problems)) == (name == "too long")


def test_names_in_zips_stay_below(tmp_path):
    pack(tmp_path / "a.zip", "../../x.ipynb", "/etc/y.ipynb", "..\\z.ipynb")
    (one,) = handed_in.collect(tmp_path)
    assert [(file.data, "leaves" in file.problem) for file in one.files] == [(None, True)] * 3


def test_a_name_without_end_is_shortened(tmp_path):
    """Names in a zip may have 65,535 bytes; a note that lists five of them is still one that somebody reads."""
    long = "n" * 30_000
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        for name in (f"x/{long}.ipynb", f"../{long}.ipynb", f"{long}.pdf"):
            packed.writestr(name, "{}")
    (one,) = handed_in.collect(tmp_path)
    assert one.student == "a" and len(one.files) == 2
    assert all(len(file.name) < 256 and file.name.endswith("nn.ipynb") for file in one.files)
