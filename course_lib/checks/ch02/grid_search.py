"""The best learning rate by validation accuracy, from training runs that are only pretended."""

from types import SimpleNamespace

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check

ORDINARY = 0.55  # a grid that is not poor has a better run, and so one above any start value but 1


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
            cause=self._cause_of_params(params, self.SETS[int(X[0, 0])]),
        )
        require(
            int(X[0, 0]) == int(y[0]),
            "images of one set were scored with the labels of another set",
        )
        self.asked.append((params[1], self.SETS[int(X[0, 0])]))
        return self.scores[params[1]][int(X[0, 0])]

    def _cause_of_params(self, params, which):
        """Why accuracy got these in place of the params of a run, with this set."""
        tried, of = len(self.trained), len(self.scores)
        if params is not None:
            return "it takes what train(eta) returned"
        if which != "test":
            return "in the loop no run is chosen yet: score the params that train has just returned"
        if tried < of:
            return f"it stops early: {tried} of {of} learning rates were tried; a NaN is not a reason to stop"
        if max(row[1] for row in self.scores.values() if row[1] == row[1]) > ORDINARY:
            return "no params were kept: keep those of the best run beside its eta, and start from -inf"
        return "no run was chosen: an accuracy may be small, or 0, so start from -inf"


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


def _cause_of_eta(fn, got, scores):
    values = [row[1] for row in scores.values()]
    if got not in scores:
        close = [v for v in values if v == got]
        return "this is an accuracy, not an eta" if close else "the eta must be one of etas"
    if _is_right_of(fn, {eta: tuple(np.nan_to_num(row, nan=-1.0)) for eta, row in scores.items()}):
        return (
            "NaN was chosen as the best: comparisons with NaN are False, and np.argmax returns the position "
            "of a NaN: exclude such runs with np.isfinite"
        )
    if _is_right_of(fn, {eta: tuple(x + 1.0 for x in row) for eta, row in scores.items()}):
        return "no run was better than the value to start from: an accuracy may be small, or 0, so start from -inf"
    for which, pick, text in (
        (0, max, "chosen by the TRAINING accuracy: that rewards memorising"),
        (2, max, "chosen by the TEST accuracy: then the test set is no longer a test"),
        (1, min, "the worst validation accuracy, not the best"),
    ):
        if got == _winner(scores, which, pick) and _chooses(fn, list(scores), which, pick):
            return text
    return None


def _is_right_of(fn, scores, which=1, pick=max):
    """Is the winner by these scores what fn chooses?"""
    diary = _Diary(np.random.default_rng(0), scores)
    try:
        return fn(list(scores), diary.train, diary.accuracy, diary.data)[0] == _winner(
            scores, which, pick
        )
    except Exception:
        return False


def _chooses(fn, etas, which, pick):
    """Does fn choose by this rule in other grids, too, without a diverged run?"""
    rng = np.random.default_rng(1)
    grids = [
        {eta: tuple(rng.uniform(0.3, 0.9, 3)) for eta in rng.permutation(etas).tolist()}
        for _ in range(4)
    ]
    return all(_is_right_of(fn, scores, which, pick) for scores in grids)


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
        _check_tried(etas, diary.trained)
        _check_choice(fn, given, diary)
        _check_once(etas, diary.trained)
    return "7 grids with a diverged run in each; the test set was used once, at the end"


def _check_tried(etas, trained):
    tried = len(set(trained))
    require(
        tried == len(etas),
        f"{tried} of {len(etas)} learning rates were tried",
        cause=f"it stops early: it tried {tried} of {len(etas)}; is a return or break inside the loop?"
        if trained == etas[:tried]
        else "try each of etas, from the first to the last",
    )


def _check_once(etas, trained):
    again = len(trained) - len(etas)
    require(
        not again,
        f"train was called {len(trained)} times for {len(etas)} learning rates",
        cause=f"{'one of them is' if again == 1 else 'several are'} trained twice: keep the params of each run, or of "
        "the best, and test those",
    )


_OTHER_NET = "this is the test accuracy of another run: keep the winner's params beside its eta"


def _check_choice(fn, given, diary):
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
        cause=_cause_of_eta(fn, got, diary.scores),
    )
    wanted = diary.scores[best][2]
    require(
        accuracy == wanted,
        "the second part must be the winner's test accuracy",
        accuracy,
        wanted,
        cause=_cause_of_accuracy(accuracy, best, diary.scores),
    )
    _check_tests(best, diary)


def _cause_of_accuracy(got, best, scores):
    """Why it is not the winner's test accuracy, or None."""
    train, validation, _ = scores[best]
    if got == validation:
        return "this is its validation accuracy: as the largest of many, it is too optimistic"
    if got == train:
        return "this is its training accuracy"
    others = [row[2] for row in scores.values()]
    if any(np.array_equal(got, other, equal_nan=True) for other in others):
        return _OTHER_NET
    return None


def _check_tests(best, diary):
    """Was the test set used once, for the winner?"""
    tested = [eta for eta, which in diary.asked if which == "test"]
    cause = (
        "only the winner may see the test set, after the choice: a test score that is known before "
        "ends up influencing the choice"
    )
    if set(tested) == {best}:
        cause = "the winner was tested again: keep what accuracy returned"
    what = f"the test set was used {len(tested)} times: use it once"
    require(len(tested) == 1, what, cause=cause)
