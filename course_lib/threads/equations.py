"""Equations 4 to 7 of [002], one call for each: what the threads of a backward pass share."""

from contextlib import contextmanager

from course_lib.errors import check_array
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.losses import LOSSES
from course_lib.serial.network import check_params
from course_lib.threads.pool import ThreadFault
from course_lib.threads.timeline import Span, Timeline


class Equations:
    """The tasks of one backward pass, for any thread. Nothing is written twice, so there is no lock.

    `grads` fills up with (dW, db). Each task becomes a span of the timeline, each error a ThreadFault with its layer.
    The arithmetic is that of serial.backward, in the same order: the results are the same bit for bit.
    """

    def __init__(self, params, cache, Y, timeline=None):
        check_params(params, cache.net)
        check_array("Y", Y, cache.A[-1].shape, cache.A[-1].dtype)
        self.params, self.cache, self.Y = params, cache, Y
        self.timeline = Timeline() if timeline is None else timeline
        self.grads = [None] * len(params)

    def delta(self, thread, layer, above=None):
        """dZ of a layer: equation 4 at the last one, equation 5 below, where `above` is dZ of the next layer."""
        A, Z, net = self.cache.A, self.cache.Z, self.cache.net
        with self._task(thread, "delta", layer):
            if layer == len(Z) - 1:
                return LOSSES[net.loss].dZ(Z[-1], A[-1], self.Y)
            dA = above @ self.params[layer + 1][0].T
            dA *= ACTIVATIONS[net.activation].derivative(Z[layer], A[layer + 1])
            return dA

    def grad(self, thread, layer, dZ):
        """Equations 7 and 6: dW = A.T dZ (+ lam W), and db the column sums of dZ."""
        with self._task(thread, "grad", layer):
            dW = self.cache.A[layer].T @ dZ
            if self.cache.net.lam:
                dW += self.cache.net.lam * self.params[layer][0]
            self.grads[layer] = (dW, dZ.sum(axis=0))

    @contextmanager
    def _task(self, *task):
        thread, kind, layer = task
        start = self.timeline.clock()
        try:
            yield
        except Exception as error:
            raise ThreadFault(f"layer {layer}, {kind}", thread, error) from error
        self.timeline.append(Span(*task, start, self.timeline.clock()))
