"""Groups of ranks: our own by mpiexec, PyTorch's by themselves."""

from typing import Any

from course_lib.machines.ranks.launch import ONE_THREAD, QUIET, mpiexec, waiting
from course_tools.bench.frame import Group, WorkerError, count

DESKS = {
    "mpi": "course_tools.bench.mpi.desk_mpi:MpiDesk",
    "torch": "course_tools.bench.mpi.desk_ddp:DdpDesk",
}
LIMIT = 60.0  # seconds that a command may take


class Ranks(Group):
    """n ranks of `library`, one BLAS thread each. way: how they wait, as MPICH has it ("plain") or "quiet"."""

    def __init__(self, library: str, n: int, way: str = "plain", python: str | None = None):
        self.library = library
        env = {**ONE_THREAD, **(QUIET if way == "quiet" else {})}
        launcher = (mpiexec(), "-n", str(n)) if library == "mpi" else ()
        name = f"{count(n, 'rank')} of {library}"
        super().__init__(name, DESKS[library], n, python, env, launcher, LIMIT)


def ranks_of(groups: dict[str, Any], library: str, p: int) -> Any:
    """The p ranks of a library, or why there are none; ours as the course starts them."""
    return groups[f"mpi-{p}-{chosen(p)}" if library == "mpi" else f"torch-{p}"]


def by_name(found: Any) -> dict[str, list[float]]:
    """{part: seconds, round by round}; nothing where the ranks failed: their rows say so."""
    if isinstance(found, WorkerError):
        return {}
    return {part: [one[part] for one in found] for part in found[0]}


def chosen(p: int) -> str:
    """How p ranks wait, as course_lib.mpi.cluster starts them."""
    return "quiet" if waiting(p) else "plain"
