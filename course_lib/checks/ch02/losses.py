"""The weighted mean of the cross-entropies of a batch and its gradient, with scores of any size."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged


def _weighted_cross_entropy(Z, Y, w):
    shifted = Z - Z.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    share = (w / w.sum())[:, None]
    loss = (share * (log_sum - shifted) * Y).sum()
    return float(loss), share * (np.exp(shifted - log_sum) - Y)


def _weights(rng, B):
    """Weights of many sizes, and a 0 where there are examples enough; the first two count, they tell shifts apart."""
    w = rng.uniform(0.2, 3.0, B).astype(np.float32)
    if B > 2:
        w[rng.integers(2, B)] = 0.0
    return w


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
    return [
        Case((Z, Y, _weights(rng, len(Z))), label, scale=float(np.abs(Z).max()))
        for Z, Y, label in plan
    ]


check_weighted_cross_entropy = Check(
    "weighted_cross_entropy",
    _loss_cases,
    _weighted_cross_entropy,
    K=lambda case: sum(case.args[0].shape),
    dtype="input",
    parts=("loss", "dZ"),
    python_floats=True,
    axes={"dZ": ("example", "class")},
)
