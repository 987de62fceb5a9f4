"""Losses, each with the output activation it is made for, its value, and dZ, its gradient at the last layer's Z.

Shapes: Z, A, Y (B, nL), rows are examples; values are means over the B rows, without the L2 term.

A warning about the source. Algorithms 1 to 3 of Kamra 2016 print the gradient of the squared error as
(y - f) df/dtheta. The derivative of (y - f)^2 is -2 (y - f) df/dtheta: the factor 2 is missing, which only
rescales the learning rate, and the sign is wrong, so that the printed update climbs. Algorithm 5, with dL/da, is right.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from course_lib.serial.activations import d_sigmoid, sigmoid


class Loss(NamedTuple):
    """`output(Z) -> A`, `value(Z, A, Y) -> float`, `dZ(Z, A, Y) -> (B, nL)`, the gradient of `value` by Z."""

    output: Callable[[np.ndarray], np.ndarray]
    value: Callable[[np.ndarray, np.ndarray, np.ndarray], float]
    dZ: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def mse(Z, A, Y):
    """L = 1/B sum_i ||y_i - a_i||^2, Kamra 2016, eq. 1 and 6: summed over the outputs, and no 1/2 in front."""
    D = A - Y
    return float(np.vdot(D, D)) / len(Y)


def d_mse(Z, A, Y):
    """dL/dA = 2/B (A - Y), then through the output's sigmoid: dZ = dL/dA * A (1 - A), Kamra 2016, algorithm 5."""
    dZ = A - Y
    dZ *= 2 / len(Y)
    dZ *= d_sigmoid(Z, A)
    return dZ


def softmax(Z):
    """exp(z_j) / sum_k exp(z_k) in each row, Darve 2019, section 3.3.

    Taking the row's maximum off first changes nothing but the range: every exponent is <= 0 and one is 0.
    """
    A = Z - Z.max(axis=1, keepdims=True)
    np.exp(A, out=A)
    A /= A.sum(axis=1, keepdims=True)
    return A


def cross_entropy(Z, A, Y):
    """1/B sum_i -log softmax(z_i)[label], Darve 2019, section 3.4, from Z: log(A) would be log(0) for a sure mistake.

    -log softmax(z)_j = log(sum_k exp(z_k - m)) - (z_j - m), with m the row's maximum.
    """
    shifted = Z - Z.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return float(np.vdot(Y, log_sum - shifted)) / len(Y)


def d_cross_entropy(Z, A, Y):
    """dZ = (A - Y) / B, Darve 2019, eq. 3. It holds for rows of Y that sum to 1, as one-hot labels do."""
    dZ = A - Y
    dZ *= 1 / len(Y)
    return dZ


LOSSES = {
    "mse": Loss(sigmoid, mse, d_mse),
    "cross_entropy": Loss(softmax, cross_entropy, d_cross_entropy),
}
