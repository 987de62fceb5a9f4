"""PyTorch's pipelines as its users write them: torch.distributed.pipelining over gloo, cut into our stages."""

import torch
import torch.distributed as dist

from course_lib.errors import BadInput
from course_lib.mpi.pipeline import layer_flops, layers_of, split
from course_tools.bench.mpi.catalogue import MICRO, plan
from course_tools.bench.mpi.desk_ranks import WholeSteps
from course_tools.bench.training.catalogue import ETA
from course_tools.bench.training.pytorch import model_of, params_of

# Its names for our schedules. With one stage a rank the last is ZB-H1: the same tasks in the same order.
SCHEDULES = {
    "gpipe": "ScheduleGPipe",
    "1f1b": "Schedule1F1B",
    "interleaved": "ScheduleInterleaved1F1B",
    "zb-h1": "ScheduleInterleavedZeroBubble",
}
SEVERAL = ("interleaved", "zb-h1")  # these take a list of stages


def trainer(desk, name, net, B):
    """Training by the schedule of this name; "alone": the whole model on one rank, without a pipeline."""
    if name != "alone":
        return Pipelined(desk, name, net, B)
    model = model_of(net)
    optimiser = torch.optim.SGD(model.parameters(), lr=ETA)

    def step(rows):
        optimiser.zero_grad()
        X, Y = (torch.from_numpy(array[rows]) for array in (desk.X, desk.Y))
        torch.nn.functional.cross_entropy(model(X), Y).backward()
        optimiser.step()

    return WholeSteps(B, step, lambda: params_of(model))


class Pipelined(WholeSteps):
    """A rank with its stages: its schedule cuts the batch, and scales the gradients to the batch's mean loss."""

    def __init__(self, desk, name, net, B):
        schedule = plan(name, desk.size)
        layers = layers_of(split(layer_flops(net), schedule.S))
        mine = range(desk.rank, schedule.S, desk.size)
        self.desk, self.ends = desk, (0 in mine, schedule.S - 1 in mine)
        self.models = {stage: model_of(net, layers[stage]) for stage in mine}
        self.order = piped(name, self.models, schedule.S)
        whole = torch.nn.ModuleList(self.models.values())
        self.optimiser = torch.optim.SGD(whole.parameters(), lr=ETA)
        super().__init__(B, self._train, self._joined)

    def _train(self, rows):
        first, last = self.ends
        inputs = (torch.from_numpy(self.desk.X[rows]),) if first else ()
        target = torch.from_numpy(self.desk.Y[rows]) if last else None
        self.optimiser.zero_grad()
        self.order.step(*inputs, target=target, return_outputs=False)
        self.optimiser.step()

    def _joined(self):
        """The parameters of all stages, on every rank."""
        own = {stage: params_of(model) for stage, model in self.models.items()}
        parts: list = [None] * self.desk.size
        dist.all_gather_object(parts, own)
        stages = {stage: params for part in parts for stage, params in part.items()}
        return [pair for stage in sorted(stages) for pair in stages[stage]]


def piped(name, models, S):
    """PyTorch's schedule of these stages, of S in all. Raises BadInput where this PyTorch does not have it."""
    from torch.distributed import pipelining

    kind = getattr(pipelining, SCHEDULES[name], None)
    if kind is None:
        raise BadInput(f"PyTorch {torch.__version__} has no {SCHEDULES[name]}")
    device = torch.device("cpu")
    stages = [pipelining.PipelineStage(model, s, S, device) for s, model in models.items()]
    what = stages if name in SEVERAL else stages[0]
    return kind(what, MICRO, torch.nn.functional.cross_entropy)
