"""CUDA graphs: launches that are recorded once and then launched as a whole. Not run on a GPU so far.

PyCUDA 2026.1 has no graphs (two pull requests, 343 and 424, are open), so the driver's own functions are called, on
the stream that PyCUDA has made.
"""

import ctypes

import numpy as np

from course_tools.bench.training.catalogue import ETA, NETS

GLOBAL = 0  # CU_STREAM_CAPTURE_MODE_GLOBAL: nothing else may call the driver meanwhile
NET, B = "Net-1h", 64


class Graph:
    """What `record()` launches into a stream, as a graph. Memory that it uses must stay where it is.

    Raises OSError without a driver, AttributeError for one older than CUDA 11.4, RuntimeError for what it refuses.
    """

    def __init__(self, stream, record):
        self.driver, self.stream = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(stream.handle)
        graph, self.made = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuStreamBeginCapture_v2", self.stream, GLOBAL)
        try:
            record()
        finally:
            self._call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        made = ctypes.byref(self.made)
        self._call("cuGraphInstantiateWithFlags", made, graph, ctypes.c_ulonglong(0))
        self._call("cuGraphDestroy", graph)

    def launch(self):
        """All of it, in the stream; does not wait."""
        self._call("cuGraphLaunch", self.made, self.stream)

    def _call(self, name, *args):
        status = getattr(self.driver, name)(*args)
        if status:
            raise RuntimeError(f"{name} failed with CUresult {status}")


class KernelsOfAStep:
    """The kernels of one training step of course_lib.gpu.mlp, on a batch that is on the GPU.

    about: the net, the batch and how many kernels. `launch` launches them one by one; `graph()` makes a graph.
    """

    def __init__(self, device):
        from course_lib.gpu.mlp import Mlp  # it picks the device
        from course_lib.serial import Network

        net, rng = Network(NETS[NET]), np.random.default_rng(0)
        X = rng.random((B, net.sizes[0]), np.float32)
        Y = np.eye(net.sizes[-1], dtype=np.float32)[rng.integers(0, net.sizes[-1], B)]
        self.mlp = Mlp(net, net.init_params(0), ETA)
        arrays = (X, Y, np.zeros((1, 1), np.float32))
        self.x, self.y, self.losses = map(device.gpuarray.to_gpu, arrays)
        self.launch()  # compiles, and makes all memory: while a graph is recorded none may be made
        before = self.mlp.kernels.launched
        self.launch()
        self.about = {"net": NET, "B": B, "kernels": self.mlp.kernels.launched - before}

    def launch(self):
        """All kernels of a step; does not wait."""
        self.mlp.launch_step(self.x, self.y, self.losses)

    def graph(self):
        """A function that launches them as one graph."""
        return Graph(self.mlp.kernels.stream, self.launch).launch
