"""The checks of chapter 01, sections 4 and 5: backward, and one epoch."""

import numpy as np

from course_lib.checks.ch01.losses import mse_delta
from course_lib.checks.ch01.nets import depths, forward_pass, layers, net_label, slope
from course_lib.checks.kit.core import Case, Check, normal, ragged

# Task backward ------------------------------------------------------------------------------------------------


def _backward_cases(rng):
    cases = []
    for sizes in depths(rng):
        params = layers(rng, sizes)
        Z, A = forward_pass(params, normal(rng, sizes[0], dtype=np.float64))
        cases.append(
            Case(
                (params, Z, A, normal(rng, sizes[-1], dtype=np.float64)),
                net_label(sizes),
                scale=10.0,
            )
        )
    return cases


def _backward(params, Z, A, delta):
    grads: list = [None] * len(params)
    for l in reversed(range(len(params))):
        grads[l] = (np.outer(A[l], delta), delta)
        if l:
            delta = (params[l][0] @ delta) * slope(Z[l - 1])
    return grads


check_backward = Check("backward", _backward_cases, _backward, K=80, each=("dW", "db"))

# Task sgd_epoch -----------------------------------------------------------------------------------------------


def example_gradients(params, x, y):
    """Gradients of (y - a)^2 for one example through a sigmoid network: what the check hands to sgd_epoch."""
    Z, A = forward_pass(params, x)
    return _backward(params, Z, A, mse_delta(Z[-1], y))


def _sgd_cases(rng):
    cases = []
    for sizes, N in ((ragged(rng, 3), 5), (ragged(rng, 2), 4), (ragged(rng, 4), 6)):
        order = _scrambled(rng, N)
        X, Y = (
            normal(rng, N, sizes[0], dtype=np.float64),
            normal(rng, N, sizes[-1], dtype=np.float64),
        )
        cases.append(
            Case(
                (layers(rng, sizes), X, Y, float(rng.uniform(0.4, 0.8)), order, example_gradients),
                f"{net_label(sizes)}, {N} examples",
                scale=5.0,
            )
        )
    return cases


def _scrambled(rng, N):
    """N - 1 entries, the last example first, and one twice: neither the natural order nor all of them.

    What stands twice is not what stands last: an example left out is not one that was used twice.
    """
    rest = [int(i) for i in rng.permutation(N - 1)][: N - 3]
    return np.array([N - 1, *rest[:-1], N - 1, rest[-1]])


def _sgd_epoch(params, X, Y, eta, order, gradients):
    for i in order:
        for (W, b), (dW, db) in zip(params, gradients(params, X[i], Y[i]), strict=True):
            W -= eta * dW
            b -= eta * db
    return params


def _with_rate(rate):
    return lambda params, X, Y, eta, *rest: _sgd_epoch(params, X, Y, rate, *rest)


check_sgd_epoch = Check(
    "sgd_epoch",
    _sgd_cases,
    _sgd_epoch,
    K=200,
    inplace=0,
    returns_inplace=True,
    each=("W", "b"),
    diagnoses=[
        (_with_rate(rate), "eta is not used: a number of your own stands in its place")
        for rate in (0.5, 0.1, 0.05, 0.01, 0.001)
    ],
)
