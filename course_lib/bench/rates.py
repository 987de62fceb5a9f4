"""The machine's own rate, measured in the same rounds as everything else."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from course_lib.measure import blas_threads

N = 1024  # as measure.sgemm_rate
SECONDS = 0.1


def matrices():
    """Two float32 matrices of random numbers and one for their product."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((N, N), dtype=np.float32) for _ in range(2))
    return A, B, np.empty((N, N), np.float32)


def product_rate(threads):
    """GFLOP/s of np.matmul on that many BLAS threads."""
    with blas_threads(threads):
        calls, seconds = _repeat(*matrices())
    return calls * 2 * N**3 / seconds / 1e9


def separate_rate(threads):
    """GFLOP/s of that many products at a time, each on one BLAS thread: sharing without any waiting."""
    sets = [matrices() for _ in range(threads)]
    with blas_threads(1), ThreadPoolExecutor(threads) as pool:
        runs = list(pool.map(lambda three: _repeat(*three), sets))
    return sum(calls * 2 * N**3 / seconds for calls, seconds in runs) / 1e9


def _repeat(A, B, D):
    for _ in range(2):
        np.matmul(A, B, out=D)
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        np.matmul(A, B, out=D)
        calls += 1
    return calls, time.perf_counter() - start
