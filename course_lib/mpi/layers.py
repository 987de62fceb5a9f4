"""Forward and backward one layer at a time, for schemes that send or fetch layer by layer."""

import numpy as np

from course_lib.errors import check_array
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.losses import LOSSES


def layer_sizes(net):
    """Parameters of each layer, W and b together."""
    return [(a + 1) * b for a, b in zip(net.sizes, net.sizes[1:], strict=False)]


def as_layer(flat, net, layer):
    """Views (W, b) into `flat`, the parameters of one layer in one dimension: W row by row, then b."""
    n_in, n_out = net.sizes[layer : layer + 2]
    return flat[: n_in * n_out].reshape(n_in, n_out), flat[n_in * n_out :]


def layer_gradients(net, weights, X, Y):
    """serial.forward and backward: yields (layer, its gradient, flat as in `as_layer`, loss), the last layer first.

    weights: layer -> (W, b), asked for when forward comes to a layer, and again when backward does; not kept between.
    X (B, n0), Y (B, nL), also with B = 0: then the gradient of the penalty alone, and no loss.
    """
    A, Z, penalty = [X], [], 0.0
    for layer in range(net.n_layers):
        W, b = weights(layer)
        last = layer == net.n_layers - 1
        f = LOSSES[net.loss].output if last else ACTIVATIONS[net.activation].f
        Z.append(A[-1] @ W + b)
        A.append(f(Z[-1]))
        penalty += 0.5 * net.lam * float(np.vdot(W, W)) if net.lam else 0.0
        del W, b
    loss, dZ = penalty, check_array("Y", Y, A[-1].shape, A[-1].dtype)
    if len(X):
        loss += LOSSES[net.loss].value(Z[-1], A[-1], Y)
        dZ = LOSSES[net.loss].dZ(Z[-1], A[-1], Y)
    for layer in reversed(range(net.n_layers)):
        W, _ = weights(layer)
        yield layer, _gradient(net, W, A[layer], dZ), loss
        if layer:
            dZ = (dZ @ W.T) * ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])
        del W


def _gradient(net, W, A, dZ):
    """dW = A^T dZ + lam W and db = sum of dZ over the rows, in one array."""
    flat = np.empty(W.size + W.shape[1], W.dtype)
    np.matmul(A.T, dZ, out=flat[: W.size].reshape(W.shape))
    np.sum(dZ, axis=0, out=flat[W.size :])
    if net.lam:
        flat[: W.size] += net.lam * W.reshape(-1)
    return flat
