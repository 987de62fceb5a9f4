"""What the ranks of both libraries do: the data, allreduces timed, ways to train checked and timed."""

import gc
import time
from pathlib import Path

import numpy as np

from course_lib.bench.catalogue import EPOCH, ETA
from course_lib.bench.desk import TOLERANCE
from course_lib.serial import Network, gradients, sgd_step

ROUNDINGS = 2  # see `check_sums`


class RankDesk:
    """The commands of one rank. Subclasses know their library."""

    rank, size = 0, 1

    def barrier(self):
        """Wait for all ranks."""
        raise NotImplementedError

    def slowest(self, seconds):
        """The largest of all ranks' numbers."""
        raise NotImplementedError

    def first(self, value):
        """Rank 0's number."""
        raise NotImplementedError

    def allreduce(self, name, array):
        """A function that adds up the array over all ranks, in place."""
        raise NotImplementedError

    def make(self, key, net, B):
        """A way to train: (step(rows), params())."""
        raise NotImplementedError

    def load(self, folder):
        """Map the examples that the parent has written: all ranks share one copy of them."""
        self.X, self.Y = (
            np.asarray(np.load(Path(folder, f"{name}.npy"), mmap_mode="r")) for name in "xy"
        )
        self.ways, self.serial = {}, {}

    # Allreduces ------------------------------------------------------------------------------------------------------

    def allreduces(self, names, size, rounds, seconds):
        """{name: seconds of one allreduce of `size` bytes, round by round}, the slowest rank's, in turn."""
        n = max(size // 4, 1)
        self.check_sums(names, n)
        calls, repeats = {name: self.allreduce(name, np.zeros(n, np.float32)) for name in names}, {}
        for name in names:
            self.timed(calls[name], 1)
            repeats[name] = int(
                self.first(np.clip(round(seconds / self.timed(calls[name], 2)), 1, 1000))
            )
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
        parts = [
            np.random.default_rng([n, r]).random(n, np.float32) - np.float32(0.5)
            for r in range(self.size)
        ]
        wanted = sum(part.astype(np.float64) for part in parts)
        allowed = ROUNDINGS * self.size * 2.0**-24 * sum(np.abs(part) for part in parts)
        for name in names:
            mine = parts[self.rank].copy()
            self.allreduce(name, mine)()
            if not (np.abs(mine - wanted) <= allowed).all():
                raise ArithmeticError(f"wrong sum by {name}")

    # Training --------------------------------------------------------------------------------------------------------

    def build(self, key, sizes, B, seconds, check):
        """Make a way to train; hold it against serial; find how many steps last about that long."""
        net = Network(tuple(sizes))
        error = self.disagreement(key, net, B) if check else None
        step, _ = self.make(key, net, B)
        once = min(self.run(step, B, 1, seed) for seed in (1, 2))
        steps = int(self.first(np.clip(round(seconds / once), 1, len(self.X) // B)))
        self.ways[key] = step, B, steps
        return {"disagreement": error, "steps": steps}

    def disagreement(self, key, net, B):
        """Largest difference to serial after two steps and a ragged one, over the largest change. On rank 0."""
        step, params = self.make(key, net, B)
        order = np.random.default_rng(1).permutation(len(self.X))[: 2 * B + B // 3 + 1]
        for start in range(0, len(order), B):
            step(order[start : start + B])
        found, error = params(), 0.0
        if self.rank == 0:
            before, after = net.init_params(0), self.trained(net, B, order)
            error = float(max(differences(after, found)) / max(differences(after, before)))
        error = self.first(error)
        if not error <= TOLERANCE:
            raise ArithmeticError(
                f"not the serial library's step: differs by {error:.2g} of the largest change"
            )
        return error

    def trained(self, net, B, order):
        """The serial library's parameters after these steps, computed once for all ways."""
        if (net, B) not in self.serial:
            params = net.init_params(0)
            for start in range(0, len(order), B):
                rows = order[start : start + B]
                sgd_step(params, gradients(net, params, self.X[rows], self.Y[rows]), ETA)
            self.serial[net, B] = params
        return self.serial[net, B]

    def run(self, step, B, steps, seed):
        """Seconds of these steps, each with other examples; of the slowest rank."""
        order = np.random.default_rng(seed).permutation(len(self.X))
        gc.collect()
        gc.disable()
        try:
            self.barrier()
            start = time.perf_counter()
            for i in range(steps):
                step(order[i * B : (i + 1) * B])
            return self.slowest(time.perf_counter() - start)
        finally:
            gc.enable()

    def time(self, key, seed):
        """Seconds an epoch, from one run."""
        step, B, steps = self.ways[key]
        return self.run(step, B, steps, seed) * EPOCH / (B * steps)

    def clear(self):
        """Forget all ways."""
        self.ways = {}


def differences(left, right):
    """The largest difference of each two arrays."""
    for pair, other in zip(left, right, strict=True):
        for a, b in zip(pair, other, strict=True):
            yield np.abs(a.astype(np.float64) - b).max()
