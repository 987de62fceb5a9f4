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
    return [
        Case((make_params(rng, sizes), normal(rng, B, sizes[0])), "one hidden layer"),
        Case((make_params(rng, deep), normal(rng, 13, deep[0])), "three hidden layers"),
        Case((make_params(rng, sizes), normal(rng, 1, sizes[0])), "a batch of one"),
        Case((make_params(rng, sizes[:2]), normal(rng, B, sizes[0])), "one layer, no hidden one"),
        Case((make_params(rng, sizes), normal(rng, B, sizes[0], scale=30)), "large values"),
    ]


def longest_sum(case):
    """The longest sum of a case with params first: over neurons, or over the examples of the batch."""
    sizes = [max(W.shape) for W, _ in case.args[0]]
    return max(*sizes, len(case.args[1][0]) if isinstance(case.args[1], list) else 1) * (
        len(sizes) + 1
    )


def _relu_everywhere(params, X):
    A = forward(params, X)
    return [*A[:-1], _relu(A[-1])]


def _no_relu(params, X):
    A = [X]
    for W, b in params:
        A.append(A[-1] @ W + b)
    return A


def _relu6(params, X):
    A = [X]
    for W, b in params[:-1]:
        A.append(np.minimum(_relu(A[-1] @ W + b), 6))
    W, b = params[-1]
    return [*A, A[-1] @ W + b]


def _no_bias(params, X):
    return forward([(W, 0 * b) for W, b in params], X)


def _from_X(params, X):
    return [X, *(_relu(X @ W + b) for W, b in params[:-1]), X @ params[-1][0] + params[-1][1]]


def _bias_after_relu(params, X):
    A = [X]
    for W, b in params[:-1]:
        A.append(_relu(A[-1] @ W) + b)
    W, b = params[-1]
    return [*A, A[-1] @ W + b]


check_forward_batch = Check(
    "forward_batch",
    _forward_cases,
    forward,
    K=longest_sum,
    axes=("example", "neuron"),
    diagnoses=[
        (
            _relu_everywhere,
            "ReLU on the last layer too: its scores stay as they are, the softmax comes with the loss",
        ),
        (_no_relu, "no ReLU between the layers: without it the whole network is one linear map"),
        (_no_bias, "the bias b is missing"),
        (_relu6, "the activations are cut off at 6: ReLU has no upper end"),
        (
            _bias_after_relu,
            "the bias is added after the ReLU: it belongs inside, relu(A_prev @ W + b)",
        ),
        (lambda params, X: forward(params, _relu(X)), "ReLU on the input: A[0] is X itself"),
        (
            lambda params, X: forward(params, X)[1:],
            "A[0] is missing: the list begins with X, the backward pass needs it",
        ),
        (
            lambda params, X: forward(params, X)[:-1],
            "the last layer is missing: the list ends with its scores",
        ),
        (
            lambda params, X: forward(params, X)[-1],
            "only the scores are returned: the backward pass needs the whole list A, from X to the scores",
        ),
        (
            _from_X,
            "every layer reads X: layer l must read A[-1], the output of the layer before it",
        ),
    ],
)
