"""Groups of ranks: our own by mpiexec, PyTorch's by themselves."""

from course_lib.machines.ranks.launch import ONE_THREAD, QUIET, mpiexec, waiting
from course_tools.bench.frame import Group, count

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


def chosen(p: int) -> str:
    """How p ranks wait, as course_lib.mpi.cluster starts them."""
    return "quiet" if waiting(p) else "plain"
