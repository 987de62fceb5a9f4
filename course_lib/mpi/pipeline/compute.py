"""What one task computes, without messages: forward, and equations 4 to 7 of Saraiya 2018, for a stage's layers."""

from dataclasses import dataclass, field

import numpy as np

from course_lib.serial import ACTIVATIONS, LOSSES


@dataclass
class Kept:
    """What a stage keeps of a micro-batch: A[0] its input, Z[l] and A[l + 1] of its layers, later their dZ."""

    A: list[np.ndarray]
    Z: list[np.ndarray] = field(default_factory=list)
    dZ: list[np.ndarray] = field(default_factory=list)

    @property
    def nbytes(self):
        """Bytes of all these arrays."""
        return sum(array.nbytes for array in (*self.A, *self.Z, *self.dZ))


class Stage:
    """Neighbouring layers of a net, and the sum of their gradients.

    params: their (W, b); grads: (dW, db), to which `grad` adds, one micro-batch after the other.
    """

    def __init__(self, net, layers, params):
        self.net, self.layers, self.params = net, layers, params
        self.grads = [(net.lam * W, np.zeros_like(b)) for W, b in params]

    def forward(self, A):
        """Kept of a micro-batch with this input: its last A goes to the next stage."""
        kept = Kept([A])
        for layer, (W, b) in zip(self.layers, self.params, strict=True):
            kept.Z.append(kept.A[-1] @ W + b)
            last = layer == self.net.n_layers - 1
            f = LOSSES[self.net.loss].output if last else ACTIVATIONS[self.net.activation].f
            kept.A.append(f(kept.Z[-1]))
        return kept

    def first_delta(self, kept, Y, weight):
        """dZ of the net's last layer, times the micro-batch's share of the batch's mean."""
        return LOSSES[self.net.loss].dZ(kept.Z[-1], kept.A[-1], Y) * weight

    def delta(self, kept, dA, dZ=None):
        """dA of the input (None where that is X), from dA of the output; in the last stage from dZ of the last layer.

        Kept then holds what `grad` needs, and no more: the inputs of the layers and their dZ.
        """
        slope = ACTIVATIONS[self.net.activation].derivative
        for n in reversed(range(len(self.layers))):
            dZ = dA * slope(kept.Z[n], kept.A[n + 1]) if dZ is None else dZ
            kept.dZ.insert(0, dZ)
            dA, dZ = (dZ @ self.params[n][0].T if self.layers[n] else None), None
        del kept.A[-1], kept.Z[:]
        return dA

    def grad(self, kept):
        """Adds dW and db of this micro-batch."""
        for (dW, db), A, dZ in zip(self.grads, kept.A, kept.dZ, strict=True):
            dW += A.T @ dZ
            db += dZ.sum(axis=0)
