"""cuBLAS through PyTorch on a GPU, TF32 off. Not run on a GPU so far."""

import torch

from course_tools.bench.gpu.products import CYCLES, Product, ProductDesk


def use_gpu():
    """Products in float32, not in TF32. Raises RuntimeError where PyTorch finds no GPU."""
    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no GPU: the wheel for CPUs, or no driver")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")


class TorchGpuDesk(ProductDesk):
    """Raises RuntimeError where PyTorch finds no GPU."""

    def __init__(self):
        super().__init__()
        use_gpu()

    def hello(self):
        return {"torch": torch.__version__}

    def make(self, key, problem):
        return Product(Call(problem))

    def timed(self, call, repeats):
        return call.between_events(repeats)


class Call:
    def __init__(self, problem):
        self.A, self.B = (torch.from_numpy(X).cuda() for X in (problem.A, problem.B))
        self.D = torch.full(problem.shape[:2], float("nan"), device="cuda")

    def __call__(self):
        torch.mm(self.A, self.B, out=self.D)
        return self.D.cpu().numpy()

    def between_events(self, repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(CYCLES * repeats)  # as SPIN
        start.record()
        for _ in range(repeats):
            torch.mm(self.A, self.B, out=self.D)
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3
