"""Every exercise: the blank and each planted wrong answer fail with the message meant for them, the solution passes."""

import functools
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course_tools.build import mutants, source

ROOT = Path(__file__).parents[2]
NO_NETWORK = str(ROOT / "tests" / "no_network")


@functools.cache
def exercise(path):
    return source.read(path)


@functools.cache
def verdicts(path):
    """Two kernels at once for the whole chapter, each for every second task: many a wrong answer just waits, until its
    check gives it up. The first test of a chapter takes the time of all; each looks at one answer."""
    names = [cell.name for cell in exercise(path).tasks]
    shares = [share for share in (names[::2], names[1::2]) if share]
    with ThreadPoolExecutor(len(shares)) as pool:
        found = pool.map(
            lambda share: mutants.run(exercise(path), ROOT, first=[NO_NETWORK], only=share), shares
        )
        return {(v.task, v.answer): v for verdicts in found for v in verdicts}


def cases():
    for path in source.find(ROOT):
        if path.stem == "exercise":
            try:
                found = mutants.answers(exercise(path))
            except source.SourceError:
                found = [("the source", "is right")]
            yield from (
                pytest.param(path, *pair, id=f"{path.parent.name[:2]}-{'-'.join(pair)}")
                for pair in found
            )


@pytest.mark.parametrize("path, task, answer", list(cases()))
def test_answer(path, task, answer):
    exercise(path)  # raises here where the source is wrong
    verdict = verdicts(path)[task, answer]
    assert verdict.ok, f"expected {verdict.expect or 'a pass'!r}, got: {verdict.message}"
