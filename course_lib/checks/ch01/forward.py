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
        (lambda x, w, b: sigmoid(x @ w), "the bias b is missing from z"),
        (lambda x, w, b: sigmoid(x @ w + len(x) * b), _BIAS_IN_LOOP),
        (lambda x, w, b: sigmoid(x @ w + (len(x) + 1) * b), _BIAS_IN_LOOP),
        (
            lambda x, w, b: sigmoid(x[-1] * w[-1] + b),
            "only the last product arrives: the loop overwrites z, it must add to it",
        ),
        (
            lambda x, w, b: sigmoid(x[:-1] @ w[:-1] + b),
            "the last input is left out: range(len(x)) already ends before len(x)",
        ),
        (
            lambda x, w, b: sigmoid(x[0] * w[0] + b),
            "only the first product arrives: `return` stands inside the loop, and ends it after one round",
        ),
        (
            lambda x, w, b: 1 + np.exp(-(x @ w + b)),
            "1 / 1 + exp(-z) without brackets is (1 / 1) + exp(-z): divide by (1 + exp(-z))",
        ),
        (lambda x, w, b: x @ w + b, "this is z, not a: the sigmoid is missing"),
        (
            lambda x, w, b: sigmoid(x * w + b),
            "x * w has one product for each input: add them up before the sigmoid",
        ),
        (
            lambda x, w, b: sigmoid(-x @ w - b),
            "the curve is mirrored: the exponent of the sigmoid is -z",
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


def _forward_from_x(params, x):
    Z = [x @ W + b for W, b in params]
    return Z, [x, *map(sigmoid, Z)]


def _forward_through_z(params, x):
    Z, A, z = [], [x], x
    for W, b in params:
        z = z @ W + b
        Z.append(z)
        A.append(sigmoid(z))
    return Z, A


def _linear_last(params, x):
    Z, A = forward_pass(params, x)
    return Z, [*A[:-1], Z[-1]]


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
            lambda params, x: walk(params, x, lambda a, W, b: a @ W),
            "the bias is missing: z = W^T a + b",
        ),
        (
            lambda params, x: walk(params, x, lambda a, W, b: W @ a + b),
            "W is (n_in, n_out) here, so the product is a @ W, which is W.T @ a; with W @ a the axes are mixed up",
        ),
        (
            lambda params, x: walk(params, x, lambda a, W, b: a @ W + b, lambda z: z),
            "A holds z: the activation function is missing, and without it all layers are one linear map",
        ),
        (
            _forward_from_x,
            "every layer reads x: layer l must read A[-1], the output of the layer before",
        ),
        (
            _forward_through_z,
            "the next layer is fed with z: it must read the activation sigmoid(z)",
        ),
        (
            _linear_last,
            "the sigmoid is missing in the last layer alone: here the output layer has it too",
        ),
        (
            lambda params, x: (forward_pass(params, x)[0], forward_pass(params, x)[1][1:]),
            "A must begin with A[0] = x: the first layer's gradient will need it",
        ),
        (
            lambda params, x: ([x, *forward_pass(params, x)[0]], forward_pass(params, x)[1]),
            "Z begins with x: only A does. Z starts empty, one z for each layer",
        ),
        (
            lambda params, x: (
                list(np.concatenate(forward_pass(params, x)[0])),
                forward_pass(params, x)[1],
            ),
            "`Z += array` puts the entries in one by one: use Z.append(array), so that Z holds one array a layer",
        ),
        (
            lambda params, x: walk(params, x, affine, np.tanh),
            "this is tanh: the activation here is the sigmoid",
        ),
        (
            lambda params, x: walk(params, x, affine, lambda z: np.maximum(z, 0)),
            "this is ReLU: the activation here is the sigmoid",
        ),
        (lambda params, x: forward_pass(params, x)[::-1], "Z and A are swapped: return Z, A"),
        (
            lambda params, x: forward_pass(params, x)[1][-1],
            "only the output is returned: backward needs every Z and A, in lists",
        ),
        (_same_bias, "the bias of the first layer is used in all layers"),
    ],
)
