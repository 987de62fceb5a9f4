"""`course bench gpu`: the measuring. Everything here ends up in one dict, the JSON; no number is made elsewhere."""

import contextlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from course_lib.bench.catalogue import NETS
from course_lib.bench.gpu_catalogue import (
    BATCHES,
    BLOCKS,
    NOT_INSTALLED,
    PEERS,
    RUNGS,
    SHAPES,
    SIZES,
    TRANSFERS,
    WAYS,
)
from course_lib.bench.gpu_training import measure_training, training_failures
from course_lib.bench.gpu_workers import start
from course_lib.bench.measuring import load
from course_lib.bench.processes import Worker, WorkerError
from course_lib.bench.progress import Progress
from course_lib.bench.rounds import interleave
from course_lib.errors import BadInput
from course_lib.measure import machine

SCHEMA = 1
LIBRARIES = ("engine", "numba-sim", "vgre", "gpu", "torch-gpu")
REFUSALS = {"BadInput", "VGREError"}  # a library that cannot do this one thing, and says so


@dataclass(frozen=True)
class Settings:
    """What to measure. seconds: how long a timed run lasts, about. peers_python: another Python, with peers."""

    sizes: tuple[int, ...] = SIZES
    shapes: tuple[tuple[int, int, int], ...] = SHAPES
    rounds: int = 7
    seconds: float = 0.1
    compilers: tuple[str, ...] = ("", "ziglang")
    transfers: tuple[int, ...] = TRANSFERS
    nets: tuple[str, ...] = tuple(NETS)
    batches: tuple[int, ...] = BATCHES
    quick: bool = False
    peers_python: str | None = None


QUICK: dict[str, Any] = {
    "sizes": (64,),
    "shapes": ((256, 256, 256), (333, 129, 65)),
    "rounds": 2,
    "seconds": 0.02,
    "compilers": ("",),
    "transfers": TRANSFERS[:3],
    "nets": ("Net-1h",),
    "batches": (64, 256),
    "quick": True,
}


def measure_gpu(settings: Settings) -> dict[str, Any]:
    """Run everything; return the JSON's dict."""
    began, before = time.monotonic(), load()
    progress = Progress(
        "course bench gpu", 5 + len(settings.sizes) + len(settings.compilers) + _on_gpu(settings)
    )
    progress.part("starting the workers")
    with contextlib.ExitStack() as stack:
        workers, versions = start(stack, LIBRARIES, settings.peers_python)
        if isinstance(workers["gpu"], str):
            progress.parts -= _on_gpu(settings)
        threads = _engine(workers).ask("threads")
        products = [_products(workers, settings, n, threads, progress) for n in settings.sizes]
        barrier = _barrier(_engine(workers), settings, progress)
        compiled = [_compile(settings, name, progress) for name in settings.compilers]
        gpu = _gpu(workers, settings, progress)
    training = measure_training(
        settings, min(machine().usable or 1, 64), "error" not in gpu, progress
    )
    progress.close()
    return {
        **_head(settings, threads),
        "seconds": round(time.monotonic() - began, 1),
        "load": {"before": before, "after": load()},
        "versions": {**versions, **training.pop("versions")},
        "device": gpu.get("attributes", {}).get("name")
        or f"CPU engine, {machine().cpu or 'unknown processor'}",
        "products": products,
        "barrier": barrier,
        "compile": compiled,
        "gpu": gpu,
        "training": training,
    }


def _on_gpu(settings: Settings) -> int:
    """Parts that only a GPU has."""
    return len(settings.shapes) + 2 * len(settings.nets) * len(settings.batches)


def _head(settings: Settings, threads: int) -> dict[str, Any]:
    shown = asdict(settings)
    del shown["peers_python"]  # a path of this machine is nobody's business
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return {
        "schema": SCHEMA,
        "benchmark": "gpu",
        "when": when,
        "settings": {**shown, "threads": threads},
        "machine": asdict(machine()),
    }


def _engine(workers: dict[str, Worker | str]) -> Worker:
    worker = workers["engine"]
    if isinstance(worker, str):
        raise BadInput(f"the CPU engine does not run: {worker.removeprefix('failed: BadInput: ')}")
    return worker


def _why(error: WorkerError) -> str:
    """What stands in a row without numbers."""
    refused = error.kind in REFUSALS
    return (
        f"not possible: {str(error).removeprefix('BadInput: ')}" if refused else f"failed: {error}"
    )


Runs = dict[str, Callable[[int], Any]]


def _build(
    worker: Worker | str, key: str, shape: Any, settings: Settings, rows: dict[str, Any], runs: Runs
) -> None:
    """Make one way ready; its row so far, and what to run in each round."""
    if isinstance(worker, str):
        rows[key] |= {"error": worker}
        return
    try:
        rows[key] |= worker.ask("build", key=key, shape=shape, seconds=settings.seconds)
        runs[key] = lambda i: worker.ask("time", key=key)
    except WorkerError as error:
        rows[key] |= {"error": _why(error)}


def _keep(answers: dict[str, Any], rows: dict[str, Any]) -> None:
    """Write what the rounds gave into the rows."""
    for key in rows.keys() & answers.keys():
        found = answers[key]
        rows[key] |= (
            {"error": f"failed: {found}"} if isinstance(found, WorkerError) else {"seconds": found}
        )


def _products(
    workers: dict[str, Worker | str], settings: Settings, n: int, threads: int, progress: Progress
) -> dict[str, Any]:
    """All ways on the CPU, for one size."""
    progress.part(
        f"{n} x {n} x {n} on the CPU: making and checking each way, then {settings.rounds} rounds"
    )
    rows: dict[str, Any] = {}
    runs: Runs = {}
    ways = [way for way in WAYS if n <= way.most]
    for way in ways:
        rows[way.key] = {"threads": threads if way.threads == "T" else 1}
        _build(workers[way.library], way.key, (n, n, n), settings, rows, runs)
    runs["sgemm-1"] = lambda i: _engine(workers).ask("rate", seconds=settings.seconds)
    seldom = [way.key for way in ways if way.slow]
    answers = interleave(runs, settings.rounds, seldom)
    _keep(answers, rows)
    return {"n": n, "ways": rows, "rates": {"sgemm-1": answers["sgemm-1"]}}


def _barrier(engine: Worker, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Seconds a barrier and thread, for each size of a block."""
    progress.part("barriers of the CPU engine")
    n = 200 if settings.quick else 2000
    runs: Runs = {str(block): partial(_one_barrier, engine, block, n) for block in BLOCKS}
    found = interleave(runs, settings.rounds)
    rows: dict[str, Any] = {key: {} for key in found}
    _keep(found, rows)
    return rows


def _one_barrier(engine: Worker, block: int, n: int, i: int) -> float:
    return engine.ask("barrier", block=block, n=n)


def _compile(settings: Settings, name: str, progress: Progress) -> dict[str, Any]:
    """Cold compiles with one compiler: the first that is found ("") or ziglang's."""
    progress.part(f"compiling the kernels, nothing cached{', with ziglang' if name else ''}")
    case: dict[str, Any] = {"which": name or "default", "kernels": {}}
    with tempfile.TemporaryDirectory() as cache:
        env = {"COURSE_CACHE": cache, **({"COURSE_CXX": name} if name else {})}
        with Worker("compile", env=env) as worker:
            try:
                case |= worker.ask("ready")
                for rung in RUNGS:
                    case["kernels"][rung] = {
                        kind: [
                            worker.ask("kernel", rung=rung, traced=kind == "traced")
                            for _ in range(_few(settings))
                        ]
                        for kind in ("plain", "traced")
                    }
            except WorkerError as error:
                case["error"] = f"failed: {error}"
    return case


def _few(settings: Settings) -> int:
    return 1 if settings.quick else 3


def _gpu(
    workers: dict[str, Worker | str], settings: Settings, progress: Progress
) -> dict[str, Any]:
    """Everything on a GPU, or why nothing."""
    worker = workers["gpu"]
    if isinstance(worker, str):
        return {"error": worker}
    gpu: dict[str, Any] = {"attributes": worker.ask("attributes")}
    gpu["products"] = [
        _gpu_products(workers, worker, settings, shape, progress) for shape in settings.shapes
    ]
    try:
        gpu["transfers"] = _transfers(worker, settings)
        gpu["launches"] = worker.ask("launches")
    except WorkerError as error:
        gpu["moved"] = {"error": f"failed: {error}"}
    return gpu


def _gpu_products(
    workers: dict[str, Worker | str],
    worker: Worker,
    settings: Settings,
    shape: Any,
    progress: Progress,
) -> dict[str, Any]:
    progress.part(
        f"{' x '.join(map(str, shape))} on the GPU: checked, warmed up, {settings.rounds} rounds"
    )
    rows: dict[str, Any] = {key: {} for key in (*RUNGS, *PEERS)}
    runs: Runs = {}
    for key in rows:
        _build(
            workers["torch-gpu"] if key == "cublas-torch" else worker,
            key,
            shape,
            settings,
            rows,
            runs,
        )
    for key in ("cublas-cupy",):
        if "ModuleNotFoundError" in rows[key].get("error", ""):
            rows[key]["error"] = NOT_INSTALLED["cupy"]
    _keep(interleave(runs, settings.rounds, settle=0), rows)
    return {"shape": list(shape), "ways": rows}


def _transfers(worker: Worker, settings: Settings) -> list[dict[str, Any]]:
    """Seconds of copies of each size, kind of memory and direction, round by round."""
    cases = [
        {"bytes": size, "pinned": pinned, "to_device": to}
        for size in settings.transfers
        for pinned in (False, True)
        for to in (True, False)
    ]
    rounds = range(_few(settings))
    return [{**case, "seconds": [worker.ask("transfer", **case) for _ in rounds]} for case in cases]


def failures(result: dict[str, Any]) -> list[str]:
    """What did not work, each in a line; what is not installed or cannot be is no failure."""
    found = [
        f"{c['n']}^3: {key}: {way.get('error')}"
        for c in result["products"]
        for key, way in c["ways"].items()
    ]
    found += [f"barrier: {case.get('error')}" for case in result["barrier"].values()]
    found += [f"compile: {case.get('error')}" for case in result["compile"]]
    gpu = result["gpu"]
    found += [f"GPU: {part.get('error')}" for part in (gpu, gpu.get("moved", {}))]
    for case in gpu.get("products", []):
        found += [
            f"GPU, {case['shape']}: {key}: {way.get('error')}" for key, way in case["ways"].items()
        ]
    found += training_failures(result.get("training", {}))
    return [line for line in found if ": failed: " in line]


def cpu_only(result: dict[str, Any]) -> bool:
    """Was there no GPU?"""
    return "error" in result["gpu"]
