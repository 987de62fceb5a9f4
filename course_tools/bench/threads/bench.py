"""`course bench threads`: what is measured, in which rounds, what is shown, what was wanted."""

import argparse
import contextlib
from dataclasses import dataclass
from typing import Any

from course_lib.errors import BadInput, check_count
from course_lib.measure import machine
from course_tools.bench import frame
from course_tools.bench.frame import Progress, Result, Worker, WorkerError
from course_tools.bench.threads import tables
from course_tools.bench.threads.cores_tables import cores_figure, cores_parts
from course_tools.bench.threads.profile_tables import losses, profile_tables, shortfall
from course_tools.bench.threads.step_figure import step_figure
from course_tools.bench.training import tables as training
from course_tools.bench.training.catalogue import EPOCH, ETA, NETS, WAY, ways
from course_tools.bench.training.figures import Style, figures
from course_tools.bench.training.measure import Case, Effort, train

# Seven, one for each colour of the palette. Plain Python is left out: a thousand times the others' time, it would
# press them into one line.
DRAWN = ("loops", "loops-threads", "numpy", "numpy-blas", "grid", "torch", "sklearn")


@dataclass(frozen=True)
class Settings:
    """What to measure. seconds: how long a timed run lasts, about. python: another one, with PyTorch."""

    threads: int
    batches: tuple[int, ...] = (64, 256, 1024)
    nets: tuple[str, ...] = tuple(NETS)
    rounds: int = 9
    seconds: float = 0.2
    scheme_batches: tuple[int, ...] = (1, 128, 256)
    quick: bool = False
    python: str | None = None

    def __post_init__(self) -> None:
        check_count("--threads", self.threads, 1, 64)
        for B in self.batches:
            check_count("a batch of --batches", B, 1, EPOCH)
        if not self.batches or len(set(self.batches)) != len(self.batches):
            words = "one batch size or more, each once, such as 64,256,1024"
            raise BadInput(f"--batches must name {words}")


# fmt: off
QUICK = {"batches": (64, 256), "nets": ("Net-1h",), "rounds": 3, "seconds": 0.05, "scheme_batches": (128,)}
# fmt: on


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """From the command line."""
    usable = machine().usable or 1
    threads = usable if options.threads is None else options.threads
    if threads > usable:
        words = f"{threads} threads on {usable} usable processors"
        frame.say("threads", f"warning: {words}: they will wait for each other")
    return {"threads": threads} | ({"batches": options.batches} if options.batches else {})


def measure_threads(settings: Settings, progress: Progress) -> Result:
    """Training in all ways, held against serial at the smallest batch; the schemes; the profile of GridStep."""
    smallest = min(settings.batches)
    pairs = [(net, B) for net in settings.nets for B in settings.batches]
    cases = [Case(net, NETS[net], B, check=smallest == B) for net, B in pairs]
    progress.parts = 1 + 3 * len(cases) + len(settings.scheme_batches)
    progress.part("starting the workers")
    effort = Effort(settings.threads, settings.rounds, settings.seconds)
    shown, batches = ways(settings.threads), settings.scheme_batches
    with contextlib.ExitStack() as stack:
        workers, versions = frame.start(stack, ("course", "torch", "sklearn"), settings.python)
        course = frame.needed(workers, "course", "the course's own worker")
        return {
            "settings": {"epoch": EPOCH, "eta": ETA},
            "versions": versions,
            "training": [train(workers, effort, shown, case, progress) for case in cases],
            "schemes": [measure_schemes(course, settings, B, progress) for B in batches],
            "profile": [_profile(course, settings, case, progress) for case in cases],
        }


def measure_schemes(worker: Any, settings: Any, B: int, progress: Progress) -> Result:
    """The schemes of chapter 04 at one batch size. settings: threads and rounds."""
    ks = list(range(2, max(2, min(settings.threads, 12)) + 1))
    progress.part(f"12 layers of width 1024, B = {B}: schemes, {settings.rounds} rounds")
    try:
        troubles = worker.ask("schemes", B=B, threads=settings.threads, ks=ks)
    except WorkerError as error:
        return {"B": B, "runs": {}, "error": f"failed: {error}"}
    rows = {key: {"error": trouble} for key, trouble in troubles.items() if trouble is not None}
    series = frame.Series()
    for key in (key for key in troubles if key not in rows):
        series.add(key, worker, "scheme", key=key)
    for key, found in series.run(settings.rounds).items():
        rows[key] = frame.by_name(found) or frame.kept(found)
    with contextlib.suppress(WorkerError):
        worker.ask("finish")
    return {"B": B, "runs": rows}


def _profile(worker: Worker, settings: Settings, case: Case, progress: Progress) -> Result:
    """Where GridStep's time goes, with one thread and with T threads shared in either way."""
    T = settings.threads
    splits = [(1, 1), *(split for split in ((T, 1), (1, T)) if T > 1 and split[0] <= case.B)]
    progress.part(f"{case.net}, B = {case.B}: profile")
    head = {"net": case.net, "B": case.B}
    effort = {"seconds": settings.seconds, "rounds": max(1, settings.rounds // 2)}
    try:
        return head | worker.ask("profile", sizes=case.sizes, B=case.B, splits=splits, **effort)
    except WorkerError as error:
        return {**head, "error": f"failed: {error}"}


def notes(result: Result) -> list[str]:
    """How even the machine was during the run."""
    T, scaling = result["settings"]["threads"], training.noise(result)["scaling"]
    what = f"over all rounds sgemm on {frame.count(T, 'thread')}"
    text = frame.noise_note(result, what, training.all_rates(result, f"sgemm-{T}"))
    if scaling is not None and scaling < 0.8 * T:
        text += f" That is only {scaling:.2f} times the rate of one: the machine was shared, or has no {T} cores."
    return [text]


def drawn(result: Result) -> dict[str, Any]:
    """The figures."""
    T, labels = result["settings"]["threads"], {key: WAY[key].label for key in DRAWN}
    peak = training.noise(result)["median"], f"sgemm on {frame.count(T, 'thread')}"
    words = ("the Numba loops", "the compiled loops on one thread")
    return figures(result, Style("threads", labels, "loops", *words, peak))


def step_bars(result: Result) -> dict[str, Any]:
    """{file name: figure} of where the quickest split's step goes."""
    steps = {name: lost for name, (_, lost, _) in losses(result).items()}
    return {"threads-step.png": step_figure(steps)} if steps else {}


def _batches(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, text.split(",")))
    except ValueError:
        words = "is no list of whole numbers such as 64,256,1024"
        raise argparse.ArgumentTypeError(f"{text!r} {words}") from None


# fmt: off
OPTIONS = {
    "--threads": {"type": int, "metavar": "N", "help": "threads for all that have several (default: usable cores)"},
    "--batches": {"type": _batches, "metavar": "B,B", "help": "mini-batch sizes (64,256,1024; with --quick 64,256)"},
}
# fmt: on
BENCH = frame.Bench(
    name="threads",
    about="Train Net-1h and Net-2h on MNIST in every way of chapters 01 to 04, and with PyTorch and scikit-learn, in "
    "one run on the same cores; compare the schemes of chapter 04 on a deep net; profile GridStep. Up to 10 minutes.",
    settings=Settings,
    quick=QUICK,
    help="under a minute: Net-1h, few and short runs. A glance, not a measurement",
    python=("--torch-python", "a Python with PyTorch, if that is not this one"),
    options=OPTIONS,
    chosen=chosen,
    measure=measure_threads,
    how=lambda result: training.how(result, "threads"),
    notes=notes,
    sections={
        "training": training.training_tables,
        "rates": training.rate_table,
        "scaling": tables.scaling_tables,
        "figures": drawn,
        "schemes": tables.scheme_tables,
        "profile": profile_tables,
        "shortfall": lambda result: [shortfall(result), step_bars(result)],
        "cores": cores_parts,
    },
    targets=tables.targets,
    stem=lambda result: "threads",
    figures=lambda result: drawn(result) | step_bars(result) | cores_figure(result),
)
