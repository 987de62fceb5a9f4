"""Whose is it? Names inside of what a student handed in decide nothing; no file makes the grader slow or silent."""

import json
import os
import zipfile

import pytest

from course_tools.grading.intake import handed_in
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
    pack(tmp_path / "in.zip", "x.ipynb")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        packed.write(tmp_path / "in.zip", "carol_1_2_hw.zip")
    assert found(tmp_path)["A"] == ("", ["A.IPYNB"]) and found(tmp_path)["B"] == ("", ["x.Ipynb"])
    (carol,) = handed_in.collect(tmp_path / "all.zip")
    assert carol.id == "1" and "zip within a zip" in carol.files[0].problem


def test_no_zip_holds_more_than_can_be_looked_at(tmp_path):
    pack(tmp_path / "a.zip", *(f"{n}.ipynb" for n in range(handed_in.MANY + 50)))
    pack(tmp_path / "b.zip", *(f"{n}.ipynb" for n in range(handed_in.ENTRIES + 1)))
    a, b = handed_in.collect(tmp_path)
    assert len(a.files) == handed_in.MANY + 1 and "left out" in a.files[-1].problem
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
    read = handed_in.read(handed_in.File("x", json.dumps(given).encode()))
    for _, _, source in read.cells:
        library_use.names_in(source)
    assert os.times().user - began < 8 and ("longer" in str(read.problems)) == (name == "too long")


def test_names_in_zips_stay_below(tmp_path):
    pack(tmp_path / "a.zip", "../../x.ipynb", "/etc/y.ipynb", "..\\z.ipynb")
    (one,) = handed_in.collect(tmp_path)
    assert [(file.data, "leaves" in file.problem) for file in one.files] == [(None, True)] * 3
