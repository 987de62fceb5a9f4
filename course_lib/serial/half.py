"""Training in 16 bits, as tensor cores do it: every stored number rounded, products exact, sums in float32.

Micikevicius et al. 2018, "Mixed precision training", sections 3.1 to 3.3: master weights in float32, a scaled loss,
sums in float32. The first two can be left out here. What is simulated is the rounding: the arrays are float32
that hold only numbers of the format, and a product of two such numbers is exact in float32 but for over- and underflow.
"""

import numpy as np

from course_lib.data import one_hot
from course_lib.errors import BadInput, check_array, check_choice, check_count, check_number
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.formats import FORMATS, rounded
from course_lib.serial.losses import LOSSES
from course_lib.serial.network import Cache, check_params
from course_lib.serial.optimiser import SGD, Optimiser


def forward(params, X, net, name):
    """`serial.forward` in the format `name`; returns a Cache of float32 arrays.

    params: rounded already (see `copy_of`). X (B, n0), Z and hidden A are rounded here. The output's A is left in
    float32: softmax and loss are computed there (section 3.3 stores float16).
    """
    check_params(params, net)
    A, Z = [rounded(check_array("X", X, ("B", net.sizes[0])), name)], []
    for layer, (W, b) in enumerate(params):
        Z.append(rounded(A[-1] @ W + b, name))
        if layer < net.n_layers - 1:
            A.append(rounded(ACTIVATIONS[net.activation].f(Z[-1]), name))
    A.append(LOSSES[net.loss].output(Z[-1]))
    return Cache(A, Z, net)


def backward(params, cache, Y, name, scale=1.0):
    """The gradient of scale times the batch's mean loss in the format `name`: list of (dW, db), still scaled.

    The output's dZ is multiplied by scale in float32 before it is rounded; all gradients after it are scaled too, by
    the chain rule (section 3.2). The penalty of net.lam is not in them: see `unscaled`.
    """
    A, Z, net = cache.A, cache.Z, cache.net
    grads = []
    dZ = rounded(LOSSES[net.loss].dZ(Z[-1], A[-1], Y) * np.float32(scale), name)
    for layer in reversed(range(net.n_layers)):
        W, _ = params[layer]
        grads.append((rounded(A[layer].T @ dZ, name), rounded(dZ.sum(axis=0), name)))
        if layer > 0:
            dA = dZ @ W.T
            dA *= ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])
            dZ = rounded(dA, name)
    return grads[::-1]


def unscaled(grads, scale, params=None, lam=0.0):
    """Gradients divided by scale, in float32, and with the penalty lam W added where params are given."""
    small = [(dW / np.float32(scale), db / np.float32(scale)) for dW, db in grads]
    if not lam:
        return small
    return [(dW + lam * W, db) for (dW, db), (W, _) in zip(small, params, strict=True)]


def all_finite(grads):
    """Is no number of the list of (dW, db) infinite or NaN?"""
    return all(np.isfinite(dW).all() and np.isfinite(db).all() for dW, db in grads)


def copy_of(params, name):
    """params rounded to the format: a new list of (W, b) in float32."""
    return [(rounded(W, name), rounded(b, name)) for W, b in params]


class LossScale:
    """A factor for the loss, halved when a gradient overflows and doubled after `every` good steps.

    value: the factor now; if start is a power of two, so is it, and scaling rounds nothing. skipped: steps that
    overflowed. Micikevicius et al. 2018, section 3.2, leaves out such a step; start and every are as in PyTorch's
    GradScaler, which doubles and halves too.
    """

    def __init__(self, start=2.0**16, every=2000):
        self.value, self.every = check_number("start", start), check_count("every", every)
        self.good, self.skipped = 0, 0

    def take(self, grads):
        """May the step with these scaled gradients be taken? Adapts the factor for the next one."""
        if not all_finite(grads):
            self.value, self.good, self.skipped = self.value / 2, 0, self.skipped + 1
            return False
        self.good += 1
        if self.good == self.every:
            self.value, self.good = self.value * 2, 0
        return True


class FixedScale:
    """A factor that stays, and takes every step, overflow or not: value 1 is no scaling at all."""

    def __init__(self, value=1.0):
        self.value, self.skipped = check_number("scale", value), 0

    def take(self, grads):
        return True


class MixedPrecision:
    """A network trained in the format `name`; `params` are what an update changes.

    rule: an Optimiser, or a learning rate for SGD. scale: a LossScale, or a number that stays.
    master: params are float32 and are rounded for each step. Without it they are in the format themselves, and so is
    the result of each update (section 3.1 says what is lost).
    With name "float32", scale 1 and SGD a step is the serial one.
    """

    def __init__(self, net, params, rule, name="float16", scale=1.0, master=True):
        check_params(params, net)
        self.net, self.name = net, check_choice("name", name, FORMATS)
        self.rule = rule if isinstance(rule, Optimiser) else SGD(rule)
        self.scale = scale if isinstance(scale, LossScale) else FixedScale(scale)
        self.master = master
        self.params = [(W.copy(), b.copy()) for W, b in params] if master else copy_of(params, name)

    def scaled_gradients(self, X, Y):
        """(gradients in the format, still scaled; the batch's mean loss, float)."""
        params = copy_of(self.params, self.name) if self.master else self.params
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow shows in what is returned
            cache = forward(params, X, self.net, self.name)
            loss = LOSSES[self.net.loss].value(cache.Z[-1], cache.A[-1], Y)
            return backward(params, cache, Y, self.name, self.scale.value), loss

    def step(self, X, Y):
        """One step on X (B, n0), Y (B, nL), float32; returns the loss before it. An overflow may leave the step out."""
        scale = self.scale.value
        grads, loss = self.scaled_gradients(X, Y)
        if self.scale.take(grads):
            self.rule.step(self.params, unscaled(grads, scale, self.params, self.net.lam))
            if not self.master:
                self.params = copy_of(self.params, self.name)
        return loss

    def train(self, X, y, epochs, batch_size, seed=0):
        """Epochs over X (N, n0) and labels y (N,), in the order of `serial.train`; returns the mean loss of each."""
        if len(X) != len(y):
            raise BadInput(f"X has {len(X)} rows and y {len(y)} labels: they must be as many")
        Y, losses = one_hot(y, self.net.sizes[-1]), []
        for epoch in range(epochs):
            order = np.random.default_rng([seed, epoch]).permutation(len(X))
            rows = [order[start : start + batch_size] for start in range(0, len(X), batch_size)]
            losses.append(sum(self.step(X[r], Y[r]) * len(r) for r in rows) / len(X))
        return losses
