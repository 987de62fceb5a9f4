"""The workers of `course bench gpu`: each started, or why there is none."""

import contextlib
from collections.abc import Iterable

from course_lib.bench.gpu_catalogue import NOT_INSTALLED
from course_lib.bench.processes import Worker, WorkerError
from course_lib.errors import BadInput
from course_tools.doctor.finding import ask

ENVIRONMENT = {
    "numba-sim": {"NUMBA_ENABLE_CUDASIM": "1"},
    "mlp": {"COURSE_GPU": "cuda"},
    "mlp-engine": {"COURSE_GPU": "cpu"},
}
PEERS = ("vgre", "torch", "torch-gpu", "torch-gpu-training")  # may live in another Python
ON_GPU = ("gpu", "torch-gpu", "torch-gpu-training", "mlp")


def start(
    stack: contextlib.ExitStack, libraries: Iterable[str], peers_python: str | None
) -> tuple[dict[str, Worker | str], dict[str, str]]:
    """The workers by library, or why there is none; and the versions of what they run. The stack ends them."""
    started: dict[str, Worker] = {}
    for library in libraries:
        try:
            python = peers_python if library in PEERS else None
            started[library] = stack.enter_context(
                Worker(library, python, ENVIRONMENT.get(library))
            )
        except OSError as error:
            raise BadInput(f"--peers-python cannot be started: {error.strerror}") from None
        started[library].send("hello")  # they load their libraries side by side
    workers: dict[str, Worker | str] = {}
    versions: dict[str, str] = {}
    for library, worker in started.items():
        try:
            versions |= worker.receive()
            workers[library] = worker
        except WorkerError as error:
            workers[library] = absent(library, error)
    return workers, versions


def absent(library: str, error: WorkerError) -> str:
    """Why a library does not take part. A GPU that is there and does not work is a failure, none at all is not."""
    if error.kind == "ModuleNotFoundError" and library in NOT_INSTALLED:
        return NOT_INSTALLED[library]
    if library in ON_GPU and error.kind == "RuntimeError":
        there = ask("nvidia-smi", "-L")
        why = str(error).removeprefix("RuntimeError: ")
        return (
            f"failed: there is a GPU, but {why}"
            if there and library == "gpu"
            else f"not measured: {why}"
        )
    return f"failed: {error}"
