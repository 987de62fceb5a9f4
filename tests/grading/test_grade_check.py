"""`python -m course_lib check`: the student's own look at a saved notebook, with the same checks as the grader's."""

import json

import pytest
from test_grade_release import clone

from course_tools.__main__ import main
from course_tools.grading.commands import check
from course_tools.grading.sandbox import sandbox

pytestmark = pytest.mark.skipif(
    bool(WHY := sandbox.available()), reason=f"no sandbox on this system: {WHY}"
)
RIGHT = "def neuron(x, w, b):\n    return 1 / (1 + math.exp(-(float(x @ w) + b)))\n"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A clone with one exercise."""
    return clone(tmp_path_factory.mktemp("check") / "clone")


def saved(root, text=None):
    """The exercise, with the answer."""
    file = root / "exercises" / "mine.ipynb"
    notebook = json.loads((root / "exercises" / "01-tiny.ipynb").read_text())
    for cell in notebook["cells"]:
        if cell["id"] == "neuron" and text is not None:
            cell["source"] = text
    file.write_text(json.dumps(notebook))
    return file


def test_right(root, capsys):
    file = saved(root, RIGHT)
    before = file.read_bytes()
    assert main(["check", str(file), "--root", str(root)]) == 0
    said = capsys.readouterr().out
    assert (
        check.PASSED in said
        and "2 of 2" in said
        and "note" not in said
        and file.read_bytes() == before
    )


def test_not_yet(root, capsys):
    assert main(["check", str(saved(root)), str(saved(root)), "--root", str(root)]) == 1
    said = capsys.readouterr().out
    assert (
        "0 of 1 public checks passed; hidden checks run when you hand in" in said
        and "-- neuron" in said
    )
    assert "note" not in said, "nothing is said of cells that need what is not written yet"


def test_as_json(root, capsys):
    assert (
        main(
            [
                "check",
                str(saved(root, "def neuron(x, w, b): return 0.5")),
                "--json",
                "--root",
                str(root),
            ]
        )
        == 1
    )
    (row,) = json.loads(capsys.readouterr().out)
    (task,) = row["tasks"]
    assert task["status"] == "wrong" and task["message"] and not task["hidden"]


def test_what_is_no_exercise(root, tmp_path, capsys):
    (tmp_path / "x.ipynb").write_text("{")
    (tmp_path / "y.ipynb").write_text('{"cells": [], "nbformat": 4}')
    for name, said in (("x", "not JSON"), ("y", "no exercise"), ("z", "No such file")):
        assert main(["check", str(tmp_path / f"{name}.ipynb"), "--root", str(root)]) == 2
        assert said in capsys.readouterr().err
