"""The backward pass of a batch, with L2 on the weights."""

from course_lib.checks.ch02.forward import forward, longest_sum, make_params
from course_lib.checks.kit.core import Case, Check, normal, ragged


def _backward(params, A, dZ, lam):
    grads = []
    for layer in range(len(params) - 1, -1, -1):
        W, _ = params[layer]
        grads.append((A[layer].T @ dZ + lam * W, dZ.sum(axis=0)))
        if layer:
            dZ = (dZ @ W.T) * (A[layer] > 0)
    return grads[::-1]


def _backward_cases(rng):
    B, *sizes = ragged(rng, 4, 3, 11)
    deep = ragged(rng, 4, 3, 9)
    plan = [
        (B, sizes, 0.3, "one hidden layer, lam 0.3"),
        (13, deep, 0.7, "two hidden layers, lam 0.7"),
        (B, sizes, 0.0, "lam 0"),
        (1, deep, 0.2, "a batch of one"),
        (B, [5, 5, 5, 5], 0.4, "equal widths"),
    ]
    cases = []
    for batch, widths, lam, label in plan:
        params = make_params(rng, widths)
        A = forward(params, normal(rng, batch, widths[0]))
        cases.append(Case((params, A, normal(rng, batch, widths[-1]), lam), label))
    return cases


check_backward_batch = Check(
    "backward_batch",
    _backward_cases,
    _backward,
    K=longest_sum,
    c=8.0,
    each=("dW", "db"),
    axes={"dW": ("input", "neuron"), "db": ("neuron",)},
)
