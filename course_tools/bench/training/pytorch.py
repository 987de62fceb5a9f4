"""PyTorch as its users write it: nn.Sequential, autograd, optim.SGD; the batch gathered by an index tensor."""

import numpy as np
import torch

from course_tools.bench.training.catalogue import ETA
from course_tools.bench.training.desk import Desk, Trainer
from course_tools.bench.training.rates import matrices, rate_of


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
        return rate_of(lambda: torch.mm(A, B, out=D), seconds)


def model_of(net, layers=None):
    """nn.Sequential of these layers, or all, with the serial library's parameters; before softmax nothing stands."""
    params, parts = net.init_params(0), []
    for layer in range(net.n_layers) if layers is None else layers:
        W, b = params[layer]
        linear = torch.nn.Linear(*W.shape)
        linear.weight.data[:] = torch.from_numpy(W.T.copy())
        linear.bias.data[:] = torch.from_numpy(b)
        last, softmax = layer == net.n_layers - 1, net.loss == "cross_entropy"
        activation = getattr(torch.nn, "Sigmoid" if last else net.activation.capitalize())
        parts += [linear] if last and softmax else [linear, activation()]
    return torch.nn.Sequential(*parts)


def params_of(model):
    """list of (W, b), as the serial library has them."""
    linear = [layer for layer in model if hasattr(layer, "weight")]
    arrays = [(layer.weight.detach().cpu(), layer.bias.detach().cpu()) for layer in linear]
    return [(np.ascontiguousarray(W.numpy().T), b.numpy().copy()) for W, b in arrays]


class TorchTrainer(Trainer):
    """The model and the loss of [000]: sum of the squared errors over B."""

    def __init__(self, net, B, threads, X, Y, device="cpu"):
        self.B, self.threads, self.X, self.Y = B, threads, X, Y
        self.model = model_of(net).to(device)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=ETA)

    def epoch(self, order):
        torch.set_num_threads(self.threads)
        super().epoch(order)

    def step(self, rows):
        X, Y = self.batch(torch.from_numpy(rows))
        self.optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(self.model(X), Y, reduction="sum") / len(rows)
        loss.backward()
        self.optimiser.step()

    def batch(self, rows):
        """The inputs and targets of these examples, where the model is."""
        return self.X[rows], self.Y[rows]

    def params(self):
        return params_of(self.model)
