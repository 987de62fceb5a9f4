"""PyTorch's sharded training as its users write it: ZeroRedundancyOptimizer beside DDP, and FSDP; over gloo."""

import numpy as np
import torch
from torch import distributed as dist

from course_lib.errors import BadInput
from course_tools.bench.mpi.desk_ranks import StepTrainer
from course_tools.bench.training.catalogue import ETA
from course_tools.bench.training.pytorch import model_of, params_of


def trainer(desk, key, net, B):
    """Training by "zero", "fsdp-2" (parameters gathered once a step) or "fsdp-3" (once more for backward)."""
    model = model_of(net)
    made, optimiser = zero(model) if key == "zero" else fsdp(model, again=key == "fsdp-3")

    def step(rows):
        mine = np.array_split(rows, desk.size)[desk.rank]
        X, Y = torch.from_numpy(desk.X[mine]), torch.from_numpy(desk.Y[mine])
        optimiser.zero_grad()
        # as in DDP, the sum over the ranks is divided by their number
        error = torch.nn.functional.mse_loss(made(X), Y, reduction="sum")
        (error * (desk.size / len(rows))).backward()
        optimiser.step()

    return StepTrainer(B, step, lambda: params_of(model if key == "zero" else whole(model, net)))


def zero(model):
    """(DDP's model, the optimiser that shards its state and update): stage 1."""
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.nn.parallel import DistributedDataParallel

    made = DistributedDataParallel(model)
    how = {"optimizer_class": torch.optim.SGD, "lr": ETA}
    return made, ZeroRedundancyOptimizer(model.parameters(), **how)


def fsdp(model, again):
    """(the model, each layer a unit whose parameters are sharded; its optimiser). Raises BadInput in an old PyTorch."""
    from torch.distributed import fsdp

    if not hasattr(fsdp, "fully_shard"):
        raise BadInput(f"PyTorch {torch.__version__} has no fully_shard")
    mesh = dist.device_mesh.init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in [layer for layer in model if hasattr(layer, "weight")]:
        fsdp.fully_shard(layer, mesh=mesh, reshard_after_forward=again)
    fsdp.fully_shard(model, mesh=mesh, reshard_after_forward=again)
    return model, torch.optim.SGD(model.parameters(), lr=ETA)


def whole(model, net):
    """A model of the same parameters, each gathered from all ranks."""
    made = model_of(net)
    with torch.no_grad():
        for mine, part in zip(made.parameters(), model.parameters(), strict=True):
            mine.copy_(part.full_tensor())
    return made
