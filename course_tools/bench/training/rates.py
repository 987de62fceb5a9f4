"""The machine's own rate, measured in the same rounds as everything else."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from course_lib.measure import blas_threads

N = 1024  # as measure.sgemm_rate


@cache
def matrices(which=0):
    """Two float32 matrices of random numbers and one for their product; the same ones each time they are asked for."""
    rng = np.random.default_rng(which)
    A, B = (rng.standard_normal((N, N), dtype=np.float32) for _ in range(2))
    return A, B, np.zeros((N, N), np.float32)


def product_rate(threads, seconds=0.1):
    """GFLOP/s of np.matmul on that many BLAS threads, over that many seconds."""
    with blas_threads(threads):
        calls, seconds = _repeat(matrices(), seconds)
    return calls * 2 * N**3 / seconds / 1e9


def separate_rate(threads, seconds=0.1):
    """GFLOP/s of that many products at a time, each on one BLAS thread: sharing without any waiting."""
    sets = [matrices(which) for which in range(threads)]
    with blas_threads(1), ThreadPoolExecutor(threads) as pool:
        runs = list(pool.map(lambda three: _repeat(three, seconds), sets))
    return sum(calls * 2 * N**3 / seconds for calls, seconds in runs) / 1e9


def _repeat(three, seconds):
    A, B, D = three
    np.matmul(A, B, out=D)
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        np.matmul(A, B, out=D)
        calls += 1
    return calls, time.perf_counter() - start
