"""A rank of PyTorch as its users write it: DistributedDataParallel over gloo, one thread a rank; alone without it."""

import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from course_lib.bench.catalogue import ETA
from course_lib.bench.desk_ranks import RankDesk


class Desk(RankDesk):
    def __init__(self):
        self.rank, self.size = (
            int(os.environ[f"COURSE_BENCH_{name}"]) for name in ("RANK", "SIZE")
        )
        torch.set_num_threads(1)
        meet = os.environ["COURSE_BENCH_MEET"]
        dist.init_process_group("gloo", init_method=meet, rank=self.rank, world_size=self.size)

    def versions(self):
        return {"torch": torch.__version__}

    def barrier(self):
        dist.barrier()

    def slowest(self, seconds):
        value = torch.tensor(seconds, dtype=torch.float64)
        dist.all_reduce(value, op=dist.ReduceOp.MAX)
        return float(value)

    def first(self, value):
        value = torch.tensor(float(value), dtype=torch.float64)
        dist.broadcast(value, 0)
        return float(value)

    def allreduce(self, name, array):
        tensor = torch.from_numpy(array)
        return lambda: dist.all_reduce(tensor)

    def make(self, key, net, B):
        layers = []
        for W, b in net.init_params(0):
            layer = torch.nn.Linear(*W.shape)
            layer.weight.data[:], layer.bias.data[:] = (
                torch.from_numpy(W.T.copy()),
                torch.from_numpy(b),
            )
            layers += [layer, torch.nn.Sigmoid()]
        model = torch.nn.Sequential(*layers)
        whole = DistributedDataParallel(model) if self.size > 1 else model
        optimiser = torch.optim.SGD(model.parameters(), lr=ETA)

        def step(rows):
            mine = np.array_split(rows, self.size)[self.rank]  # the same shards as ours
            X, Y = torch.from_numpy(self.X[mine]), torch.from_numpy(self.Y[mine])
            optimiser.zero_grad()
            # DDP divides the sum over the ranks by their number: with this factor it is the batch's mean loss
            error = torch.nn.functional.mse_loss(whole(X), Y, reduction="sum")
            (error * (self.size / len(rows))).backward()
            optimiser.step()

        return step, lambda: params(model)


def params(model):
    """list of (W, b), as the serial library has them."""
    linear = [layer for layer in model if hasattr(layer, "weight")]
    both = ((layer.weight.detach().numpy(), layer.bias.detach().numpy()) for layer in linear)
    return [(np.ascontiguousarray(W.T), b.copy()) for W, b in both]
