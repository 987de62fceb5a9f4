"""Training on a GPU beside the CPU, everywhere a small net on the CPU engine: measured, its tables, its figures.

The part of the JSON has the shape of a result of `bench threads`, so that the same arithmetic and figures serve.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from course_lib.measure import machine
from course_tools.bench import frame
from course_tools.bench.frame import (
    Progress,
    Result,
    Runs,
    Table,
    Workers,
    digits,
    ratio,
    runs,
    start,
)
from course_tools.bench.gpu.catalogue import ENGINE_WAYS, SMALL, TRAINERS, TRAINING_WAYS
from course_tools.bench.gpu.tables import cublas
from course_tools.bench.training.catalogue import EPOCH, ETA, NETS
from course_tools.bench.training.figures import Style, figures
from course_tools.bench.training.measure import Case, Effort, train
from course_tools.bench.training.tables import case_name, rates, sgemm_told

# Seven, one for each colour of the palette.
DRAWN = ("numpy", "grid", "torch", "mlp-paper", "mlp-tiles", "torch-gpu-sent", "torch-gpu-resident")
OLDER = {"error": "not in this result, which is older than that part", "training": [], "engine": []}
HEADER = ("way", "on", "s an epoch", "quartiles", "GFLOP/s", "x NumPy", "differs from serial by")


def measure_training(settings: Any, gpu: bool, progress: Progress) -> Result:
    """{"settings", "training": cases on the GPU, "engine": cases on the CPU engine, "versions"}; "error" without a GPU.

    gpu: is there one?
    """
    threads = min(machine().usable or 1, 64)  # for all that have several on the CPU
    # a step has many launches: longer runs
    effort = Effort(threads, settings.rounds, 2 * settings.seconds)
    shown = {"threads": threads, "nets": list(settings.nets), "rounds": settings.rounds}
    shown |= {"seconds": effort.seconds, "batches": list(settings.batches)}
    made: Result = {"settings": {**shown, "epoch": EPOCH, "eta": ETA}}
    progress.part("training: starting the workers")
    libraries = dict.fromkeys(way.library for way in (*ENGINE_WAYS, *(TRAINING_WAYS * gpu)))
    with contextlib.ExitStack() as stack:
        workers, made["versions"] = start(stack, libraries, settings.python)
        made["training"] = on_gpu(workers, effort, settings, progress) if gpu else []
        made["engine"] = [train(workers, effort, ENGINE_WAYS, Case(*SMALL), progress)]
    return made if gpu else {**made, "error": "not measured: no GPU"}


def on_gpu(workers: Workers, effort: Effort, settings: Any, progress: Progress) -> list[Any]:
    """A case for each net and batch size; each case is checked, as ragged batches differ."""
    cases = [Case(net, NETS[net], B) for net in settings.nets for B in settings.batches]
    return [train(workers, effort, TRAINING_WAYS, case, progress) for case in cases]


def part(result: Result) -> Result:
    """The training's part of a result."""
    return result.get("training", OLDER)


def training_note(result: Result) -> str:
    """Was there a GPU to train on?"""
    made = part(result)
    if "error" in made:
        return f"Net-1h and Net-2h on a GPU: {made['error']}."
    s = made["settings"]
    runs = f"runs of about {s['seconds']:g} s, scaled to an epoch of {s['epoch']:,} examples"
    return f"Net-1h and Net-2h: {runs}."


def training_tables(result: Result) -> Iterator[Table]:
    """One table for each net and batch size."""
    for case in part(result)["training"]:
        yield _table(part(result), case, "")


def engine_training_tables(result: Result) -> Iterator[Table]:
    """The small net on the CPU engine: the time a student waits; it says nothing about a GPU."""
    for case in part(result)["engine"]:
        yield _table(part(result), case, ", on the CPU engine: this says nothing about a GPU")


def _table(made: Result, case: Result, words: str) -> Table:
    told = f"the CPU's sgemm in the same rounds: {sgemm_told(made, case)}"
    lines = [_row(made, case, key, row) for key, row in case["ways"].items()]
    return Table(f"{case_name(case)}{words}; {told}", HEADER, lines)


def _row(made: Result, case: Result, key: str, row: Result) -> tuple[str, ...]:
    def more(seconds: Runs) -> Iterator[str]:
        yield frame.typical(rates(made, case, seconds))
        yield digits(ratio(runs(case, "numpy"), seconds))
        yield frame.tiny(row["disagreement"])

    gpu = TRAINERS[key].library in ("mlp", "torch-gpu-training")
    where = "GPU" if gpu else f"CPU, {frame.count(row['threads'], 'thread')}"
    return frame.timed_row((TRAINERS[key].label, where), row, more)


def training_figures(result: Result) -> Result:
    """{file name: Figure}: time, GFLOP/s and speed-up against batch size, for each net; none without a GPU."""
    if not part(result)["training"]:
        return {}
    labels, over = {key: TRAINERS[key].label for key in DRAWN}, "NumPy on one thread"
    style = Style(frame.slug(result["device"]), labels, "numpy", over, over, cublas_peak(result))
    return figures(part(result), style)


def cublas_peak(result: Result) -> tuple[float, str] | None:
    """cuBLAS's rate at the largest square product measured, in GFLOP/s, and what that is."""
    found = []
    for case in result["gpu"].get("products", []):
        (M, N, K), seconds = case["shape"], cublas(case)
        if M == N == K and seconds:
            found.append((2 * M**3 / frame.quartiles(seconds)[0] / 1e9, M))
    if not found:
        return None
    rate, n = max(found, key=lambda each: each[1])
    return rate, f"cuBLAS's product of {n} x {n} matrices"
