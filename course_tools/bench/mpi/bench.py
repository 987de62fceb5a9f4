"""`course bench mpi`: what is measured, in which order, what is shown, what was wanted."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.measure import machine
from course_tools.bench import frame
from course_tools.bench.frame import Progress, Result, Target, over, runs
from course_tools.bench.mpi import catalogue, measuring, tables
from course_tools.bench.mpi.ranks import WAITING, chosen, started
from course_tools.bench.training import tables as training
from course_tools.bench.training.catalogue import EPOCH, ETA


@dataclass(frozen=True)
class Settings:
    """What to measure. seconds: how long a timed run of training lasts, about. python: one with PyTorch."""

    sizes: tuple[int, ...] = catalogue.SIZES
    cases: tuple[tuple[str, int], ...] = catalogue.CASES
    pipelines: tuple[tuple[str, int], ...] = catalogue.PIPELINES
    ranks: tuple[int, ...] = catalogue.RANKS
    rounds: int = 7
    seconds: float = 0.2
    examples: int = catalogue.EXAMPLES
    quick: bool = False
    python: str | None = None


# fmt: off
QUICK = {"sizes": (8, 100_000), "cases": (("Net-1h", 64),), "pipelines": (("12 layers of 48", 256),),
         "ranks": (1, 2), "rounds": 2, "seconds": 0.02, "examples": 2048}
# fmt: on


def measure_mpi(settings: Settings, progress: Progress) -> Result:
    """Costs, allreduces, training. Raises WorkerError where our own ranks do not start."""
    several = [p for p in settings.ranks if p > 1]
    progress.parts = 1 + 3 * len(several) + 2 * len(settings.cases) + 2 * len(settings.pipelines)
    progress.part("starting the ranks")
    waiting = {str(p): chosen(p) for p in settings.ranks}
    shown = {"cores": machine().usable or 1, "epoch": EPOCH, "eta": ETA, "waiting": waiting}
    with contextlib.ExitStack() as stack:
        groups, versions = started(stack, settings.ranks, settings.examples, settings.python)
        pairs = [f"mpi-{p}-{way}" for p in several for way in WAITING]
        how = (settings, progress)
        return {
            "settings": shown,
            "versions": versions,
            "costs": {key: measuring.costs(groups[key], key, *how) for key in pairs},
            "allreduces": [case for p in several for case in measuring.allreduces(groups, p, *how)],
            "training": [measuring.train(groups, *case, *how) for case in settings.cases],
            "pipelines": list(measuring.pipelines(groups, *how)),
        }


def targets(result: Result) -> Iterator[Target]:
    """All targets, in the order of the list in docs/bench-mpi.md."""
    sums = {(case["p"], case["size"]): case for case in result["allreduces"]}
    size = catalogue.TARGET_SIZE
    for p in (p for p in result["settings"]["ranks"] if p > 1):
        case, where = sums.get((p, size)), f"{size / 1e6:g} MB, {p} ranks"
        found = over(runs(case, "ring"), runs(case, "mpi"))
        yield frame.at_most("The ring's time over MPI's own allreduce's", where, 1.5, found)
    for case in (case for case in result["training"] if case["B"] == catalogue.TARGET_BATCH):
        found, where = (
            over(*(runs(case, key) for key in ("serial-1", "data-mpi-2"))),
            tables.of(case),
        )
        yield frame.at_least("Data parallelism on 2 ranks over serial on one", where, 1.7, found)
    yield from tables.pipeline_targets(result)


def notes(result: Result) -> list[str]:
    """How even the machine was: one BLAS thread's product, in the same rounds as the training."""
    rates = [case["rates"] for case in result["training"]]
    both = frame.median([frame.ratio(rate.get("sgemm-2"), rate["sgemm-1"]) for rate in rates])
    pooled = training.all_rates(result, "sgemm-1")
    text = frame.noise_note(result, "sgemm (1024^3) on one thread", pooled)
    if both:
        text += f" Two ranks, each with its own product, had {both:.2f} times the rate of one."
    return [text]


BENCH = frame.Bench(
    name="mpi",
    about="Allreduces of course_lib.mpi beside MPI's own and PyTorch's, by size; every scheme of training on 1, 2 and "
    "4 ranks, and pipelines beside PyTorch's, measured and predicted; what a message and a rank that waits cost. "
    "In one run; 6 to 9 minutes.",
    settings=Settings,
    quick=QUICK,
    help="half a minute: 1 and 2 ranks, few and short runs. A glance, no more",
    python=("--torch-python", "a Python with PyTorch, if that is not this one"),
    measure=measure_mpi,
    how=lambda result: training.how(result, "cores"),
    notes=notes,
    sections={
        "waiting": tables.waiting_table,
        "allreduces": tables.allreduce_tables,
        "parts": tables.part_table,
        "schemes": tables.scheme_tables,
        "pipelines": tables.pipeline_tables,
    },
    targets=targets,
    stem=lambda result: f"mpi-{frame.slug(frame.machine_name(result))}",
    title=frame.machine_name,
)
