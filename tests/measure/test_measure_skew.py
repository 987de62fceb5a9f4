"""course_lib.measure.skew: by hand, by scikit-learn, and what must not pass."""

import math

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.measure import binary_counts, majority_counts, precision_recall


def test_counts_by_hand():
    y = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    found = binary_counts(y, np.array([1, 1, 0, 1, 0, 0, 0, 0]))
    assert (found.tp, found.fp, found.fn, found.tn, found.n) == (2, 1, 1, 4, 8)
    assert found.accuracy == 6 / 8 and found.recall == found.precision == found.f1 == 2 / 3
    assert found.specificity == 4 / 5 and found.balanced_accuracy == (2 / 3 + 4 / 5) / 2
    assert "recall 0.6667" in str(found) and "balanced accuracy 0.7333" in str(found)


def test_a_constant_answer_is_accurate_and_worthless():
    y = np.array([1] * 97 + [0] * 3)
    found = majority_counts(y[:50], y)
    assert found.accuracy == 0.97 and found.balanced_accuracy == 0.5 and found.recall == 1
    nothing = binary_counts(y, np.zeros(100, np.int64))
    assert math.isnan(nothing.precision) and "precision undefined" in str(nothing)
    assert majority_counts(np.array([0, 1]), y).tp == 0, "of equals, class 0"


@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_has_it(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    y = (rng.random(257) < 0.2).astype(np.int64)
    scores = np.round(rng.random(257) + 0.3 * y, 1 + seed % 3)  # with many equal scores
    predicted = (scores > 0.6).astype(np.int64)
    found = binary_counts(y, predicted)
    assert np.isclose(found.balanced_accuracy, metrics.balanced_accuracy_score(y, predicted))
    assert np.isclose(found.f1, metrics.f1_score(y, predicted))
    curve = precision_recall(y, scores)
    precision, recall, thresholds = metrics.precision_recall_curve(y, scores)
    assert np.allclose(curve.thresholds, thresholds[::-1]) and np.allclose(
        curve.precision, precision[-2::-1]
    )
    assert np.allclose(curve.recall, recall[-2::-1])
    assert np.isclose(curve.average_precision, metrics.average_precision_score(y, scores))
    assert np.isclose(curve.chance, y.mean())


def test_scores_that_say_nothing_have_the_precision_of_chance():
    y = np.array([1, 0, 0, 0])
    curve = precision_recall(y, np.ones(4))
    assert len(curve.thresholds) == 1 and curve.average_precision == curve.chance == 0.25
    assert precision_recall(y, -np.arange(4.0)).average_precision == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: binary_counts(np.array([0, 2]), np.array([0, 1])),
        lambda: binary_counts(np.array([0.0, 1.0]), np.array([0, 1])),
        lambda: binary_counts(np.array([], np.int64), np.array([], np.int64)),
        lambda: binary_counts(np.array([0, 1]), np.array([0, 1, 1])),
        lambda: precision_recall(np.array([0, 1]), np.array([0.1, np.nan])),
        lambda: precision_recall(np.array([0, 0]), np.array([0.1, 0.2])),
        lambda: precision_recall(np.array([0, 1]), np.array([0.1])),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(BadInput):
        call()


def test_outputs_are_what_predict_looks_at():
    net = serial.Network((3, 4, 1))
    params, X = (
        net.init_params(0),
        np.random.default_rng(0).standard_normal((2345, 3), dtype=np.float32),
    )
    found = serial.outputs(net, params, X)
    assert found.shape == (2345, 1) and found.dtype == np.float32
    assert np.allclose(found, serial.forward(params, X, net).A[-1])
    assert np.array_equal(serial.predict(net, params, X), found[:, 0] > 0.5)
