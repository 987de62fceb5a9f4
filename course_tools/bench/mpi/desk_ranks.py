"""What the ranks of both libraries do: the data, allreduces timed, ways to train."""

import time
from pathlib import Path
from typing import Any

import numpy as np

from course_tools.bench.training.desk import Desk, Trainer

ROUNDINGS = 2  # see `check_sums`


class StepTrainer(Trainer):
    """Training by step(rows), with the numbers of a batch's rows; params() gives the parameters, on every rank."""

    def __init__(self, B, step, params):
        self.B, self.step, self._params = B, step, params

    def params(self):
        return self._params()


class WholeSteps(StepTrainer):
    """Steps of whole batches, timed by the step: PyTorch's stages take micro-batches of one size alone."""

    ragged = False

    def epoch(self, order):
        """B at a time; a shorter batch, such as the one that wakes caches before a run, is filled up."""
        for start in range(0, len(order), self.B):
            self.step(np.resize(order[start : start + self.B], self.B))

    def scaled(self, order, seconds):
        """Seconds of a step."""
        return seconds(order) * self.B / len(order)


class RankDesk(Desk):
    """The commands of one rank. Subclasses have barrier, slowest, first, make."""

    allreduce: Any  # (name, array) -> a function that adds up the array over all ranks, in place

    def load(self, folder=None):
        """Map the examples that the parent has written: all ranks share one copy of them."""
        if folder:
            files = [Path(folder, f"{name}.npy") for name in "xy"]
            self.X, self.Y = (np.asarray(np.load(file, mmap_mode="r")) for file in files)

    def allreduces(self, names, size, rounds, seconds):
        """{name: seconds of one allreduce of `size` bytes, round by round}, the slowest rank's, in turn."""
        n = max(size // 4, 1)
        self.check_sums(names, n)
        calls, repeats = {name: self.allreduce(name, np.zeros(n, np.float32)) for name in names}, {}
        for name in names:
            self.timed(calls[name], 1)
            times = round(seconds / self.timed(calls[name], 2))
            repeats[name] = int(self.first(np.clip(times, 1, 1000)))
        found: dict[str, list[float]] = {name: [] for name in names}
        for i in range(rounds):
            for name in [*names[i % len(names) :], *names[: i % len(names)]]:
                found[name].append(self.timed(calls[name], repeats[name]))
        return found

    def timed(self, call, repeats):
        """Seconds of one call: of several in a row, after a barrier; of the slowest rank."""
        self.barrier()
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return self.slowest((time.perf_counter() - start) / repeats)

    def check_sums(self, names, n):
        """Hold sums of random numbers against float64: p - 1 additions of at most half an eps each, and some air."""
        half, ranks = np.float32(0.5), range(self.size)
        parts = [np.random.default_rng([n, rank]).random(n, np.float32) - half for rank in ranks]
        wanted = sum(part.astype(np.float64) for part in parts)
        allowed = ROUNDINGS * self.size * 2.0**-24 * sum(np.abs(part) for part in parts)
        for name in names:
            mine = parts[self.rank].copy()
            self.allreduce(name, mine)()
            if not (np.abs(mine - wanted) <= allowed).all():
                raise ArithmeticError(f"wrong sum by {name}")
