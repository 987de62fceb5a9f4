# mypy: ignore-errors
"""Numba's CUDA simulator: the first two rungs written in Python, each CUDA thread a thread of Python.

The process was started with NUMBA_ENABLE_CUDASIM=1. Above 64^3 one block is run, and the time scaled to all of them.
"""

import os

import numba
import numpy as np
from numba import cuda, float32

from course_tools.bench.gpu.catalogue import WAY
from course_tools.bench.gpu.products import Product, ProductDesk

assert os.environ.get("NUMBA_ENABLE_CUDASIM") == "1", (
    "the simulator is chosen before Numba is imported"
)
WHOLE = 64  # larger products would take minutes


@cuda.jit
def naive(A, B, D):
    """A thread for each element of D; blocks of 32 x 8 threads, as gemm_naive.cu."""
    j, i = cuda.grid(2)
    if i < D.shape[0] and j < D.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[i, k] * B[k, j]
        D[i, j] = total


@cuda.jit
def shared(A, B, D):
    """Tiles of 32 x 32 in shared memory, as gemm_shared.cu; whole tiles only."""
    a = cuda.shared.array((32, 32), float32)
    b = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    i, j = cuda.blockIdx.y * 32 + y, cuda.blockIdx.x * 32 + x
    total = float32(0)
    for k0 in range(0, A.shape[1], 32):
        a[y, x] = A[i, k0 + x]
        b[y, x] = B[k0 + y, j]
        cuda.syncthreads()
        for k in range(32):
            total += a[y, k] * b[k, x]
        cuda.syncthreads()
    D[i, j] = total


KERNELS = {"naive": (naive, (32, 8)), "shared": (shared, (32, 32))}


class NumbaSimDesk(ProductDesk):
    def hello(self):
        return {"numba": numba.__version__}

    def make(self, key, problem):
        (kernel, block), (M, N, _) = KERNELS[WAY[key].kernel], problem.shape
        grid = (-(-N // block[0]), -(-M // block[1]))
        part = grid if max(problem.shape) <= WHOLE else (1, 1)
        D = np.full((M, N), np.nan, np.float32)

        def call():
            kernel[part, block](problem.A, problem.B, D)
            return D[: part[1] * block[1], : part[0] * block[0]]

        blocks = grid[0] * grid[1]
        note = "" if part == grid else f"timed on 1 block of {blocks}"
        return Product(call, part[0] * part[1] / blocks, note)
