"""The schemes of chapter 04 on one deep net: one thread, leapfrogging, deferred weight gradients, data parallelism."""

import time

import numpy as np

from course_lib import serial
from course_lib.measure import blas_threads

LAYERS, WIDTH = 12, 1024  # a deep net
SECONDS = 0.1  # a run lasts about that long


class State:
    """What `prepare` leaves for `run`: the net, one batch, the schemes."""

    def __init__(self, B, threads, ks):
        self.net = serial.Network((WIDTH,) * (LAYERS + 1), activation="tanh")
        self.params = self.net.init_params(0)
        rng = np.random.default_rng(0)
        self.X = rng.standard_normal((B, WIDTH), dtype=np.float32)
        self.Y = np.eye(WIDTH, dtype=np.float32)[rng.integers(0, WIDTH, B)]
        self.B, self.threads = B, threads
        self.closers = []
        self.runs = dict(_runs(self, ks))
        self.calls = {}


_state: list[State] = []


def prepare(B, threads, ks):
    """Make the net, the batch and each scheme; check that all give serial's gradients; return {scheme: its error}.

    An error is None where the scheme works.
    """
    finish()
    state = State(B, threads, ks)
    _state.append(state)
    with blas_threads(1):
        wanted = serial.backward(
            state.params, serial.forward(state.params, state.X, state.net), state.Y
        )
    return {key: _trouble(state, key, wanted) for key in state.runs}


def run(key):
    """One run of a scheme: {"whole": seconds a step, forward + backward, "backward": seconds}, or the parts.

    "parts" gives f1, f2, f3 of [002] in seconds, one for each layer: forward, delta, weight gradient on one thread.
    """
    state = _state[-1]
    one_call, threads = state.runs[key]
    with blas_threads(threads):
        one_call()
        rows = [one_call() for _ in range(state.calls[key])]
    return {
        name: np.mean([row[name] for row in rows], axis=0).tolist()
        for name in rows[0]
        if name != "grads"
    }


def finish():
    """End the threads of the last batch size's schemes."""
    while _state:
        for close in _state.pop().closers:
            close()


def _runs(state, ks):
    """(key, (function, BLAS threads)) of each scheme; the function runs it once and says how long it took."""
    from course_lib.threads import DataParallel, deferred_backward, leapfrog_backward

    def step(backward, *more):
        start = time.perf_counter()
        cache = serial.forward(state.params, state.X, state.net)
        middle = time.perf_counter()
        grads = backward(state.params, cache, state.Y, *more)
        end = time.perf_counter()
        return {"whole": end - start, "backward": end - middle, "grads": grads}

    yield "serial", (lambda: step(serial.backward), 1)
    yield "serial-blas", (lambda: step(serial.backward), state.threads)
    for k in ks:
        yield f"leapfrog-{k}", (lambda k=k: step(leapfrog_backward, k), 1)
        yield f"deferred-{k}", (lambda k=k: step(deferred_backward, k), 1)
    if state.threads <= state.B:
        workers = DataParallel(
            state.net, state.params, state.B, state.threads, body="numpy"
        ).__enter__()
        state.closers.append(lambda: workers.__exit__(None, None, None))
        yield f"data-{state.threads}", (lambda: _whole(state, workers), 1)
    yield "parts", (lambda: _parts(state, leapfrog_backward), 1)


def _whole(state, workers):
    start = time.perf_counter()
    grads = workers(state.net, state.params, state.X, state.Y)
    return {"whole": time.perf_counter() - start, "grads": grads}


def _parts(state, leapfrog_backward):
    """f1, f2, f3 from the recorded spans of a backward pass on one thread."""
    from course_lib.threads import Timeline

    timeline = Timeline()
    start = time.perf_counter()
    cache = serial.forward(state.params, state.X, state.net)
    forward = time.perf_counter() - start
    grads = leapfrog_backward(state.params, cache, state.Y, 1, timeline=timeline)
    f2, f3 = (
        [
            sum(s.end - s.start for s in timeline if (s.kind, s.layer) == (kind, layer))
            for layer in range(LAYERS)
        ]
        for kind in ("delta", "grad")
    )
    return {"f1": [forward / LAYERS] * LAYERS, "f2": f2, "f3": f3, "grads": grads}


def _trouble(state, key, wanted):
    """None, or why the scheme's gradients are not serial's; also finds how many calls make a run."""
    one_call, threads = state.runs[key]
    with blas_threads(threads):
        start = time.perf_counter()
        grads = one_call()["grads"]
        one_call()
        seconds = (time.perf_counter() - start) / 2
    state.calls[key] = max(1, round(SECONDS / seconds))
    for pair, other in zip(grads, wanted, strict=True):
        for got, want in zip(pair, other, strict=True):
            if not np.abs(got - want).max() <= 1e-4 * np.abs(want).max():
                return "failed: its gradients are not serial's"
    return None
