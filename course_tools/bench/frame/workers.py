"""The libraries that have a worker process of their own: each started, or why there is none."""

import contextlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from course_lib.errors import BadInput
from course_tools.bench.frame.processes import Group, WorkerError, interrupts_wait
from course_tools.doctor.finding import ask

BENCH = "course_tools.bench"


class Library(NamedTuple):
    """desk: what its process runs. pip: how it is installed, where it is no package of the course: may be missing.

    peer: it may live in another Python. gpu: it needs a GPU, and raises RuntimeError where none works.
    """

    desk: str
    pip: str = ""
    peer: bool = False
    gpu: bool = False
    env: Mapping[str, str] = {}


# fmt: off
LIBRARIES = {
    "course":    Library(f"{BENCH}.training.course:CourseDesk"),
    "torch":     Library(f"{BENCH}.training.pytorch:TorchDesk", "torch", peer=True),
    "sklearn":   Library(f"{BENCH}.training.sklearn_desk:SklearnDesk", "scikit-learn"),
    "engine":    Library(f"{BENCH}.gpu.desk_engine:EngineDesk"),
    "compile":   Library(f"{BENCH}.gpu.desk_compile:CompileDesk"),
    "numba-sim": Library(f"{BENCH}.gpu.desk_numba_sim:NumbaSimDesk", "numba", env={"NUMBA_ENABLE_CUDASIM": "1"}),
    "vgre":      Library(f"{BENCH}.gpu.desk_vgre:VgreDesk", "vgre", peer=True),
    "gpu":       Library(f"{BENCH}.gpu.desk_gpu:GpuDesk", gpu=True),
    "torch-gpu": Library(f"{BENCH}.gpu.desk_torch:TorchGpuDesk", "torch", peer=True, gpu=True),
    "mlp":       Library(f"{BENCH}.gpu.desk_mlp:MlpDesk", gpu=True, env={"COURSE_GPU": "cuda"}),
    "mlp-engine": Library(f"{BENCH}.gpu.desk_mlp:MlpDesk", env={"COURSE_GPU": "cpu"}),
    "torch-gpu-training": Library(f"{BENCH}.gpu.desk_torch:TorchGpuTrainingDesk", "torch", True, True),
}
# fmt: on


class Worker(Group):
    """The process of one library."""

    def __init__(self, library: str, python: str | None = None, env: Mapping[str, str] = {}):
        known = LIBRARIES[library]
        super().__init__(library, known.desk, python=python, env={**known.env, **env})


Workers = dict[str, Worker | str]  # by library; a text says why there is none


def start(
    stack: contextlib.ExitStack, libraries: Iterable[str], python: str | None
) -> tuple[Workers, dict[str, str]]:
    """The workers by library, and the versions of what they run. The stack ends them. python: where peers live."""
    started: Workers = {}
    for library in libraries:  # they load their libraries side by side
        peer = python if LIBRARIES[library].peer else None
        try:
            with interrupts_wait():
                started[library] = stack.enter_context(Worker(library, peer))
        except OSError as error:
            raise BadInput(f"{peer} cannot be started: {error.strerror}") from None
    versions: dict[str, str] = {}
    for library, worker in started.items():
        try:
            versions |= worker.connect()  # type: ignore[union-attr]
        except WorkerError as error:
            started[library] = absent(library, error)
    return started, versions


def needed(workers: Workers, library: str, what: str) -> Worker:
    """A worker without which nothing can be measured. Raises BadInput where there is none."""
    worker = workers[library]
    if isinstance(worker, str):
        raise BadInput(f"{what} does not run: {worker.removeprefix('failed: BadInput: ')}")
    return worker


def clear(workers: Iterable[Group | str]) -> None:
    """Let all forget what they have made."""
    for worker in workers:
        if isinstance(worker, Group):
            with contextlib.suppress(WorkerError):  # it died: its rows say so
                worker.ask("clear")


def absent(library: str, error: WorkerError) -> str:
    """Why a library does not take part. A GPU that is there and does not work is a failure, none at all is not."""
    known = LIBRARIES[library]
    if error.kind == "ModuleNotFoundError" and known.pip:
        return f"not installed: pip install {known.pip}"
    if known.gpu and error.kind == "RuntimeError":
        there = ask("nvidia-smi", "-L")
        reason = str(error).removeprefix("RuntimeError: ")
        if there and library == "gpu":
            return f"failed: there is a GPU, but {reason}"
        return f"not measured: {reason}"
    return f"failed: {error}"
