"""The check of chapter 01, section 5: one epoch with momentum."""

import numpy as np

from course_lib.checks.ch01.nets import forward_pass, layers, net_label, slope
from course_lib.checks.kit.core import Case, Check, normal, ragged


def example_gradients(params, x, y):
    """Gradients of (y - a)^2 for one example through a sigmoid network: what the check hands to the epoch."""
    if np.ndim(x) != 1:
        raise ValueError(f"gradients takes one example, x of shape (n0,), not {np.shape(x)}")
    Z, A = forward_pass(params, x)
    grads: list = [None] * len(params)
    delta = 2 * (A[-1] - y) * slope(Z[-1])
    for l in reversed(range(len(params))):
        grads[l] = (np.outer(A[l], delta), delta)
        if l:
            delta = (params[l][0] @ delta) * slope(Z[l - 1])
    return grads


def _cases(rng):
    cases = []
    for sizes, N in ((ragged(rng, 3), 5), (ragged(rng, 2), 4), (ragged(rng, 4), 6)):
        X = normal(rng, N, sizes[0], dtype=np.float64)
        Y = normal(rng, N, sizes[-1], dtype=np.float64)
        params, velocity = layers(rng, sizes), layers(rng, sizes)
        eta, beta = float(rng.uniform(0.2, 0.4)), float(rng.uniform(0.5, 0.9))
        args = (params, velocity, X, Y, eta, beta, _scrambled(rng, N), example_gradients)
        cases.append(Case(args, f"{net_label(sizes)}, {N} examples", scale=10.0))
    return cases


def _scrambled(rng, N):
    """N - 1 entries, the last example first, and one twice: neither the natural order nor all of them.

    What stands twice is not what stands last: an example left out is not one that was used twice.
    """
    rest = [int(i) for i in rng.permutation(N - 1)][: N - 3]
    return np.array([N - 1, *rest[:-1], N - 1, rest[-1]])


def _momentum_epoch(params, velocity, X, Y, eta, beta, order, gradients):
    for i in order:
        grads = gradients(params, X[i], Y[i])
        for pair, speeds, slopes in zip(params, velocity, grads, strict=True):
            for p, v, g in zip(pair, speeds, slopes, strict=True):
                v[...] = beta * v + g
                p -= eta * v
    return params, velocity


def _call(fn, params, velocity, *rest):
    """What both lists hold afterwards."""
    fn(params, velocity, *rest)
    return params, velocity


check_momentum_epoch = Check(
    "momentum_epoch",
    _cases,
    _momentum_epoch,
    K=200,
    call=_call,
    may_change=(0, 1),
    parts=("params", "velocity"),
)
