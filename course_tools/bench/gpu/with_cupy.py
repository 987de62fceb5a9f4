"""The GPU through CuPy: cuBLAS, and the ladder's kernels where PyCUDA is missing. Not run on a GPU so far."""

import os

import numpy as np

from course_lib.gpu.gemm import RUNGS
from course_lib.gpu.gemm_half import HALF_RUNGS
from course_tools.bench.gpu.products import SPIN, GpuCall, Product


def load():
    """CuPy with TF32 off, which is its default: cuBLAS must compute in float32 as our kernels do."""
    os.environ["CUPY_TF32"] = "0"
    import cupy

    if cupy.cuda.runtime.getDeviceCount() == 0:
        raise RuntimeError("CuPy finds no GPU")
    return cupy


def compiled(cupy, source, kernel):
    """A kernel compiled by NVRTC, the source wrapped as PyCUDA does it."""
    return cupy.RawModule(code=f'extern "C" {{\n{source}\n}}').get_function(kernel)


class CupyGpu:
    name = "CuPy"

    def __init__(self):
        self.cupy = load()

    def versions(self):
        return {"cupy": self.cupy.__version__}

    def attributes(self):
        known = self.cupy.cuda.runtime.getDeviceProperties(0)
        told = {"name": known["name"].decode(), "memory": known["totalGlobalMem"]}
        capability = [known["major"], known["minor"]]
        count = known["multiProcessorCount"]
        return {**told, "multiprocessors": count, "compute_capability": capability}

    def product(self, rung, problem):
        if rung.startswith("half-"):
            return Product(HalfLaunch(self.cupy, HALF_RUNGS[rung.removeprefix("half-")], problem))
        return Product(Launch(self.cupy, RUNGS[rung], problem))

    def copier(self, bytes, pinned, to_device):
        import cupyx

        host = (cupyx.empty_pinned if pinned else np.empty)(bytes, np.uint8)
        host[:] = 1
        memory = self.cupy.empty(bytes, np.uint8)

        def to():
            memory.set(host)
            self.synchronize()

        def back():
            memory.get(out=host)

        return to if to_device else back

    def launcher(self, source, kernel):
        function = compiled(self.cupy, source, kernel)
        return lambda: function((1, 1), (32, 1, 1), ())

    def graph(self, source, kernel, times):
        """A function that launches a graph of so many launches."""
        function = compiled(self.cupy, source, kernel)
        stream = self.cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            for _ in range(times):
                function((1, 1), (32, 1, 1), ())
            graph = stream.end_capture()
        return lambda: graph.launch(stream)

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()


class Blas(GpuCall):
    """cuBLAS."""

    def __init__(self, cupy, problem):
        self.cupy, self.event = cupy, cupy.cuda.Event
        self.A, self.B = cupy.asarray(problem.A), cupy.asarray(problem.B)
        self.D = cupy.full(problem.shape[:2], np.nan, np.float32)
        self.spinner = compiled(cupy, SPIN, "spin")

    def launch(self):
        self.cupy.matmul(self.A, self.B, out=self.D)

    def fetch(self):
        return self.cupy.asnumpy(self.D)

    def spin(self, cycles):
        self.spinner((1, 1), (1, 1, 1), (np.int64(cycles),))

    def milliseconds(self, start, end):
        return self.cupy.cuda.get_elapsed_time(start, end)


class Launch(Blas):
    """A rung, with the arguments that course_lib.gpu.gemm gives it for matrices stored by rows."""

    def __init__(self, cupy, rung, problem):
        super().__init__(cupy, problem)
        self.function = compiled(cupy, rung.source, f"gemm_{rung.name}")
        M, N, K = problem.shape
        left, right, out = (self.A, K, 1), (self.B, N, 1), (self.D, N, 1)
        if rung.by_columns:  # D^T = B^T A^T
            left, right, out, M, N = (self.B, 1, N), (self.A, 1, K), (self.D, 1, N), N, M
        self.grid, self.block = rung.grid(M, N), rung.block
        sizes = map(np.int32, (M, N, K))
        (A, *a), (B, *b), (D, *d) = (
            (array, *map(np.int32, strides)) for array, *strides in (left, right, out)
        )
        self.arguments = (*sizes, np.float32(1), A, *a, B, *b, np.float32(0), D, D, *d)

    def launch(self):
        self.function(self.grid, self.block, self.arguments)


class HalfLaunch(Launch):
    """A kernel of half precision; <mma.h> is C++ and stands in no extern "C"."""

    def __init__(self, cupy, rung, problem):
        Blas.__init__(self, cupy, problem)
        self.function = cupy.RawModule(code=rung.source).get_function(f"gemm_{rung.name}")
        self.grid, self.block = rung.grid(*problem.shape[:2]), rung.block
        self.arguments = rung.arguments(self.A, self.B, self.D, self.D, 1, 0)


def cublas(problem):
    """The product as cuBLAS computes it."""
    return Product(Blas(load(), problem))
