"""A rank of PyTorch as its users write it: DistributedDataParallel, ZeroRedundancyOptimizer, FSDP; over gloo.

One thread a rank; one rank is a model without any of them.
"""

import os

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from course_lib.errors import BadInput
from course_tools.bench.mpi import torch_pipeline
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
        model = model_of(net)
        whole, optimiser, gathered = self.shared(key.removeprefix("torch-"), net, model)

        def step(rows):
            mine = np.array_split(rows, self.size)[self.rank]  # the same shards as ours
            X, Y = torch.from_numpy(self.X[mine]), torch.from_numpy(self.Y[mine])
            optimiser.zero_grad()
            # all divide the sum over the ranks by their number: with this factor it is the batch's mean loss
            error = torch.nn.functional.mse_loss(whole(X), Y, reduction="sum")
            (error * (self.size / len(rows))).backward()
            optimiser.step()

        return StepTrainer(B, step, lambda: params_of(gathered()))

    def shared(self, kind, net, model):
        """(the model that trains, its optimiser, () -> a model with all parameters).

        kind: "torch" is DDP; "zero" shards its state and update, stage 1; "fsdp-2" gathers parameters once a step,
        "fsdp-3" once more for backward.
        """
        if kind.startswith("fsdp"):
            fully_shard(model, again=kind == "fsdp-3")
            optimiser = torch.optim.SGD(model.parameters(), lr=ETA)
            return model, optimiser, lambda: unsharded(model, net)
        whole = DistributedDataParallel(model) if self.size > 1 else model
        if kind == "zero":
            from torch.distributed.optim import ZeroRedundancyOptimizer

            how = {"optimizer_class": torch.optim.SGD, "lr": ETA}
            return whole, ZeroRedundancyOptimizer(model.parameters(), **how), lambda: model
        return whole, torch.optim.SGD(model.parameters(), lr=ETA), lambda: model


def fully_shard(model, again):
    """Each layer becomes a unit whose parameters are sharded. Raises BadInput in an old PyTorch."""
    from torch.distributed import fsdp

    if not hasattr(fsdp, "fully_shard"):
        raise BadInput(f"PyTorch {torch.__version__} has no fully_shard")
    mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in [*(layer for layer in model if hasattr(layer, "weight")), model]:
        fsdp.fully_shard(layer, mesh=mesh, reshard_after_forward=again)


def unsharded(model, net):
    """A model of the same parameters, each gathered from all ranks."""
    made = model_of(net)
    with torch.no_grad():
        for mine, part in zip(made.parameters(), model.parameters(), strict=True):
            mine.copy_(part.full_tensor())
    return made
