"""What the models say of the run's allreduces, schemes and pipelines, from numbers measured in the same run."""

from typing import Any

from course_lib.measure import Timeline
from course_lib.mpi import cost, pipeline, scaling
from course_lib.mpi.flat import length
from course_lib.mpi.layers import layer_sizes
from course_lib.serial import Network
from course_tools.bench.frame import Result, medians
from course_tools.bench.mpi.catalogue import SCHEME, Scheme, plan
from course_tools.bench.mpi.shared_cores import simulate_shared

MODELLED = ("mpi", "ring", "doubling", "tree")


def fitted(result: Result, key: str) -> tuple[float, float]:
    """(alpha, beta) of a group of ranks, such as "mpi-2-plain", from its ping-pong."""
    messages = result["costs"][key]["messages"]
    return cost.fit([int(size) for size in messages], list(messages.values()))


def group_of(result: Result, p: int) -> str:
    """The group of p ranks as the course starts them: the tables show these."""
    return f"mpi-{p}-{result['settings']['waiting'][str(p)]}"


def allreduce_seconds(result: Result, p: int, size: int, name: str) -> float | None:
    """Predicted seconds of an allreduce; None for one that the model does not know."""
    if name not in MODELLED:
        return None
    return cost.seconds(p, size, *fitted(result, group_of(result, p)), name)


def epoch_seconds(result: Result, case: Result, key: str) -> float | None:
    """Predicted seconds an epoch of a way; None for one that the model does not know.

    A step: the model's gradient and messages, from one rank's gradient of as many rows and the ping-pong's alpha and
    beta; and what each rank does besides: gather the batch, update its weights. p ranks on fewer cores compute p/cores
    times as long; the master gathers and updates while the others wait.
    """
    row = case["ways"][key]
    p, scheme, settings = row["ranks"], SCHEME[row["scheme"]], result["settings"]
    if not scheme.scheme:
        return None
    crowd, parts = max(1.0, p / settings["cores"]), medians(case["parts"]["1"])
    other = key.replace(row["scheme"], "mpi") if key.count("-") == 3 else group_of(result, p)
    rows = {int(n): crowd * seconds for n, seconds in parts.items() if n.isdigit()}
    time, model = _gradient(case, p, scheme, fitted(result, other), rows)
    alone = 1.0 if scheme.scheme == "master" else crowd
    step = time + alone * (parts["gather"] + parts["update"] / model)
    return step * settings["epoch"] / case["B"]


def _gradient(
    case: Result, p: int, scheme: Scheme, link: tuple[float, float], rows: dict[int, float]
) -> tuple[float, int]:
    """(seconds of a step's gradient and messages, ranks that share the weights). rows: {rows: seconds of one}."""
    net, B = Network(tuple(case["sizes"])), case["B"]
    kind, _, more = scheme.scheme.partition("-")
    if kind == "grid":
        data, model = map(int, more.split("x"))
        found = [(ranks, 4 * items) for ranks, items, _ in cost.allreduces(net, B, data, model)]
        sent = sum(cost.seconds(*each, *link, scheme.allreduce) for each in found)
        return rows[-(-B // data)] / model + sent, model
    if kind == "sharded":
        sent = _shards_seconds(net, p, int(more), *link)
        return rows[-(-B // p)] + sent, p if int(more) else 1
    how: Any = (*link, rows.__getitem__, scheme.allreduce)
    return scaling.predict(kind, net, B, p, *how).seconds, p if kind == "model" else 1


def _shards_seconds(net: Network, p: int, stage: int, alpha: float, beta: float) -> float:
    """Seconds of a sharded step's messages: each layer in halves of a ring allreduce, three of them in stage 3."""
    layers = [4 * items for items in layer_sizes(net)]
    return (3 if stage == 3 else 2) * sum((p - 1) * (alpha + beta * n / p) for n in layers)


def timeline(result: Result, case: Result, name: str, p: int) -> Timeline | None:
    """The Timeline of a pipeline's step on p ranks; None where one rank's tasks were not measured."""
    if not case["tasks"]:
        return None
    costs = stage_costs(result, case, name, p)
    return simulate_shared(plan(name, p), costs, result["settings"]["cores"])


def step_seconds(result: Result, case: Result, name: str, p: int) -> float | None:
    """Seconds of a pipeline's step: the schedule; and what the first rank does besides: gather X, update its layers."""
    line = timeline(result, case, name, p)
    if line is None:
        return None
    sizes, stages = case["sizes"], _stages(case, plan(name, p).S)
    params = [sum((sizes[l] + 1) * sizes[l + 1] for l in layers) for layers in stages]
    share = max(sum(params[rank::p]) for rank in range(p)) / sum(params)
    found = medians(case["tasks"])
    return pipeline.step_seconds(line) + found["gather"] + share * found["update"]


def stage_costs(result: Result, case: Result, name: str, p: int) -> pipeline.Costs:
    """Seconds of each stage's tasks, its layers' together, and of the messages between stages."""
    found, stages = medians(case["tasks"]), _stages(case, plan(name, p).S)

    def of(kind: str, layers: range) -> float:
        return sum(found[kind if layer == 0 else f"{kind} {layer + 1}"] for layer in layers)

    forward, delta, grad = (
        [of(kind, layers) for layers in stages] for kind in ("forward", "delta", "grad")
    )
    alpha, beta = fitted(result, group_of(result, p)) if p > 1 else (0.0, 0.0)
    rows = length(case["B"], case["micro"], 0)
    widths = [case["sizes"][layers.stop] for layers in stages[:-1]]
    return pipeline.Costs(
        forward, delta, grad, [alpha + beta * 4 * rows * width for width in widths]
    )


def _stages(case: Result, S: int) -> list[range]:
    flops = pipeline.layer_flops(Network(tuple(case["sizes"])))
    return pipeline.layers_of(pipeline.split(flops, S))
