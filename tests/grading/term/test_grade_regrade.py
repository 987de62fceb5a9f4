"""Regrades: what is named is graded anew, all else is kept, and a table says what changed."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.__main__ import main
from course_tools.grading.marks import tables
from course_tools.grading.regrade import keep, requests
from course_tools.grading.release import manifest
from course_tools.grading.sandbox import sandbox
from course_tools.grading.verdict import results

ROOT = Path(__file__).resolve().parents[3]
ZERO = "00-start-here"
WHY_NOT = sandbox.available()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
STRICT = "def check_one_hot(one_hot):\n    assert one_hot.__name__ == 'no such name'\n"
MENDED = "import numpy as np\n\ndef check_one_hot(one_hot):\n    assert one_hot(np.array([1]), 3).sum() == 1\n"


def chapters():
    steps = tuple(manifest.Step(name, "task", "") for name in ("affine", "one-hot"))
    more = (manifest.Step("one-hot", "task", ""), manifest.Step("neuron", "task", ""))
    return {
        ZERO: manifest.Chapter(ZERO, "", "", steps),
        "01-more": manifest.Chapter("01-more", "", "", more),
    }


def result(points, status="pass", student="doe", chapter=ZERO):
    tasks = [results.Task(name, status, points, 2) for name in ("affine", "one-hot")]
    return results.Result(student, "7", chapter, "a", "d", "r", "0", 1, "sandbox", tasks)


def written(file, *rows):
    tables.write(file, tables.Table([list(row) for row in rows]))
    return file


# What is asked for ---------------------------------------------------------------------------------------------------


def test_a_task_or_a_file(tmp_path):
    assert requests.read(None, chapters()) == []
    assert requests.read("affine", chapters()) == [requests.Request("", ZERO, "affine")]
    assert requests.read("1:one-hot", chapters()) == [requests.Request("", "01-more", "one-hot")]
    rows = ("Student", "Chapter", "Reason"), ("doe", "0", "the shape was right")
    (one,) = requests.read(written(tmp_path / "r.csv", *rows), chapters())
    assert one == requests.Request("doe", ZERO, "", "the shape was right")
    assert (
        one.fits("doe", "", ZERO) and one.fits("x", "doe", ZERO) and not one.fits("roe", "", ZERO)
    )


@pytest.mark.parametrize(
    "given, says", [("one-hot", "more than one"), ("one_hot", "no chapter has")]
)
def test_a_task_that_is_none_or_two(given, says):
    with pytest.raises(BadInput, match=says):
        requests.read(given, chapters())


@pytest.mark.parametrize(
    "rows, says",
    [
        ([("Who", "Chapter")], "must name Student"),
        ([("Student", "Chapter"), ("", "0")], "Student is empty"),
        ([("Student", "Chapter"), ("doe", "9")], "no chapter '9'"),
        ([("Student", "Chapter", "Task"), ("doe", "0", "neuron")], "no task 'neuron'"),
    ],
)
def test_wrong_requests_are_refused(tmp_path, rows, says):
    with pytest.raises(BadInput) as error:
        requests.read(written(tmp_path / "r.csv", *rows), chapters())
    assert says in str(error.value)


# What is kept --------------------------------------------------------------------------------------------------------


def test_only_what_is_named_changes():
    made = keep.merge(result(2), result(0, "wrong"), {"one-hot"})
    assert [task.points for task in made.tasks] == [2, 0]
    assert made.problems == ["graded anew: one-hot; what else there is stands as before"]
    assert [task.points for task in keep.merge(result(2), result(0, "wrong"), {""}).tasks] == [0, 0]


def test_what_could_not_be_decided_now_stands():
    made = keep.merge(result(2), result(0, "not-run-here"), {""})
    assert [task.points for task in made.tasks] == [2, 2]
    assert made.problems == ["could not be graded anew, stands as before: affine, one-hot"]


def test_a_stopped_regrade_keeps_what_was_first(tmp_path):
    """Killed after the new result was written, and begun again: the old one is still the first."""
    results.save(tmp_path, [result(1, "wrong")])
    keep.remember(tmp_path, "doe")
    results.save(tmp_path, [result(2)])
    keep.remember(tmp_path, "doe")
    asked = [requests.Request("doe", ZERO, "affine", "why"), requests.Request("roe", ZERO, "")]
    rows, said = keep.finish(tmp_path, asked)
    assert rows == [["doe", "7", ZERO, "affine", 1, 2, 1, "wrong", "pass", "why"]]
    assert (
        "'roe'" in said[0] and said[1] == "regrade.csv: 1 tasks graded anew, 1 changed their points"
    )
    (now,) = results.load(results.file_of(tmp_path, "doe"))
    assert [task.points for task in now.tasks] == [2, 1] and not keep.waiting(tmp_path)


# The command ---------------------------------------------------------------------------------------------------------


def graded(place, release, *words):
    call = ["grade", place / "in", "--release", place / release, "--out", place / "marks"]
    return main([*map(str, call), "--untested", "--workers", "2", *map(str, words)])


def points(place):
    found = [one for file in place.glob("marks/*.json") for one in results.load(file)]
    return {one.student: [task.points for task in one.tasks] for one in found}


def seeds(place):
    found = [one for file in place.glob("marks/*.json") for one in results.load(file)]
    return {one.student: one.seed for one in found}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Two submissions, graded with an instructor's check that is too strict, and a release with the mended one."""
    made = tmp_path_factory.mktemp("regrade")
    script = ROOT / "examples" / "make_thirty.py"
    subprocess.run([sys.executable, script, made / "t"], check=True, capture_output=True, cwd=ROOT)
    (made / "in").mkdir()
    for name in ("bauerjürgen", "larsenmette"):
        (file,) = (made / "t" / "submissions").glob(f"{name}_*")
        file.rename(made / "in" / file.name)
    for name, text in (("strict", STRICT), ("mended", MENDED)):
        (made / name).mkdir()
        (made / name / f"{ZERO}.py").write_text(text)
        words = ["release", "00", "--quick", "--root", ROOT, "--hidden", made / name]
        assert main([*map(str, words), "--out", str(made / f"r-{name}")]) == 0
    assert graded(made, "r-strict") == 0
    return made


@needs_sandbox
@pytest.mark.slow
def test_a_check_is_mended_in_mid_term(place, capsys):
    assert points(place) == {"bauerjürgen": [1, 0, 2], "larsenmette": [1, 0, 2]}
    assert graded(place, "r-mended", "--regrade", "one-hot") == 0
    assert "regrade.csv: 2 tasks graded anew, 1 changed their points" in capsys.readouterr().err
    assert points(place) == {"bauerjürgen": [1, 1, 2], "larsenmette": [1, 0, 2]}
    with open(place / "marks" / "regrade.csv", encoding="utf-8-sig", newline="") as stream:
        rows = {row["Student"]: row for row in csv.DictReader(stream)}
    assert rows["bauerjürgen"]["Change"] == "1" and rows["larsenmette"]["Change"] == "0"
    notes = (place / "marks" / "gradebook.csv").read_text(encoding="utf-8-sig")
    assert "graded anew: one-hot; what else there is stands as before" in notes


@needs_sandbox
def test_a_request_is_one_students(place, capsys):
    before = seeds(place)
    file = written(place / "requests.csv", ("Student", "Chapter"), ("larsenmette", "00"))
    assert graded(place, "r-mended", "--regrade", file) == 0
    said = capsys.readouterr()
    assert "1 graded, 1 unchanged" in said.out and "regrade.csv: 3 tasks graded anew" in said.err
    after = seeds(place)
    assert after["bauerjürgen"] == before["bauerjürgen"]
    assert after["larsenmette"] != before["larsenmette"]


@needs_sandbox
def test_after_a_stopped_regrade_it_is_asked_for_again(place, capsys):
    keep.remember(place / "marks", "larsenmette")
    assert graded(place, "r-mended") == 2
    assert "run it again, to its end, first" in capsys.readouterr().err
    assert graded(place, "r-mended", "--regrade", "affine") == 0
    assert not keep.waiting(place / "marks")
    assert json.loads((place / "marks" / "larsenmette.json").read_text())["chapters"]
