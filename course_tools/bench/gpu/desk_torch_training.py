"""Training by PyTorch on a GPU, TF32 off: as desk_torch.py, but on the device. Not run on a GPU so far."""

import torch

from course_tools.bench.gpu.desk_torch import use_gpu
from course_tools.bench.training.desk import Desk
from course_tools.bench.training.pytorch import TorchTrainer


class TorchGpuTrainingDesk(Desk):
    """Raises RuntimeError where PyTorch finds no GPU."""

    def __init__(self):
        use_gpu()
        super().__init__()

    def hello(self):
        return {"torch": torch.__version__}

    def make(self, key, net, B, threads):
        trainer = {"torch-gpu-sent": SentTrainer, "torch-gpu-resident": ResidentTrainer}[key]
        return trainer(
            net, B, threads, torch.from_numpy(self.X), torch.from_numpy(self.Y), device="cuda"
        )


class SentTrainer(TorchTrainer):
    """Each batch is gathered on the host, put into page-locked memory and copied in, as ours is."""

    def epoch(self, order):
        super().epoch(order)
        torch.cuda.synchronize()  # the clock stops when the GPU is done

    def batch(self, rows):
        X, Y = (A[rows].pin_memory().to("cuda", non_blocking=True) for A in (self.X, self.Y))
        return X, Y


class ResidentTrainer(SentTrainer):
    """All examples are on the GPU before the clock starts: only the numbers of the rows are sent."""

    def __init__(self, net, B, threads, X, Y, device):
        super().__init__(net, B, threads, X.to(device), Y.to(device), device)

    def batch(self, rows):
        rows = rows.to("cuda")
        return self.X[rows], self.Y[rows]
