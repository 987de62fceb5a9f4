"""Training by course_lib.gpu.mlp: on a GPU or, with COURSE_GPU=cpu, on the CPU engine. Not run on a GPU so far."""

from typing import Any

from course_lib.gpu.mlp import Kernels, Mlp
from course_tools.bench.gpu.with_pycuda import usable_device
from course_tools.bench.training.catalogue import ETA
from course_tools.bench.training.desk import Desk, Trainer

# Options of Mlp by the last part of a way's key. [000] section 4: a thread for each element, W (n_out, n_in) by rows.
# "chosen": each product by size, as `Kernels` does by default on a GPU.
OPTIONS: dict[str, dict[str, Any]] = {
    "tiles": {"each": 4, "layout": "ours"},
    "chosen": {"each": None, "layout": "ours"},
    "paper": {"each": 1, "layout": "paper"},
}


class MlpDesk(Desk):
    """Raises RuntimeError, with the reason, where COURSE_GPU=cuda and PyCUDA does not work."""

    def __init__(self):
        usable_device()
        super().__init__()

    def hello(self):
        return {}  # the desks of the products have told the versions

    def make(self, key, net, B, threads):
        return MlpTrainer(net, B, self.X, self.Y, **OPTIONS[key.rpartition("-")[2]])


class MlpTrainer(Trainer):
    """Each batch is gathered by NumPy into page-locked memory and copied in; the parameters stay on the device.

    The host's clock sees all of it: an epoch ends with a copy of the losses, which waits for the last step.
    """

    def __init__(self, net, B, X, Y, each, layout):
        self.X, self.Y, self.B = X, Y, B
        self.mlp = Mlp(net, net.init_params(0), ETA, layout=layout, kernels=Kernels(each=each))

    def epoch(self, order):
        self.mlp.epoch(self.X, self.Y, self.B, order)

    def params(self):
        return self.mlp.get_params()
