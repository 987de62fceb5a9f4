"""What every worker does: hold the data, make the ways to train, check them against the serial library, time them."""

import gc
import time
from contextlib import nullcontext

import numpy as np

from course_lib.bench.catalogue import ETA
from course_lib.data import load_mnist, one_hot
from course_lib.serial import Network, gradients, sgd_step

TOLERANCE = (
    1e-3  # of the largest change of a parameter; float32 sums in another order give about 1e-5
)


class Trainer:
    """One way to train, ready to run. Subclasses train in place over the examples named in `order`, B at a time."""

    loss = "mse"
    note = ""

    def epoch(self, order):
        raise NotImplementedError

    def params(self):
        """The parameters as they now are, list of (W, b) NumPy arrays."""
        raise NotImplementedError

    def scaled(self, order, epoch):
        """(seconds measured, seconds for `epoch` examples). Most ways simply run and are scaled by the examples."""
        start = time.perf_counter()
        self.epoch(order)
        seconds = time.perf_counter() - start
        return seconds, seconds * epoch / len(order)

    def close(self):
        """Give threads back."""


class Desk:
    """The commands of a worker. Subclasses say how a Trainer is made, and how many BLAS threads it may use."""

    def __init__(self):
        self.data = load_mnist()
        self.X, self.Y = self.data.x_train, one_hot(self.data.y_train, 10)
        self.trainers, self.examples, self.threads_of = {}, {}, {}
        gc.collect()
        gc.freeze()  # what the libraries have made so far is not searched for garbage before each run

    def hello(self):
        """Versions of what works here."""
        return {"numpy": np.__version__}

    def make(self, key, net, B, threads):
        raise NotImplementedError

    def limit(self, threads):
        """A context in which the library may use that many threads inside BLAS."""
        return nullcontext()

    def build(self, key, sizes, B, threads, seconds, check):
        """Make a way to train; compare it with the serial library; find how many examples last for `seconds`."""
        net = Network(tuple(sizes))
        trainer = self.make(key, net, B, threads)
        self.trainers[key], self.threads_of[key] = trainer, getattr(trainer, "blas", threads)
        with self.limit(self.threads_of[key]):
            error = self._disagreement(trainer, net, B) if check else None
            examples = getattr(trainer, "examples", None) or self._examples(trainer, B, seconds)
        self.examples[key] = examples
        return {"disagreement": error, "examples": examples, "note": trainer.note}

    def _disagreement(self, trainer, net, B):
        """Largest difference to serial after a few steps, ragged last batch included, over the largest change."""
        B = getattr(trainer, "examples", B)
        order = np.random.default_rng(1).permutation(len(self.X))[: 2 * B + B // 3]
        net = Network(net.sizes, loss=trainer.loss)
        params = [(W.copy(), b.copy()) for W, b in trainer.params()]
        before = [(W.copy(), b.copy()) for W, b in params]
        for start in range(0, len(order), B):
            rows = order[start : start + B]
            sgd_step(params, gradients(net, params, self.X[rows], self.Y[rows]), ETA)
        trainer.epoch(order)
        change = max(_difference(params, before))
        error = float(max(_difference(params, trainer.params())) / change)
        if not error <= TOLERANCE:
            raise ArithmeticError(
                f"not the serial library's step: differs by {error:.2g} of the largest change"
            )
        return error

    def _examples(self, trainer, B, seconds):
        """Whole batches that take about that long, at least one, at most an epoch."""
        order = np.random.default_rng(2).permutation(len(self.X))[: 2 * B]
        trainer.epoch(order[:B])  # the first batch also compiles and wakes threads
        start = time.perf_counter()
        trainer.epoch(order)
        batch = (time.perf_counter() - start) / 2
        return B * int(np.clip(round(seconds / batch), 1, len(self.X) // B))

    def time(self, key, seed):
        """One run: a short one to wake caches and threads, then the timed one. (seconds, seconds an epoch)."""
        trainer, examples = self.trainers[key], self.examples[key]
        order = np.random.default_rng(seed).permutation(len(self.X))
        with self.limit(self.threads_of[key]):
            if examples >= 8:
                trainer.epoch(order[: examples // 8])
            gc.collect()
            gc.disable()
            try:
                return trainer.scaled(order[-examples:], len(self.X))
            finally:
                gc.enable()

    def clear(self):
        """Forget all trainers and end their threads."""
        for trainer in self.trainers.values():
            trainer.close()
        self.trainers, self.examples, self.threads_of = {}, {}, {}

    def close(self):
        self.clear()


def _difference(left, right):
    for pair, other in zip(left, right, strict=True):
        for a, b in zip(pair, other, strict=True):
            yield np.abs(a.astype(np.float64) - b).max()
