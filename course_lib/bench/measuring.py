"""`course bench threads`: the measuring. Everything here ends up in one dict, the JSON; no number is made elsewhere."""

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from course_lib.bench.catalogue import EPOCH, ETA, LIBRARIES, NETS, ways
from course_lib.bench.processes import Worker, WorkerError
from course_lib.bench.progress import Progress
from course_lib.bench.rounds import interleave
from course_lib.bench.training import Case, Effort, train
from course_lib.errors import BadInput, check_count
from course_lib.measure import machine

SCHEMA = 1
NOT_INSTALLED = {
    "torch": "not installed: pip install -e .[bench]",
    "sklearn": "not installed: pip install scikit-learn",
}


@dataclass(frozen=True)
class Settings:
    """What to measure. seconds: how long a timed run lasts, about. torch_python: another Python, with PyTorch."""

    threads: int
    batches: tuple[int, ...]
    nets: tuple[str, ...] = tuple(NETS)
    rounds: int = 9
    seconds: float = 0.2
    scheme_batches: tuple[int, ...] = (1, 128, 256)
    quick: bool = False
    torch_python: str | None = None

    def __post_init__(self) -> None:
        check_count("--threads", self.threads, 1, 64)
        for B in self.batches:
            check_count("a batch of --batches", B, 1, EPOCH)
        if not self.batches or len(set(self.batches)) != len(self.batches):
            raise BadInput(
                "--batches must name one batch size or more, each once, such as 64,256,1024"
            )


def measure_threads(settings: Settings) -> dict[str, Any]:
    """Run everything; return the JSON's dict. Raises BadInput where the other Python cannot be started."""
    start, before = time.monotonic(), load()
    cases = [(net, B) for net in settings.nets for B in settings.batches]
    progress = Progress("course bench threads", 1 + 3 * len(cases) + len(settings.scheme_batches))
    progress.part("starting the workers")
    with contextlib.ExitStack() as stack:
        workers, versions = _start(stack, settings)
        training = [_train(workers, settings, net, B, progress) for net, B in cases]
        schemes = [
            measure_schemes(workers["course"], settings, B, progress)
            for B in settings.scheme_batches
        ]
        profile = [_profile(workers["course"], settings, net, B, progress) for net, B in cases]
    progress.close()
    return {
        **_head(settings),
        "seconds": round(time.monotonic() - start, 1),
        "load": {"before": before, "after": load()},
        "versions": versions,
        "training": training,
        "schemes": schemes,
        "profile": profile,
    }


def _head(settings: Settings) -> dict[str, Any]:
    shown = asdict(settings)
    del shown["torch_python"]  # a path of this machine is nobody's business
    return {
        "schema": SCHEMA,
        "benchmark": "threads",
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "settings": {**shown, "epoch": EPOCH, "eta": ETA},
        "machine": asdict(machine()),
    }


def load() -> float | None:
    """Processes that wanted a processor in the last minute, on average; None where the system does not tell."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def _start(
    stack: contextlib.ExitStack, settings: Settings
) -> tuple[dict[str, Worker | str], dict[str, str]]:
    """The workers by library, or why there is none; and the versions of what they run."""
    started: dict[str, Worker] = {}
    for library in LIBRARIES:
        try:
            started[library] = Worker(
                library, settings.torch_python if library == "torch" else None
            )
        except OSError as error:
            raise BadInput(f"--torch-python cannot be started: {error.strerror}") from None
        stack.enter_context(started[library]).send(
            "hello"
        )  # they load their libraries side by side
    workers: dict[str, Worker | str] = {}
    versions: dict[str, str] = {}
    for library, worker in started.items():
        try:
            versions |= worker.receive()
            workers[library] = worker
        except WorkerError as error:
            missing = error.kind == "ModuleNotFoundError" and library in NOT_INSTALLED
            workers[library] = NOT_INSTALLED[library] if missing else f"failed: {error}"
    if isinstance(workers["course"], str):
        raise BadInput(f"the course's own worker: {workers['course']}")
    return workers, versions


def _train(
    workers: Mapping[str, Worker | str], settings: Settings, net: str, B: int, progress: Progress
) -> dict[str, Any]:
    """All ways for one net and batch size; held against the serial library at the smallest."""
    case = Case(net, NETS[net], B, check=min(settings.batches) == B)
    effort = Effort(settings.threads, settings.rounds, settings.seconds)
    return train(workers, effort, ways(settings.threads), case, progress)


def measure_schemes(worker: Any, settings: Settings, B: int, progress: Progress) -> dict[str, Any]:
    """The schemes of chapter 04 at one batch size."""
    ks = list(range(2, max(2, min(settings.threads, 12)) + 1))
    progress.part(f"12 layers of width 1024, B = {B}: schemes, {settings.rounds} rounds")
    case: dict[str, Any] = {"B": B, "runs": {}}
    try:
        troubles = worker.ask("scheme", do_="prepare", B=B, threads=settings.threads, ks=ks)
    except WorkerError as error:
        return {**case, "error": f"failed: {error}"}
    good = [key for key, trouble in troubles.items() if trouble is None]
    runs = {key: partial(_scheme, worker, key) for key in good}
    case["runs"] = {
        key: {"error": trouble} for key, trouble in troubles.items() if trouble is not None
    }
    for key, found in interleave(runs, settings.rounds).items():
        if isinstance(found, WorkerError):
            case["runs"][key] = {"error": f"failed: {found}"}
        else:
            case["runs"][key] = {name: [row[name] for row in found] for name in found[0]}
    with contextlib.suppress(WorkerError):
        worker.ask("scheme", do_="finish")
    return case


def _scheme(worker: Worker, key: str, i: int) -> dict[str, Any]:
    return worker.ask("scheme", do_="run", key=key)


def _profile(
    worker: Any, settings: Settings, net: str, B: int, progress: Progress
) -> dict[str, Any]:
    """Where GridStep's time goes, with one thread and with T threads shared in either way."""
    T = settings.threads
    splits = [(1, 1), *(split for split in ((T, 1), (1, T)) if T > 1 and split[0] <= B)]
    case = {"net": net, "B": B}
    progress.part(f"{net}, B = {B}: profile")
    try:
        effort = {"seconds": settings.seconds, "rounds": max(1, settings.rounds // 2)}
        return case | worker.ask("profile", sizes=NETS[net], B=B, splits=splits, **effort)
    except WorkerError as error:
        return {**case, "error": f"failed: {error}"}
