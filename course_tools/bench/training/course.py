"""The course's own ways to train: loops, NumPy, threads, GridStep."""

import importlib.metadata
import platform
import time
from typing import Any

import numpy as np

from course_lib import measure, serial
from course_lib.errors import BadInput
from course_lib.serial import per_example, per_example_numba
from course_lib.threads import DataParallel, GridStep, choose_split
from course_tools.bench.threads import grid_profile
from course_tools.bench.threads.schemes import Schemes
from course_tools.bench.training import rates
from course_tools.bench.training.catalogue import EPOCH, ETA
from course_tools.bench.training.desk import Desk, Trainer

PACKAGES = ("numpy", "scipy", "numba", "threadpoolctl")


class CourseDesk(Desk):
    made: Any = None  # the Schemes

    def hello(self):
        versions = {name: importlib.metadata.version(name) for name in PACKAGES}
        return {"python": platform.python_version(), **versions}

    def limit(self, threads):
        return measure.blas_threads(threads)

    def make(self, key, net, B, threads):
        trainer = MAKERS[key](net, B, threads)
        trainer.X, trainer.Y, trainer.B = self.X, self.Y, B
        return trainer

    def rate(self, key, threads, seconds):
        """GFLOP/s of this machine: see rates.py."""
        separate = key == "sgemm-separate"
        return (rates.separate_rate if separate else rates.product_rate)(threads, seconds)

    def schemes(self, B, threads, ks):
        """Make the schemes of chapter 04: {scheme: what is wrong with it, or None}."""
        self.finish()
        self.made = Schemes(B, threads, ks)
        return self.made.troubles()

    def scheme(self, key):
        """One run of a scheme."""
        return self.made.run(key)

    def finish(self):
        """End the threads of the schemes."""
        if self.made:
            self.made.close()
        self.made = None

    def profile(self, sizes, B, splits, seconds, rounds):
        """The parts of GridStep's step: see threads/grid_profile.py."""
        return grid_profile.profile(sizes, B, splits, self.X, self.Y, seconds, rounds)


class GradientTrainer(Trainer):
    """Any function (net, params, X, Y) -> grads, followed by serial.sgd_step."""

    def __init__(self, net, gradients, blas=1):
        self.net, self.gradients, self.blas = net, gradients, blas
        self.weights = net.init_params(0)

    def step(self, rows):
        grads = self.gradients(self.net, self.weights, self.X[rows], self.Y[rows])
        serial.sgd_step(self.weights, grads, ETA)

    def params(self):
        return self.weights


class ParallelTrainer(GradientTrainer):
    """DataParallel's threads compute the gradients, by Numba's loops or by NumPy."""

    def __init__(self, net, B, threads, body):
        super().__init__(net, None)
        self.workers = DataParallel(net, self.weights, B, threads, body=body)
        self.gradients = self.workers.__enter__()

    def close(self):
        self.workers.__exit__(None, None, None)


class SlowTrainer(GradientTrainer):
    """Plain Python. One example is timed, and what each batch costs besides; an epoch is scaled from both."""

    examples = 1
    note = "timed on 1 example, scaled"

    def epoch(self, order):
        for row in order:  # batches of one: it is for the comparison with the serial library alone
            self.step([row])

    def scaled(self, order, seconds):
        """As per_example.gradients does: arrays to lists once a batch, then each example, then the step."""
        x, y = self.X[order[0]].tolist(), self.Y[order[0]].tolist()
        sums = [[np.zeros(W.shape), np.zeros(b.shape)] for W, b in self.weights]
        clock = [time.perf_counter()]
        lists = [(W.tolist(), b.tolist()) for W, b in self.weights]
        clock.append(time.perf_counter())
        found = per_example.backward_example(lists, x, y)
        for (sum_W, sum_b), (dW, db) in zip(sums, found, strict=True):
            sum_W += dW
            sum_b += db
        clock.append(time.perf_counter())
        grads = [(dW.astype(np.float32), db.astype(np.float32)) for dW, db in sums]
        serial.sgd_step(self.weights, grads, ETA)
        clock.append(time.perf_counter())
        to_lists, example, step = np.diff(clock).tolist()
        return example * EPOCH + (to_lists + step) * -(-EPOCH // self.B)


class GridTrainer(Trainer):
    """GridStep: its own loop over the batches, in place."""

    blas = 1

    def __init__(self, net, B, T, P):
        self.weights = net.init_params(0)
        self.step = GridStep(net, self.weights, B, ETA, T, P)
        self.note = f"T = {T}, P = {P}"

    def epoch(self, order):
        self.step.epoch(self.X, self.Y, order)

    def params(self):
        return self.weights

    def close(self):
        self.step.close()


def _bare(module):
    """A module's gradients, which take no net."""
    return lambda net, params, X, Y: module.gradients(params, X, Y)


def _chosen(net, B, threads):
    with measure.blas_threads(1):
        T, P = choose_split(net, B, threads)
    return GridTrainer(net, B, T, P)


def _hybrid(net, B, threads):
    if threads < 4 or threads % 2:
        raise BadInput(f"the hybrid needs an even number of 4 threads or more, not {threads}")
    return GridTrainer(net, B, threads // 2, 2)


MAKERS = {
    "python": lambda net, B, threads: SlowTrainer(net, _bare(per_example)),
    "loops": lambda net, B, threads: GradientTrainer(net, _bare(per_example_numba)),
    "loops-threads": lambda net, B, threads: ParallelTrainer(net, B, threads, "numba"),
    "numpy": lambda net, B, threads: GradientTrainer(net, serial.gradients),
    "numpy-blas": lambda net, B, threads: GradientTrainer(net, serial.gradients, threads),
    "numpy-threads": lambda net, B, threads: ParallelTrainer(net, B, threads, "numpy"),
    "grid-1": lambda net, B, threads: GridTrainer(net, B, 1, 1),
    "grid-examples": lambda net, B, threads: GridTrainer(net, B, threads, 1),
    "grid-products": lambda net, B, threads: GridTrainer(net, B, 1, threads),
    "grid-hybrid": _hybrid,
    "grid": _chosen,
}
