"""Activations, each beside its derivative. Arrays of any shape; float32 stays float32, float64 stays float64.

A derivative takes `z` and the value `a = f(z)` that the forward pass kept, and uses whichever is cheaper.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Activation(NamedTuple):
    """A hidden layer's activation: `f(z)` and its derivative `derivative(z, a)`, with a = f(z)."""

    f: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray, np.ndarray], np.ndarray]


def sigmoid(z):
    """1 / (1 + exp(-z)), Kamra 2016, eq. 3, written as (1 + tanh(z/2)) / 2: the same function, and no z overflows.

    Absolute error: a rounding or two. Far out on the left (z below about -20 in float32) it rounds to exactly 0.
    """
    a = np.tanh(0.5 * z)
    a += 1
    a *= 0.5
    return a


def d_sigmoid(z, a):
    """a (1 - a), Darve 2019, section 3.1."""
    da = 1 - a
    da *= a
    return da


def d_tanh(z, a):
    """1 - a^2."""
    da = a * a
    np.subtract(1, da, out=da)
    return da


def relu(z):
    """max(0, z), Darve 2019, section 3.1."""
    return np.maximum(z, 0)


def d_relu(z, a):
    """1 where z > 0, else 0. At z = 0 relu has no derivative: by convention it is 0 there (PyTorch's choice too)."""
    return (z > 0).astype(z.dtype)


def d_identity(z, a):
    """1 everywhere."""
    return np.ones_like(z)


ACTIVATIONS = {
    "sigmoid": Activation(sigmoid, d_sigmoid),
    "tanh": Activation(np.tanh, d_tanh),
    "relu": Activation(relu, d_relu),
    # f(z) = z, Kamra 2016, section 2.2; a copy: A must not share Z's memory
    "identity": Activation(np.copy, d_identity),
}
