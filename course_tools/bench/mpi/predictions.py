"""What course_lib.mpi's cost model says of the run's allreduces and schemes, from numbers measured in the same run."""

from typing import Any

from course_lib.mpi import cost, scaling
from course_lib.mpi.layers import layer_sizes
from course_lib.serial import Network
from course_tools.bench.frame import quartiles
from course_tools.bench.mpi.catalogue import SCHEME, Scheme

MODELLED = ("mpi", "ring", "doubling", "tree")


def fitted(result: dict[str, Any], key: str) -> tuple[float, float]:
    """(alpha, beta) of a group of ranks, such as "mpi-2-plain", from its ping-pong."""
    messages = result["costs"][key]["messages"]
    return cost.fit([int(size) for size in messages], list(messages.values()))


def group_of(result: dict[str, Any], p: int) -> str:
    """The group of p ranks as the course starts them: the tables show these."""
    return f"mpi-{p}-{result['settings']['waiting'][str(p)]}"


def allreduce_seconds(result: dict[str, Any], p: int, size: int, name: str) -> float | None:
    """Predicted seconds of an allreduce; None for one that the model does not know."""
    if name not in MODELLED:
        return None
    return cost.seconds(p, size, *fitted(result, group_of(result, p)), name)


def epoch_seconds(result: dict[str, Any], case: dict[str, Any], key: str) -> float | None:
    """Predicted seconds an epoch of a way; None for one that the model does not know.

    A step: the model's gradient and messages, from one rank's gradient of as many rows and the ping-pong's alpha and
    beta; and what each rank does besides: gather the batch, update its weights. p ranks on fewer cores compute p/cores
    times as long; the master gathers and updates while the others wait.
    """
    row = case["ways"][key]
    p, scheme, settings = row["ranks"], SCHEME[row["scheme"]], result["settings"]
    if not scheme.scheme:
        return None
    crowd, parts = max(1.0, p / settings["cores"]), medians(case, 1)
    other = key.replace(row["scheme"], "mpi") if key.count("-") == 3 else group_of(result, p)
    rows = {int(n): crowd * seconds for n, seconds in parts.items() if n.isdigit()}
    time, model = _gradient(case, p, scheme, fitted(result, other), rows)
    alone = 1.0 if scheme.scheme == "master" else crowd
    step = time + alone * (parts["gather"] + parts["update"] / model)
    return step * settings["epoch"] / case["B"]


def _gradient(
    case: dict[str, Any], p: int, scheme: Scheme, link: tuple[float, float], rows: dict[int, float]
) -> tuple[float, int]:
    """(seconds of a step's gradient and messages, ranks that share the weights). rows: {rows: seconds of one}."""
    net, B = Network(tuple(case["sizes"])), case["B"]
    if scheme.scheme.startswith("grid"):
        data, model = map(int, scheme.scheme.removeprefix("grid-").split("x"))
        found = [(ranks, 4 * items) for ranks, items, _ in cost.allreduces(net, B, data, model)]
        sent = sum(cost.seconds(*each, *link, scheme.allreduce) for each in found)
        return rows[-(-B // data)] / model + sent, model
    if scheme.scheme.startswith("sharded-"):
        stage = int(scheme.scheme.removeprefix("sharded-"))
        return rows[-(-B // p)] + shards_seconds(net, p, stage, *link), p if stage else 1
    how = (*link, rows.__getitem__, scheme.allreduce)
    seconds = scaling.predict(scheme.scheme, net, B, p, *how).seconds
    return seconds, p if scheme.scheme == "model" else 1


def shards_seconds(net: Network, p: int, stage: int, alpha: float, beta: float) -> float:
    """Seconds of a sharded step's messages: each layer in halves of a ring allreduce, three of them in stage 3."""
    layers = [4 * items for items in layer_sizes(net)]
    return (3 if stage == 3 else 2) * sum((p - 1) * (alpha + beta * n / p) for n in layers)


def medians(case: dict[str, Any], p: int) -> dict[str, float]:
    """Median seconds of the parts of a step, on p ranks at once."""
    return {part: quartiles(runs)[0] for part, runs in case["parts"][str(p)].items()}
