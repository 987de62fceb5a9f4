"""An epoch of mini-batch SGD, which changes the parameters in place."""

from itertools import pairwise

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged

_OWN, _NEW = "its own arrays", "new arrays"


def _line_gradient(params, xb, yb):
    """Loss and gradients of a net of linear layers, mean of the squares: a stand-in for any. Returns (loss, grads)."""
    A = [xb]
    for W, b in params:
        A.append(A[-1] @ W + b)
    residual, grads = A.pop() - yb, []
    dZ = 2 * residual / len(xb)
    for (W, _), A_prev in zip(params[::-1], A[::-1], strict=True):
        grads.append((A_prev.T @ dZ, dZ.sum(axis=0)))
        dZ = dZ @ W.T
    return float((residual**2).sum() / len(xb)), grads[::-1]


def _sgd_epoch(params, batches, gradient, eta):
    losses, sizes = [], []
    for xb, yb in batches:
        loss, grads = gradient(params, xb, yb)
        for (W, b), (dW, db) in zip(params, grads, strict=True):
            W -= eta * dW
            b -= eta * db
        losses.append(loss)
        sizes.append(len(xb))
    return float(np.average(losses, weights=sizes)), params, _OWN


def _sgd_cases(rng):
    cases = []
    plan = (
        ((8, 8, 3), 3, "a ragged last batch"),
        ((5, 5), 2, "equal batches"),
        ((6, 1), 3, "a last batch of one"),
    )
    for sizes, n_layers, label in plan:
        widths = ragged(rng, n_layers + 1, 2, 7)
        params = [(normal(rng, n, m, scale=n**-0.5), normal(rng, m)) for n, m in pairwise(widths)]
        batches = [(normal(rng, B, widths[0]), normal(rng, B, widths[-1])) for B in sizes]
        label = f"{n_layers} layers, {label}"
        cases.append(Case((params, batches, _line_gradient, 0.05), label))
    return cases


def _call_epoch(fn, params, batches, gradient, eta):
    """The returned loss, and the arrays in params, which the function changes in place."""
    held = [tuple(pair) for pair in params]
    loss = fn(params, batches, gradient, eta)
    now = [array for pair in params for array in pair]
    arrays = [array for pair in held for array in pair]
    kept = len(now) == len(arrays) and all(new is old for new, old in zip(now, arrays, strict=True))
    return loss, held, _OWN if kept else _NEW


check_sgd_epoch = Check(
    "sgd_epoch",
    _sgd_cases,
    _sgd_epoch,
    call=_call_epoch,
    K=60,
    may_change=(0,),
    parts=("the mean loss", "params", "what params holds"),
)
