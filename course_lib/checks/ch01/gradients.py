"""The checks of chapter 01, section 2: a gradient on paper, and one without calculus."""

import numpy as np

from course_lib.checks.ch01.nets import biases
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


def _mse_gradient(X, y, w, b):
    residual = 2 / len(X) * (X @ w + b - y)
    return residual @ X, float(residual.sum())


check_mse_gradient = Check("mse_gradient", _mse_cases, _mse_gradient, K=40, parts=("dw", "db"))

# Task numeric_gradient ----------------------------------------------------------------------------------------


def _cubic(theta):
    """f(theta) = sum of c (theta^3 + theta^2) + products of neighbours: each entry has its own slope and curvature.

    Neighbours lie along the first axis: a flat copy of a matrix has others.
    """
    t = theta.ravel()
    c = np.arange(1, t.size + 1) / t.size
    return float(c @ (t**3 + t**2) + np.sum(theta[:-1] * theta[1:]))


def _wavy(theta):
    """f(theta) with a wave so short that each step gives another quotient: sin(1e5 eps) / eps times the cosine."""
    t = theta.ravel()
    c = np.arange(1, t.size + 1) / t.size
    return float(c @ np.sin(1e5 * t))


def _numeric_cases(rng):
    """Few binary digits and steps that are powers of 2, for exact differences; and the default step, which is none."""
    cases = [Case((_wavy, normal(rng, 5, dtype=np.float64)), "the default eps", scale=1e12)]
    for shape, label, eps in (
        ((5,), "a vector", 2.0**-13),
        ((3, 4), "a matrix", 2.0**-10),
        ((2, 7), "a wide matrix", 2.0**-13),
        ((2, 3, 2), "a coarse step, three axes", 0.5),
    ):
        theta = np.round(1024 * rng.standard_normal(shape)) / 1024
        cases.append(Case((_cubic, theta, eps), label, scale=1e3 / eps))
    theta = np.round(1024 * rng.standard_normal((5, 3))).T / 1024
    return [*cases, Case((_cubic, theta, 2.0**-10), "a transposed matrix", scale=1e3 * 2**10)]


def _central(f, theta, eps=1e-5):
    out = np.empty_like(theta)
    for i in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[i] = eps
        out[i] = (f(theta + step) - f(theta - step)) / (2 * eps)
    return out


check_numeric_gradient = Check("numeric_gradient", _numeric_cases, _central)
