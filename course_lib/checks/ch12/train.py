"""The check of chapter 12 on training: model parallel steps, held against serial."""

import numpy as np

from course_lib.checks.ch12.layers import network, one_hot, parts, sigmoid, softmax
from course_lib.checks.ch12.traffic import beyond_the_sums, hand_made
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck


def _cases(rng, n):
    cases = []
    for steps, eta in ((1, 0.5), (3, 0.25)):
        n0, n1, n2, B = 5, 2 * int(rng.integers(4, 7)) + 1, 3, 2 * int(rng.integers(3, 6)) + 1
        N = B + int(rng.integers(9, 16))
        args = (
            network(rng, n0, n1, n2),
            normal(rng, N, n0),
            one_hot(rng, N, n2),
            steps,
            B,
            eta,
            int(rng.integers(99)),
        )
        cases.append(RankCase(args, f"{steps} step{'s' * (steps > 1)}", K=(n0 + n1 + B) * steps))
    return cases


def _train(ranks):
    n, (params, X, Y, steps, B, eta, seed) = len(ranks), ranks[0]
    locals_, rng = parts(params, n), np.random.default_rng(seed)
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)
        locals_ = _step(locals_, X[rows], Y[rows], eta)
    return locals_


def _step(locals_, X, Y, eta):
    A1 = [sigmoid(X @ W1 + b1) for (W1, b1), _ in locals_]
    Z2, after = sum(a @ local[1][0] for a, local in zip(A1, locals_, strict=True)), []
    for ((W1, b1), (W2, b2)), a in zip(locals_, A1, strict=True):
        dZ2 = (softmax(Z2 + b2) - Y) / len(X)
        dZ1 = (dZ2 @ W2.T) * a * (1 - a)
        grads = [(X.T @ dZ1, dZ1.sum(axis=0)), (a.T @ dZ2, dZ2.sum(axis=0))]
        pairs = zip(((W1, b1), (W2, b2)), grads, strict=True)
        after.append([(W - eta * dW, b - eta * db) for (W, b), (dW, db) in pairs])
    return after


def _a_sum_a_step(report, n, case):
    """The sum of Z2 in each step: no less, or the ranks do not work together, and no more."""
    params, X, _, steps, B, _, _ = case.args
    calls = sum(report.collectives[0].values()) + min(report.messages)
    if n > 1 and calls < steps and (calls or any(report.messages)):
        return (
            f"{n} ranks, {steps} step{'s' * (steps > 1)}, and fewer calls than steps",
            "where the ranks share the neurons, each step needs the sum of Z2 over all of them: split the parameters "
            "first; forward_two adds up the summands",
        )
    if n > 1 and calls < steps:
        return (
            f"{n} ranks, {steps} step{'s' * (steps > 1)}, and fewer calls than steps",
            "every rank computes with all neurons, and keeps its part of the result at the end: that shares "
            "no work. Split the parameters first; forward_two adds up the summands",
        )
    Z2 = B * len(params[1][1]) * X.itemsize
    what = beyond_the_sums(report, [Z2] * steps, hand_made(n) * steps * Z2)
    return what and (
        what,
        "forward_two sends all that is needed, one sum of Z2 per step; each rank draws the batches",
    )


_a_sum_a_step.says = "one sum a step"  # type: ignore[attr-defined]

check_train_two = RankCheck(
    "train_two",
    _cases,
    _train,
    limits=[_a_sum_a_step],
    causes=[
        (
            lambda error: (
                error["tool"] == "mismatch"
                and "another size" in error["message"]
                and all("educe" in place["op"] for place in error["ranks"].values())
            ),
            "the ranks do not add up arrays of the same shape: in model parallelism each rank takes all of "
            "the batch, and a share of the neurons; what is added up is Z2, never A1",
        )
    ],
)
