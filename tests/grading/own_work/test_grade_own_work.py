"""Whose work is it? Answers that lean on course_lib's own function for the task, and honest ones that are unusual."""

import itertools

import pytest

from course_tools.grading.intake.assemble import Assembled
from course_tools.grading.paths import BESIDE, LIBRARY
from course_tools.grading.release import make
from course_tools.grading.release.manifest import Chapter, Release, Step
from course_tools.grading.sandbox import not_there, sandbox
from course_tools.grading.sandbox.fork_server import ForkServer
from course_tools.grading.verdict import runner, undecided
from course_tools.grading.verdict.session import names_of
from tests.support.own_work_answers import DISHONEST, HONEST

WHY_NOT = sandbox.available()
needs_rooms = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
ANSWERS = {
    "one-hot": ("data.dataset.one_hot",),
    "softmax": ("serial.losses.softmax",),
    "smoothed-cross-entropy": ("serial.losses.cross_entropy",),
}


def steps(task, chapter):
    name = task.replace("-", "_")
    blank, check = f"def {name}(*_):\n    raise NotImplementedError\n", f"{chapter}.check_{name}"
    yield Step(task, "task", blank, 1, 5, uses=[], answers=ANSWERS[task])
    yield Step(f"{task}-check", "check", f"{check}({name})", of=task, check=check, name=name)


CHAPTER = Chapter(
    "tiny",
    "Tiny",
    "",
    (
        Step("setup", "given", "import numpy as np"),
        *steps("one-hot", "ch00"),
        Step("shown", "given", "from course_lib import data\ndata.one_hot(np.array([1]), 2)"),
        *steps("softmax", "ch01"),
        *steps("smoothed-cross-entropy", "ch01"),
    ),
)


@pytest.fixture(scope="module")
def fork_server():
    with ForkServer() as made:
        yield made


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(undecided, "WAITED", 1e9)
    monkeypatch.setattr(undecided, "PATIENCE", 1)


def graded(fork_server, tmp_path, texts):
    release = Release(tmp_path, "id", 1, {CHAPTER.name: CHAPTER})
    run = runner.Runner(fork_server, release, Assembled(CHAPTER, texts=texts), 30.0)
    try:
        for step in CHAPTER.steps:
            run.step(step)
    finally:
        run.close()
    return run


@needs_rooms
@pytest.mark.parametrize("name", DISHONEST)
def test_nothing_is_paid_for_the_librarys_work(fork_server, tmp_path, name):
    task, text = DISHONEST[name]
    earned = graded(fork_server, tmp_path, {task: text}).tasks[task]
    assert earned.status in ("wrong", "error", "missing") and earned.points == 0, earned


@needs_rooms
@pytest.mark.parametrize("name", HONEST)
def test_nobody_honest_is_hurt(fork_server, tmp_path, name):
    task, text = HONEST[name]
    earned = graded(fork_server, tmp_path, {task: text}).tasks[task]
    assert (earned.status, earned.points) == ("pass", 1), earned


@needs_rooms
def test_the_notes_say_what_an_answer_leans_on(fork_server, tmp_path):
    """By what was called, however it was named; a given cell that shows the library is nobody's fault."""
    texts = dict([DISHONEST["getattr"], HONEST["leans on another task's"]])
    run = graded(fork_server, tmp_path, texts)
    assert "uses course_lib.data.dataset.one_hot" in run.tasks["one-hot"].message
    notes = [line for line in run.problems if "leans" in line]
    assert (
        len(notes) == 1
        and "smoothed-cross-entropy leans on course_lib.serial.losses.softmax" in notes[0]
    )
    assert not any("shown" in line for line in run.problems), run.problems


def test_every_name_of_answers_toml_is_one():
    """A name that the library gives up, or a task that is renamed, must not open a hole in silence."""
    for read in make.exercises(BESIDE):
        answers = make.answers_of(read.chapter)
        assert set(answers) <= {cell.name for cell in read.tasks}, read.chapter
        cells = {cell.name for cell in read.cells if not (cell.task or cell.checks)}
        assert set(make.shown_by(read.chapter)) <= cells, read.chapter
        for name in itertools.chain(*answers.values()):
            file, inner = not_there.split(name)
            text = not_there.texts((name,))[file]
            assert (LIBRARY / file).is_file()
            assert not inner or not_there.SAID in text, name


def test_what_a_room_shows_of_a_module():
    """The functions that are meant have no code; all others, and what makes a class, stay."""
    text = not_there.texts(("measure.skew.BinaryCounts", "serial.losses.softmax"))
    found: dict = {}
    exec(compile(text["serial/losses.py"], "losses", "exec"), found)
    with pytest.raises(RuntimeError, match=r"course_lib.serial.losses.softmax is not there"):
        found["softmax"](1)
    assert found["d_cross_entropy"](None, found["np"].ones((1, 2)), [0]).tolist() == [[1, 1]]
    assert text["measure/skew.py"].count(not_there.SAID) == 7
    with pytest.raises(ValueError, match=r"no\.such"):
        not_there.split("no.such")


def test_what_a_room_says_it_called_is_believed_of_known_names_alone():
    known = ("serial.losses.softmax", "mpi.tree")
    assert names_of(["mpi.tree.tree_reduce", "x", 3, "mpi.trees"], known) == {
        "mpi.tree.tree_reduce"
    }
    assert names_of({"a": 1}, known) == names_of(None, known) == set()
    invented = [
        "mpi.tree.x0123",
        "serial.losses.softmax.0123",
        "mpi.tree.",
        "mpi.tree.tree_reduce.x",
    ]
    assert names_of(invented, known) == set(), "a student's word would be shown"


@needs_rooms
def test_what_an_answer_leans_on_in_a_hidden_run_is_not_shown(fork_server, tmp_path):
    """It could choose whom to call by the inputs; who leans on the library in that run alone is told no names."""
    text = (
        "CALLS = []\ndef one_hot(y, n):\n    CALLS.append(1)\n    import os, sys\n"
        "    room = sys.modules['course_tools.grading.sandbox.not_there']\n"
        "    room.touched.add('data.dataset.one_hot.' + repr(y))\n    return y"
    )
    run = graded(fork_server, tmp_path, {"one-hot": text})
    assert "one_hot." not in run.tasks["one-hot"].message and run.tasks["one-hot"].points == 0
