"""A rank of PyTorch as its users write it: DistributedDataParallel over gloo, one thread a rank; alone without it."""

import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from course_tools.bench.mpi import torch_pipeline, torch_sharded
from course_tools.bench.mpi.desk_ranks import RankDesk, StepTrainer
from course_tools.bench.training.catalogue import ETA
from course_tools.bench.training.pytorch import model_of, params_of


class DdpDesk(RankDesk):
    def __init__(self):
        super().__init__()
        own = os.environ
        self.rank, self.size = int(own["COURSE_BENCH_RANK"]), int(own["COURSE_BENCH_SIZE"])
        torch.set_num_threads(1)
        how = {"rank": self.rank, "world_size": self.size}
        dist.init_process_group("gloo", init_method=own["COURSE_BENCH_MEET"], **how)

    def hello(self):
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

    def make(self, key, net, B, threads):
        if key.startswith("pipeline-"):
            return torch_pipeline.trainer(self, key.removeprefix("pipeline-"), net, B)
        if key.startswith("torch-"):
            return torch_sharded.trainer(self, key.removeprefix("torch-"), net, B)
        model = model_of(net)
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

        return StepTrainer(B, step, lambda: params_of(model))
