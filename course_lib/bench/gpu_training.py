"""`course bench gpu`: Net-1h and Net-2h on a GPU beside the CPU; everywhere a small net on the CPU engine."""

import contextlib
from typing import Any

from course_lib.bench.catalogue import EPOCH, ETA, NETS
from course_lib.bench.gpu_catalogue import ENGINE_WAYS, SMALL, TRAINING_WAYS
from course_lib.bench.gpu_workers import start
from course_lib.bench.progress import Progress
from course_lib.bench.training import Case, Effort, Workers, train

NO_GPU = "not measured: no GPU"


def measure_training(settings: Any, threads: int, gpu: bool, progress: Progress) -> dict[str, Any]:
    """{"settings", "training": cases on the GPU, "engine": cases on the CPU engine, "versions"}; "error" without a GPU.

    The shape is that of a result of `bench threads`, so that the same arithmetic and figures serve. settings: those of
    gpu_measuring; threads: for all that have several on the CPU; gpu: is there one?
    """
    effort = Effort(
        threads, settings.rounds, 2 * settings.seconds
    )  # a step has many launches: longer runs
    made: dict[str, Any] = {
        "settings": {
            "threads": threads,
            "nets": list(settings.nets),
            "rounds": settings.rounds,
            "seconds": effort.seconds,
            "batches": list(settings.batches),
            "epoch": EPOCH,
            "eta": ETA,
        }
    }
    progress.part("training: starting the workers")
    libraries = {way.library: None for way in (*ENGINE_WAYS, *(TRAINING_WAYS if gpu else ()))}
    with contextlib.ExitStack() as stack:
        workers, made["versions"] = start(stack, libraries, settings.peers_python)
        made["training"] = on_gpu(workers, effort, settings, progress) if gpu else []
        made["engine"] = [train(workers, effort, ENGINE_WAYS, Case(*SMALL), progress)]
    return made if gpu else {**made, "error": NO_GPU}


def on_gpu(
    workers: Workers, effort: Effort, settings: Any, progress: Progress
) -> list[dict[str, Any]]:
    """A case for each net and batch size; each case is checked, as ragged batches differ."""
    cases = [Case(net, NETS[net], B) for net in settings.nets for B in settings.batches]
    return [train(workers, effort, TRAINING_WAYS, case, progress) for case in cases]


def training_failures(made: dict[str, Any]) -> list[str]:
    """Every way that has no number, and why, each in a line."""
    cases = [*made.get("training", []), *made.get("engine", [])]
    return [
        f"{c['net']}, B = {c['B']}: {k}: {row.get('error')}"
        for c in cases
        for k, row in c["ways"].items()
    ]
