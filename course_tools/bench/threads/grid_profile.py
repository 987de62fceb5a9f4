"""Where a step of GridStep goes: its own program, run with a clock read after each call."""

import time
from contextlib import ExitStack

import numpy as np

from course_lib.measure import blas_threads, step_flops
from course_lib.serial import Network
from course_lib.threads import GridStep
from course_tools.bench.training import rates
from course_tools.bench.training.catalogue import ETA

STEPS = {"forward": "forward", "backward": "dA", "update": "dW"}  # GridStep's words and step_flops'


class ClockedStep(GridStep):
    """GridStep whose threads note the time after gathering and after each of their calls."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.stamps: dict[int, np.ndarray] = {}  # of each thread: a row for each step

    def _work(self, t, X, Y, batches):
        clock, (rows, calls) = time.perf_counter, self._calls[self.B][t]
        self.stamps[t] = stamps = np.empty((len(batches), len(calls) + 2))
        for batch, row in zip(batches, stamps, strict=True):
            row[0] = clock()
            np.take(X, batch[rows], axis=0, out=self.A[0][rows], mode="clip")
            np.take(Y, batch[rows], axis=0, out=self.Y[rows], mode="clip")
            row[1] = clock()
            for i, (_, function, arguments) in enumerate(calls, start=2):
                function(*arguments)
                row[i] = clock()

    def named(self, t):
        """[(name, kind)] of the parts of thread t's step, gathering first."""
        return [("gather", "gather"), *(self._named(*call) for call in self._calls[self.B][t][1])]

    def _named(self, what, function, arguments):
        module, name = getattr(function, "__module__", ""), getattr(function, "__name__", "")
        if name == "wait":
            return "waiting", "waiting"
        if not what.startswith(("layer", "output layer")):
            return "rest", "rest"
        what = what.replace("output layer", f"layer {self.net.n_layers - 1}")
        product = function is np.matmul or str(module).endswith("threads.gemm")
        return what, "product" if product else "elementwise"

    def parts(self):
        """(seconds of a step, {(name, kind): seconds}): means over the threads and the quicker half of the steps."""
        lengths = np.mean([np.diff(stamps[:, 0]) for stamps in self.stamps.values()], axis=0)
        # the slower half has met other programs
        quick = np.flatnonzero(lengths <= np.median(lengths))
        found: dict[tuple[str, str], float] = {}
        for t, stamps in self.stamps.items():
            means = np.diff(stamps[quick], axis=1).mean(axis=0) / len(self.stamps)
            for part, seconds in zip(self.named(t), means.tolist(), strict=True):
                found[part] = found.get(part, 0.0) + seconds
        return float(lengths[quick].mean()), found

    def alone(self, name, repeats=9):
        """Median seconds of thread 0's share of a product while all others rest."""
        place = self.named(0).index((name, "product")) - 1
        _, function, arguments = self._calls[self.B][0][1][place]
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            function(*arguments)
            seconds.append(time.perf_counter() - start)
        return float(np.median(seconds))


def profile(sizes, B, splits, X, Y, seconds, rounds):
    """{"sgemm": {threads: GFLOP/s}, "steps": one for each split (T, P)}, as profile_tables.py describes them."""
    net, threads = Network(tuple(sizes)), sorted({T * P for T, P in splits})
    with ExitStack() as stack:
        pairs = []
        for T, P in splits:
            made = (kind(net, net.init_params(0), B, ETA, T, P) for kind in (GridStep, ClockedStep))
            pairs.append([stack.enter_context(step) for step in made])
        orders = [_order(step, X, Y, seconds) for step, _ in pairs]
        found: list[list[dict]] = [[] for _ in splits]
        sgemm: dict[int, list[float]] = {n: [] for n in threads}
        for _ in range(rounds):
            for n in threads:
                sgemm[n].append(rates.product_rate(n, seconds))
            for pair, order, runs in zip(pairs, orders, found, strict=True):
                runs.append(_run(pair, order, X, Y))
        both = zip(pairs, found, strict=True)
        steps = [_step(pair[1], runs, net.sizes, B) for pair, runs in both]
    return {"sgemm": {n: float(np.median(values)) for n, values in sgemm.items()}, "steps": steps}


def _order(step, X, Y, seconds):
    """Row numbers of whole batches that last about that long, eight at least."""
    B, rng = step.B, np.random.default_rng(3)
    rows = rng.permutation(len(X))
    step.epoch(X, Y, rows[: 2 * B])
    start = time.perf_counter()
    step.epoch(X, Y, rows[: 2 * B])
    batches = int(np.clip(round(2 * seconds / (time.perf_counter() - start)), 8, 200))
    return np.resize(rows, batches * B)


def _run(pair, order, X, Y):
    """One run without clocks, one with them."""
    plain, clocked = pair
    plain.epoch(X, Y, order[: 2 * plain.B])
    start = time.perf_counter()
    plain.epoch(X, Y, order)
    step = (time.perf_counter() - start) / (len(order) / plain.B)
    clocked.epoch(X, Y, order)
    clocked_step, parts = clocked.parts()
    return {"plain": step, "step": clocked_step, "parts": parts}


def _step(clocked, runs, sizes, B):
    """The run of median length, with flops and with each product alone."""
    median = sorted(runs, key=lambda run: run["step"])[len(runs) // 2]
    flops, parts = step_flops(sizes, B), []
    for (name, kind), seconds in median["parts"].items():
        part = {"name": name, "kind": kind, "seconds": seconds}
        if kind == "product":
            _, layer, word = name.replace(",", "").split()
            part["flops"] = getattr(flops, STEPS[word])[int(layer)]
            with blas_threads(1):
                part["alone"] = clocked.alone(name)
        parts.append(part)
    plain = float(np.median([run["plain"] for run in runs]))
    return {"T": clocked.T, "P": clocked.P, "plain": plain, "step": median["step"], "parts": parts}
