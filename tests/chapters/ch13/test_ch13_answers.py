"""Chapter 13: answers that nobody planted are judged right, and the wrong ones told their cause."""

import pytest
from unplanted import answers, assert_as_told


@answers("13", [0])
def test_answer(answer):
    assert_as_told(answer)


@pytest.mark.slow
@answers("13", [1])
def test_more_answers(answer):
    assert_as_told(answer)
