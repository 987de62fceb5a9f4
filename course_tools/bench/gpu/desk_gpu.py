"""A GPU: the ladder's kernels, cuBLAS through CuPy, copies, launches. Events on the GPU, everything warmed up.

Kernels are launched by PyCUDA, as in the course, where it works; else by CuPy, which needs wheels alone.
"""

import time
from typing import Any

from course_tools.bench.gpu.graphs import KernelsOfAStep
from course_tools.bench.gpu.products import GpuProductDesk, HalfProblem, check
from course_tools.bench.gpu.with_cupy import CupyGpu, cublas
from course_tools.bench.gpu.with_pycuda import PycudaGpu

LAUNCHES = 200
NOTHING = "__global__ void nothing() {}"


class GpuDesk(GpuProductDesk):
    """Raises RuntimeError, with both reasons, where neither PyCUDA nor CuPy finds a GPU."""

    def __init__(self):
        super().__init__()
        self.why, self.half = {}, None
        for gpu in (PycudaGpu, CupyGpu):
            try:
                self.gpu = gpu()
                return
            except Exception as error:  # not installed, no driver, no device: all are reasons
                self.why[gpu.name] = f"{gpu.name}: {error}"
        raise RuntimeError("; ".join(self.why.values()))

    def hello(self):
        return self.gpu.versions()

    def attributes(self):
        """Name, multiprocessors, compute capability, memory; what launches kernels, and why not PyCUDA."""
        why = self.why.get("PyCUDA", "")
        return {**self.gpu.attributes(), "launched_by": self.gpu.name, "instead_of": why}

    def make(self, key, problem):
        if key == "cublas-cupy":
            return cublas(problem)
        return self.gpu.product(key, problem)

    def build(self, key, shape, seconds):
        """As on the CPU, but timed by events; the result is fetched and checked before and after the timing."""
        made = super().build(key, shape, seconds)
        product, repeats = self.products[key]
        self.timed(product.call, repeats)
        check(product.call.fetch(), self.posed(key))
        return made

    def posed(self, key):
        if not key.startswith("half-"):
            return self.problem
        if self.half is None or self.half.shape != self.problem.shape:
            self.half = HalfProblem(self.problem.shape)
        return self.half

    def transfer(self, bytes, pinned, to_device):
        """Seconds of one copy between host memory, pageable or pinned, and the GPU: the shortest of five."""
        copy = self.gpu.copier(bytes, pinned, to_device)
        copy()
        return min(_seconds(copy) for _ in range(5))

    def launches(self):
        """Seconds a launch of an empty kernel: in a row without waiting, each waited for, and in a graph."""
        launch, wait = self.gpu.launcher(NOTHING, "nothing"), self.gpu.synchronize

        def each():
            launch()
            wait()

        found = {}
        for name, call in (("first", launch), ("in_a_row", launch), ("waited_for", each)):
            found[name] = _seconds(lambda call=call: [call() for _ in range(LAUNCHES)]) / LAUNCHES
            wait()
        del found["first"]  # it wakes the GPU
        graph = self.gpu.graph(NOTHING, "nothing", LAUNCHES)
        found["in_a_graph"] = self.until_done(graph) / LAUNCHES
        return found

    def step(self):
        """A training step's kernels, Net-1h and a batch that is there: how many, and seconds until all are done.

        launched: one by one, by `course_lib.gpu.mlp`; graph: the same, recorded, as one graph.
        """
        if self.gpu.name != "PyCUDA":
            return {"error": f"not measured: {self.why['PyCUDA']}"}
        gpu: Any = self.gpu
        step = KernelsOfAStep(gpu.device)
        launched = self.until_done(step.launch)
        return {**step.about, "launched": launched, "graph": self.until_done(step.graph())}

    def until_done(self, call):
        """The shortest of five times of a call and a wait for all that it launched, after one that is not timed."""

        def done():
            call()
            self.gpu.synchronize()

        done()
        return min(_seconds(done) for _ in range(5))


def _seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
