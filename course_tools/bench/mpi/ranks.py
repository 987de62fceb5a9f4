"""Groups of ranks: our own by mpiexec, PyTorch's by themselves."""

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.data import load_mnist, one_hot
from course_lib.machines.ranks.launch import ONE_THREAD, QUIET, mpiexec, waiting
from course_tools.bench.frame import Group, WorkerError, count
from course_tools.bench.frame.processes import interrupts_wait

DESKS = {
    "mpi": "course_tools.bench.mpi.desk_mpi:MpiDesk",
    "torch": "course_tools.bench.mpi.desk_ddp:DdpDesk",
}
LIMIT = 60.0  # seconds that a command may take
SETTLE = 0.01  # seconds of rest between two runs: BLAS has one thread a rank, and none spins on
WAITING = {"plain": "as MPICH has it", "quiet": "heavy yield"}
Groups = dict[str, Any]  # a Ranks, or why there is none, by name: "mpi-2-quiet", "torch-2"


class Ranks(Group):
    """n ranks of `library`, one BLAS thread each. way: how they wait, as MPICH has it ("plain") or "quiet"."""

    def __init__(self, library: str, n: int, way: str = "plain", python: str | None = None):
        self.library = library
        env = {**ONE_THREAD, **(QUIET if way == "quiet" else {})}
        launcher = (mpiexec(), "-n", str(n)) if library == "mpi" else ()
        name = f"{count(n, 'rank')} of {library}"
        super().__init__(name, DESKS[library], n, python, env, launcher, LIMIT)


def started(
    stack: contextlib.ExitStack, ranks: Sequence[int], examples: int, python: str | None
) -> tuple[Groups, dict[str, str]]:
    """All groups by name, or why there is none; and the versions of what they run. Ours must start."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mnist")))
    data = load_mnist()  # every rank maps the first examples of its training set
    save(folder, data.x_train[:examples], data.y_train[:examples])
    groups: Groups = {}
    for p in ranks:
        for way in WAITING if p > 1 else ("plain",):
            with interrupts_wait():
                groups[f"mpi-{p}-{way}"] = stack.enter_context(Ranks("mpi", p, way))
        with interrupts_wait():
            groups[f"torch-{p}"] = stack.enter_context(Ranks("torch", p, python=python))
    versions: dict[str, str] = {}
    for name, group in groups.items():
        try:
            versions |= group.connect()
            group.ask("load", folder=str(folder))
        except WorkerError as error:
            if group.library == "mpi":
                raise
            missing = error.kind == "ModuleNotFoundError"
            groups[name] = "not installed: pip install torch" if missing else f"failed: {error}"
    return groups, versions


def save(folder: Path, X: np.ndarray, y: np.ndarray) -> None:
    """The examples where ranks `load` them."""
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", one_hot(y, 10))


def ranks_of(groups: Groups, library: str, p: int) -> Any:
    """The p ranks of a library, or why there are none; ours as the course starts them."""
    return groups[f"mpi-{p}-{chosen(p)}" if library == "mpi" else f"torch-{p}"]


def chosen(p: int) -> str:
    """How p ranks wait, as course_lib.mpi.cluster starts them."""
    return "quiet" if waiting(p) else "plain"
