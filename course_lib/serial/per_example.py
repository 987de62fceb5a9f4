"""Kamra 2016, algorithms 4 and 5 as they are written: one example, one neuron at a time, plain Python numbers.

Slow on purpose: every product and every sum can be seen. Sigmoid in all layers and the squared error of eq. 6.
The paper counts layers from 1 (the input) to L; here W[l] leads from a[l] to a[l+1], and a[0] is the input.
"""

import math

import numpy as np

from course_lib.errors import check_array
from course_lib.serial.network import check_not_empty, check_params, network_of


def sigmoid(z):
    """1 / (1 + exp(-z)) of one number (Kamra 2016, eq. 3); exp(z) / (1 + exp(z)) for z < 0: exp never overflows."""
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    return math.exp(z) / (1 + math.exp(z))


def d_sigmoid(z):
    """sigma'(z) = sigma(z) (1 - sigma(z)), Darve 2019, section 3.1."""
    return sigmoid(z) * (1 - sigmoid(z))


def forward_example(params, x):
    """Kamra 2016, algorithm 4. params: list of (W, b), nested lists or arrays; x: n0 numbers.

    Returns (z, a), lists of lists: a[0] is x, and z[l] makes a[l+1].
    """
    z, a = [], [list(x)]
    for W, b in params:
        z_layer = []
        for j in range(len(b)):  # neuron j: its inputs times column j of W
            total = b[j]
            for i in range(len(a[-1])):
                total += W[i][j] * a[-1][i]
            z_layer.append(total)
        z.append(z_layer)
        a.append([sigmoid(z_j) for z_j in z_layer])
    return z, a


def backward_example(params, x, y):
    """Algorithm 5 of Kamra 2016: the gradient of ||y - a_L||^2 for one example, as a list of (dW, db), nested lists."""
    z, a = forward_example(params, x)
    grads: list = []
    # dL/da = 2 (a - y), not the (y - f) that algorithms 1 to 3 print
    delta = [
        2 * (a_j - y_j) * d_sigmoid(z_j) for a_j, y_j, z_j in zip(a[-1], y, z[-1], strict=True)
    ]
    for layer in reversed(range(len(params))):
        W, _ = params[layer]
        dW = [[a_i * delta_j for delta_j in delta] for a_i in a[layer]]  # a delta^T
        grads.insert(0, (dW, delta))
        if layer > 0:
            # (W delta) o sigma'(z)
            delta = [dot(W[i], delta) * d_sigmoid(z_i) for i, z_i in enumerate(z[layer - 1])]
    return grads


def dot(u, v):
    """Sum of u_j v_j."""
    total = 0.0
    for u_j, v_j in zip(u, v, strict=True):
        total += u_j * v_j
    return total


def gradients(params, X, Y):
    """The mean of backward_example over the rows of X (B, n0) and Y (B, nL): list of (dW, db), arrays as params.

    Computed in Python's floats (float64), rounded to the dtype of params at the end. Raises BadInput as forward does.
    """
    check_batch(params, X, Y)
    lists = [(W.tolist(), b.tolist()) for W, b in params]
    sums = [(np.zeros(W.shape), np.zeros(b.shape)) for W, b in params]
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        for (sum_W, sum_b), (dW, db) in zip(sums, backward_example(lists, x, y), strict=True):
            sum_W += dW
            sum_b += db
    dtype = params[0][0].dtype
    return [tuple((total / len(X)).astype(dtype) for total in pair) for pair in sums]


def check_batch(params, X, Y):
    """BadInput unless X (B, n0) and Y (B, nL), B >= 1, fit params in shape and dtype."""
    net = network_of(params)
    check_params(params, net)
    dtype = params[0][0].dtype
    check_array("X", X, ("B", net.sizes[0]), dtype)
    check_array("Y", Y, (len(X), net.sizes[-1]), dtype)
    check_not_empty(X)
