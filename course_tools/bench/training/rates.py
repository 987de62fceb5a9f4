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


def product_rate(threads, seconds):
    """GFLOP/s of np.matmul on that many BLAS threads, over that many seconds."""
    A, B, D = matrices()
    with blas_threads(threads):
        return rate_of(lambda: np.matmul(A, B, out=D), seconds)


def separate_rate(threads, seconds):
    """GFLOP/s of that many products at a time, each on one BLAS thread: sharing without any waiting."""

    def one(which):
        A, B, D = matrices(which)
        return rate_of(lambda: np.matmul(A, B, out=D), seconds)

    for which in range(threads):
        matrices(which)
    with blas_threads(1), ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(one, range(threads)))


def rate_of(product, seconds):
    """GFLOP/s of a product of these matrices, called again and again for that many seconds."""
    product()
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        product()
        calls += 1
    return calls * 2 * N**3 / (time.perf_counter() - start) / 1e9
