"""A stand-in for PyTorch with one GPU: what the desks of `bench gpu` call, computed by NumPy; no GPU, and no clock.

As in PyTorch, tensors on two devices may not meet, only tensors on the host become arrays, and only those without a
gradient. TF32 is on until somebody turns it off. `calls` records what was called. $FAKE_TORCH: no-gpu.
"""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[2]))  # tests/
from fake_gemm import _rounded

__version__ = "2.99.0+fake"
calls: list = []
matmul = SimpleNamespace(allow_tf32=True)
backends = SimpleNamespace(
    cuda=SimpleNamespace(matmul=matmul), mkl=SimpleNamespace(is_available=lambda: True)
)
cuda = SimpleNamespace(
    is_available=lambda: os.environ.get("FAKE_TORCH") != "no-gpu",
    synchronize=lambda: calls.append("synchronize"),
)


def set_float32_matmul_precision(precision):
    assert precision in ("highest", "high", "medium")


def set_num_threads(threads):
    calls.append(("threads", threads))


def product(A, B, device):
    """A B; on the GPU with TF32 the factors are rounded first."""
    if device == "cuda" and matmul.allow_tf32:
        A, B = _rounded(A), _rounded(B)
    return A @ B


class Tensor:
    def __init__(self, data, device="cpu", pinned=False, back=None):
        self.data, self.device, self.pinned, self.back, self.grad = data, device, pinned, back, None

    def __len__(self):
        return len(self.data)

    def __getitem__(self, rows):
        if self.device == "cpu" and rows.device != "cpu":
            raise RuntimeError(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
            )
        return Tensor(self.data[rows.data], self.device)

    def __truediv__(self, number):
        return Tensor(self.data / number, self.device, back=lambda grad: self.back(grad / number))

    def split(self, size):
        return [
            Tensor(self.data[start : start + size], self.device)
            for start in range(0, len(self.data), size)
        ]

    def pin_memory(self):
        if self.device != "cpu":
            raise RuntimeError(
                "cannot pin 'torch.cuda.FloatTensor': only dense CPU tensors can be pinned"
            )
        return Tensor(self.data.copy(), pinned=True)

    def to(self, device, non_blocking=False):
        if self.device != device:
            calls.append(("copy", device, self.data.nbytes, self.pinned and non_blocking))
        return Tensor(self.data.copy(), device) if self.device != device else self

    def cpu(self):
        return self.to("cpu")

    def detach(self):
        return Tensor(self.data, self.device)

    def numpy(self):
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if isinstance(self, Parameter):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return self.data

    def backward(self):
        self.back(np.float32(1))


class Parameter(Tensor):
    pass


def from_numpy(array):
    return Tensor(array)


def together(*tensors):
    if len({tensor.device for tensor in tensors}) > 1:
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices"
        )


class Linear:
    def __init__(self, n_in, n_out):
        self.weight, self.bias = (
            Parameter(np.zeros(n, np.float32).view(Settable)) for n in ((n_out, n_in), n_out)
        )

    def __call__(self, x):
        W, b = self.weight, self.bias
        together(x, W, b)

        def back(grad):
            W.grad, b.grad = product(grad.T, x.data, x.device), grad.sum(axis=0)
            if x.back:
                x.back(product(grad, W.data, x.device))

        return Tensor(np.asarray(product(x.data, W.data.T, x.device) + b.data), x.device, back=back)


class Settable(np.ndarray):
    """An array whose elements may be set from a Tensor."""

    def __setitem__(self, where, value):
        super().__setitem__(where, value.data if isinstance(value, Tensor) else value)


class Sigmoid:
    def __call__(self, z):
        a = 1 / (1 + np.exp(-z.data))
        return Tensor(a, z.device, back=lambda grad: z.back(grad * a * (1 - a)))


class Sequential:
    def __init__(self, *layers):
        self.layers = layers

    def __iter__(self):
        return iter(self.layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def to(self, device):
        for parameter in self.parameters():
            parameter.data, parameter.device = np.array(parameter.data), device
        return self

    def parameters(self):
        return [
            p
            for layer in self.layers
            if isinstance(layer, Linear)
            for p in (layer.weight, layer.bias)
        ]


def mse_loss(out, wanted, reduction):
    assert reduction == "sum"
    together(out, wanted)
    off = out.data - wanted.data
    return Tensor(np.sum(off**2), out.device, back=lambda grad: out.back(2 * grad * off))


class SGD:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None

    def step(self):
        for parameter in self.parameters:
            parameter.data -= np.float32(self.lr) * parameter.grad


nn = SimpleNamespace(
    Linear=Linear,
    Sigmoid=Sigmoid,
    Sequential=Sequential,
    functional=SimpleNamespace(mse_loss=mse_loss),
)
optim = SimpleNamespace(SGD=SGD)
