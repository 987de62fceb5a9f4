"""The checks of chapter 01, section 4: a backward pass to repair, and one past layers that skip."""

import numpy as np

from course_lib.checks.ch01.nets import affine, depths, layers, net_label, skipping, slope, walk
from course_lib.checks.kit.core import Case, Check, normal, ragged

# Task repaired_backward ---------------------------------------------------------------------------------------


def _tanh_cases(rng):
    """Weights of half the size: where tanh is flat, no slope can be told from another."""
    cases = []
    for sizes in depths(rng):
        params = [(W / 2, b / 2) for W, b in layers(rng, sizes)]
        Z, A = walk(params, normal(rng, sizes[0], dtype=np.float64), affine, np.tanh)
        y = normal(rng, sizes[-1], dtype=np.float64)
        cases.append(Case((params, Z, A, y), net_label(sizes), scale=10.0))
    return cases


def _tanh_backward(params, Z, A, y):
    grads: list = [None] * len(params)
    delta = 2 * (A[-1] - y) * (1 - A[-1] ** 2)
    for l in reversed(range(len(params))):
        grads[l] = (np.outer(A[l], delta), delta)
        if l:
            delta = (params[l][0] @ delta) * (1 - A[l] ** 2)
    return grads


check_repaired_backward = Check(
    "repaired_backward", _tanh_cases, _tanh_backward, K=80, each=("dW", "db")
)

# Task backward_skip -------------------------------------------------------------------------------------------


def _skip_cases(rng):
    """Skips of all kinds, two in a row and none; square layers that skip, and square ones that do not."""
    n, m = (int(k) for k in rng.permutation(range(3, 7))[:2])
    ends = ragged(rng, 2)
    plan = [
        ([ends[0], n, n, ends[1]], [False, True, False]),
        ([ends[0], m, m, m, m, ends[1]], [False, True, True, False, False]),
        ([n, n, n, m, m, 3], [True, True, False, True, False]),
        ([ends[1], n, n, n, n, ends[0]], [False, True, True, True, False]),
        ([m, m, m, m], [False, False, False]),
        (ragged(rng, 4), [False] * 3),
        (ragged(rng, 2), [False]),
    ]
    cases = []
    for sizes, skips in plan:
        params = layers(rng, sizes)
        Z, A = skipping(params, normal(rng, sizes[0], dtype=np.float64), skips)
        delta = normal(rng, sizes[-1], dtype=np.float64)
        past = [l for l, skip in enumerate(skips) if skip]
        label = f"{net_label(sizes)}, " + (f"skips past {past}" if past else "no skips")
        cases.append(Case((params, Z, A, delta, skips), label, scale=10.0))
    return cases


def _backward_skip(params, Z, A, delta, skips):
    grads: list = [None] * len(params)
    above = 0.0  # dL/dA[l + 1], which needs no value for the last layer: it never skips
    for l in reversed(range(len(params))):
        grads[l] = (np.outer(A[l], delta), delta)
        if l:
            above = params[l][0] @ delta + (above if skips[l] else 0.0)
            delta = above * slope(Z[l - 1])
    return grads


check_backward_skip = Check("backward_skip", _skip_cases, _backward_skip, K=100, each=("dW", "db"))
