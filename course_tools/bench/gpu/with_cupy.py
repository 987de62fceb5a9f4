"""The GPU through CuPy: cuBLAS, and the ladder's kernels where PyCUDA is missing. Not run on a GPU so far."""

import os
from typing import Any

import numpy as np

from course_lib.gpu.gemm import RUNGS, turned
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
    """A kernel compiled by NVRTC, the source wrapped as PyCUDA does it; <mma.h> is C++ and stands in no extern "C"."""
    code = source if "<mma.h>" in source else f'extern "C" {{\n{source}\n}}'
    return cupy.RawModule(code=code).get_function(kernel)


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
        return Product(Launch(self.cupy, rung, problem))

    def copier(self, bytes, pinned, to_device):
        import cupyx

        host = (cupyx.empty_pinned if pinned else np.empty)(bytes, np.uint8)
        host[:] = 1
        memory = self.cupy.empty(bytes, np.uint8)

        def to():
            memory.set(host)
            self.synchronize()

        return to if to_device else lambda: memory.get(out=host)

    def launcher(self, source, kernel):
        function = compiled(self.cupy, source, kernel)
        return lambda: function((1, 1), (32, 1, 1), ())

    def graph(self, source, kernel, times):
        """A function that launches a graph of so many launches."""
        launch = self.launcher(source, kernel)
        stream = self.cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            for _ in range(times):
                launch()
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
    """A rung, or "half-" and a kernel of half precision, with the arguments that course_lib.gpu gives it."""

    def __init__(self, cupy, name, problem):
        super().__init__(cupy, problem)
        A, B, D, (M, N, _) = self.A, self.B, self.D, problem.shape
        rung: Any = {**RUNGS, **HALF_RUNGS}[name.removeprefix("half-")]
        if rung.name in HALF_RUNGS:
            self.arguments = rung.arguments(A, B, D, D, 1, 0)
        else:
            (M, N, K), left, right, out = turned(rung, A, B, D)
            self.arguments = rung.arguments(M, N, K, 1, left, right, 0, out, out)
        self.function = compiled(cupy, rung.source, f"gemm_{rung.name}")
        self.grid, self.block = rung.grid(M, N), rung.block

    def launch(self):
        self.function(self.grid, self.block, self.arguments)


def cublas(problem):
    """The product as cuBLAS computes it."""
    return Product(Blas(load(), problem))
