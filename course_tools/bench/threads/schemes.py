"""The schemes of chapter 04 on one deep net: one thread, leapfrogging, deferred weight gradients, data parallelism."""

import time
from typing import Any

import numpy as np

from course_lib import serial
from course_lib.measure import blas_threads
from course_lib.threads import DataParallel, Timeline, deferred_backward, leapfrog_backward

LAYERS, WIDTH = 12, 1024  # a deep net
SECONDS = 0.1  # a run lasts about that long


class Schemes:
    """The net, one batch, and a function for each scheme that runs it once and says how long its parts took."""

    def __init__(self, B, threads, ks):
        self.net = serial.Network((WIDTH,) * (LAYERS + 1), activation="tanh")
        self.params = self.net.init_params(0)
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((B, WIDTH), dtype=np.float32)
        self.Y = np.eye(WIDTH, dtype=np.float32)[rng.integers(0, WIDTH, B)]
        self.threads, self.calls = threads, {}
        self.runs = {"serial": self._step(serial.backward)}
        self.runs["serial-blas"] = self.runs["serial"]
        for k in ks:
            self.runs[f"leapfrog-{k}"] = self._step(leapfrog_backward, k)
            self.runs[f"deferred-{k}"] = self._step(deferred_backward, k)
        self.workers: Any = None
        if threads <= B:
            workers = DataParallel(self.net, self.params, B, threads, body="numpy")
            self.workers = workers.__enter__()
            self.runs[f"data-{threads}"] = self._data
        self.runs["parts"] = self._parts

    def troubles(self):
        """Check that all give serial's gradients: {scheme: None, or why not}."""
        with blas_threads(1):
            cache = serial.forward(self.params, self.X, self.net)
            wanted = serial.backward(self.params, cache, self.Y)
        return {key: self._trouble(key, wanted) for key in self.runs}

    def run(self, key):
        """One run of a scheme: {"whole": seconds a step, forward + backward, "backward": seconds}, or the parts.

        "parts" gives f1, f2, f3 of [002] in seconds, one for each layer: forward, delta, weight gradient on one thread.
        """
        once = self.runs[key]
        with self._blas(key):
            once()
            rows = [once()[0] for _ in range(self.calls[key])]
        return {name: np.mean([row[name] for row in rows], axis=0).tolist() for name in rows[0]}

    def close(self):
        """End the threads."""
        if self.workers:
            self.workers.__exit__(None, None, None)

    def _blas(self, key):
        return blas_threads(self.threads if key == "serial-blas" else 1)

    def _step(self, backward, *more):
        def once():
            start = time.perf_counter()
            cache = serial.forward(self.params, self.X, self.net)
            middle = time.perf_counter()
            grads = backward(self.params, cache, self.Y, *more)
            end = time.perf_counter()
            return {"whole": end - start, "backward": end - middle}, grads

        return once

    def _data(self):
        start = time.perf_counter()
        grads = self.workers(self.net, self.params, self.X, self.Y)
        return {"whole": time.perf_counter() - start}, grads

    def _parts(self):
        """f1, f2, f3 from the recorded spans of a backward pass on one thread."""
        timeline = Timeline()
        start = time.perf_counter()
        cache = serial.forward(self.params, self.X, self.net)
        found = {"f1": [(time.perf_counter() - start) / LAYERS] * LAYERS}
        grads = leapfrog_backward(self.params, cache, self.Y, 1, timeline=timeline)
        for name, kind in (("f2", "delta"), ("f3", "grad")):
            found[name] = [0.0] * LAYERS
            for span in timeline:
                if span.kind == kind:
                    found[name][span.layer] += span.end - span.start
        return found, grads

    def _trouble(self, key, wanted):
        """None, or why the scheme's gradients are not serial's; also finds how many calls make a run."""
        with self._blas(key):
            start = time.perf_counter()
            _, grads = self.runs[key]()
            self.runs[key]()
            seconds = (time.perf_counter() - start) / 2
        self.calls[key] = max(1, round(SECONDS / seconds))
        for pair, other in zip(grads, wanted, strict=True):
            for got, want in zip(pair, other, strict=True):
                if not np.abs(got - want).max() <= 1e-4 * np.abs(want).max():
                    return "failed: its gradients are not serial's"
        return None
