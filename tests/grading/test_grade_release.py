"""`python -m course_lib release`: what is written, what is refused, and that the gate tells right from wrong."""

import json

import pytest
from sample_chapter import HEADER

from course_lib.errors import BadInput
from course_tools.__main__ import main
from course_tools.build import command as build
from course_tools.build import source
from course_tools.grading.release import make, manifest
from course_tools.grading.sandbox import sandbox

WHY_NOT = sandbox.available()
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this system: {WHY_NOT}")
MUTANTS = """\
  - {name: no-bias, body: "return 1 / (1 + math.exp(-float(x @ w)))", expect: "got"}
  - {name: half, body: "return 0.5", expect: "got"}
  - {name: nothing, body: "return None", expect: "None"}
  - {name: raises, body: "raise ValueError('x')", expect: "x"}
  - {name: ends, body: "import os; os._exit(1)", expect: "x"}
"""
TEXT = '''
# Exercise

```{code-cell} ipython3
:name: setup

import math
import numpy as np
from course_lib.checks import ch01
```

Write `neuron`.

```{code-cell} ipython3
---
name: neuron
tags: [task]
points: 2
difficulty: 1
minutes: 3
lines: 1
hints: ["a nudge", "the idea", "nearly the code"]
mutants:
MUTANTS---
def neuron(x, w, b):
    """x, w: float64[n]. Returns a float."""
    ### BEGIN SOLUTION
    return 1 / (1 + math.exp(-(float(x @ w) + b)))
    ### END SOLUTION
```

```{code-cell} ipython3
:name: neuron-check
:tags: [check]
:checks: neuron

ch01.check_neuron(neuron)
```

What it gives.

```{code-cell} ipython3
:name: show

print(neuron(np.ones(2), np.ones(2), 0.0))
```
'''
EXERCISE = HEADER + TEXT.replace("MUTANTS", MUTANTS)


def clone(folder, exercise=EXERCISE):
    """A clone with one exercise, built."""
    path = folder / "chapters" / "01-tiny" / "exercise.md"
    path.parent.mkdir(parents=True)
    path.write_text(exercise, encoding="utf-8")
    options, read = build.Options(folder, quiet=True), source.read(path)
    build._record_ids(read, options)
    assert build._build_one(read, "exercise", options).state == "built"
    return folder


def test_what_is_written(tmp_path):
    root, hidden = clone(tmp_path / "clone"), tmp_path / "own"
    hidden.mkdir()
    (hidden / "01-tiny.py").write_text("def check_neuron(neuron): pass\ndef helper(): pass\n")
    made = make.write(root, tmp_path / "out", ["01"], hidden)
    file = tmp_path / "out" / "exercises" / "01-tiny.ipynb"
    assert file.read_bytes() == (root / "exercises" / "01-tiny.ipynb").read_bytes()
    chapter = made.chapters["01-tiny"]
    assert [step.kind for step in chapter.steps] == [
        "given",
        "task",
        "check",
        "given",
    ] and chapter.points == 2
    assert chapter.source == json.loads(file.read_text())["metadata"]["course"]["source"]
    assert (
        "NotImplementedError" in chapter.tasks[0].text and "SOLUTION" not in chapter.tasks[0].text
    )
    assert "check_neuron" in made.hidden["01-tiny"] and not made.tested
    assert "1 / (1" not in (tmp_path / "out" / "manifest.json").read_text(), (
        "no solution is in a release"
    )
    again = make.write(root, tmp_path / "again", seed=made.seed)
    assert again.id != made.id and manifest.load(tmp_path / "out") == made, (
        "the hidden checks are part of the id"
    )
    assert make.write(root, tmp_path / "third").seed != made.seed


def test_what_is_refused(tmp_path):
    root, out = clone(tmp_path / "clone"), tmp_path / "out"
    hidden = tmp_path / "own"
    hidden.mkdir()
    with pytest.raises(BadInput, match="holds nothing"):
        make.write(root, out, hidden=hidden)
    for name, text, said in (
        ("01-tiny.py", "def check_nobody(x): pass", "no task"),
        ("01-tiny.py", "def", "no Python"),
        ("02-other.py", "", "02-other"),
    ):
        (hidden / name).write_text(text)
        with pytest.raises(BadInput, match=said):
            make.write(root, out, hidden=hidden)
    with pytest.raises(BadInput, match="never overwritten"):
        make.write(root, hidden)
    ids = root / "chapters" / "ids.txt"
    text = ids.read_text()
    for other, said in (
        (text + "01-tiny task old\n", "have disappeared: old"),
        ("", "not recorded"),
    ):
        ids.write_text(other)
        with pytest.raises(BadInput, match=said):
            make.write(root, out)
    ids.write_text(text)
    (root / "exercises" / "01-tiny.ipynb").write_text("{}")
    with pytest.raises(BadInput, match="Build it first"):
        make.write(root, out)
    assert not out.exists() and not [*tmp_path.glob(".out*")]


def test_a_folder_that_is_no_release(tmp_path):
    for text in (
        "",
        "{}",
        "[]",
        '{"schema": 99}',
        '{"schema": 1, "chapters": {"a": {"x": 1}}, "seed": 1}',
    ):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(BadInput, match="release"):
            manifest.load(tmp_path)


@needs_sandbox
def test_the_gate(tmp_path, capsys):
    root = clone(tmp_path / "clone")
    assert main(["release", "01", "--root", str(root), "--out", str(tmp_path / "out")]) == 0
    made = manifest.load(tmp_path / "out")
    said = made.planted["01-tiny"]["neuron"]
    assert (
        made.tested
        and {"no-bias", "half", "nothing", "raises"} <= set(said)
        and said["half"] != said["no-bias"]
    )
    assert "1 chapter, 2 points" in capsys.readouterr().out


@needs_sandbox
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return 0.5", "return 1 / (1 + math.exp(-(float(w @ x) + b)))", "the half earns 2 of 2"),
        (
            "    return 1 / (1 + math.exp(-(float(x @ w) + b)))",
            "    return 0.25",
            "the solution earns 0 of 2",
        ),
        ("print(neuron(", "print(1 / 0, neuron(", "the given cell show ends with error"),
    ],
)
def test_the_gate_refuses(tmp_path, capsys, old, new, said):
    root = clone(tmp_path / "clone", EXERCISE.replace(old, new))
    assert main(["release", "--root", str(root), "--out", str(tmp_path / "out")]) == 1
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main(["release", "--quick", "--root", str(root), "--out", str(tmp_path / "out")]) == 0
    assert not manifest.load(tmp_path / "out").tested and "NOT TESTED" in capsys.readouterr().out


@needs_sandbox
def test_a_hidden_check_that_the_solution_does_not_pass(tmp_path, capsys):
    root, hidden = clone(tmp_path / "clone"), tmp_path / "own"
    hidden.mkdir()
    (hidden / "01-tiny.py").write_text("def check_neuron(neuron):\n    assert False, 'never'\n")
    assert (
        main(
            [
                "release",
                "--root",
                str(root),
                "--out",
                str(tmp_path / "out"),
                "--hidden",
                str(hidden),
            ]
        )
        == 1
    )
    assert "with instructor's it does not" in capsys.readouterr().err
