"""Chapter 01: answers that nobody planted are judged right, and the wrong ones told what their entry asks for."""

import pytest
from unplanted import answers, assert_as_told


@answers("01", sample=True)
def test_answer(answer):
    assert_as_told(answer)


@pytest.mark.slow
@answers("01", sample=False)
def test_answer_of_the_rest(answer):
    assert_as_told(answer)
