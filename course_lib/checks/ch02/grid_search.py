"""The best learning rate by validation accuracy, from training runs that are only pretended."""

from types import SimpleNamespace

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check


class _Diary:
    """Training runs that are only pretended, and a note of each question asked about them."""

    SETS = ("train", "validation", "test")

    def __init__(self, rng, scores):
        """scores: {eta: (train, validation, test accuracy)}."""
        self.scores, self.asked, self.trained = scores, [], []
        N = [int(n) for n in rng.permutation(np.arange(5, 12))[:3]]
        X = [np.full((n, 2), i, dtype=np.float32) for i, n in enumerate(N)]
        y = [np.full(n, i, dtype=np.int64) for i, n in enumerate(N)]
        self.data = SimpleNamespace(
            x_train=X[0], x_val=X[1], x_test=X[2], y_train=y[0], y_val=y[1], y_test=y[2]
        )

    def train(self, eta):
        """Stands for a training run; its "params" are a name for the run."""
        self.trained.append(eta)
        return f"net trained with eta {eta}", eta

    def accuracy(self, params, X, y):
        """The score of that run on the set that X and y come from."""
        require(
            isinstance(params, tuple) and len(params) == 2,
            "accuracy was called with something other than the params of a run",
            got=params if params is not None else "None",
            cause=self._cause_of_none(),
        )
        require(
            int(X[0, 0]) == int(y[0]),
            "images of one set were scored with the labels of another set",
        )
        self.asked.append((params[1], self.SETS[int(X[0, 0])]))
        return self.scores[params[1]][int(X[0, 0])]

    def _cause_of_none(self):
        tried, of = len(self.trained), len(self.scores)
        if tried < of:
            return f"it stops early: {tried} of {of} learning rates were tried; a NaN is not a reason to stop"
        return "no run was chosen: an accuracy may be small, or 0, so start from -inf"

    def times_tested(self):
        return sum(which == "test" for _, which in self.asked)


def _scores(rng, etas, nan_at, scale):
    """Train, validation and test accuracy for each eta, each set with its own favourite; run nan_at has diverged."""
    table = rng.uniform(0.6, 0.85, size=(len(etas), 3))
    *favourites, worst = rng.permutation(len(etas) - 1)[:4]
    for which, row in enumerate(favourites):
        table[row, which] = rng.uniform(0.9, 0.99)
    table[worst, 1] = rng.uniform(0.4, 0.5)
    table *= scale
    table[-1] = np.nan
    order = list(rng.permutation(len(etas) - 1))
    if (
        nan_at and order[0] == favourites[1]
    ):  # the winner is never the first: that one may win by the start value
        order = order[::-1]
    order.insert(nan_at, len(etas) - 1)
    return {eta: tuple(table[i]) for eta, i in zip(etas, order, strict=True)}


def _poor(etas):
    """All runs have diverged but one in the middle, and that one knows nothing."""
    table = dict.fromkeys(etas, (np.nan,) * 3)
    table[etas[2]] = (0.02, 0.0, 0.04)
    return table


def _winner(scores, which, pick=max):
    right = {eta: row[which] for eta, row in scores.items() if row[which] == row[which]}
    return pick(right, key=right.__getitem__)


def _cause_of_eta(got, scores):
    values = [row[1] for row in scores.values()]
    if got in scores and scores[got][1] != scores[got][1]:
        return (
            "NaN was chosen as the best: comparisons with NaN are False, and np.argmax returns the position "
            "of a NaN: exclude such runs with np.isfinite"
        )
    if got not in scores:
        close = [v for v in values if v == got]
        return "this is an accuracy, not an eta" if close else "the eta must be one of etas"
    for which, text in (
        (0, "chosen by the TRAINING accuracy: that rewards memorising"),
        (2, "chosen by the TEST accuracy: then the test set is no longer a test"),
    ):
        if got == _winner(scores, which):
            return text
    return "the worst validation accuracy, not the best" if got == _winner(scores, 1, min) else None


@function_check("grid_search")
def check_grid_search(fn, *, rng):
    """Best eta by validation accuracy, NaN runs left out, the test set asked once, for the winner only."""
    # where the diverged run lies decides how a comparison with NaN goes wrong; poor grids find a start value above 0
    for nan_at, scale in (
        (0, 1.0),
        (5, 1.0),
        (int(rng.integers(1, 5)), 1.0),
        (4, 0.055),
        (0, 0.055),
        (3, 1.0),
        (0, 0),
    ):
        etas = [float(eta) for eta in np.round(10.0 ** rng.permutation(np.linspace(-3, 2, 6)), 4)]
        diary = _Diary(rng, _scores(rng, etas, nan_at, scale) if scale else _poor(etas))
        given = fn(etas, diary.train, diary.accuracy, diary.data)
        require(
            given is not None,
            "grid_search returned None",
            cause="end with `return best_eta, test_accuracy`",
        )
        pair = isinstance(given, (tuple, list)) and len(given) == 2
        require(pair, "the result must be the pair (best_eta, test_accuracy)", got=given)
        numbers = all(np.ndim(part) == 0 for part in given)
        require(numbers, "best_eta and test_accuracy must be one number each", got=given)
        tried = len(set(diary.trained))
        require(
            tried == len(etas),
            f"{tried} of {len(etas)} learning rates were tried",
            cause=f"it stops early: it tried {tried} of {len(etas)}; is a return or break inside the loop?",
        )
        _check_choice(given, diary)
        times = len(diary.trained)
        require(
            times == tried,
            f"train was called {times} times for {tried} learning rates",
            cause="one of them is trained twice: keep the params of each run, or of the best, and test those",
        )
    return "7 grids with a diverged run in each; the test set was used once, at the end"


_OTHER_NET = "this is the test accuracy of another run: keep the winner's params beside its eta"


def _check_choice(given, diary):
    got, accuracy = (np.asarray(part).item() for part in given)
    best = _winner(diary.scores, 1)
    swapped = got == diary.scores[best][2] and accuracy == best
    require(
        not swapped,
        "the two are in the wrong order",
        cause="return best_eta first, the test accuracy second",
    )
    require(
        got == best,
        "this is not the learning rate with the best validation accuracy",
        got=f"eta = {got}",
        wanted=f"eta = {best}",
        cause=_cause_of_eta(got, diary.scores),
    )
    wanted = diary.scores[best][2]
    too_good = "this is its validation accuracy: as the largest of many, it is too optimistic"
    others = [row[2] for row in diary.scores.values()]
    cause = (
        too_good
        if accuracy == diary.scores[best][1]
        else _OTHER_NET
        if any(np.array_equal(accuracy, other, equal_nan=True) for other in others)
        else None
    )
    require(
        accuracy == wanted,
        "the second part must be the winner's test accuracy",
        accuracy,
        wanted,
        cause=cause,
    )
    times = diary.times_tested()
    require(
        times == 1,
        f"the test set was used {times} times: use it once",
        cause=(
            "only the winner may see the test set, after the choice: a test score computed for every "
            "eta ends up influencing the choice"
        ),
    )
