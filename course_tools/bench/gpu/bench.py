"""`course bench gpu`: what is measured, in which rounds, what is shown, what was wanted."""

import contextlib
import itertools
import tempfile
from dataclasses import dataclass
from typing import Any

from course_lib.measure import machine
from course_tools.bench import frame
from course_tools.bench.frame import Progress, Result, Series, Worker, WorkerError, Workers
from course_tools.bench.gpu import catalogue, tables, training
from course_tools.bench.gpu.catalogue import HALF, PEERS, RUNGS, WAYS
from course_tools.bench.training.catalogue import NETS

LIBRARIES = ("engine", "numba-sim", "vgre", "gpu", "torch-gpu")


@dataclass(frozen=True)
class Settings:
    """What to measure. seconds: how long a timed run lasts, about. python: another one, with peers.

    before: another clone of the course, whose engine's kernels are measured in the same rounds.
    """

    sizes: tuple[int, ...] = catalogue.SIZES
    shapes: tuple[tuple[int, ...], ...] = catalogue.SHAPES
    rounds: int = 7
    seconds: float = 0.1
    compilers: tuple[str, ...] = ("", "ziglang")
    transfers: tuple[int, ...] = catalogue.TRANSFERS
    nets: tuple[str, ...] = tuple(NETS)
    batches: tuple[int, ...] = catalogue.BATCHES
    quick: bool = False
    python: str | None = None
    before: str | None = None

    @property
    def few(self) -> range:
        """Times that something is done which varies little."""
        return range(1 if self.quick else 3)


# fmt: off
QUICK = {"sizes": (64,), "shapes": ((256, 256, 256), (333, 129, 65)), "rounds": 2, "seconds": 0.02,
         "compilers": ("",), "transfers": catalogue.TRANSFERS[:3], "nets": ("Net-1h",), "batches": (64, 256)}
# fmt: on


def measure_gpu(settings: Settings, progress: Progress) -> Result:
    """Everything on the CPU, then on a GPU, then training. Raises BadInput where the CPU engine does not run."""
    more = len(settings.shapes) + 2 * len(settings.nets) * len(settings.batches)  # on a GPU alone
    progress.parts = 6 + len(settings.sizes) + len(settings.compilers) + more
    progress.part("starting the workers")
    with contextlib.ExitStack() as stack:
        workers, versions = frame.start(stack, LIBRARIES, settings.python)
        engine = frame.needed(workers, "engine", "the CPU engine")
        progress.parts -= more if isinstance(workers["gpu"], str) else 0
        threads = engine.ask("threads")
        sizes, compilers = settings.sizes, settings.compilers
        found: Result = {
            "products": [products(workers, settings, n, threads, progress) for n in sizes],
            "barrier": _barrier(engine, settings, progress),
            "kernels": _kernels(engine, settings, progress),
            "compile": [_compile(settings, name, progress) for name in compilers],
            "gpu": on_gpu(workers, settings, progress),
        }
    gpu, own = found["gpu"], f"CPU engine, {machine().cpu or 'unknown processor'}"
    found["training"] = training.measure_training(settings, "error" not in gpu, progress)
    versions |= found["training"].pop("versions")
    name = gpu.get("attributes", {}).get("name") or own
    head = {"settings": {"threads": threads}, "versions": versions, "device": name}
    return {**head, **found}


def products(
    workers: Workers, settings: Settings, n: int, threads: int, progress: Progress
) -> Result:
    """All ways on the CPU, for one size."""
    what = f"{n} x {n} x {n} on the CPU: making and checking each way"
    progress.part(f"{what}, then {settings.rounds} rounds")
    series, how = Series(), {"shape": (n, n, n), "seconds": settings.seconds}
    for way in (way for way in WAYS if n <= way.most):
        row = {"threads": threads if way.threads == "T" else 1}
        series.make(way.key, row, workers[way.library], way.slow, **how)
    series.add("sgemm-1", workers["engine"], "rate", seconds=settings.seconds)
    rates = series.run(settings.rounds)
    return {"n": n, "ways": series.rows, "rates": rates}


def _barrier(engine: Worker, settings: Settings, progress: Progress) -> Result:
    """Seconds a barrier and thread, for each size of a block."""
    progress.part("barriers of the CPU engine")
    series = Series()
    for block in catalogue.BLOCKS:
        series.add(str(block), engine, "barrier", block=block, n=200 if settings.quick else 2000)
    return {block: frame.kept(found) for block, found in series.run(settings.rounds).items()}


def _kernels(engine: Worker, settings: Settings, progress: Progress) -> Result:
    """Seconds of the engine's kernels alone; with another clone also of its kernels, "before", in the same rounds."""
    progress.part("kernels of the CPU engine")
    series, workers = Series(), {"now": engine}
    with contextlib.ExitStack() as stack:
        if settings.before:
            clone = {"COURSE_BENCH_CLONE": settings.before}
            workers["before"] = stack.enter_context(Worker("engine", env=clone))
        for n, kind, rung in catalogue.KERNELS:
            for when, worker in workers.items():
                case = {"n": n, "kind": kind, "rung": rung}
                series.add(f"{kind}-{rung}-{n} {when}", worker, "kernel", **case)
        return {key: frame.kept(found) for key, found in series.run(settings.rounds).items()}


def _compile(settings: Settings, name: str, progress: Progress) -> Result:
    """Cold compiles with one compiler: the first that is found ("") or ziglang's."""
    progress.part(f"compiling the kernels, nothing cached{', with ziglang' if name else ''}")
    case: Result = {"which": name or "default", "kernels": {}}
    with tempfile.TemporaryDirectory() as cache:
        env = {"COURSE_CACHE": cache, **({"COURSE_CXX": name} if name else {})}
        with Worker("compile", env=env) as worker:
            try:
                case["first"] = {"plain": [], "traced": []}
                for _ in settings.few:
                    for kind, found in case["first"].items():
                        found.append(worker.ask("first", traced=kind == "traced"))
                case |= worker.ask("ready")
                for rung in RUNGS:
                    case["kernels"][rung] = _kernel(worker, rung, settings)
            except WorkerError as error:
                case["error"] = f"failed: {error}"
    return case


def _kernel(worker: Worker, rung: str, settings: Settings) -> dict[str, list[float]]:
    kinds = {"plain": False, "traced": True}
    return {
        kind: [worker.ask("kernel", rung=rung, traced=traced) for _ in settings.few]
        for kind, traced in kinds.items()
    }


def on_gpu(workers: Workers, settings: Settings, progress: Progress) -> Result:
    """Everything on a GPU, or why nothing."""
    worker = workers["gpu"]
    if isinstance(worker, str):
        return {"error": worker}
    gpu: Result = {"attributes": worker.ask("attributes")}
    shapes = settings.shapes
    gpu["products"] = [_gpu_products(workers, settings, shape, progress) for shape in shapes]
    try:
        gpu["transfers"] = _transfers(worker, settings)
        gpu["launches"] = worker.ask("launches")
    except WorkerError as error:
        gpu["moved"] = {"error": f"failed: {error}"}
    try:
        gpu["step"] = worker.ask("step")
    except WorkerError as error:  # PyCUDA alone launches these kernels
        gpu["step"] = {"error": f"failed: {error}"}
    return gpu


def _gpu_products(workers: Workers, settings: Settings, shape: Any, progress: Progress) -> Result:
    name = " x ".join(map(str, shape))
    progress.part(f"{name} on the GPU: checked, warmed up, {settings.rounds} rounds")
    series, how = Series(), {"shape": shape, "seconds": settings.seconds}
    for key in (*RUNGS, *HALF, *PEERS):
        worker = workers["torch-gpu" if key == "cublas-torch" else "gpu"]
        series.make(key, {}, worker, **how)
    cupy = series.rows["cublas-cupy"]
    if "ModuleNotFoundError" in cupy.get("error", ""):
        cupy["error"] = 'not installed: pip install "cupy-cuda13x[ctk]"'
    series.run(settings.rounds, settle=0)
    return {"shape": list(shape), "ways": series.rows}


def _transfers(worker: Worker, settings: Settings) -> list[Result]:
    """Seconds of copies of each size, kind of memory and direction, round by round."""
    found = []
    for size, pinned, to in itertools.product(settings.transfers, (False, True), (True, False)):
        case = {"bytes": size, "pinned": pinned, "to_device": to}
        found.append({**case, "seconds": [worker.ask("transfer", **case) for _ in settings.few]})
    return found


def how(result: Result) -> str:
    """How it was measured."""
    s = result["settings"]
    runs = f"{s['rounds']} interleaved rounds, runs of about {s['seconds']:g} s"
    return f"{runs}, the engine with {frame.count(s['threads'], 'thread')}"


def notes(result: Result) -> list[str]:
    """How even the machine was: one BLAS thread's product, in the same rounds as everything on the CPU."""
    rates = [rate for case in result["products"] for rate in case["rates"]["sgemm-1"]]
    return [frame.noise_note(result, "over all rounds sgemm (1024^3) on one thread", rates)]


def _training(result: Result) -> list[Any]:
    found = list(training.training_tables(result))
    return [training.training_note(result), *found, training.training_figures(result)]


def _small(result: Result) -> list[Any]:
    return list(training.engine_training_tables(result)) or [training.training_note(result)]


BEFORE = "another clone of the course, whose engine is timed beside this one"
BENCH = frame.Bench(
    name="gpu",
    about="The CPU engine, plain and traced, beside Numba's CUDA simulator, vgre and one BLAS thread; where a GPU is, "
    "every rung of the ladder beside cuBLAS, copies and launches, and Net-1h and Net-2h trained on the GPU beside "
    "NumPy, threads and PyTorch. In one run; about 7 minutes.",
    settings=Settings,
    quick=QUICK,
    help="under a minute: 64^3 and few runs. A glance, not a measurement",
    options={"--before": {"metavar": "CLONE", "help": BEFORE}},
    chosen=lambda options: {"before": options.before},
    python=("--peers-python", "a Python with vgre and PyTorch, if they are not in this one"),
    measure=measure_gpu,
    how=how,
    notes=notes,
    before=lambda result: [tables.gpu_note(result)],
    sections={
        "products": tables.product_tables,
        "scaling": tables.scaling_table,
        "engine": tables.engine_tables,
        "gpu": lambda result: [tables.gpu_note(result), *tables.gpu_tables(result)],
        "training": _training,
        "small": _small,
    },
    targets=tables.targets,
    stem=lambda result: frame.slug(result["device"]),
    title=lambda result: result["device"],
    figures=training.training_figures,
)
