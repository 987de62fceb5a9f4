"""How far float32 may take a network's gradients and parameters from the exact ones: a bound, entry by entry.

Each line of forward and backward is bounded with the one before it. With u = 2^-24, a sum of K rounded products is off
by (K + 3) u times the sum of the absolute values, in any order, with or without FMA; f hands on an error times its
greatest slope, and adds its own. So the bound grows with K, with depth, and from step to step; that it is a bound
and no estimate shows in how much smaller the true differences are.
"""

import numpy as np

from course_lib.serial import backward, forward, sgd_step

U = 2.0**-24
OWN = 8 * U  # relative error of exp, tanh and the sigmoid made of them; CUDA's are within 2 units in the last place
SLOPE = {"sigmoid": 0.25, "tanh": 1.0, "relu": 1.0, "identity": 1.0}


def gradient_bounds(net, params, X, Y, errors=None):
    """(grads, bounds): the gradient in float64, and how far one computed in float32 may be, each a list of (dW, db).

    params, X, Y: as for the serial library, of float32. errors: list of (eW, eb), how far the float32 run's parameters
    may be from these params already; None: not at all.
    """
    wide = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
    errors = errors or [(0 * W, 0 * b) for W, b in wide]
    cache = forward(wide, X.astype(np.float64), net)
    grads = backward(wide, cache, Y.astype(np.float64))
    eA, eZ = _forward(net, wide, cache, errors)
    dZ, e = _output(net, cache, Y, eA[-1])
    bounds = []
    for l in reversed(range(net.n_layers)):
        (W, _), (eW, eb) = wide[l], errors[l]
        own = net.lam * eW + 4 * U * (net.lam * abs(W) + abs(grads[l][0]))
        bounds.append((_product(cache.A[l].T, eA[l].T, dZ, e) + own, _product(np.ones((1, len(X))), 0, dZ, e)[0]))
        if l:
            dA, eA_ = dZ @ W.T, _product(dZ, e, W.T, eW.T)
            slope, e_slope = _slope(net.activation, cache.Z[l - 1], cache.A[l], eZ[l - 1], eA[l])
            dZ, e = dA * slope, _times(dA, eA_, slope, e_slope)
    return grads, bounds[::-1]


def step_bounds(net, params, X, Y, eta, errors=None):
    """One step in float64, from params of float64, in place; returns how far the float32 run's parameters may be now."""
    grads, bounds = gradient_bounds(net, params, X, Y, errors)
    errors = errors or [(0.0, 0.0)] * len(params)
    after = []
    for pair, error, grad, bound in zip(params, errors, grads, bounds, strict=True):
        after.append(tuple(e + eta * b + 4 * U * (abs(p) + e + eta * (abs(g) + b))
                           for p, e, g, b in zip(pair, error, grad, bound, strict=True)))  # fmt: skip
    sgd_step(params, grads, eta)
    return after


def _forward(net, params, cache, errors):
    """Bounds of A and Z, layer by layer."""
    eA, eZ = [np.zeros_like(cache.A[0])], []
    for l, ((W, b), (eW, eb)) in enumerate(zip(params, errors, strict=True)):
        A, Z = cache.A[l + 1], cache.Z[l]
        eZ.append(_product(cache.A[l], eA[l], W, eW) + eb + (W.shape[0] + 3) * U * (abs(b) + eb))
        if l == net.n_layers - 1 and net.loss == "cross_entropy":
            spread = np.ptp(Z, axis=1, keepdims=True)
            eA.append(A * (np.expm1(2 * eZ[-1].max(axis=1, keepdims=True) + 2 * U * spread) + (A.shape[1] + 12) * U))
        else:
            f = net.activation if l < net.n_layers - 1 else "sigmoid"
            eA.append(SLOPE[f] * eZ[-1] + (OWN * abs(A) if f in ("sigmoid", "tanh") else 0))
    return eA, eZ


def _output(net, cache, Y, eA):
    """The output delta and its bound."""
    A, B = cache.A[-1], len(Y)
    D = A - Y
    if net.loss == "cross_entropy":
        return D / B, (eA + 4 * U * abs(D)) / B
    slope, e_slope = _slope("sigmoid", None, A, None, eA)
    return 2 / B * D * slope, 2 / B * (_times(D, eA + U * abs(D), slope, e_slope) + 4 * U * abs(D) * slope)


def _slope(activation, Z, A, eZ, eA):
    """f' and its bound. Where z may have either sign, relu's may be 0 or 1."""
    if activation == "sigmoid":
        return A * (1 - A), eA * (1 + eA) + 4 * U * A
    if activation == "tanh":
        return 1 - A * A, 2 * abs(A) * eA + eA * eA + 4 * U
    if activation == "relu":
        return (Z > 0).astype(np.float64), (abs(Z) <= eZ).astype(np.float64)
    return np.ones_like(A), np.zeros_like(A)


def _product(A, eA, W, eW):
    """Bound of A @ W computed in float32, where A and W are off by eA and eW themselves."""
    most = (abs(A) + eA) @ (abs(W) + eW)
    return most - abs(A) @ abs(W) + (A.shape[1] + 3) * U * most


def _times(a, ea, b, eb):
    """The same of a number times a number."""
    return abs(a) * eb + ea * abs(b) + ea * eb + 3 * U * (abs(a) + ea) * (abs(b) + eb)
