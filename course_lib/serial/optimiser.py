"""Rules of update that remember: gradient descent with momentum, and Adam.

A rule works on each number by itself: the update of one weight needs the gradient and the memory of that weight, and
nothing else. So the memory may be cut anywhere, into shards on many ranks: see `course_lib.mpi.sharded`.
"""

import math

import numpy as np

from course_lib.errors import BadInput, check_array, check_number
from course_lib.serial.network import check_grads


class Optimiser:
    """A rule of update and what it remembers between two steps.

    slots: arrays that it keeps for each array of parameters, of the same shape and dtype. t: steps done.
    state: for each array of parameters the list of its arrays; made, all zeros, in the first step.
    """

    slots = 0

    def __init__(self, eta):
        self.eta, self.t = check_number("eta", eta), 0
        self.state: list[list[np.ndarray]] | None = None

    @property
    def nbytes(self):
        """Bytes of the state."""
        return sum(array.nbytes for arrays in self.state or () for array in arrays)

    def step(self, params, grads):
        """One step for params, a list of (W, b), in place, as `sgd_step`; returns params.

        Raises BadInput where grads, a list of (dW, db), do not fit, or where the state is of another network.
        """
        check_grads(grads, params, params[0][0].dtype)
        self.update(*([array for pair in pairs for array in pair] for pairs in (params, grads)))
        return params

    def update(self, thetas, gs):
        """One step for arrays of parameters of any shapes, in place, given the gradient of each; returns thetas."""
        if self.state is None:
            self.state = [[np.zeros_like(theta) for _ in range(self.slots)] for theta in thetas]
        self._check(thetas, gs)
        self.t += 1
        for theta, g, state in zip(thetas, gs, self.state, strict=True):
            self.rule(theta, g, *state)
        return thetas

    def rule(self, theta, g, *state):
        """Change theta and its state, in place, by the gradient g; self.t counts this step, from 1."""
        raise NotImplementedError

    def _check(self, thetas, gs):
        state = self.state or []
        if not len(thetas) == len(gs) == len(state):
            counts = f"{len(thetas)} arrays of parameters, {len(gs)} of gradients"
            raise BadInput(f"{counts}, a state for {len(state)}: make a new {type(self).__name__}")
        for n, (theta, g, kept) in enumerate(zip(thetas, gs, state, strict=True)):
            for name, array in (("the gradient", g), *(("the state", array) for array in kept)):
                check_array(f"{name} of array {n}", array, theta.shape, theta.dtype)


class SGD(Optimiser):
    """v := mu v + g; theta := theta - eta v: Polyak's momentum (1964) in the form that PyTorch has.

    mu: how much of the last step stays, 0 <= mu < 1. With mu = 0 there is no state: this is `sgd_step`.
    """

    def __init__(self, eta, mu=0.0):
        super().__init__(eta)
        self.mu = _below_one("mu", mu)
        self.slots = 1 if self.mu else 0

    def rule(self, theta, g, *state):
        """v is g alone in the first step, since it starts from 0."""
        for v in state:
            v *= self.mu
            v += g
            g = v
        theta -= self.eta * g


class Adam(Optimiser):
    """Kingma & Ba 2015, algorithm 1: each weight's step is divided by the size that its gradient lately had.

        m := beta1 m + (1 - beta1) g        v := beta2 v + (1 - beta2) g^2
        theta := theta - eta (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)

    m and v start from 0 and are too small at first; the divisions by 1 - beta^t correct this (section 3).
    """

    slots = 2

    def __init__(self, eta=0.001, beta1=0.9, beta2=0.999, eps=1e-8):
        super().__init__(eta)
        self.beta1, self.beta2 = _below_one("beta1", beta1), _below_one("beta2", beta2)
        self.eps = check_number("eps", eps)

    def rule(self, theta, g, *state):
        m, v = state
        m *= self.beta1
        m += (1 - self.beta1) * g
        v *= self.beta2
        v += (1 - self.beta2) * g * g
        size = np.sqrt(v)
        size /= math.sqrt(1 - self.beta2**self.t)
        size += self.eps
        theta -= self.eta / (1 - self.beta1**self.t) * m / size


def _below_one(name, value):
    number = check_number(name, value, positive=False)
    if number >= 1:
        raise BadInput(f"{name} must be below 1, not {value!r}: nothing would ever be forgotten")
    return number
