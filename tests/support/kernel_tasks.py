"""The tasks of an exercise as a student would hand them in; kernels, strings of CUDA C, put to their checks."""

from functools import cache
from pathlib import Path

import chapter_sources
import pytest

from course_lib.checks.kit.core import CheckFailed
from course_tools.build import source

SEED = 20160501
RIGHT_NUMBERS = (
    "the numbers are right, but",
    "is right, but not good yet",
)  # what only the engine can tell
CHAPTERS = Path(__file__).parents[2] / "chapters"


@cache
def tasks(chapter):
    """{name of the task: (its solution region, its mutants)} of a chapter, such as "08-gemm-register-tiled"."""
    read = chapter_sources.read(chapter, "exercise")
    return {cell.name: (source.split(cell.source), cell.task.mutants) for cell in read.tasks}


def solved(chapter):
    """The cell with the imports of an exercise, "04" for instance, and the solutions of all its tasks, as one text."""
    (file,) = CHAPTERS.glob(f"{chapter}-*/exercise.md")
    texts = []
    for cell in source.read(file).cells:
        if "task" in cell.tags:
            region = source.split(cell.source)
            texts.append(region.filled(region.text))
        elif cell.name == "imports":
            texts.append(cell.source)
    return "\n".join(texts)


def kernel_of(cell):
    """The string of CUDA C that a task's cell makes."""
    made = {}
    exec(cell, made)
    return next(value for name, value in made.items() if name.isupper() and isinstance(value, str))


def assert_the_engine_alone_sees_three(chapter, task, check):
    """Of the planted wrong answers, five at least, three or more are refused though their numbers are right.

    That each is refused is for `planted`: here the first three will do, as each is a kernel to compile.
    """
    region, mutants = tasks(chapter)[task]
    assert len(mutants) >= 5
    told: list = []
    for mutant in mutants:
        with pytest.raises(CheckFailed) as failure:
            check(kernel_of(region.filled(mutant.apply(region.text))), seed=SEED)
        told.append(str(failure.value))
        if sum(any(words in text for words in RIGHT_NUMBERS) for text in told) == 3:
            return
    raise AssertionError(told)


def assert_the_solution_passes(chapter, task, check, capsys):
    """With three other seeds."""
    region, _ = tasks(chapter)[task]
    for seed in range(3):
        check(kernel_of(region.filled(region.text)), seed=seed)
    assert capsys.readouterr().out.count("✔") == 3
