"""The checks of chapter 01, sections 4 and 5: backward, and one epoch."""

import numpy as np

from course_lib.checks.ch01.losses import mse_delta
from course_lib.checks.ch01.nets import depths, forward_pass, layers, net_label, sigmoid, slope
from course_lib.checks.kit.core import Case, Check, normal, ragged

# Task backward ------------------------------------------------------------------------------------------------


def _backward_cases(rng):
    cases = []
    for sizes in depths(rng):
        params = layers(rng, sizes)
        Z, A = forward_pass(params, normal(rng, sizes[0], dtype=np.float64))
        cases.append(
            Case(
                (params, Z, A, normal(rng, sizes[-1], dtype=np.float64)),
                net_label(sizes),
                scale=10.0,
            )
        )
    return cases


def _sweep(
    outer=lambda a, delta: np.outer(a, delta),
    slope=lambda Z, A, l: slope(Z[l - 1]),
    through=lambda W, delta: W @ delta,
    feed=lambda A, l: A[l],
    first=0,
):
    """Algorithm 5 with one of its parts replaced."""

    def backward(params, Z, A, delta):
        grads: list = [None] * len(params)
        for l in reversed(range(len(params))):
            grads[l] = (outer(feed(A, l), delta), delta)
            if l > first:
                delta = through(params[l][0], delta) * slope(Z, A, l)
        return grads

    return backward


def _below_the_first(params, Z, A, delta):
    """No `if l > 0`, and the slope written first: the error names the shapes the other way round."""
    for l in reversed(range(len(params))):
        delta = slope(Z[l - 1]) * (params[l][0] @ delta)
    return _backward(params, Z, A, delta)


_backward = _sweep()
_NO_IF = (
    "below the first layer there is no z: at l = 0, Z[l - 1] is Z[-1], the last one. "
    "Carry delta down only `if l > 0`"
)


def _backward_same_delta(params, Z, A, delta):
    return [(np.outer(A[l], delta), delta) for l in range(len(params))]


check_backward = Check(
    "backward",
    _backward_cases,
    _backward,
    K=80,
    each=("dW", "db"),
    diagnoses=[
        (
            _sweep(slope=lambda Z, A, l: sigmoid(Z[l - 1])),
            "sigma itself stands where sigma' belongs",
        ),
        (
            _sweep(outer=lambda a, delta: a * delta),
            "`*` goes entry by entry: np.outer(A[l], delta) makes all pairs",
        ),
        (_sweep(first=-1), _NO_IF),
        (_below_the_first, _NO_IF),
        (_sweep(feed=lambda A, l: A[0]), "every dW uses x: layer l was fed with A[l]"),
        (
            _backward_same_delta,
            "every layer gets the delta of the output: it must be carried down from layer to layer",
        ),
        (
            lambda *args: [(-dW, -db) for dW, db in _backward(*args)],
            "the sign is wrong everywhere: return the gradient, the minus comes in the update",
        ),
        (
            lambda params, Z, A, delta: [
                (dW, np.ones_like(db)) for dW, db in _backward(params, Z, A, delta)
            ],
            "db is not 1: dz/db is, so db = delta",
        ),
    ],
)

# Task sgd_epoch -----------------------------------------------------------------------------------------------


def example_gradients(params, x, y):
    """Gradients of (y - a)^2 for one example through a sigmoid network: what the check hands to sgd_epoch."""
    Z, A = forward_pass(params, x)
    return _backward(params, Z, A, mse_delta(Z[-1], y))


def _sgd_cases(rng):
    cases = []
    for sizes, N in ((ragged(rng, 3), 5), (ragged(rng, 2), 4), (ragged(rng, 4), 6)):
        order = _scrambled(rng, N)
        X, Y = (
            normal(rng, N, sizes[0], dtype=np.float64),
            normal(rng, N, sizes[-1], dtype=np.float64),
        )
        cases.append(
            Case(
                (layers(rng, sizes), X, Y, float(rng.uniform(0.4, 0.8)), order, example_gradients),
                f"{net_label(sizes)}, {N} examples",
                scale=5.0,
            )
        )
    return cases


def _scrambled(rng, N):
    """N - 1 entries, the last example first, and one twice: neither the natural order nor all of them."""
    rest = [int(i) for i in rng.permutation(N - 1)][: N - 3]
    return np.array([N - 1, *rest, rng.choice([N - 1, *rest])])


def _sgd(sign=-1.0, pick=lambda order, X: order, bias=True, divide=lambda X: 1, rate=None):
    """Per-example descent with one of its parts replaced."""

    def epoch(params, X, Y, eta, order, gradients):
        step = sign * (rate or eta) / divide(X)
        for i in pick(order, X):
            for (W, b), (dW, db) in zip(params, gradients(params, X[i], Y[i]), strict=True):
                W += step * dW
                b += step * db * bias
        return params

    return epoch


_sgd_epoch = _sgd()
_TWICE = "an example may stand in `order` more than once, and then it is used as often: walk through order as it is"


def _sgd_layer_by_layer(params, X, Y, eta, order, gradients):
    for i in order:
        for l, (W, b) in enumerate(params):
            dW, db = gradients(params, X[i], Y[i])[l]
            W -= eta * dW
            b -= eta * db
    return params


def _sgd_weights_first(params, X, Y, eta, order, gradients):
    for i in order:
        for l, (W, b) in enumerate(params):
            W -= eta * gradients(params, X[i], Y[i])[l][0]
            b -= eta * gradients(params, X[i], Y[i])[l][1]
    return params


def _sgd_top_down(params, X, Y, eta, order, gradients):
    for i in order:
        for l in reversed(range(len(params))):
            dW, db = gradients(params, X[i], Y[i])[l]
            params[l][0][...] -= eta * dW
            params[l][1][...] -= eta * db
    return params


check_sgd_epoch = Check(
    "sgd_epoch",
    _sgd_cases,
    _sgd_epoch,
    K=200,
    inplace=0,
    returns_inplace=True,
    each=("W", "b"),
    diagnoses=[
        *(
            (_sgd(rate=r), "eta is not used: a number of your own stands in its place")
            for r in (0.1, 0.01, 0.001, 0.05, 0.5)
        ),
        (_sgd(pick=lambda order, X: np.unique(order)), _TWICE),
        (_sgd(pick=lambda order, X: dict.fromkeys(order.tolist())), _TWICE),
        (
            _sgd(pick=lambda order, X: [order]),
            "gradients wants one example, X[i] and Y[i]: loop over `order`",
        ),
        (
            _sgd(divide=len),
            "divided by the number of examples: here each example makes its own full step",
        ),
        (
            _sgd_layer_by_layer,
            "the gradient is taken again after some layers have already moved: "
            "call gradients once for each example, and move all layers with it",
        ),
        (
            _sgd_weights_first,
            "the gradient is taken again after W has already moved: call gradients once for each example",
        ),
        (
            _sgd_top_down,
            "the gradient is taken again after some layers have already moved: "
            "call gradients once for each example, and move all layers with it",
        ),
    ],
)
