"""Predictions: blank when a notebook is opened, answers folded, and a run without a guess goes on."""

import ast
from pathlib import Path

import pytest
from chapter_sources import exercises, lectures
from sample_chapter import LECTURE

from course_tools.build import guesses, notebook
from course_tools.build.source import parse

ASKED = """
## 1. One

**Predict** it.

```{code-cell} ipython3
:name: my-share
my_share = 1 / 2
```

```{code-cell} ipython3
:name: share
print(my_share)
```

**Take away.** One.

+++ {"name": "two-intro"}

## 2. Two

```{code-cell} ipython3
:name: plain
print(1)
```
"""


def lecture(text=ASKED):
    return parse(Path("chapters/01-tiny/lecture.md"), LECTURE + text)


def blanked(source, name="my-guess"):
    text = f"\n```{{code-cell}} ipython3\n:name: {name}\n{source}\n```\n"
    return guesses.blanked(next(cell for cell in lecture(text).cells if cell.name == name))


@pytest.mark.parametrize(
    "source, wanted",
    [
        ("my_guess = 12", "my_guess = ...  # a number"),
        ("my_guess = 12  # bytes", "my_guess = ...  # bytes"),
        ("my_guess = 1 / 4", "my_guess = ...  # such as 1 / 4"),
        ("my_guess = 'up'", "my_guess = ...  # such as 'up'"),
        ("my_a = [True, False]", "my_a = [..., ...]"),
        ("my_a = [1, 2]", "my_a = ...  # such as [1, 2]"),
        ("my_guess = True", "my_guess = ...  # True or False"),
        ("my_a, my_b = 1, (2, 3)", "my_a, my_b = ..., (..., ...)"),
        ("my_a, my_b = (1, 2), 3", "my_a, my_b = (..., ...), ..."),
        ('my_a = {"ä": 1, (2, 3): [4]}', 'my_a = {"ä": ..., (2, 3): ...}'),
        ("n = 3\nmy_a = 4", "n = 3\nmy_a = ...  # a number"),
        ("my_net = Network((3, 4))", "my_net = Network((3, 4))"),
        ("best = 5  # your guess", "best = ...  # your guess"),
    ],
)
def test_a_guess_is_left_to_the_reader(source, wanted):
    assert blanked(source) == wanted


def test_other_cells_keep_their_code():
    assert blanked("my_guess = 12", "numbers") == "my_guess = 12"
    assert blanked(":guess: false\nmy_guess = 12") == "my_guess = 12"


def test_a_long_blank_is_wrapped():
    source = "my_a = {" + ", ".join(f'"a key of some length {n}": {n}' for n in range(8)) + "}"
    made = blanked(source)
    assert max(map(len, made.split("\n"))) <= 88 and len(ast.literal_eval(made[7:])) == 8


def test_outputs_after_a_prediction_come_folded():
    cells = {cell.id: cell for cell in notebook.skeleton(lecture(), "lecture").cells}
    hidden = [
        name
        for name, cell in cells.items()
        if cell.metadata.get("jupyter", {}).get("outputs_hidden")
    ]
    twice = [name for name, cell in cells.items() if cell.metadata.get("collapsed")]
    assert hidden == twice == ["share"], "JupyterLab would add the other, and say: changed"
    marked = [name for name, cell in cells.items() if cell.metadata.get("course", {}).get("guess")]
    assert marked == ["my-share"] and cells["my-share"].source == "my_share = ...  # such as 1 / 2"


def test_every_prediction_of_the_course_opens_without_a_guess():
    asked = 0
    for one in lectures() + exercises():
        for cell in one.cells:
            if not guesses.takes_guess(cell):
                continue
            made, asked = ast.parse(guesses.blanked(cell)), asked + 1
            blank = [
                node
                for node in ast.walk(made)
                if isinstance(node, ast.Constant) and node.value is ...
            ]
            assert blank, (one.chapter, cell.name)
            assert max(map(len, guesses.blanked(cell).split("\n"))) <= 100
    assert asked > 200


def test_a_solution_alone_keeps_the_guess_of_its_author():
    source = next(one for one in exercises() if one.chapter.startswith("10"))
    cells = {kind: notebook.skeleton(source, kind).cells for kind in ("exercise", "solution")}
    texts = {
        kind: next(cell.source for cell in made if cell.id == "my-quickest")
        for kind, made in cells.items()
    }
    assert texts["exercise"].startswith("my_quickest = ...")
    assert texts["solution"].startswith('my_quickest = "MPI')


def test_every_prediction_has_something_folded_after_it():
    for one in lectures():
        hidden = guesses.folded(one.cells)
        code = [cell for cell in one.cells if cell.kind == "code"]
        assert 0 < len(hidden) < len(code), one.chapter
        assert not {cell.name for cell in code if guesses.takes_guess(cell)} & set(hidden)


def test_guesses_are_answered_in_one_form():
    """The result, and then "you said 12": no other words for a guess."""
    code = [cell for one in lectures() + exercises() for cell in one.cells if cell.kind == "code"]
    printed = [cell.source for cell in code if "print(" in cell.source and "my_" in cell.source]
    assert sum("you said" in text for text in printed) > 200
    other = [text for text in printed if "your guess" in text.replace("# your guess", "")]
    assert other == []
