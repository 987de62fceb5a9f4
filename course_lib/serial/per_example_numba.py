"""The loops of `per_example`, compiled by Numba: same algorithms, same order of examples, machine speed.

Compiled with nogil=True: while it runs, other Python threads run too (the threads chapters build on that).
The first call for a number of layers and a dtype compiles for some seconds; cache=True keeps the result on disk.
Needs Numba, so nothing imports this module until it is asked for.
"""

import math

import numpy as np
from numba import njit

from course_lib.serial.per_example import check_batch


def compiled(function, **options):
    """njit(nogil, cache); without the cache where no folder can be written, as in a read-only install."""
    try:
        return njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return njit(nogil=True, **options)(function)


def gradients(params, X, Y):
    """The mean gradient over the rows of X (B, n0) and Y (B, nL), sigmoid and MSE: list of (dW, db), dtype of params.

    Sums are in that dtype; for float32, Numba computes 1 - a in float64. Raises BadInput as forward does.
    """
    check_batch(params, X, Y)
    sums = gradient_sums(params, X, Y)
    for dW, db in sums:
        dW /= len(X)
        db /= len(X)
    return sums


def gradient_sums(params, X, Y, out=None):
    """The sum, not the mean, over the rows: what one thread contributes. Unchecked: call check_batch once before.

    out: list of (dW, db) to add to, each contiguous; without it, new zeros. Returned.
    """
    sums = out
    if out is None:
        sums = [(np.zeros(W.shape, W.dtype), np.zeros(b.shape, b.dtype)) for W, b in params]
    Ws, bs = tuple(_plain(W) for W, _ in params), tuple(_plain(b) for _, b in params)
    _add_examples(Ws, bs, _plain(X), _plain(Y), *map(tuple, zip(*sums, strict=True)))
    return sums


def _plain(array):
    """Contiguous and writable, copied where it is not: each other kind of array would be compiled for anew."""
    return np.require(array, requirements=["C", "W"])


@compiled
def _sigmoid(z):
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    return math.exp(z) / (1 + math.exp(z))


@compiled
def _forward_layer(W, b, a, out):
    """out = sigmoid(W^T a + b). i outside, j inside: W is then read along its rows, as it lies in memory."""
    out[:] = b
    for i in range(len(a)):
        for j in range(len(b)):
            out[j] += W[i, j] * a[i]
    for j in range(len(b)):
        out[j] = _sigmoid(out[j])


@compiled
def _add_layer(a, delta, dW, db):
    """dW += a delta^T, db += delta."""
    for j in range(len(delta)):
        db[j] += delta[j]
    for i in range(len(a)):
        for j in range(len(delta)):
            dW[i, j] += a[i] * delta[j]


def _dot(u, v):
    """The sum of u o v; its terms may be added in any order."""
    total = u[0] * v[0]
    for j in range(1, len(u)):
        total += u[j] * v[j]
    return total


# Added in the order of the source, each term waits for the one before: no vector registers, a tenth of the speed.
_dot = compiled(_dot, fastmath={"reassoc", "nsz"})


@compiled
def _delta_before(W, delta, a, out):
    """out = (W delta) o a (1 - a)."""
    for i in range(len(a)):
        out[i] = _dot(W[i], delta) * a[i] * (1 - a[i])


@compiled
def _add_examples(Ws, bs, X, Y, dWs, dbs):
    """Algorithms 4 and 5 for each row in turn; adds its gradient to dWs and dbs."""
    L = len(Ws)
    a = [np.empty(len(b), X.dtype) for b in bs]  # a[l] is what layer l puts out
    delta = [np.empty(len(b), X.dtype) for b in bs]
    for example in range(len(X)):
        x, y = X[example], Y[example]
        for layer in range(L):
            _forward_layer(Ws[layer], bs[layer], x if layer == 0 else a[layer - 1], a[layer])
        for j in range(len(y)):
            delta[-1][j] = 2 * (a[-1][j] - y[j]) * a[-1][j] * (1 - a[-1][j])
        for layer in range(L - 1, -1, -1):
            _add_layer(x if layer == 0 else a[layer - 1], delta[layer], dWs[layer], dbs[layer])
            if layer > 0:
                _delta_before(Ws[layer], delta[layer], a[layer - 1], delta[layer - 1])
