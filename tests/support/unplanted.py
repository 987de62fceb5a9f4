"""The corpus of answers that nobody planted: a file of tests for each chapter, so that they run side by side."""

import functools
from pathlib import Path
from zlib import crc32

import pytest

from course_tools.bench.checks.answers import read
from course_tools.bench.checks.bench import SEED, SHOWN, kind
from course_tools.bench.checks.trying import tried

ROOT = Path(__file__).parents[2]
SHARE = 16  # one of so many is tried by `start.py test`, one more by `--all`, all of them by `course bench checks`


@functools.cache
def _answers(chapter):
    return read(ROOT, [chapter])


def answers(chapter, samples):
    """Parametrises a test with `answer`: those of a chapter in these samples, of 0 to SHARE - 1."""
    found = [answer for answer in _answers(chapter) if _sample(answer) in samples]
    return pytest.mark.parametrize("answer", found, ids=lambda a: f"{a.task}-{a.name}")


def _sample(answer):
    return crc32(f"{answer.task} {answer.name}".encode()) % SHARE


def assert_as_told(answer):
    """A wrong answer is refused, with the words that its entry asks for; a right one passes."""
    outcome = tried(answer, SEED)
    found = kind(answer, outcome)
    asked = answer.told or found != "none"  # without words to look for, a refusal will do
    assert not (found in SHOWN and asked), f"{found}: {answer.because}\n{outcome.message}"
