"""PyTorch as its users write it: nn.Sequential, autograd, optim.SGD; the batch gathered by an index tensor."""

import time

import torch

from course_lib.bench.catalogue import ETA
from course_lib.bench.desk import Desk, Trainer
from course_lib.bench.rates import N, matrices


class TorchDesk(Desk):
    def hello(self):
        blas = "MKL" if torch.backends.mkl.is_available() else "no MKL"
        return {"torch": f"{torch.__version__} ({blas})"}

    def make(self, key, net, B, threads):
        return TorchTrainer(net, B, threads, torch.from_numpy(self.X), torch.from_numpy(self.Y))

    def rate(self, key, threads, seconds):
        """GFLOP/s of torch.mm over that many seconds."""
        torch.set_num_threads(threads)
        A, B, D = (torch.from_numpy(M) for M in matrices())
        torch.mm(A, B, out=D)
        start, calls = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            torch.mm(A, B, out=D)
            calls += 1
        return calls * 2 * N**3 / (time.perf_counter() - start) / 1e9


class TorchTrainer(Trainer):
    """nn.Sequential of Linear and Sigmoid, the loss of [000]: sum of the squared errors over B."""

    def __init__(self, net, B, threads, X, Y, device="cpu"):
        self.B, self.threads, self.X, self.Y = B, threads, X, Y
        layers = []
        for W, b in net.init_params(0):
            layer = torch.nn.Linear(*W.shape)
            layer.weight.data[:], layer.bias.data[:] = (
                torch.from_numpy(W.T.copy()),
                torch.from_numpy(b),
            )
            layers += [layer, torch.nn.Sigmoid()]
        self.model = torch.nn.Sequential(*layers).to(device)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=ETA)

    def epoch(self, order):
        torch.set_num_threads(self.threads)
        for rows in torch.from_numpy(order).split(self.B):
            X, Y = self.batch(rows)
            self.optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(X), Y, reduction="sum") / len(rows)
            loss.backward()
            self.optimiser.step()

    def batch(self, rows):
        """The inputs and targets of these examples, where the model is."""
        return self.X[rows], self.Y[rows]

    def params(self):
        linear = [layer for layer in self.model if hasattr(layer, "weight")]
        both = (
            (layer.weight.detach().cpu().numpy(), layer.bias.detach().cpu().numpy())
            for layer in linear
        )
        return [(W.T.copy(), b.copy()) for W, b in both]
