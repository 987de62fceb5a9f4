"""What `bench mpi` measures: sizes of an allreduce, schemes of training, ways in which a rank waits."""

from typing import NamedTuple

RANKS = (1, 2, 4)
SIZES = (8, 1_000, 10_000, 100_000, 1_000_000, 3_200_000, 32_000_000)  # bytes of float32 numbers
TARGET_SIZE = 3_200_000  # about the gradient of Net-1h
CASES = (("Net-1h", 256), ("Net-1h", 1024), ("Net-2h", 1024))
TARGET_BATCH = 1024
EXAMPLES = 20_480  # of MNIST's training images, for which each rank reads the same file; times are scaled to an epoch
PING_PONG = (8, 1_024, 16_384, 131_072, 1_048_576)  # bytes

ALLREDUCES = {
    "mpi": "MPI's own",
    "ring": "ring",
    "doubling": "recursive doubling",
    "tree": "tree",
    "gloo": "PyTorch, gloo",
}
WAITING = {"plain": "as MPICH has it", "quiet": "heavy yield"}


class Scheme(NamedTuple):
    """One way to train. library: whose ranks. ranks: numbers of ranks for which it is something of its own.

    scheme, allreduce: what course_lib.mpi.scaling.predict calls it; "" where the model has no name for it.
    """

    key: str
    label: str
    library: str
    ranks: tuple[int, ...]
    scheme: str = ""
    allreduce: str = "mpi"


SCHEMES = (
    Scheme("serial", "serial: one rank, one BLAS thread", "mpi", (1,)),
    Scheme("data-mpi", "data parallel, MPI's allreduce", "mpi", (2, 4), "data"),
    Scheme("data-ring", "data parallel, ring", "mpi", (2, 4), "data", "ring"),
    Scheme("data-doubling", "data parallel, recursive doubling", "mpi", (2, 4), "data", "doubling"),
    Scheme("data-tree", "data parallel, tree", "mpi", (2, 4), "data", "tree"),
    Scheme("overlapped", "data parallel, overlapped", "mpi", (2, 4), "overlap"),
    Scheme("master", "master and workers", "mpi", (2, 4), "master"),
    Scheme("model", "model parallel", "mpi", (2, 4), "model"),
    Scheme("grid", "grid, 2 x 2", "mpi", (4,), "grid-2x2"),
    Scheme("torch", "PyTorch, one thread; DDP over gloo", "torch", RANKS),
)
SCHEME = {scheme.key: scheme for scheme in SCHEMES}
