"""Gradients and loss of a whole mini-batch, from `network.forward` and `network.backward`."""

import numpy as np

from course_lib.errors import check_array
from course_lib.serial.losses import LOSSES
from course_lib.serial.network import backward, forward


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


def loss_of(params, cache, Y):
    """The batch's mean loss plus lam/2 sum ||W||^2, a float, from a forward pass already made."""
    check_array("Y", Y, cache.A[-1].shape, cache.A[-1].dtype)
    return LOSSES[cache.net.loss].value(cache.Z[-1], cache.A[-1], Y) + penalty(cache.net, params)


def penalty(net, params):
    """lam/2 sum ||W||^2 over all weight matrices, Darve 2019, eq. 1; b is left alone."""
    return 0.5 * net.lam * sum(float(np.vdot(W, W)) for W, _ in params) if net.lam else 0.0
