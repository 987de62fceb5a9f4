"""What the tests of course_lib.threads share: nets and batches, interrupts, and the promise that no thread is left."""

import gc
import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

from course_lib import serial

needs_signals = pytest.mark.skipif(
    os.name == "nt", reason="Windows wakes no waiting main thread for Ctrl-C"
)


@contextmanager
def no_thread_left():
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 60
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not set(threading.enumerate()) - before


@contextmanager
def interrupt_after(seconds):
    """Ctrl-C for the main thread, that long after the block has begun; expects the KeyboardInterrupt inside."""
    main = threading.main_thread().ident
    timer = threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
            time.sleep(10)  # whoever gets here has swallowed it, or was too quick
    finally:
        timer.join()


def batch(net, N, dtype=np.float32, seed=0):
    """(X, Y) of N rows."""
    rng = np.random.default_rng([seed, N])
    labels = rng.integers(0, net.sizes[-1], N)
    return rng.standard_normal((N, net.sizes[0])).astype(dtype), np.eye(net.sizes[-1], dtype=dtype)[
        labels
    ]


def arrays(pairs):
    return [array for pair in pairs for array in pair]


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(arrays(one), arrays(other), strict=True))


def copied(params):
    return [(W.copy(), b.copy()) for W, b in params]


def assert_close(got, want, tolerance):
    for i, (a, b) in enumerate(zip(arrays(got), arrays(want), strict=True)):
        worst = np.abs(a - b).max()
        assert worst <= tolerance, (
            f"layer {i // 2}, {'Wb'[i % 2]}: {worst} > {tolerance}"
        )  # a NaN fails too


ALL_NETS = [
    serial.Network(sizes, activation, loss, lam)
    for sizes in ((5, 7, 3), (6, 9, 8, 4))
    for activation in serial.ACTIVATIONS
    for loss in serial.LOSSES
    for lam in (0.0, 0.05)
]
ALL_IDS = [f"{net.sizes}-{net.activation}-{net.loss}-{net.lam}" for net in ALL_NETS]
