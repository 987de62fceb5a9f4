"""The GPU through course_lib.gpu.device, that is through PyCUDA's own objects. Not run on a GPU so far."""

import os

import numpy as np

from course_lib.errors import BadInput
from course_lib.gpu import gemm, gemm_half
from course_tools.bench.gpu.graphs import Graph
from course_tools.bench.gpu.products import SPIN, GpuCall, Product


def usable_device():
    """The device that COURSE_GPU names. Raises RuntimeError, with the reason, where PyCUDA does not work."""
    from course_lib.gpu import device

    try:
        device.engine_name()
    except BadInput as error:  # "COURSE_GPU=cuda, but PyCUDA is not installed. Set it to ..."
        reason = str(error).partition(", but ")[2].partition(". Set it to")[0]
        raise RuntimeError(reason) from None
    return device


class PycudaGpu:
    name = "PyCUDA"

    def __init__(self):
        os.environ["COURSE_GPU"] = "cuda"
        self.device = usable_device()
        import pycuda
        import pycuda.driver as driver

        self.driver, self.version = driver, pycuda.VERSION_TEXT

    def versions(self):
        return {"pycuda": self.version}

    def attributes(self):
        memory = self.driver.Context.get_device().total_memory()
        return {**self.device.attributes(), "memory": memory}

    def product(self, rung, problem):
        return Product(Call(self.device, rung, problem))

    def copier(self, bytes, pinned, to_device):
        empty = self.driver.pagelocked_empty if pinned else np.empty
        host, memory = empty(bytes, np.uint8), self.driver.mem_alloc(bytes)
        host[:] = 1
        if to_device:
            return lambda: self.driver.memcpy_htod(memory, host)
        return lambda: self.driver.memcpy_dtoh(host, memory)

    def launcher(self, source, kernel):
        function = self.device.SourceModule(source).get_function(kernel)
        return lambda: function(block=(32, 1, 1), grid=(1, 1))

    def graph(self, source, kernel, times):
        """A function that launches a graph of so many launches."""
        function = self.device.SourceModule(source).get_function(kernel)
        stream = self.device.Stream()
        how = {"block": (32, 1, 1), "grid": (1, 1), "stream": stream}
        return Graph(stream, lambda: [function(**how) for _ in range(times)]).launch

    def synchronize(self):
        self.device.synchronize()


class Call(GpuCall):
    """gemm, or gemm_half, on device arrays; beta = 0 and C given, so that D needs no new memory."""

    def __init__(self, device, rung, problem):
        self.half, self.rung = rung.startswith("half-"), rung.removeprefix("half-")
        self.event, empty = device.Event, np.full(problem.shape[:2], np.nan, np.float32)
        self.A, self.B, self.D = map(device.gpuarray.to_gpu, (problem.A, problem.B, empty))
        self.spinner = device.SourceModule(SPIN).get_function("spin")

    def launch(self):
        (gemm_half if self.half else gemm)(self.A, self.B, self.D, kernel=self.rung)

    def fetch(self):
        return self.D.get()

    def spin(self, cycles):
        self.spinner(np.int64(cycles), block=(1, 1, 1))

    def milliseconds(self, start, end):
        return end.time_since(start)
