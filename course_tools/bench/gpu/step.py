"""The kernels of one training step of course_lib.gpu.mlp, on a batch that is on the GPU. Not run on a GPU so far."""

import numpy as np

from course_lib.gpu.mlp import Mlp
from course_lib.serial import Network
from course_tools.bench.gpu.graphs import Graph
from course_tools.bench.training.catalogue import ETA, NETS

NET, B = "Net-1h", 64


class KernelsOfAStep:
    """about: the net, the batch and how many kernels. `launch` launches them one by one; `graph()` makes a graph."""

    def __init__(self, device):
        net, rng = Network(NETS[NET]), np.random.default_rng(0)
        X = rng.random((B, net.sizes[0]), np.float32)
        Y = np.eye(net.sizes[-1], dtype=np.float32)[rng.integers(0, net.sizes[-1], B)]
        self.mlp = Mlp(net, net.init_params(0), ETA)
        self.x, self.y, self.losses = map(
            device.gpuarray.to_gpu, (X, Y, np.zeros((1, 1), np.float32))
        )
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
