"""What `bench mpi` measures: sizes of an allreduce, schemes of training, ways in which a rank waits."""

from typing import NamedTuple

from course_lib.mpi.pipeline import schedule

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

# Pipelines: chapter 13's net of 12 layers, wide and narrow
PIPELINE_NETS = {f"12 layers of {n}": (784, *[n] * 11, 10) for n in (256, 48)}
PIPELINE_NET = ("tanh", "cross_entropy")  # through 12 sigmoids hardly a gradient would come
PIPELINES = (("12 layers of 256", 1024), ("12 layers of 48", 1024))
MICRO = 8  # micro-batches a step
SCHEDULES = {
    "gpipe": "GPipe",
    "1f1b": "1F1B",
    "interleaved": "interleaved 1F1B, two stages a rank",
    "zb-h1": "ZB-H1",
}


def plan(name, p):
    """The schedule of this name as the bench runs it, on p ranks."""
    return schedule(name, p, MICRO, v=2 if name == "interleaved" else 1)


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
    *(
        Scheme(f"data-{name}", f"data parallel, {ALLREDUCES[name]}", "mpi", (2, 4), "data", name)
        for name in ("ring", "doubling", "tree")
    ),
    Scheme("overlapped", "data parallel, overlapped", "mpi", (2, 4), "overlap"),
    Scheme("master", "master and workers", "mpi", (2, 4), "master"),
    Scheme("model", "model parallel", "mpi", (2, 4), "model"),
    Scheme("grid", "grid, 2 x 2", "mpi", (4,), "grid-2x2"),
    Scheme("sharded-0", "shards, stage 0: an allreduce", "mpi", (2, 4), "sharded-0", "ring"),
    Scheme("sharded-1", "shards, stage 1: state", "mpi", (2, 4), "sharded-1", "ring"),
    Scheme("sharded-2", "shards, stage 2: and gradients", "mpi", (2, 4), "sharded-2", "ring"),
    Scheme("sharded-3", "shards, stage 3: and parameters", "mpi", (2, 4), "sharded-3", "ring"),
    Scheme("torch", "PyTorch, one thread; DDP over gloo", "torch", RANKS),
    Scheme("torch-zero", "PyTorch ZeroRedundancyOptimizer, stage 1", "torch", (2, 4)),
    Scheme("torch-fsdp-2", "PyTorch FSDP, parameters gathered once", "torch", (2, 4)),
    Scheme("torch-fsdp-3", "PyTorch FSDP, stage 3", "torch", (2, 4)),
)
SCHEME = {scheme.key: scheme for scheme in SCHEMES}
