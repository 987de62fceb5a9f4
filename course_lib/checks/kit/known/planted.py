"""The planted wrong answers of a task as code to run: each is written once, in the exercise.

`course build` writes them to `chNN/planted.json`: the cells of an exercise in order, of which tasks have the solution
and, where an author has said what the mistake is (`says:`), the planted answers.
"""

import contextlib
import functools
import io
import json
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

CHECKS = Path(__file__).parents[2]
SOURCE = "__source__"  # the global name that tells known answers apart


@dataclass(frozen=True)
class Task:
    """A task as the build wrote it. id: its cell; check: the function that checks the variable `name`; planted: pairs
    (what the mistake is, the cell's source with it); cells: the sources of what runs before.
    """

    id: str
    check: str
    name: str
    solution: str
    planted: tuple
    cells: tuple

    def value_of(self, source):
        """What the variable holds when `source` stands in the task's cell, all earlier tasks being right."""
        space = {**_space(self.cells), SOURCE: (self.cells, source)}
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(_code(source, self.name), space)
        return space[self.name]


def source_of(value):
    """What tells the source of a known answer, a function, from others; None for any other value."""
    return getattr(value, "__globals__", {}).get(SOURCE)


@functools.lru_cache(maxsize=1024)  # each is tried against many answers
def _code(source, name):
    return compile(source, f"<a known answer to {name}>", "exec")


def task_of(module, name):
    """The `Task` whose answer is the variable `name`, of the chapter that `module` belongs to; None: there is none.

    None too where COURSE_CAUSES is 0: the grader looks for no cause where nobody will read it.
    """
    if os.environ.get("COURSE_CAUSES") == "0":
        return None
    parts = module.split(".")
    chapter = next((part for part in parts if part[:2] == "ch" and part[2:].isdigit()), None)
    return _tasks(chapter).get(name) if chapter else None


def task_named(chapter, cell):
    """The `Task` of a chapter, "ch01", whose cell has this id; None: there is none."""
    return next((task for task in _tasks(chapter).values() if task.id == cell), None)


def take(chapter, cells):
    """Use these cells (as in planted.json) for a chapter: of a source that is tried before it is built."""
    _taken[chapter] = cells
    _tasks.cache_clear()


_taken: dict = {}


def _cells(chapter):
    file = CHECKS / chapter / "planted.json"
    known = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    return _taken.get(chapter, known)


@functools.lru_cache(maxsize=32)
def _tasks(chapter):
    found: dict = {}
    before: list = []
    for cell in _cells(chapter):
        if name := cell.get("name"):
            planted = tuple((entry["says"], entry["source"]) for entry in cell["planted"])
            place = cell["task"], cell["check"], name
            found[name] = Task(*place, cell["source"], planted, tuple(before))
        before.append(cell["source"])
    return found


@functools.lru_cache(maxsize=64)
def _space(cells):
    """The names that the cells leave behind. They hold imports, definitions and constants alone."""
    space: dict = {"__name__": "known_answers"}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for source in cells:
            exec(compile(source, "<cells before a task>", "exec"), space)
    return space
