"""Chapter 05: answers that nobody planted are judged right, and the wrong ones told what their entry asks for."""

import pytest
from unplanted import answers, assert_as_told


@answers("05", [0])
def test_answer(answer):
    assert_as_told(answer)


@pytest.mark.slow
@answers("05", [1])
def test_more_answers(answer):
    assert_as_told(answer)
