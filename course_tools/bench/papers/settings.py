"""What `course bench papers` measures, and how long."""

from dataclasses import dataclass

from course_lib.errors import BadInput, check_count
from course_tools.bench.training.catalogue import EPOCH, NETS

PARTS = ("figures", "leapfrogging", "ranks", "gpu", "counts", "digits", "kddcup", "fashion")
# [004] does not give the layers' sizes; its figure 1 draws two hidden layers
FASHION_SIZES = (784, 128, 128, 10)
FASHION_ITERATIONS = 60  # "Gradient descent iteration: 60"


@dataclass(frozen=True)
class Settings:
    """threads: for all that have several. python: another Python, with PyTorch. parts: which to measure.

    rounds, seconds: of timed runs. epochs: of the trainings whose accuracy counts. examples, connections: how many of
    MNIST and of KDD Cup 1999 are trained on, at most.
    """

    threads: int
    parts: tuple[str, ...] = PARTS
    nets: tuple[str, ...] = tuple(NETS)
    batches: tuple[int, ...] = (16, 64, 256, 1024)
    rounds: int = 5
    seconds: float = 0.2
    epochs: int = 2
    examples: int = EPOCH
    connections: int = 10**6
    quick: bool = False
    python: str | None = None

    def __post_init__(self) -> None:
        check_count("--threads", self.threads, 1, 64)
        if unknown := [part for part in self.parts if part not in PARTS]:
            known = ", ".join(PARTS)
            raise BadInput(f"--parts: there is no part {unknown[0]!r}: choose from {known}")


# fmt: off
QUICK = {"nets": ("Net-1h",), "batches": (64, 256), "rounds": 2, "seconds": 0.03, "epochs": 1, "examples": 2000,
         "connections": 5000}
