"""What wrong elements have in common: the sentence claims no more than they show."""

import numpy as np
import pytest

from course_lib.checks.kit.compare import Rules
from course_lib.checks.kit.kernels.check import Launch, x_across
from course_lib.checks.kit.kernels.pattern import pattern
from course_lib.checks.kit.kernels.values import Wrong, _misplaced


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


@pytest.mark.parametrize(
    ("turned", "words"),
    [
        (
            False,
            "D[1][j] holds what belongs in D[4][j], D[2][j] holds what belongs in D[8][j], ...: ",
        ),
        (
            True,
            "D[i][1] holds what belongs in D[i][4], D[i][2] holds what belongs in D[i][8], ...: ",
        ),
    ],
)
def test_rows_or_columns_in_the_place_of_others(turned, words):
    want = np.random.default_rng(4).normal(size=(16, 12))
    got = want[np.arange(16).reshape(4, 4).T.ravel()]
    want, got = (want.T, got.T) if turned else (want, got)
    bad = Wrong(
        "values", "D", "", got != want, got, want, Rules(4, 4, "float64", None).tolerance(want)
    )
    bad.silent = np.zeros(got.shape, bool)
    assert words in _misplaced(bad)
    bad.got = np.random.default_rng(5).permutation(want.ravel()).reshape(want.shape)
    bad.mask = bad.got != want
    assert _misplaced(bad).endswith("check the index of the store or of the load, and its stride")
