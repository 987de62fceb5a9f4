"""The forward pass of a batch: a matrix product a layer, ReLU between them, and what goes wrong there."""

from itertools import pairwise

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged


def _relu(Z):
    return np.maximum(Z, 0)


def make_params(rng, sizes):
    return [(normal(rng, n, m), normal(rng, m)) for n, m in pairwise(sizes)]


def forward(params, X):
    A = [X]
    for W, b in params[:-1]:
        A.append(_relu(A[-1] @ W + b))
    W, b = params[-1]
    return [*A, A[-1] @ W + b]


def _forward_cases(rng):
    B, *sizes = ragged(rng, 4, 3, 11)
    deep = ragged(rng, 5, 2, 9)
    deep[2], deep[-1] = deep[2] + 12, deep[-1] + 12  # wider than ten classes, hidden and last
    deep[1] = deep[-1]  # the last layer is not known by its width
    equal = [sizes[0], *[sizes[1]] * 4]  # nor by the shape of its W
    return [
        Case((make_params(rng, sizes), normal(rng, B, sizes[0])), "one hidden layer"),
        Case((make_params(rng, deep), normal(rng, 13, deep[0])), "three hidden layers"),
        Case((make_params(rng, sizes), normal(rng, 1, sizes[0])), "a batch of one"),
        Case((make_params(rng, sizes[:2]), normal(rng, B, sizes[0])), "one layer, no hidden one"),
        Case((make_params(rng, sizes), normal(rng, B, sizes[0], scale=30)), "large values"),
        Case((make_params(rng, equal), normal(rng, B, sizes[0])), "layers of one width"),
    ]


def longest_sum(case):
    """The longest sum of a case with params first: over neurons, or over the examples of the batch."""
    sizes = [max(W.shape) for W, _ in case.args[0]]
    return max(*sizes, len(case.args[1][0]) if isinstance(case.args[1], list) else 1) * (
        len(sizes) + 1
    )


check_forward_batch = Check(
    "forward_batch",
    _forward_cases,
    forward,
    K=longest_sum,
    axes=("example", "neuron"),
)
