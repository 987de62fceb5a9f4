"""PyTorch on a GPU, TF32 off: cuBLAS, and training as on a CPU, but on the device. Not run on a GPU so far."""

import torch

from course_tools.bench.gpu.products import GpuCall, GpuProductDesk, Product
from course_tools.bench.training.desk import Desk
from course_tools.bench.training.pytorch import TorchTrainer


def use_gpu():
    """Products in float32, not in TF32. Raises RuntimeError where PyTorch finds no GPU."""
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no GPU: the wheel for CPUs, or no driver")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")


class TorchGpuDesk(GpuProductDesk):
    """Raises RuntimeError where PyTorch finds no GPU."""

    def __init__(self):
        super().__init__()
        use_gpu()

    def hello(self):
        return {"torch": torch.__version__}

    def make(self, key, problem):
        return Product(Call(problem))


class Call(GpuCall):
    def __init__(self, problem):
        self.A, self.B = (torch.from_numpy(X).cuda() for X in (problem.A, problem.B))
        self.D = torch.full(problem.shape[:2], float("nan"), device="cuda")

    def launch(self):
        torch.mm(self.A, self.B, out=self.D)

    def fetch(self):
        return self.D.cpu().numpy()

    def spin(self, cycles):
        torch.cuda._sleep(cycles)

    def event(self):
        return torch.cuda.Event(enable_timing=True)

    def milliseconds(self, start, end):
        return start.elapsed_time(end)


class TorchGpuTrainingDesk(Desk):
    """Raises RuntimeError where PyTorch finds no GPU."""

    def __init__(self):
        use_gpu()
        super().__init__()

    def hello(self):
        return {"torch": torch.__version__}

    def make(self, key, net, B, threads):
        trainer = {"torch-gpu-sent": SentTrainer, "torch-gpu-resident": ResidentTrainer}[key]
        X, Y = torch.from_numpy(self.X), torch.from_numpy(self.Y)
        return trainer(net, B, threads, X, Y, device="cuda")


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
