"""The checks of chapter 01, section 1: a neuron, and a network forward."""

import numpy as np

from course_lib.checks.ch01.nets import (
    affine,
    biases,
    depths,
    forward_pass,
    layers,
    net_label,
    sigmoid,
    walk,
)
from course_lib.checks.kit.core import Case, Check, normal, ragged

# Task neuron --------------------------------------------------------------------------------------------------


def _neuron_cases(rng):
    sizes = [3, 1, *ragged(rng, 3, 4, 12)]
    return [
        Case(
            (normal(rng, n, dtype=np.float64), normal(rng, n, dtype=np.float64), b),
            f"{n} inputs" if n > 1 else "1 input",
            scale=1.0,  # 1 - 1 / (1 + exp(z)) is as right as 1 / (1 + exp(-z)), also where a is tiny
        )
        for n, b in zip(sizes, biases(rng, len(sizes)), strict=True)
    ]


def _neuron(x, w, b):
    return float(sigmoid(x @ w + b))


_BIAS_IN_LOOP = "b is added once for each input: add it once, outside the loop"

check_neuron = Check(
    "neuron",
    _neuron_cases,
    _neuron,
    K=20,
    dtype=None,
    diagnoses=[
        (lambda x, w, b: sigmoid(x @ w + len(x) * b), _BIAS_IN_LOOP),
        (lambda x, w, b: sigmoid(x @ w + (len(x) + 1) * b), _BIAS_IN_LOOP),
        (
            lambda x, w, b: sigmoid(x * w + b),
            "x * w has one product for each input: add them up before the sigmoid",
        ),
        (
            lambda x, w, b: sigmoid(x * w).sum() + b,
            "the sigmoid goes around the whole sum once, not around each term",
        ),
        (
            lambda x, w, b: sigmoid(x.sum() * w.sum() + b),
            "the sum of the products x[i] w[i] is not the product of the sums",
        ),
    ],
)

# Task forward -------------------------------------------------------------------------------------------------


def _forward_cases(rng):
    return [
        Case((layers(rng, sizes), normal(rng, sizes[0], dtype=np.float64)), net_label(sizes))
        for sizes in depths(rng)
    ]


def _forward_through_z(params, x):
    Z, A, z = [], [x], x
    for W, b in params:
        z = z @ W + b
        Z.append(z)
        A.append(sigmoid(z))
    return Z, A


def _same_bias(params, x):
    first = params[0][1]
    return walk([(W, np.resize(first, b.shape)) for W, b in params], x, lambda a, W, b: a @ W + b)


check_forward = Check(
    "forward",
    _forward_cases,
    forward_pass,
    K=60,
    parts=("Z", "A"),
    diagnoses=[
        (
            _forward_through_z,
            "the next layer is fed with z: it must read the activation sigmoid(z)",
        ),
        (
            lambda params, x: walk(params, x, affine, lambda z: np.maximum(z, 0)),
            "this is ReLU: the activation here is the sigmoid",
        ),
        (_same_bias, "the bias of the first layer is used in all layers"),
    ],
)
