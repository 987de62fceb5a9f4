"""The best step of this course on CPUs: T groups share the examples, the P threads of a group share each product.

T = n, P = 1 is data parallelism ([000] algorithm 3), T = 1, P = n is [001]'s second way with threads of our own, both
above 1 is the hybrid that both leave as future work. No gradient is ever stored: once all dZ stand, each thread does
W[part] = (1 - eta lam) W[part] - eta A[:, part].T dZ in one call of BLAS. So there is nothing to reduce.
"""

import threading

import numpy as np

from course_lib.errors import BadInput, check_array, check_count
from course_lib.measure import blas_threads
from course_lib.serial.network import check_number, check_params
from course_lib.threads.pool import Pool, ThreadFault
from course_lib.threads.shards import cut, rows_text, shards


class GridStep:
    """Trains `params` (float32, C-contiguous) in place; T P threads, kept until close() or the end of a `with` block.

    B: rows of a batch, 1 <= T <= B; P at most the width of the widest layer. The same T and P give the same bits in
    each run. Raises BadInput for what cannot be. After a ThreadFault the params are spoilt: part has made the step.
    """

    def __init__(self, net, params, B, eta, T=1, P=1):
        check_params(params, net)
        for l, (W, b) in enumerate(params):
            check_array(f"params[{l}][0] (W)", W, dtype=np.float32)
            if not (W.flags.c_contiguous and W.flags.writeable and b.flags.c_contiguous and b.flags.writeable):
                raise BadInput(f"params[{l}] must be C-contiguous and writable, to be changed in place: copy it")
        self.net, self.params, self.eta, self.B = net, params, check_number("eta", eta), check_count("B", B)
        self.T, self.P = len(shards(B, T)), check_count("P (threads of a group)", P, 1, max(net.sizes[1:]))
        self.A = [np.zeros((B, n), np.float32) for n in net.sizes[:-1]]
        self.dZ = [np.zeros((B, n), np.float32) for n in net.sizes[1:]]
        self.Y, self.db = np.zeros_like(self.dZ[-1]), [np.zeros_like(b) for _, b in params]
        self._losses = np.zeros(self.T * self.P)  # float64: a sum over the epoch for each thread
        self._all = threading.Barrier(self.T * self.P)
        self._next = threading.Barrier(self.T * self.P, action=self._decide)
        self._groups = [threading.Barrier(self.P) for _ in range(self.T)]
        self._programs, self._pool = {}, Pool(self.T * self.P)
        self._interrupted = self._stopped = False

    def step(self, X, Y):
        """One step on the rows of X (at most B of them, float32); returns the loss before it."""
        check_count("the number of rows of X", len(X), 1, self.B)
        return self.epoch(X, Y)

    def epoch(self, X, Y, order=None):
        """A step for each batch of B rows, the last perhaps smaller; returns the mean of the losses before each step.

        X (N, n0), Y (N, nL) float32; order: the row numbers in the order of their use, else 0 to N - 1. A
        KeyboardInterrupt ends it between two steps. Raises BadInput, and ThreadFault with shard, batch and layer.
        """
        X, Y, order = self._check(X, Y, order)
        starts = range(0, len(order), self.B)
        batches = [order[start : start + self.B] for start in starts]
        for rows in {len(batches[0]), len(batches[-1])} - set(self._programs):
            self._programs[rows] = [self._program(t, rows) for t in range(self.T * self.P)]
        self._losses[:], self._interrupted = 0, False
        for barrier in (self._all, self._next, *self._groups):
            barrier.reset()
        with blas_threads(1):
            self._pool.run([lambda t=t: self._work(t, X, Y, batches) for t in range(len(self._losses))], None, self._abort)
        return float(self._losses.sum()) / len(order)

    def close(self):
        self._pool.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _work(self, t, X, Y, batches):
        """What thread t does in an epoch."""
        number, what = 0, ""
        try:
            for number, batch in enumerate(batches):
                rows, program = self._programs[len(batch)][t]
                np.take(X, batch[rows], axis=0, out=self.A[0][rows], mode="clip")  # "raise" would go through a copy
                np.take(Y, batch[rows], axis=0, out=self.Y[rows], mode="clip")
                for what, function, *arguments in program:
                    function(*arguments)
                if self._stopped:
                    break
        except Exception as error:
            raise ThreadFault(f"shard {t // self.P}, {rows_text(rows)}, batch {number}, {what}", t, error) from error

    def _program(self, t, B):
        """(the rows that thread t gathers, its calls for a batch of B rows: tuples of a text, a function, arguments)."""
        from course_lib.threads import kernels
        from course_lib.threads.gemm import prepared

        group, member = divmod(t, self.P)
        rows = cut(B, self.T)[group]  # of the group
        own = [slice(rows.start + s.start, rows.start + s.stop) for s in cut(rows.stop - rows.start, self.P)][member]
        A, dZ, net, calls = self.A, self.dZ, self.net, []
        kind, last, together = kernels.KINDS[net.activation], net.n_layers - 1, self._groups[group]

        def meet(barrier):
            if barrier.parties > 1 or barrier is self._next:
                calls.append(("waiting", barrier.wait))

        meet(together)
        for l, (W, b) in enumerate(self.params[:-1]):
            c = cut(len(b), self.P)[member]
            calls += [(f"layer {l}, forward", np.matmul, A[l][rows], W[:, c], A[l + 1][rows, c]),
                      (f"layer {l}, forward", kernels.activate, A[l + 1][rows], b, c.start, c.stop, kind)]
            meet(together)
        W, b = self.params[last]
        calls += [(f"layer {last}, forward", np.matmul, A[last][own], W, dZ[last][own]),
                  (f"layer {last}, loss", getattr(kernels, net.loss), dZ[last][own], b, self.Y[own], B, self._losses, t)]
        for l in range(last, 0, -1):
            meet(together)
            W, _ = self.params[l]
            c = cut(len(W), self.P)[member]
            calls += [(f"layer {l}, backward", np.matmul, dZ[l][rows], W[c].T, dZ[l - 1][rows, c]),
                      (f"layer {l}, backward", kernels.derive, dZ[l - 1][rows], A[l][rows], c.start, c.stop, kind)]
        meet(self._all)
        for l, (W, b) in enumerate(self.params):
            w, c = (cut(n, self.T * self.P)[t] for n in W.shape)
            if net.lam:
                calls.append((f"layer {l}, penalty", self._add_penalty, t, W[w], B))
            calls += [(f"layer {l}, update", prepared(-self.eta, A[l][:B, w].T, dZ[l][:B], 1 - self.eta * net.lam, W[w])),
                      (f"layer {l}, update", kernels.bias_step, b, dZ[l][:B], self.db[l], c.start, c.stop, np.float32(self.eta))]
        meet(self._next)
        return own, calls

    def _add_penalty(self, t, W, B):
        self._losses[t] += 0.5 * self.net.lam * B * np.vdot(W, W)

    def _decide(self):
        """Called by one thread while all wait: so all stop after the same step, or none."""
        self._stopped = self._interrupted

    def _abort(self, error):
        if isinstance(error, KeyboardInterrupt):
            self._interrupted = True
            return
        for barrier in (self._all, self._next, *self._groups):
            barrier.abort()
    def _check(self, X, Y, order):
        check_array("X", X, ("N", self.net.sizes[0]), np.float32)
        check_array("Y", Y, (len(X), self.net.sizes[-1]), np.float32)
        order = np.arange(len(X)) if order is None else check_array("order", order, ("N",))
        if not (np.issubdtype(order.dtype, np.integer) and len(order) and order.min() >= 0 and order.max() < len(X)):
            raise BadInput(f"order must hold row numbers of X, from 0 to {len(X) - 1}, at least one")
        return np.ascontiguousarray(X), np.ascontiguousarray(Y), order.astype(np.intp)
