"""What the part `ranks` says: [003]'s and [004]'s ways to share the work over MPI processes, timed and counted."""

from itertools import pairwise
from typing import Any

from course_lib.bench.mpi_predictions import epoch_seconds
from course_lib.bench.papers.claim import COMPUTED, MEASURED, NOT_MEASURED, Finding, part
from course_lib.bench.summary import quartiles, ratio
from course_lib.bench.tables import digits
from course_lib.mpi import cost
from course_lib.serial import Network

NET = Network((784, 1024, 10), loss="cross_entropy")  # [003]'s two layers, [000]'s width


@part("ranks")
def speedups(made: dict[str, Any], *, scheme: str) -> Finding:
    """How many times as fast as serial training a scheme is, on each number of ranks."""
    told = []
    for case in made["training"]:
        serial = case["ways"]["serial-1"].get("seconds")
        for p in (2, 4):
            row = case["ways"].get(f"{scheme}-{p}", {})
            if value := ratio(serial, row.get("seconds")):
                told.append(f"{value:.2f} times on {p} ranks, B = {case['B']:,}")
    cores = made["settings"]["cores"]
    text = f"{', '.join(told)} ({cores} cores)"
    return Finding(MEASURED, text) if told else Finding(NOT_MEASURED, "no such scheme ran")


@part("ranks")
def overhead(made: dict[str, Any]) -> Finding:
    """The allreduce of the gradient as a share of a data-parallel step, and its bytes."""
    told = []
    for case in made["training"]:
        for p in (2, 4):
            found, runs = (
                case["parts"].get(str(p)),
                case["ways"].get(f"data-mpi-{p}", {}).get("seconds"),
            )
            if found and runs:
                step = quartiles(runs)[0] * case["B"] / made["settings"]["epoch"]
                share = quartiles(found["allreduce"])[0] / step
                told.append(f"{share:.0%} of a step on {p} ranks, B = {case['B']:,}")
    size = 4 * NET.n_params / 1e6
    text = f"{size:.2f} MB a step; its allreduce takes {', '.join(told)}"
    return Finding(MEASURED, text) if told else Finding(NOT_MEASURED, "no data-parallel step ran")


@part("ranks")
def model_or_data(made: dict[str, Any]) -> Finding:
    """Model parallelism beside data parallelism: bytes that a rank sends a step, and seconds an epoch."""
    told = []
    for case in made["training"]:
        for p in (2, 4):
            times = [
                case["ways"].get(f"{key}-{p}", {}).get("seconds") for key in ("data-mpi", "model")
            ]
            if all(times):
                data, model = (digits(quartiles(t)[0]) for t in times)
                sent = [cost.step_bytes(NET, case["B"], *split) / 1e3 for split in ((p, 1), (1, p))]
                told.append(
                    f"{p} ranks, B = {case['B']:,}: {sent[0]:,.0f} kB and {data} s by data, {sent[1]:,.0f} kB "
                    f"and {model} s by model"
                )
    return (
        Finding(MEASURED, "; ".join(told)) if told else Finding(NOT_MEASURED, "no such scheme ran")
    )


@part("ranks")
def predicted(made: dict[str, Any]) -> Finding:
    """The cost model's seconds beside the measured ones."""
    told = []
    for case in made["training"]:
        for key in ("data-mpi-2", "model-2", "data-mpi-4", "model-4"):
            if case["ways"].get(key, {}).get("seconds"):
                said = epoch_seconds(made, case, key)
                told.append(
                    f"{key} {digits(said)} s, measured {digits(quartiles(case['ways'][key]['seconds'])[0])} s"
                )
    return (
        Finding(MEASURED, f"predicted: {'; '.join(told)}")
        if told
        else Finding(NOT_MEASURED, "no scheme ran")
    )


def triples(result: dict[str, Any]) -> Finding:
    """One multiply-add for each triple (i, k, j), over the three products of a step."""
    from course_lib.measure import step_flops

    B, forward = 64, sum(a * b for a, b in pairwise(NET.sizes))
    assert step_flops(NET.sizes, B).forward == tuple(2 * B * a * b for a, b in pairwise(NET.sizes))
    return Finding(
        COMPUTED,
        f"784-1024-10, B = {B}: {B * forward:,} triples in the forward pass, two flops each; the "
        "update has the same ones, and the delta those of all layers but the first",
    )


def sharing_images(result: dict[str, Any]) -> Finding:
    """Bytes of the input images, sent once to all, beside those of W1."""
    return Finding(
        COMPUTED,
        f"all 60,000 images as float32: {4e-6 * 60_000 * 784:,.0f} MB on each rank; W1 is "
        f"{4e-6 * 784 * 1024:.1f} MB",
    )


def cut_sizes(result: dict[str, Any]) -> Finding:
    """Up to which batch size the model cut of 784-1024-10 sends less than the data cut."""
    last = max(
        B
        for B in range(60_000, 90_000)
        if cost.step_bytes(NET, B, 1, 4) < cost.step_bytes(NET, B, 4, 1)
    )
    return Finding(
        COMPUTED,
        f"W1 by rows and W2 by columns, one sum of B x 10 numbers a step, sends less than the sum "
        f"of {NET.n_params:,} for every B up to {last:,}",
    )
