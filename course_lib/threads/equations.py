"""Equations 4 to 7 of Saraiya 2018: the tasks that the threads of a backward pass share."""

from course_lib.errors import check_array
from course_lib.measure import Span, Timeline
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.losses import LOSSES
from course_lib.serial.network import check_params
from course_lib.threads.pool import ThreadFault


class Equations:
    """One backward pass, task by task, for any thread; `grads` fills up. No place is written twice: no lock.

    params, cache, Y: as for serial.backward. The arithmetic is its arithmetic too, in the same order, so that the
    results are equal bit for bit. Every task becomes a span of the timeline, every error a ThreadFault.
    """

    def __init__(self, params, cache, Y, timeline=None):
        check_params(params, cache.net)
        check_array("Y", Y, cache.A[-1].shape, cache.A[-1].dtype)
        self.params, self.cache, self.Y, self.grads = params, cache, Y, [None] * len(params)
        self.timeline = Timeline() if timeline is None else timeline

    def do(self, task, dZ=None):
        """One task. "delta": takes dZ of the layer above, returns the layer's own. "grad": takes and returns that."""
        start = self.timeline.clock()
        try:
            dZ = (self._delta if task.kind == "delta" else self._grad)(task.layer, dZ)
        except Exception as error:
            raise ThreadFault(f"layer {task.layer}, {task.kind}", task.thread, error) from error
        self.timeline.append(Span(task.thread, task.kind, task.layer, start, self.timeline.clock()))
        return dZ

    def _delta(self, layer, above):
        A, Z, net = self.cache.A, self.cache.Z, self.cache.net
        if layer == net.n_layers - 1:
            return LOSSES[net.loss].dZ(Z[-1], A[-1], self.Y)
        dA = above @ self.params[layer + 1][0].T
        dA *= ACTIVATIONS[net.activation].derivative(Z[layer], A[layer + 1])
        return dA

    def _grad(self, layer, dZ):
        dW = self.cache.A[layer].T @ dZ
        if self.cache.net.lam:
            dW += self.cache.net.lam * self.params[layer][0]
        self.grads[layer] = (dW, dZ.sum(axis=0))
        return dZ
