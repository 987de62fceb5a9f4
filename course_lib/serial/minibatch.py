"""Forward and backward for a whole mini-batch at once: examples in rows, three matrix products a layer.

This is algorithms 4 and 5 of [000] with the loop over examples inside the matrix product.
"""

from dataclasses import dataclass

import numpy as np

from course_lib.errors import BadInput, check_array
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.losses import LOSSES
from course_lib.serial.network import Network, check_params, network_of


@dataclass
class Cache:
    """What forward keeps for backward. A[0] is X, Z[l] (B, n_{l+1}) makes A[l+1], A[-1] is the output."""

    A: list[np.ndarray]
    Z: list[np.ndarray]
    net: Network


def forward(params, X, net=None):
    """Z[l] = A[l] W[l] + b[l], A[l+1] = f(Z[l]): [000] algorithm 4 and eq. 7, for all rows of X at once.

    params: list of (W (n_in, n_out), b (n_out,)); X: (B, n0), of the dtype of the params, float32 or float64.
    net: a Network; without it, the shapes of params with the sigmoid and MSE of [000].
    Returns a Cache. Raises BadInput for shapes or dtypes that do not fit.
    """
    net = network_of(params) if net is None else net
    check_params(params, net)
    check_array("X", X, ("B", net.sizes[0]), params[0][0].dtype)
    check_not_empty(X)
    A, Z = [X], []
    for layer, (W, b) in enumerate(params):
        z = A[-1] @ W
        z += b
        last = layer == net.n_layers - 1
        f = LOSSES[net.loss].output if last else ACTIVATIONS[net.activation].f
        Z.append(z)
        A.append(f(z))
    return Cache(A, Z, net)


def backward(params, cache, Y):
    """Gradient of the batch's mean loss, lam included: list of (dW, db), shaped as params. [000] algorithm 5.

    cache: from forward(params, X, net); Y: (B, nL) one-hot, of the dtype of the params.
    Raises BadInput where Y or the params do not fit the cache.
    """
    A, Z, net = cache.A, cache.Z, cache.net
    check_params(params, net)
    check_array("Y", Y, A[-1].shape, A[-1].dtype)
    grads = []
    dZ = LOSSES[net.loss].dZ(Z[-1], A[-1], Y)
    for layer in reversed(range(net.n_layers)):
        W, _ = params[layer]
        dW = A[layer].T @ dZ
        if net.lam:
            dW += net.lam * W
        grads.append((dW, dZ.sum(axis=0)))
        if layer > 0:
            dA = dZ @ W.T
            dA *= ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])
            dZ = dA
    return grads[::-1]


def gradients(net, params, X, Y):
    """forward, then backward. Returns the list of (dW, db)."""
    return backward(params, forward(params, X, net), Y)


def gradients_and_loss(net, params, X, Y):
    """(grads, loss) of one batch: the default for train's `gradients=`. After forward the loss costs nearly nothing."""
    cache = forward(params, X, net)
    return backward(params, cache, Y), loss_of(params, cache, Y)


def without_loss(gradients):
    """A function that returns gradients alone, such as `gradients`, in the form that train takes: (grads, None)."""
    return lambda net, params, X, Y: (gradients(net, params, X, Y), None)


def check_not_empty(X):
    """BadInput where the batch X (B, n0) has no rows."""
    if len(X) == 0:
        raise BadInput("X has no rows: a batch needs at least one example")


def loss_of(params, cache, Y):
    """The batch's mean loss plus lam/2 sum ||W||^2, a float, from a forward pass already made."""
    check_array("Y", Y, cache.A[-1].shape, cache.A[-1].dtype)
    return LOSSES[cache.net.loss].value(cache.Z[-1], cache.A[-1], Y) + penalty(cache.net, params)


def penalty(net, params):
    """lam/2 sum ||W||^2 over all weight matrices, [003] eq. 1; b is left alone."""
    return 0.5 * net.lam * sum(float(np.vdot(W, W)) for W, _ in params) if net.lam else 0.0
