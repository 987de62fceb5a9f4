"""The checks of chapter 01, section 1: a neuron, and a network forward."""

import numpy as np

from course_lib.checks.ch01.nets import biases, depths, forward_pass, layers, net_label, sigmoid
from course_lib.checks.kit.core import Case, Check, normal, ragged

# Task neuron --------------------------------------------------------------------------------------------------


def _neuron_cases(rng):
    sizes = [3, 1, *ragged(rng, 3, 4, 12)]
    drawn = [
        (normal(rng, n, dtype=np.float64), normal(rng, n, dtype=np.float64), b)
        for n, b in zip(sizes, biases(rng, len(sizes)), strict=True)
    ]
    x, w, b = drawn[-1]
    if len({x @ w + b > 0 for x, w, b in drawn}) == 1:  # z of both signs, in every draw
        drawn[-1] = (x, -w, -b)
    return [
        Case(
            given,
            f"{len(given[0])} inputs" if len(given[0]) > 1 else "1 input",
            scale=1.0,  # 1 - 1 / (1 + exp(z)) is as right as 1 / (1 + exp(-z)), also where a is tiny
        )
        for given in drawn
    ]


def _neuron(x, w, b):
    return float(sigmoid(x @ w + b))


check_neuron = Check("neuron", _neuron_cases, _neuron, K=20, dtype=None)

# Task forward -------------------------------------------------------------------------------------------------


def _forward_cases(rng):
    return [
        Case((layers(rng, sizes), normal(rng, sizes[0], dtype=np.float64)), net_label(sizes))
        for sizes in depths(rng)
    ]


check_forward = Check("forward", _forward_cases, forward_pass, K=60, parts=("Z", "A"))
