"""The planted wrong answers of a chapter's exercise: a file for each chapter, so that they run side by side."""

import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course_tools.build import mutants, source

ROOT = Path(__file__).parents[2]
NO_NETWORK = str(ROOT / "tests" / "no_network")


@functools.cache
def exercise(chapter):
    """The exercise of a chapter, such as "05"."""
    (path,) = [p for p in source.find(ROOT, [chapter]) if p.stem == "exercise"]
    return source.read(path)


@functools.cache
def verdicts(chapter):
    """Two kernels at once for the whole chapter, each for every second task: many a wrong answer just waits, until its
    check gives it up. The first test of a chapter takes the time of all; each looks at one answer."""
    read = exercise(chapter)
    names = [cell.name for cell in read.tasks]
    shares = [share for share in (names[::2], names[1::2]) if share]
    with ThreadPoolExecutor(len(shares)) as pool:
        found = pool.map(
            lambda share: mutants.run(read, ROOT, first=[NO_NETWORK], only=share), shares
        )
        return {(v.task, v.answer): v for verdicts in found for v in verdicts}


def answers(chapter):
    """Parametrises a test with `task` and `answer`: of each task the blank, each wrong answer, and the solution."""
    try:
        found = mutants.answers(exercise(chapter))
    except source.SourceError:
        found = [
            ("the source", "is right")
        ]  # the test reads it again, and fails with what is wrong
    return pytest.mark.parametrize("task, answer", found, ids=map("-".join, found))


def assert_as_meant(chapter, task, answer):
    """The blank and a wrong answer fail with the message meant for them, the solution passes."""
    exercise(chapter)  # raises here where the source is wrong
    verdict = verdicts(chapter)[task, answer]
    assert verdict.ok, f"expected {verdict.expect or 'a pass'!r}, got: {verdict.message}"
