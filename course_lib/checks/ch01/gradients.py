"""The checks of chapter 01, section 2: a gradient on paper, and one without calculus."""

import numpy as np

from course_lib.checks.ch01.nets import biases, sigmoid
from course_lib.checks.kit.core import Case, Check, normal

# Task mse_gradient --------------------------------------------------------------------------------------------


def _mse_cases(rng):
    return [
        Case(
            (
                normal(rng, N, n, dtype=np.float64),
                normal(rng, N, dtype=np.float64),
                normal(rng, n, dtype=np.float64),
                b,
            ),
            label,
            scale=10.0,
        )
        for ((N, n), label), b in zip(
            (
                ((7, 3), "7 examples"),
                ((4, 6), "4 examples"),
                ((1, 5), "1 example"),
                ((11, 2), "11 examples"),
            ),
            biases(rng, 4),
            strict=True,
        )
    ]


def _mse_scaled(factor, of_weights=lambda X: X):
    def gradient(X, y, w, b):
        residual = X @ w + b - y
        scale = factor(X)
        return scale * (residual @ of_weights(X)), float(scale * residual.sum())

    return gradient


_mse_gradient = _mse_scaled(lambda X: 2 / len(X))


def _mse_without_x(X, y, w, b):
    db = _mse_gradient(X, y, w, b)[1]
    return np.full_like(w, db), db


def _mse_columns(of_weights, mean):
    """The residual as a column minus y as a row: every f against every y."""

    def gradient(X, y, w, b):
        residual = (X @ w + b)[:, None] - y
        db = 2 * residual.mean() if mean else 2 / len(y) * residual.sum()
        return 2 / len(y) * of_weights(X, residual), float(db)

    return gradient


def _mse_of_sigmoid(inner):
    def gradient(X, y, w, b):
        a = sigmoid(X @ w + b)
        residual = (a - y) * (a * (1 - a) if inner else 1)
        return 2 / len(y) * (residual @ X), float(2 / len(y) * residual.sum())

    return gradient


_COLUMN = (
    "every f met every y: shapes (N, 1) and (N,) broadcast to (N, N). Keep w as it comes, (n,): X @ w is then "
    "(N,), like y"
)
_PRODUCTS = (lambda X, r: X.T @ r, lambda X, r: r @ X, lambda X, r: r.T @ X)

check_mse_gradient = Check(
    "mse_gradient",
    _mse_cases,
    _mse_gradient,
    K=40,
    parts=("dw", "db"),
    diagnoses=[
        (
            _mse_scaled(lambda X: 2 / X.size),
            "divided by N and by the number of weights: N alone, len(y)",
        ),
        (_mse_without_x, "the inner derivative is missing in dw: df/dw[j] = X[i, j]"),
        (
            _mse_of_sigmoid(True),
            "there is no sigmoid in this task: the neuron is linear, f = X[i] . w + b",
        ),
        (
            _mse_of_sigmoid(False),
            "there is no sigmoid in this task: the neuron is linear, f = X[i] . w + b",
        ),
        *(
            (_mse_columns(product, mean), _COLUMN)
            for product in _PRODUCTS
            for mean in (False, True)
        ),
    ],
)

# Task numeric_gradient ----------------------------------------------------------------------------------------


def _cubic(theta):
    """f(theta) = sum of c (theta^3 + theta^2) + products of neighbours: each entry has its own slope and curvature."""
    t = theta.ravel()
    c = np.arange(1, t.size + 1) / t.size
    return float(c @ (t**3 + t**2) + t[:-1] @ t[1:])


def _numeric_cases(rng):
    """Few binary digits and steps that are powers of 2, for exact differences; and the default step, which is none."""
    cases = [Case((_cubic, normal(rng, 5, dtype=np.float64)), "the default eps", scale=1e3 / 1e-5)]
    for shape, label, eps in (
        ((5,), "a vector", 2.0**-13),
        ((3, 4), "a matrix", 2.0**-10),
        ((2, 7), "a wide matrix", 2.0**-13),
        ((6,), "a coarse step", 0.5),
    ):
        theta = np.round(1024 * rng.standard_normal(shape)) / 1024
        cases.append(Case((_cubic, theta, eps), label, scale=1e3 / eps))
    return cases


def _differences(numerator, divide):
    def gradient(f, theta, eps=1e-5):
        out = np.empty_like(theta)
        for i in np.ndindex(theta.shape):
            step = np.zeros_like(theta)
            step[i] = eps
            out[i] = numerator(f, theta, step) / divide(eps)
        return out

    return gradient


def _all_at_once(f, theta, eps=1e-5):
    return np.full_like(theta, (f(theta + eps) - f(theta - eps)) / (2 * eps))


def _row_by_row(f, theta, eps=1e-5):
    """range(len(theta)) instead of all indices: on a matrix, whole rows move."""
    out = np.empty_like(theta)
    for i in range(len(theta)):
        step = np.zeros_like(theta)
        step[i] = eps
        out[i] = (f(theta + step) - f(theta - step)) / (2 * eps)
    return out


def _row_views(f, theta, eps=1e-5):
    """The same with keep = theta[i]: of a matrix that is the row itself, and moves along with it."""
    out = np.empty_like(theta)
    for i in range(len(theta)):
        keep = theta[i]
        theta[i] = keep + eps
        up = f(theta)
        theta[i] = keep - eps
        out[i] = (up - f(theta)) / (2 * eps)
        theta[i] = keep
    return out


def _with_default(default):
    return lambda f, theta, eps=default: _central(f, theta, eps)


def _with_step(step):
    return lambda f, theta, eps=step: _central(f, theta, step)


_ROWS = (
    "theta[i] is a whole row when theta is a matrix, so whole rows are moved: walk over every index, "
    "`for i in np.ndindex(theta.shape)`"
)
_ALL = "all entries are moved at once: that is one slope along (1, 1, ..., 1); move one entry at a time"
_central = _differences(lambda f, t, s: f(t + s) - f(t - s), lambda eps: 2 * eps)

check_numeric_gradient = Check(
    "numeric_gradient",
    _numeric_cases,
    _central,
    c=4.0,
    axes=(),
    diagnoses=[
        (
            _differences(lambda f, t, s: f(t) - f(t - s), lambda eps: eps),
            "a backward difference: its error falls like eps. Step to both sides; then it falls like eps^2",
        ),
        *(
            (
                _with_default(eps),
                "the default of eps is not 1e-5: def numeric_gradient(f, theta, eps=1e-5)",
            )
            for eps in (1.0, 0.1, 0.01, 1e-3)
        ),
        *(
            (_with_step(10.0**-k), "eps is ignored: use the argument, not a number of your own")
            for k in range(2, 9)
        ),
        (_row_by_row, _ROWS),
        (_row_views, _ROWS),
        (_all_at_once, _ALL),
        (lambda f, theta, eps=1e-5: (f(theta + eps) - f(theta - eps)) / (2 * eps), _ALL),
    ],
)
