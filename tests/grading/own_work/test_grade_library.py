"""An answer that calls the library's function in the place of writing it."""

import os
from types import SimpleNamespace

from course_tools.grading.release.library_use import foreign, names_in
from course_tools.grading.release.manifest import Step

GIVEN = "from course_lib import data, serial\nfrom course_lib.mpi.flat import pack"


def chapter(uses=("serial.sgd_step",)):
    steps = [
        Step("imports", "given", GIVEN),
        Step("affine", "task", "def affine(): ...", uses=uses and list(uses)),
    ]
    return SimpleNamespace(steps=steps, tasks=steps[1:])


def test_names():
    known: dict = {}
    assert names_in(GIVEN, known) == {"mpi.flat.pack"} and known["serial"] == "course_lib.serial"
    assert names_in("f = serial.affine", known) == {"serial.affine"}
    assert names_in("%time serial.affine(1)\nimport course_lib.threads as t; t.shards(2)") == {
        "threads.shards"
    }
    assert names_in("import course_lib\ncourse_lib.serial.affine") == {"serial.affine"}
    assert names_in("from course_lib.serial import *") == {"serial.*"}
    assert (
        names_in("from course_lib.gpu.device import to_device\ndata.load_mnist()", known) == set()
    )
    assert names_in("data.one_hot(y, 3)", known) == {"data.one_hot"}
    assert names_in("def (") == names_in("x = serial.affine") == set()


def test_a_chain_of_thousands_holds_up_nobody():
    """No recursion, and no time that grows with its square."""
    chain = "serial" + ".x" * 2500
    assert names_in(chain, {"serial": "course_lib.serial"}) >= {"serial.x", "serial.x.x"}
    many = "\n".join([chain] * 15)
    began = os.times().user
    assert len(names_in(many, {"serial": "course_lib.serial"})) < 10
    assert os.times().user - began < 8


def test_what_nothing_else_uses():
    def of(text):
        return foreign(chapter(), "affine", {"affine": text})

    assert (
        of("def affine(X, W, b): return serial.affine(X, W, b)")
        == of("affine = serial.affine")
        == ["serial.affine"]
    )
    assert of("def affine(x): return pack(serial.sgd_step(x))") == []
    assert of("from course_lib.serial import *") == ["serial.*"]
    assert foreign(chapter(None), "affine", {"affine": "serial.affine"}) == []


def test_what_a_cell_above_has_taken_in():
    """The import stands in one answer, and another one earns by it."""
    steps = [
        Step("imports", "given", GIVEN),
        Step("one", "task", "", uses=[]),
        Step("affine", "task", "", uses=[]),
    ]
    two = SimpleNamespace(steps=steps, tasks=steps[1:])

    def of(above, text):
        return foreign(two, "affine", {"one": above, "affine": text}, "affine")

    assert of("from course_lib.serial import affine", "pass") == ["serial.affine"]
    assert of("from course_lib.serial import *", "pass") == ["serial.*"]
    assert of("tool = serial.affine", "def affine(*a): return tool(*a)") == ["serial.affine"]
    assert of("import course_lib.serial as s", "affine = s.affine") == ["serial.affine"]
    assert of("from course_lib.serial import affine", "def affine(*a): return a") == []
    assert of("y = serial.affine(1, 2, 3)", "def affine(*a): return a") == []
    assert of("tool = serial.affine\ntool = 3", "affine = tool") == []
