"""The parts that are timed: training by batch size, the schemes of chapter 04, ranks, a GPU. Each as its own bench has
them, in the same form, so that the same arithmetic and the same tables serve."""

import contextlib
from itertools import product

from course_tools.bench import frame
from course_tools.bench.frame import Progress, Result, WorkerError
from course_tools.bench.gpu import bench as gpu_bench
from course_tools.bench.mpi import bench as mpi_bench
from course_tools.bench.papers.settings import Settings
from course_tools.bench.threads import bench as threads_bench
from course_tools.bench.training.catalogue import EPOCH, ETA, NETS, WAY
from course_tools.bench.training.measure import Case, Effort, train

# [000] figures 7 to 10 and [001] draw: serial, Pthreads, BLAS serial and parallel, a library serial and parallel
DRAWN = "loops loops-threads numpy numpy-blas numpy-threads torch-1 torch"
WAYS = tuple(WAY[key] for key in DRAWN.split())


def figures(settings: Settings, progress: Progress) -> Result:
    """Seconds an epoch of each way, by net and batch size."""
    effort = Effort(settings.threads, settings.rounds, settings.seconds)
    with contextlib.ExitStack() as stack:
        workers, versions = frame.start(stack, ("course", "torch"), settings.python)
        frame.needed(workers, "course", "the course's own worker")
        progress.parts += 2 * len(settings.nets) * len(settings.batches)
        small, pairs = min(settings.batches), product(settings.nets, settings.batches)
        cases = [Case(net, NETS[net], B, small == B) for net, B in pairs]
        training = [train(workers, effort, WAYS, case, progress) for case in cases]
    shown = {name: getattr(settings, name) for name in ("threads", "nets", "batches")}
    shown |= {"rounds": settings.rounds, "seconds": settings.seconds, "epoch": EPOCH, "eta": ETA}
    return {"settings": shown, "versions": versions, "training": training}


def leapfrogging(settings: Settings, progress: Progress) -> Result:
    """The schemes of chapter 04 on 12 equal layers, for one example, as [002] has it, and for a batch."""
    T, rounds = settings.threads, settings.rounds
    batches = (1,) if settings.quick else (1, 128)
    threads = threads_bench.Settings(T, batches, rounds=rounds, scheme_batches=batches)
    progress.parts += len(batches)
    with frame.Worker("course") as worker:
        worker.ask("hello")
        schemes = [threads_bench.measure_schemes(worker, threads, B, progress) for B in batches]
    return {"settings": {"threads": T, "rounds": rounds}, "schemes": schemes}


def ranks(settings: Settings, progress: Progress) -> Result:
    """Allreduces and all schemes of training for the network of [003], on 1, 2 and 4 ranks."""
    how = mpi_bench.Settings(
        sizes=(8, 3_200_000),
        cases=(("Net-1h", 64 if settings.quick else 1024),),
        pipelines=(),
        ranks=(1, 2) if settings.quick else (1, 2, 4),
        rounds=settings.rounds,
        seconds=settings.seconds / 2,
        quick=settings.quick,
        python=settings.python,
        examples=2048 if settings.quick else 20_480,
    )
    try:
        found = mpi_bench.BENCH.measured(how)
    except WorkerError as error:
        return {"error": f"not measured: our ranks did not start: {error}"}
    return {key: found[key] for key in ("settings", "versions", "costs", "allreduces", "training")}


def gpu(settings: Settings, progress: Progress) -> Result:
    """On a GPU: products and the papers' networks, as `bench gpu` measures them. Without one: why nothing."""
    with contextlib.ExitStack() as stack:
        worker = frame.start(stack, ("gpu",), None)[0]["gpu"]
        if isinstance(worker, str):
            return {"error": f"not measured: no GPU ({worker.removeprefix('not measured: ')})"}
    sides = (1024,) if settings.quick else (1024, 4096)
    how = gpu_bench.Settings(
        sizes=(64,),
        rounds=settings.rounds,
        seconds=settings.seconds / 2,
        compilers=(),
        shapes=tuple((side, side, side) for side in sides),
        nets=settings.nets,
        batches=settings.batches[-3:],
        quick=settings.quick,
        python=settings.python,
    )
    found = gpu_bench.BENCH.measured(how)
    return {key: found[key] for key in ("settings", "versions", "device", "gpu", "training")}
