"""Chapter 15: answers that nobody planted are judged right, and the wrong ones told their cause."""

import pytest
from unplanted import answers, assert_as_told


@answers("15", [0])
def test_answer(answer):
    assert_as_told(answer)


@pytest.mark.slow
@answers("15", [1])
def test_more_answers(answer):
    assert_as_told(answer)
