"""What wrong elements have in common: the sentence claims no more than they show."""

import numpy as np
import pytest

from course_lib.checks.kit.kernels.check import Launch, x_across
from course_lib.checks.kit.kernels.pattern import pattern


@pytest.mark.parametrize(
    ("blocks", "wrong", "words"),
    [
        (2, [1], "the last: the ragged edge, or does the index not use blockIdx.x correctly?"),
        (3, [2], "exactly the elements with the last blockIdx.x (2): the ragged edge"),
        (3, [1, 2], "everything is right only where blockIdx.x is 0"),
    ],
)
def test_the_last_of_two_blocks_may_be_the_ragged_edge(blocks, wrong, words):
    y = np.zeros(64 * blocks - 10, np.float32)
    launch = Launch(blocks, 64, {"y": y}, out=("y",), owner=x_across)
    mask = np.isin(np.arange(y.size) // 64, wrong)
    assert words in pattern(mask, launch)
