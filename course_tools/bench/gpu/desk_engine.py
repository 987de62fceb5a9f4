"""The CPU engine and one BLAS thread: whole calls from NumPy arrays to a NumPy array."""

import contextlib
import os
import platform

os.environ["COURSE_GPU"] = "cpu"  # on a machine with a GPU too

import numpy as np

from course_lib.gpu import device, gemm, trace_gemm
from course_lib.gpu.gemm import RUNGS, turned
from course_lib.machines.cpu_engine import compiler
from course_lib.machines.pycuda_names import calls
from course_lib.measure import blas_threads
from course_tools.bench.gpu.catalogue import WAY
from course_tools.bench.gpu.products import Problem, Product, ProductDesk
from course_tools.bench.training.rates import product_rate

BARRIERS = """
__global__ void barriers(int n, int *x)
{
    for (int k = 0; k < n; k++) __syncthreads();
    x[threadIdx.x] = n;
}
"""


class EngineDesk(ProductDesk):
    def hello(self):
        words = compiler._version().partition("\n")[0]
        told = {"python": platform.python_version(), "numpy": np.__version__}
        return {**told, "the engine's compiler": words}

    def threads(self):
        """How many threads the engine spreads blocks over."""
        return calls.WORKERS

    def make(self, key, problem):
        A, B = problem.A, problem.B
        if key == "blas":
            D = np.empty(problem.shape[:2], np.float32)
            return Product(lambda: np.matmul(A, B, out=D))
        kind, rung = key.partition("-")[0], WAY[key].kernel
        if kind == "traced":
            return Product(lambda: _traced(A, B, rung))
        return Product(lambda: gemm(A, B, kernel=rung))

    def time(self, key, seed):
        with workers(key.partition("-")[0]), blas_threads(1):
            return super().time(key, seed)

    def kernel(self, n, kind, rung):
        """Seconds of a kernel alone, without the call around it: plain on all threads, on a single one, traced."""
        A, B = Problem((n, n, n)).A, Problem((n, n, n)).B
        if kind == "traced":
            return trace_gemm(A, B, kernel=rung)[1].seconds
        A, B, D = (device.gpuarray.to_gpu(X) for X in (A, B, np.zeros_like(A)))
        rung = RUNGS[rung]
        (M, N, K), left, right, out = turned(rung, A, B, D)
        how = {"block": rung.block, "grid": rung.grid(M, N), "time_kernel": True}
        function = device.SourceModule(rung.source).get_function(f"gemm_{rung.name}")
        args = rung.arguments(M, N, K, 1, left, right, 0, out, out)
        with workers(kind):
            return min(function(*args, **how) for _ in range(3))

    def rate(self, seconds):
        """GFLOP/s of NumPy's product of two 1024 x 1024 matrices on one BLAS thread."""
        return product_rate(1, seconds)

    def barrier(self, block, n):
        """Seconds of a barrier, divided by the threads of a block that wait at it: n barriers less none at all."""
        function = device.SourceModule(BARRIERS).get_function("barriers")
        x = device.to_device(np.zeros(block, np.int32))
        how = {"block": (block, 1, 1), "grid": (1, 1), "time_kernel": True}
        function(np.int32(1), x, **how)
        with_, without = (function(np.int32(count), x, **how) for count in (n, 0))
        return (with_ - without) / n / block


@contextlib.contextmanager
def workers(kind):
    """What is called "single" runs on one thread of the engine."""
    usual = calls.WORKERS
    calls.WORKERS = 1 if kind == "single" else usual
    try:
        yield
    finally:
        calls.WORKERS = usual


def _traced(A, B, rung):
    D, report = trace_gemm(A, B, kernel=rung)
    if report.errors:
        raise ArithmeticError(f"the tracer reports: {report.errors[0]['message']}")
    return D
