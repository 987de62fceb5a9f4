"""How far two right computations of one gradient may lie apart, from the number format alone.

u is half the distance of 1 to the next float. A sum of K products, in whatever order, and over however many ranks, is
off by gamma(K) = K u / (1 - K u) times the sum of the absolute products at most (Higham, Accuracy and Stability of
Numerical Algorithms, chapter 3): a product is rounded once, and so is each of the at most K - 1 sums that it is in.
"""

import numpy as np

from course_lib.errors import BadInput
from course_lib.serial import backward, forward

FUNCTION = 8  # roundings of a sigmoid or a softmax besides its sums: exp, division, differences; each within 2 u


def gradient_bound(net, params, X, Y, scalings=0):
    """([(dW, db)] exact, [(E, e)]): no entry of the gradient of this batch, as serial, data, model or grid parallel
    code computes it from these very params in their dtype, is further than E (or e) from exact, up to terms in u^2.

    scalings: roundings of the last dZ besides; 2 in a pipeline, whose micro-batches are weighted there.
    X (B, n0), Y (B, nL). For sigmoid layers with cross_entropy, [003]'s network; BadInput for others.
    Errors are led through the layers: those of Z shrink by f' <= 1/4, those of A and dZ pass through |W|.
    """
    if (net.activation, net.loss) != ("sigmoid", "cross_entropy"):
        raise BadInput("gradient_bound is derived for sigmoid layers with cross_entropy")
    u = float(np.finfo(params[0][0].dtype).eps) / 2
    params = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    cache = forward(params, X, net)
    exact, EA, B = backward(params, cache, Y), [np.zeros_like(X)], len(X)
    for A, (W, b) in zip(cache.A, params, strict=False):
        EZ = EA[-1] @ abs(W) + _gamma(len(W) + 1, u) * (abs(A) @ abs(W) + abs(b))
        EA.append(EZ / 4 + FUNCTION * u)
    spread = np.ptp(cache.Z[-1], axis=1, keepdims=True)
    shift = 2 * EZ.max(axis=1, keepdims=True) + 2 * u * (spread + Y.shape[1] + FUNCTION)
    dZ, bounds = (cache.A[-1] - Y) / B, []
    E = cache.A[-1] * np.expm1(shift) / B + (4 + scalings) * u * abs(dZ)
    for layer in reversed(range(net.n_layers)):
        W, A, EA_ = params[layer][0], cache.A[layer], EA[layer]
        EW = (
            abs(A).T @ E
            + EA_.T @ (abs(dZ) + E)
            + _gamma(B + 4, u) * (abs(A).T @ abs(dZ) + net.lam * abs(W))
        )
        bounds.append((EW, E.sum(axis=0) + _gamma(B + 4, u) * abs(dZ).sum(axis=0)))
        dA, EdA = dZ @ W.T, E @ abs(W).T + _gamma(len(W[0]), u) * (abs(dZ) @ abs(W).T)
        slope = A * (1 - A)
        dZ, E = dA * slope, EdA / 4 + (abs(dA) + EdA) * (EA_ + 4 * u)
    return exact, bounds[::-1]


def _gamma(K, u):
    return K * u / (1 - K * u)
