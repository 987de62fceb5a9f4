"""Partial credit: asked for, stated in the exercise, judged part by part; never more than the parts that pass."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import BadInput
from course_tools.__main__ import main
from course_tools.grading.commands.gate import Trial
from course_tools.grading.release import make, manifest, partial
from course_tools.grading.sandbox import sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict import results

ROOT = Path(__file__).resolve().parents[3]
ZERO = "00-start-here"
WHY_NOT = sandbox.available()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
OWN = """import numpy as np


def check_one_hot__shape(one_hot):
    assert one_hot(np.array([6, 2]), 7).shape == (2, 7)


def check_one_hot__dtype(one_hot):
    assert one_hot(np.array([6, 2]), 7).dtype == np.float32
"""
PARTS = """[[task]]
chapter = "00"
task = "one-hot"
parts = { "fresh inputs" = 50, shape = 30, dtype = 20 }
"""
LEAVES = "import os\nclass Bad:\n    shape = (2, 7)\n    def __getattr__(self, name):\n        os._exit(0)\n"


def released(place, own=OWN, parts=PARTS, *more):
    """Exit status of `release` with these."""
    (place / "own").mkdir(exist_ok=True)
    (place / "own" / f"{ZERO}.py").write_text(own)
    (place / "partial.toml").write_text(parts)
    words = ["release", "00", "--quick", "--root", ROOT, "--hidden", place / "own"]
    words += ["--partial", place / "partial.toml", "--out", place / "release", *more]
    return main([str(word) for word in words])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = tmp_path_factory.mktemp("partial")
    assert released(made) == 0
    return made


# What is asked for ---------------------------------------------------------------------------------------------------


def test_the_exercise_says_so_above_the_task(place):
    made = json.loads(
        (place / "release" / "exercises" / f"{ZERO}.ipynb").read_text(encoding="utf-8")
    )
    built = json.loads((ROOT / "exercises" / f"{ZERO}.ipynb").read_text(encoding="utf-8"))
    texts = {cell["id"]: "".join(cell["source"]) for cell in made["cells"]}
    changed = [
        cell["id"] for cell in built["cells"] if texts[cell["id"]] != "".join(cell["source"])
    ]
    assert changed == ["one-hot-hints"] and len(texts) == len(built["cells"])
    says = "Partial credit for `one-hot`**: fresh inputs 50 %, dtype 20 %, shape 30 %."
    assert says in texts["one-hot-hints"]


def test_without_it_nothing_is_changed(tmp_path):
    words = ["release", "00", "--quick", "--root", ROOT, "--out", tmp_path / "r"]
    assert main([str(word) for word in words]) == 0
    file = tmp_path / "r" / "exercises" / f"{ZERO}.ipynb"
    assert file.read_bytes() == (ROOT / "exercises" / f"{ZERO}.ipynb").read_bytes()
    assert all(step.parts is None for step in manifest.load(tmp_path / "r").chapters[ZERO].steps)


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("= 20", "= 30", "110 percent together"),
        ('"fresh inputs" = 50, shape', "values = 50, shape", 'parts are "fresh inputs"'),
        ("shape = 30", '"../x" = 30', "letters, digits and hyphens"),
        ("= 20", "= 20.5", "a whole number"),
        ("one-hot", "one-cold", "no task 'one-cold'"),
        ('"00"', '"9"', "no chapter '9'"),
        ("[[task]]", "[task]", "must hold [[task]]"),
        (
            "shape =",
            '"case: no such" =',
            "there is no 'case: no such'; its cases are ['a class that",
        ),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, old, new, says):
    file = tmp_path / "partial.toml"
    file.write_text(PARTS.replace(old, new))
    reads = make.exercises(ROOT, ["00"])
    with pytest.raises(BadInput) as error:
        partial.read(file, {ZERO: make.chapter_of(reads[0])})
    assert says in str(error.value)


@pytest.mark.parametrize(
    "own, says",
    [
        (OWN.replace("__dtype", "__type"), "lacks check_one_hot__dtype"),
        (OWN + "\ndef check_one_hot(a):\n    pass\n", "check_one_hot has no share"),
    ],
)
def test_parts_and_checks_must_fit(tmp_path, capsys, own, says):
    assert released(tmp_path, own) == 2
    assert says in capsys.readouterr().err and not (tmp_path / "release").exists()


# What is earned ------------------------------------------------------------------------------------------------------


def test_points_are_those_of_the_parts_that_pass():
    step = manifest.Step("t", "task", "", 2, parts={"fresh inputs": 50, "a": 30, "b": 20})
    assert partial.earned(step, {"fresh inputs": "pass", "a": "pass", "b": "pass"}) == 2
    assert partial.earned(step, {"fresh inputs": "wrong", "a": "pass", "b": "error"}) == 0.6
    assert partial.earned(step, {}) == 0


@needs_sandbox
def test_students_earn_their_parts(place):
    """The solution, a wrong type, a wrong shape, a blank, and one that ends the process in the second part."""
    script = ROOT / "examples" / "make_thirty.py"
    subprocess.run([sys.executable, script, place / "t"], check=True, capture_output=True, cwd=ROOT)
    names = ("bauerjürgen", "papadopouloseleni", "larsenmette", "rossiluca", "jansenpiet")
    (place / "in").mkdir()
    for name in names:
        (file,) = (place / "t" / "submissions").glob(f"{name}_*")
        file.rename(place / "in" / file.name)
    (bad,) = (place / "in").glob("jansenpiet*")
    made = json.loads(bad.read_text(encoding="utf-8"))
    for cell in made["cells"]:
        if cell["id"] == "one-hot":
            cell["source"] = LEAVES + "def one_hot(y, n_classes):\n    os._exit(0)\n"
    bad.write_text(json.dumps(made), encoding="utf-8")
    words = ["grade", place / "in", "--release", place / "release", "--out", place / "marks"]
    assert main([*map(str, words), "--untested", "--workers", "2"]) == 0
    found = [one for file in place.glob("marks/*.json") for one in results.load(file)]
    tasks = {one.student: next(t for t in one.tasks if t.task == "one-hot") for one in found}
    points = {name: (tasks[name].points, tasks[name].status) for name in names}
    assert points == {
        "bauerjürgen": (1, "pass"),
        "papadopouloseleni": (0.3, "wrong"),
        "larsenmette": (0.2 + 0.3, "wrong"),
        "rossiluca": (0, "missing"),
        "jansenpiet": (0, "crashed"),
    }
    wanted = {"fresh inputs": "wrong", "shape": "pass", "dtype": "wrong"}
    statuses = tasks["papadopouloseleni"].hidden
    assert set(statuses) == set(wanted) and statuses["shape"] == "pass"
    page = next((place / "marks" / "feedback").glob("papadopoulos*")).read_text(encoding="utf-8")
    assert "shape: passed" in page and "0.3 of 1" in page


@needs_sandbox
@pytest.mark.slow
def test_the_gate_tries_the_parts(place, tmp_path):
    """A part that the solution does not pass refuses the release, and so does a blank that earns anything."""
    release = manifest.load(place / "release")
    (read,) = make.exercises(ROOT, ["00"])
    cell = next(one for one in read.tasks if one.name == "one-hot")
    strict = OWN.replace("np.float32", "np.int8")
    for own, wrong in ((OWN, []), (strict, ["the solution earns 0.8 of 1"])):
        given = manifest.Release(tmp_path, "r", 1, release.chapters, {ZERO: own})
        with ForkServer("sandbox") as fork_server:
            trial = Trial(fork_server, given, read, 60.0)
            chapter = release.chapters[ZERO]
            trial._given(chapter.steps[0])
            trial._task(next(step for step in chapter.tasks if step.id == "one-hot"), cell)
            trial.runner.close()
        assert len(trial.wrong) == len(wrong), trial.wrong
        assert all(says in line for says, line in zip(wrong, trial.wrong, strict=True))


# Cases of the course's own check -------------------------------------------------------------------------------------

CASES = """[[task]]
chapter = "00"
task = "one-hot"
parts = { "fresh inputs" = 40, "case: one label" = 25, "case: twelve digits" = 35 }
"""
TEN = "import numpy as np\ndef one_hot(y, n_classes):\n    return np.eye(10, dtype=np.float32)[y]\n"
LONE = "import numpy as np\ndef one_hot(y, n_classes):\n    if len(y) > 1: return y\n"
LONE += "    return np.eye(n_classes, dtype=np.float32)[y]\n"
ENDS = "import os\ndef one_hot(y, n_classes):\n    return y if len(y) > 1 else os._exit(0)\n"


def test_a_check_of_one_of_its_cases():
    from course_lib.checks.ch00 import check_one_hot

    (case,) = check_one_hot.only("one label").draw(3)
    whole = {one.label: one for one in check_one_hot.draw(3)}
    assert case.label == "one label" and len(whole) == 3
    (y, classes), (same, number) = case.args, whole[case.label].args
    assert (y == same).all() and classes == number


def test_a_check_without_cases_has_none_to_share(tmp_path):
    (read,) = make.exercises(ROOT, ["03"])
    file = tmp_path / "partial.toml"
    text = CASES.replace('"00"', '"03"').replace("one-hot", "run-pinned")
    file.write_text(text)
    with pytest.raises(BadInput, match="no cases that can have a share"):
        partial.read(file, {read.chapter: make.chapter_of(read)})


@needs_sandbox
def test_students_earn_the_cases_that_are_right(tmp_path):
    """Without a check of the instructor's own: the solution, ten columns always, one label alone, one that ends."""
    (tmp_path / "partial.toml").write_text(CASES)
    words = ["release", "00", "--quick", "--root", ROOT, "--out", tmp_path / "release"]
    assert main([str(word) for word in [*words, "--partial", tmp_path / "partial.toml"]]) == 0
    exercise = tmp_path / "release" / "exercises" / f"{ZERO}.ipynb"
    made = json.loads(exercise.read_text(encoding="utf-8"))
    assert any("case: one label 25 %" in "".join(cell["source"]) for cell in made["cells"])
    (tmp_path / "in").mkdir()
    solution = json.loads((ROOT / "solutions" / f"{ZERO}.ipynb").read_text(encoding="utf-8"))
    right = {cell["id"]: "".join(cell["source"]) for cell in solution["cells"]}["one-hot"]
    answers = {"right": right, "ten": TEN, "lone": LONE, "ends": ENDS, "none": None}
    for name, text in answers.items():
        for cell in made["cells"]:
            if cell["id"] == "one-hot" and text is not None:
                cell["source"] = text
            elif cell["id"] == "one-hot":
                cell["source"] = "def one_hot(y, n_classes):\n    raise NotImplementedError\n"
        (tmp_path / "in" / f"{name}.ipynb").write_text(json.dumps(made), encoding="utf-8")
    words = ["grade", tmp_path / "in", "--release", tmp_path / "release", "--out", tmp_path / "m"]
    assert main([*map(str, words), "--untested", "--workers", "2"]) == 0
    found = {one.student: one for file in tmp_path.glob("m/*.json") for one in results.load(file)}
    tasks = {name: next(t for t in found[name].tasks if t.task == "one-hot") for name in answers}
    points = {name: (task.points, task.status) for name, task in tasks.items()}
    assert points == {
        "right": (1, "pass"),
        "ten": (0.35, "wrong"),
        "lone": (0.25, "wrong"),
        "ends": (0, "crashed"),
        "none": (0, "missing"),
    }
    page = (tmp_path / "m" / "feedback" / "ten.html").read_text(encoding="utf-8")
    assert "case: twelve digits: passed" in page and "0.35 of 1" in page
