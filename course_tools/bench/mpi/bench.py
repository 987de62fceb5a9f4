"""`course bench mpi`: what is measured, in which rounds, what is shown, what was wanted."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.data import load_mnist, one_hot
from course_lib.measure import machine
from course_tools.bench import frame
from course_tools.bench.frame import Progress, Result, Series, Target, WorkerError, over, runs
from course_tools.bench.frame.processes import interrupts_wait
from course_tools.bench.mpi import catalogue, pipeline_tables, tables
from course_tools.bench.mpi.catalogue import ALLREDUCES, PING_PONG, SCHEMES, WAITING
from course_tools.bench.mpi.pipelines import measure_pipelines
from course_tools.bench.mpi.ranks import Ranks, by_name, chosen, ranks_of
from course_tools.bench.training import tables as training
from course_tools.bench.training.catalogue import EPOCH, ETA, NETS

SETTLE = 0.01  # seconds of rest between two runs: BLAS has one thread a rank, and none spins on
Groups = dict[str, Any]  # a Ranks, or why there is none, by name: "mpi-2-quiet", "torch-2"


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
        groups, versions = _start(stack, settings)
        pairs = [f"mpi-{p}-{way}" for p in several for way in WAITING]
        sums = [_allreduces(groups, p, settings, progress) for p in several]
        return {
            "settings": shown,
            "versions": versions,
            "costs": {key: _costs(groups[key], key, settings, progress) for key in pairs},
            "allreduces": [case for cases in sums for case in cases],
            "training": [_train(groups, *case, settings, progress) for case in settings.cases],
            "pipelines": list(measure_pipelines(groups, settings, progress, SETTLE)),
        }


def _start(stack: contextlib.ExitStack, settings: Settings) -> tuple[Groups, dict[str, str]]:
    """All groups by name, or why there is none; and the versions of what they run."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mnist")))
    data = load_mnist()  # every rank maps the first examples of its training set
    np.save(folder / "x.npy", data.x_train[: settings.examples])
    np.save(folder / "y.npy", one_hot(data.y_train[: settings.examples], 10))
    groups: Groups = {}
    for p in settings.ranks:
        for way in WAITING if p > 1 else ("plain",):
            with interrupts_wait():
                groups[f"mpi-{p}-{way}"] = stack.enter_context(Ranks("mpi", p, way))
        with interrupts_wait():
            theirs = stack.enter_context(Ranks("torch", p, python=settings.python))
        groups[f"torch-{p}"] = theirs
    versions: dict[str, str] = {}
    for name, ranks in groups.items():
        try:
            versions |= ranks.connect()
            ranks.ask("load", folder=str(folder))
        except WorkerError as error:
            if ranks.library == "mpi":
                raise
            missing = error.kind == "ModuleNotFoundError"
            groups[name] = "not installed: pip install torch" if missing else f"failed: {error}"
    return groups, versions


def _costs(group: Ranks, key: str, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Messages, a rank that waits, and the allreduce of the target, with MPICH's settings and with ours."""
    progress.part(f"{key}: messages, and ranks that wait")
    seconds, repeats = (0.1, 10) if settings.quick else (0.5, 50)
    cpu, beside, alone = group.ask("waiting", seconds=seconds)
    times = group.ask("messages", sizes=PING_PONG, repeats=repeats)
    how = {"size": catalogue.TARGET_SIZE, "rounds": settings.rounds, "seconds": 0.02}
    return {
        "messages": dict(zip(map(str, PING_PONG), times, strict=True)),
        "waiting": cpu,
        "beside": beside,
        "alone": alone,
        "allreduces": group.ask("allreduces", names=["mpi", "ring"], **how),
    }


def _allreduces(
    groups: Groups, p: int, settings: Settings, progress: Progress
) -> Iterator[dict[str, Any]]:
    """All allreduces over p ranks, by size."""
    progress.part(f"allreduces over {p} ranks, {settings.rounds} rounds")
    ours = [name for name in ALLREDUCES if name != "gloo"]
    for size in settings.sizes:
        how = {"size": size, "rounds": settings.rounds, "seconds": 0.02}
        ways = _sums(groups, p, "mpi", ours, how) | _sums(groups, p, "torch", ["gloo"], how)
        yield {"p": p, "size": size, "ways": ways}


def _sums(groups: Groups, p: int, library: str, names: list[str], how: Any) -> dict[str, Any]:
    group = ranks_of(groups, library, p)
    if isinstance(group, str):
        return {name: {"error": group} for name in names}
    try:
        found = group.ask("allreduces", names=names, **how)
    except WorkerError as error:
        group.trouble = group.trouble or f"failed: {error}"
        return {name: {"error": group.trouble} for name in names}
    return {name: {"seconds": times} for name, times in found.items()}


def _train(
    groups: Groups, net: str, B: int, settings: Settings, progress: Progress
) -> dict[str, Any]:
    """All schemes on all numbers of ranks for one net and batch size, and the parts of one rank's step."""
    series, name = Series(), f"{net}, B = {B}"
    progress.part(f"{name}: making and checking each scheme")
    check = next(batch for other, batch in settings.cases if other == net) == B
    how: dict[str, Any] = {"sizes": NETS[net], "B": B, "check": check, "seconds": settings.seconds}
    for key, p, group, scheme in _wanted(groups, settings):
        series.make(key, {"ranks": p, "scheme": scheme}, group, **how, key=scheme)
    for p in settings.ranks:
        _add_parts(series, groups, net, B, p, settings)
    progress.part(f"{name}: {settings.rounds} rounds of {len(series.runs)} runs")
    answers = series.run(settings.rounds, SETTLE)
    rates = {key: answers[key] for key in answers if key.startswith("sgemm")}
    frame.clear(groups.values())
    head = {"net": net, "sizes": list(NETS[net]), "B": B, "ways": series.rows}
    return {
        **head,
        "rates": {key: found for key, found in rates.items() if isinstance(found, list)},
        "parts": {str(p): by_name(answers[f"parts-{p}"]) for p in settings.ranks},
    }


def _add_parts(
    series: Series, groups: Groups, net: str, B: int, p: int, settings: Settings
) -> None:
    """The parts of a step, and the rate of all ranks' products, as runs of the same rounds."""
    ours = ranks_of(groups, "mpi", p)
    shares = [-(-B // q) for q in settings.ranks] if p == 1 else [-(-B // p)]
    how = {"sizes": NETS[net], "B": B, "shares": shares, "seconds": settings.seconds / 5}
    series.add(f"parts-{p}", ours, "parts", **how)
    if p <= (machine().usable or 1):
        series.add(f"sgemm-{p}", ours, "rate", seconds=settings.seconds / 2)


def _wanted(groups: Groups, settings: Settings) -> Iterator[tuple[str, int, Any, str]]:
    """(key, ranks, group, scheme) of all that is trained; data parallelism by MPI's allreduce both ways of waiting."""
    for p in settings.ranks:
        for scheme in (scheme for scheme in SCHEMES if p in scheme.ranks):
            yield f"{scheme.key}-{p}", p, ranks_of(groups, scheme.library, p), scheme.key
        if p > 1:
            other = next(way for way in WAITING if way != chosen(p))
            yield f"data-mpi-{p}-{other}", p, groups[f"mpi-{p}-{other}"], "data-mpi"


def targets(result: Result) -> Iterator[Target]:
    """All targets, in the order of the list in docs/bench-mpi.md."""
    sums = {(case["p"], case["size"]): case for case in result["allreduces"]}
    size, B = catalogue.TARGET_SIZE, catalogue.TARGET_BATCH
    for p in (p for p in result["settings"]["ranks"] if p > 1):
        case, where = sums.get((p, size)), f"{size / 1e6:g} MB, {p} ranks"
        found = over(runs(case, "ring"), runs(case, "mpi"))
        yield frame.at_most("The ring's time over MPI's own allreduce's", where, 1.5, found)
    for case in (case for case in result["training"] if case["B"] == B):
        found, where = (
            over(runs(case, "serial-1"), runs(case, "data-mpi-2")),
            f"{case['net']}, B = {B}",
        )
        yield frame.at_least("Data parallelism on 2 ranks over serial on one", where, 1.7, found)
    yield from pipeline_tables.targets(result)


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
        "waiting": lambda result: [tables.waiting_table(result)],
        "allreduces": tables.allreduce_tables,
        "parts": lambda result: [tables.part_table(result)],
        "schemes": tables.scheme_tables,
        "pipelines": pipeline_tables.pipeline_tables,
    },
    targets=targets,
    stem=lambda result: f"mpi-{frame.slug(frame.machine_name(result))}",
    title=frame.machine_name,
)
