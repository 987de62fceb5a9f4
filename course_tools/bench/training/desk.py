"""What every process that trains does: hold the data, make a way to train, check it against serial, time it.

The same for a library's process and for each rank of a group: a library is a group of one.
"""

import gc
import time
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.data import load_mnist, one_hot
from course_lib.serial import Network, gradients, sgd_step
from course_tools.bench.training.catalogue import EPOCH, ETA

# Of the largest change of a parameter; float32 sums in another order give about 1e-5
TOLERANCE = 1e-3


class Trainer:
    """One way to train, ready to run, in place. Subclasses have B and step(rows), or an epoch of their own."""

    X: Any  # the examples
    Y: Any
    B: int
    step: Any  # (rows)
    loss = ""  # where it is not the net's
    note = ""
    ragged = True  # can a batch be smaller than the others?
    examples = 0  # of a run, where that is not found out by a clock
    blas = 0  # threads inside BLAS, where these are not those of the way

    def epoch(self, order):
        """Train once over the examples named in `order`, B at a time."""
        for start in range(0, len(order), self.B):
            self.step(order[start : start + self.B])

    def params(self):
        """The parameters as they now are, list of (W, b) NumPy arrays."""
        raise NotImplementedError

    def scaled(self, order, seconds):
        """Seconds for an epoch. Most ways simply run (`seconds` does that) and are scaled by the examples."""
        return seconds(order) * EPOCH / len(order)

    def close(self):
        """Give threads back."""


class Desk:
    """The commands of a process that trains. Subclasses say how a Trainer is made, and what the library may use."""

    rank, size = 0, 1

    def __init__(self):
        self.load()
        self.trainers = {}
        gc.collect()
        gc.freeze()  # what the libraries have made so far is not searched for garbage before each run

    def load(self):
        """All of MNIST's training examples."""
        data = load_mnist()
        self.X, self.Y, self.labels = data.x_train, one_hot(data.y_train, 10), data.y_train

    def hello(self):
        """Versions of what works here."""
        return {"numpy": np.__version__}

    def make(self, key, net, B, threads):
        raise NotImplementedError

    def limit(self, threads):
        """A context in which the library may use that many threads inside BLAS."""
        return nullcontext()

    def barrier(self):
        """Wait for all ranks."""

    def slowest(self, seconds):
        """The largest of all ranks' numbers."""
        return seconds

    def first(self, value):
        """Rank 0's number."""
        return value

    def build(self, key, sizes, B, seconds, check, threads=1, activation="sigmoid", loss="mse"):
        """Make a way to train; compare it with the serial library; find how many examples last for `seconds`."""
        net = Network(tuple(sizes), activation, loss)
        trainer = self.trainers[key] = self.make(key, net, B, threads)
        trainer.blas = trainer.blas or threads
        with self.limit(trainer.blas):
            error = self.disagreement(trainer, net, B) if check else None
            trainer.examples = trainer.examples or self._examples(trainer, B, seconds)
        return {"disagreement": error, "examples": trainer.examples, "note": trainer.note}

    def disagreement(self, trainer, net, B):
        """Largest difference to serial after three steps, over the largest change. On rank 0.

        The third step's batch is ragged, where the trainer can do that.
        """
        B = trainer.examples or B
        examples = 2 * B + (B // 3 + (self.size > 1) if trainer.ragged else B)
        order = np.random.default_rng(1).permutation(len(self.X))[:examples]
        before = [(W.copy(), b.copy()) for W, b in trainer.params()]
        trainer.epoch(order)
        found, error = trainer.params(), 0.0
        if self.rank == 0:
            net = replace(net, loss=trainer.loss or net.loss)
            wanted = self._trained(net, before, order, B)
            error = float(max(differences(wanted, found)) / max(differences(wanted, before)))
        error = self.first(error)
        if not error <= TOLERANCE:
            words = f"differs by {error:.2g} of the largest change"
            raise ArithmeticError(f"not the serial library's step: {words}")
        return error

    def _trained(self, net, before, order, B):
        """The serial library's parameters after these steps."""
        params = [(W.copy(), b.copy()) for W, b in before]
        for start in range(0, len(order), B):
            rows = order[start : start + B]
            sgd_step(params, gradients(net, params, self.X[rows], self.Y[rows]), ETA)
        return params

    def _examples(self, trainer, B, seconds):
        """Whole batches that take about that long, at least one, at most an epoch."""
        order = np.random.default_rng(2).permutation(len(self.X))[: 2 * B]
        trainer.epoch(order[:B])  # the first batch also compiles and wakes threads
        batch = self._seconds(trainer, order) * B / len(order)
        return B * int(self.first(np.clip(round(seconds / batch), 1, len(self.X) // B)))

    def _seconds(self, trainer, order):
        """Of one pass over these examples, between barriers; of the slowest rank."""
        self.barrier()
        start = time.perf_counter()
        trainer.epoch(order)
        return self.slowest(time.perf_counter() - start)

    def time(self, key, seed):
        """Seconds an epoch, from one run: a short one to wake caches and threads, then the timed one."""
        trainer, examples = self.trainers[key], self.trainers[key].examples
        order = np.random.default_rng(seed).permutation(len(self.X))
        with self.limit(trainer.blas):
            if examples >= 8:
                trainer.epoch(order[: examples // 8])
            gc.collect()
            gc.disable()
            try:
                run = order[-examples:]
                return trainer.scaled(run, lambda order: self._seconds(trainer, order))
            finally:
                gc.enable()

    def clear(self):
        """Forget all trainers and end their threads."""
        for trainer in self.trainers.values():
            trainer.close()
        self.trainers = {}

    close = clear


def differences(left, right):
    """The largest difference of each two arrays."""
    for pair, other in zip(left, right, strict=True):
        for a, b in zip(pair, other, strict=True):
            yield np.abs(a.astype(np.float64) - b).max()
