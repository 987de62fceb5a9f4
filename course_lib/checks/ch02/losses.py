"""The mean cross-entropy of a batch and its gradient, with scores of any size."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged


def _softmax_cross_entropy(Z, Y):
    shifted = Z - Z.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = ((log_sum - shifted) * Y).sum(axis=1).mean()
    return float(loss), (np.exp(shifted - log_sum) - Y) / len(Z)


def _one_hot(rng, B, C):
    return np.eye(C, dtype=np.float32)[rng.integers(C, size=B)]


def _loss_cases(rng):
    B, C = ragged(rng, 2, 3, 9)
    large = normal(rng, B, C) + np.float32(1000) * (1 + np.arange(B, dtype=np.float32)[:, None])
    sure, best = normal(rng, B, C), rng.integers(C, size=B)
    best[:2] = (
        0,
        C - 1,
    )  # the largest score first, last and anywhere: subtracting another one must show
    sure[np.arange(B), best] += rng.uniform(300, 1200, B).astype(np.float32)
    Y = np.eye(C, dtype=np.float32)[(best + rng.integers(1, C, size=B)) % C]
    plan = [
        (normal(rng, B, C), _one_hot(rng, B, C), "ordinary scores"),
        (normal(rng, 1, C, scale=3), _one_hot(rng, 1, C), "a batch of one"),
        (large, _one_hot(rng, B, C), "scores in the thousands"),
        (normal(rng, B, C) - np.float32(1000), _one_hot(rng, B, C), "all scores near -1000"),
        (sure, Y, "wrong and certain"),
    ]
    return [Case((Z, Y), label, scale=float(np.abs(Z).max())) for Z, Y, label in plan]


def _with_loss(change):
    def wrong(Z, Y):
        loss, dZ = _softmax_cross_entropy(Z, Y)
        return change(loss, dZ, len(Z), Z.shape[1])

    return wrong


def _softmax_over_batch(Z, Y):
    P = np.exp(Z - Z.max(axis=0))
    P = P / P.sum(axis=0)
    with np.errstate(divide="ignore"):
        return float(-(np.where(Y > 0, np.log(P), 0)).sum() / len(Z)), (P - Y) / len(Z)


def _shifted_by(shift):
    def wrong(Z, Y):
        Z = Z.astype(np.float32)
        s = Z - shift(Z)
        log_sum = np.log(np.exp(s).sum(axis=1, keepdims=True))
        return float(((log_sum - s) * Y).sum(axis=1).mean()), (np.exp(s - log_sum) - Y) / len(Z)

    return wrong


def _quotient(shift):
    """The softmax as a quotient, and its logarithm after that."""

    def wrong(Z, Y):
        Z = Z.astype(np.float32)
        e = np.exp(Z - shift(Z))
        P = e / e.sum(axis=1, keepdims=True)
        return float(-np.log(P[Y > 0]).sum() / len(Z)), (P - Y) / len(Z)

    return wrong


_UNSHIFTED = (
    "exp of a large score is infinite, and of a very negative one 0: what may be subtracted from all scores "
    "of a row without changing its softmax?"
)
_ABS = (
    "the largest |z| is subtracted: where all scores are far below 0 that is not the largest score"
)
_ONE_SCORE = (
    "one score of each row is subtracted, the largest or not: subtract Z.max(axis=1, keepdims=True)"
)

check_softmax_cross_entropy = Check(
    "softmax_cross_entropy",
    _loss_cases,
    _softmax_cross_entropy,
    K=lambda case: sum(case.args[0].shape),
    dtype="input",
    parts=("loss", "dZ"),
    axes={"dZ": ("example", "class")},
    diagnoses=[
        (
            _with_loss(lambda loss, dZ, B, C: (-loss, dZ)),
            "the sign of the loss is flipped: minus the logarithm",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss, dZ / C)),
            "dZ is divided by B and by the number of classes: by B only",
        ),
        (_shifted_by(lambda Z: Z[:, :1]), _ONE_SCORE),
        (_shifted_by(lambda Z: Z[:, -1:]), _ONE_SCORE),
        (_shifted_by(lambda Z: 0), _UNSHIFTED),
        (_quotient(lambda Z: 0), _UNSHIFTED),
        (_shifted_by(lambda Z: np.abs(Z).max(axis=1, keepdims=True)), _ABS),
        (_shifted_by(lambda Z: np.abs(Z).max()), _ABS),
        (
            _softmax_over_batch,
            "the softmax runs over the batch: sum over the classes of each row, axis=1, keepdims=True",
        ),
    ],
)
