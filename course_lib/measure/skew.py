"""How good is a classifier of two classes where one class is rare? Accuracy alone does not tell."""

import math
from dataclasses import dataclass

import numpy as np

from course_lib.errors import BadInput, check_array


@dataclass(frozen=True)
class BinaryCounts:
    """Of N examples: class 1 found (tp) and missed (fn), class 0 taken for 1 (fp) and left alone (tn).

    A quotient with nothing below its line is NaN: of a set without class 1 there is no recall to tell.
    """

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def n(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def accuracy(self) -> float:
        """The share that is right."""
        return _share(self.tp + self.tn, self.n)

    @property
    def recall(self) -> float:
        """The share of class 1 that was found."""
        return _share(self.tp, self.tp + self.fn)

    @property
    def precision(self) -> float:
        """The share of what was called 1 that is 1."""
        return _share(self.tp, self.tp + self.fp)

    @property
    def specificity(self) -> float:
        """The share of class 0 that was left alone: the recall of class 0."""
        return _share(self.tn, self.tn + self.fp)

    @property
    def balanced_accuracy(self) -> float:
        """The mean of both classes' recalls: 1/2 for any constant answer, however skewed the set."""
        return (self.recall + self.specificity) / 2

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def __str__(self) -> str:
        names = ("accuracy", "recall", "precision", "specificity", "balanced_accuracy", "f1")
        shown = {name.replace("_", " "): _shown(getattr(self, name)) for name in names}
        told = ", ".join(f"{name} {value}" for name, value in shown.items())
        return f"{told} (tp {self.tp:,}, fp {self.fp:,}, fn {self.fn:,}, tn {self.tn:,})"


@dataclass(frozen=True, eq=False)
class PrecisionRecall:
    """thresholds (T,), falling; precision and recall (T,) of calling 1 whatever scores that much or more.

    chance: the share of class 1, which is the precision of guessing, whatever the recall.
    """

    thresholds: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    chance: float

    @property
    def average_precision(self) -> float:
        """The precisions, each weighed by the recall that its threshold adds: the area under the steps."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))


def binary_counts(y, predicted) -> BinaryCounts:
    """Count right and wrong answers. y, predicted: (N,) integers, 0 or 1. Raises BadInput for anything else."""
    y, predicted = _labels("y", y), _labels("predicted", predicted)
    if len(y) != len(predicted):
        counts = f"y has {len(y)} labels and predicted {len(predicted)}"
        raise BadInput(f"{counts}: they must be as many")
    tn, fp, fn, tp = (int(n) for n in np.bincount(2 * y + predicted, minlength=4))
    return BinaryCounts(tp, fp, fn, tn)


def majority_counts(y_train, y_test) -> BinaryCounts:
    """The counts of always answering the class that y_train has most of (of equals, 0): what to beat."""
    y_train, y_test = _labels("y_train", y_train), _labels("y_test", y_test)
    return binary_counts(y_test, np.full(len(y_test), int(2 * y_train.sum() > len(y_train))))


def precision_recall(y, scores) -> PrecisionRecall:
    """Precision and recall at every threshold that tells examples apart; equal scores are never torn apart.

    y: (N,) integers, 0 or 1, at least one 1. scores: (N,) floats, finite, larger for class 1.
    """
    y, scores = _labels("y", y), check_array("scores", scores, ("N",), finite=True)
    if len(y) != len(scores):
        raise BadInput(f"y has {len(y)} labels and scores {len(scores)}: they must be as many")
    if not y.any():
        raise BadInput("y holds no 1: without one there is no recall")
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    # the last of each run of equal scores
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    found = np.cumsum(y[order])[ends]
    return PrecisionRecall(ranked[ends], found / (ends + 1), found / y.sum(), float(y.mean()))


def _labels(name: str, y) -> np.ndarray:
    y = check_array(name, y, ("N",))
    if y.dtype.kind not in "iub" or len(y) == 0 or not ((y == 0) | (y == 1)).all():
        got = f"{y.dtype} of shape {y.shape}"
        raise BadInput(f"{name} must hold labels 0 and 1, one or more, not {got}")
    return y.astype(np.int64)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"
