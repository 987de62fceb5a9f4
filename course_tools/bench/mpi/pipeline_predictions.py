"""What the simulator says of the run's pipelines, from each layer's tasks, alpha and beta, measured in the same run."""

from typing import Any

from course_lib.measure import Timeline
from course_lib.mpi.flat import length
from course_lib.mpi.pipeline import Costs, layer_flops, layers_of, split
from course_lib.mpi.pipeline.simulate import step_seconds
from course_lib.serial import Network
from course_tools.bench.frame import quartiles
from course_tools.bench.mpi.catalogue import plan
from course_tools.bench.mpi.predictions import fitted, group_of
from course_tools.bench.mpi.shared_cores import simulate_shared


def predicted(result: dict[str, Any], case: dict[str, Any], name: str, p: int) -> Timeline | None:
    """The Timeline of a step of this schedule on p ranks; None where one rank's tasks were not measured."""
    if not case["tasks"]:
        return None
    costs = stage_costs(result, case, name, p)
    return simulate_shared(plan(name, p), costs, result["settings"]["cores"])


def predicted_step(result: dict[str, Any], case: dict[str, Any], name: str, p: int) -> float | None:
    """Seconds of the whole step: the schedule; and what the first rank does besides: gather X, update its layers."""
    line = predicted(result, case, name, p)
    if line is None:
        return None
    share = max(_params(case, name, p)) / sum(_params(case, name, p))
    found = {part: quartiles(case["tasks"][part])[0] for part in ("gather", "update")}
    return step_seconds(line) + found["gather"] + share * found["update"]


def stage_costs(result: dict[str, Any], case: dict[str, Any], name: str, p: int) -> Costs:
    """Seconds of each stage's tasks, its layers' together, and of the messages between stages."""
    found = {task: quartiles(seconds)[0] for task, seconds in case["tasks"].items()}

    def of(kind, layers):
        return sum(found[kind if layer == 0 else f"{kind} {layer + 1}"] for layer in layers)

    stages = _stages(case, plan(name, p).S)
    forward, delta, grad = (
        [of(kind, layers) for layers in stages] for kind in ("forward", "delta", "grad")
    )
    alpha, beta = fitted(result, group_of(result, p)) if p > 1 else (0.0, 0.0)
    rows = length(case["B"], case["micro"], 0)
    widths = [case["sizes"][layers.stop] for layers in stages[:-1]]
    return Costs(forward, delta, grad, [alpha + beta * 4 * rows * width for width in widths])


def _stages(case: dict[str, Any], S: int) -> list[range]:
    return layers_of(split(layer_flops(Network(tuple(case["sizes"]))), S))


def _params(case: dict[str, Any], name: str, p: int) -> list[int]:
    """How many parameters each rank has."""
    sizes, stages = case["sizes"], _stages(case, plan(name, p).S)
    counts = [sum((sizes[l] + 1) * sizes[l + 1] for l in layers) for layers in stages]
    return [sum(counts[rank::p]) for rank in range(p)]
