"""The best step of this course on CPUs: T groups share the examples, the P threads of a group share each product.

T = n, P = 1 is data parallelism (Kamra 2016, algorithm 3), T = 1, P = n is the second way of Goyal 2016 with threads of
our own, both above 1 is the hybrid that Goyal 2016 leaves as future work. A wide layer's gradient is never stored: once
all dZ stand, each thread does W[part] = (1 - eta lam) W[part] - eta A[:, part].T dZ in one call of BLAS. So there is
nothing to reduce.
"""

import threading

import numpy as np

from course_lib.errors import BadInput, check_array, check_count, check_number
from course_lib.measure import blas_threads
from course_lib.serial.network import check_params
from course_lib.threads.barrier import Barrier
from course_lib.threads.pool import Pool, ThreadFault
from course_lib.threads.shards import rows_text, shards


class GridStep:
    """Trains `params` (float32, C-contiguous) in place with T P threads, kept until close() or the end of a `with`.

    B: rows of a batch, 1 <= T <= B; P at most the width of the widest layer. The same T and P give the same bits in
    each run. Raises BadInput for what cannot be. After a ThreadFault the params are spoilt: part has made the step.
    """

    def __init__(self, net, params, B, eta, T=1, P=1):
        _check_params(params, net)
        self.net = net
        self.params = list(params)
        self.eta = check_number("eta", eta)
        self.B = check_count("B", B)
        self.T = len(shards(B, T))
        self.P = check_count("P (threads of a group)", P, 1, max(net.sizes[1:]))
        self.A = [np.zeros((B, n), np.float32) for n in net.sizes[:-1]]
        self.dZ = [np.zeros((B, n), np.float32) for n in net.sizes[1:]]
        self.Y, self.db = np.zeros_like(self.dZ[-1]), [np.zeros_like(b) for _, b in params]
        # dW where it is small
        self.thin = [np.empty_like(W) if W.shape[1] < 64 else None for W, _ in params]
        self.losses = np.zeros(self.T * self.P)  # float64: each thread's sum over the epoch
        self.everyone = Barrier(self.T * self.P)
        self.groups = [Barrier(self.P) for _ in range(self.T)]
        self._calls, self._interrupted, self._pool = {}, False, Pool(self.T * self.P)
        self.close = self._pool.close

    def step(self, X, Y):
        """One step on the rows of X, at most B of them; returns the loss before it. Otherwise as `epoch`."""
        check_count("the number of rows of X", len(check_array("X", X)), 1, self.B)
        return self.epoch(X, Y)

    def epoch(self, X, Y, order=None):
        """A step for each batch of B rows, the last perhaps smaller; returns the mean of the losses before each step.

        X (N, n0), Y (N, nL) float32; order: the row numbers in the order of their use, else 0 to N - 1. A
        KeyboardInterrupt ends it between two steps. Raises BadInput, and ThreadFault with shard, batch and layer.
        """
        X, Y, order = _check_data(self.net, X, Y, order)
        batches = [order[start : start + self.B] for start in range(0, len(order), self.B)]
        self._prepare({len(batches[0]), len(batches[-1])})
        with blas_threads(1), np.errstate(all="ignore"):  # training that diverges shows in the loss
            work = [lambda t=t: self._work(t, X, Y, batches) for t in range(len(self.losses))]
            self._pool.run(work, abort=self._abort)
        return float(self.losses.sum()) / len(order)

    def decide(self):
        """Called by thread 0 while the others cannot yet have read the answer: so all stop after the same step."""
        self._stopped = self._interrupted

    def _prepare(self, sizes):
        from course_lib.threads.grid_calls import calls

        for B in sizes - set(self._calls):
            self._calls[B] = [calls(self, t, B) for t in range(len(self.losses))]
        self.losses[:], self._interrupted, self._stopped = 0, False, False
        for barrier in (self.everyone, *self.groups):
            barrier.reset()

    def _work(self, t, X, Y, batches):
        """What thread t does in an epoch."""
        number, rows, what = 0, slice(0, 0), ""
        try:
            for number, batch in enumerate(batches):  # noqa: B007 (the handler names it)
                rows, calls = self._calls[len(batch)][t]
                # "raise" would go through a copy
                np.take(X, batch[rows], axis=0, out=self.A[0][rows], mode="clip")
                np.take(Y, batch[rows], axis=0, out=self.Y[rows], mode="clip")
                for what, function, arguments in calls:  # noqa: B007
                    function(*arguments)
                if self._stopped:
                    break
        except threading.BrokenBarrierError:
            raise  # the consequence of another thread's fault
        except Exception as error:
            where = f"shard {t // self.P}, {rows_text(rows)} of batch {number}, {what}"
            raise ThreadFault(where, t, error) from error

    def _abort(self, error):
        """Somebody has failed: release those who wait. An interrupt lets all finish the step."""
        if isinstance(error, KeyboardInterrupt):
            self._interrupted = True
            return
        for barrier in (self.everyone, *self.groups):
            barrier.abort()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _check_params(params, net):
    check_params(params, net)
    for l, pair in enumerate(params):
        for name, array in zip("Wb", pair, strict=True):
            check_array(f"params[{l}] ({name})", array, dtype=np.float32)
            if not (array.flags.c_contiguous and array.flags.writeable):
                wanted = "C-contiguous and writable, to change in place"
                raise BadInput(f"params[{l}] ({name}) must be {wanted}: copy it")


def _check_data(net, X, Y, order):
    check_array("X", X, ("N", net.sizes[0]), np.float32)
    check_array("Y", Y, (len(X), net.sizes[-1]), np.float32)
    order = np.arange(len(X)) if order is None else check_array("order", order, ("N",))
    whole = np.issubdtype(order.dtype, np.integer)
    if not (whole and len(order) and order.min() >= 0 and order.max() < len(X)):
        raise BadInput(f"order must hold one or more row numbers of X, from 0 to {len(X) - 1}")
    return np.ascontiguousarray(X), np.ascontiguousarray(Y), order.astype(np.intp)
