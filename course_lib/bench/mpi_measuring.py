"""`course bench mpi`: the measuring. Everything here ends up in one dict, the JSON; no number is made elsewhere."""

import contextlib
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.bench.catalogue import EPOCH, ETA, NETS
from course_lib.bench.measuring import NOT_INSTALLED, load
from course_lib.bench.mpi_catalogue import (
    ALLREDUCES,
    CASES,
    EXAMPLES,
    PING_PONG,
    RANKS,
    SCHEMES,
    SETTINGS,
    SIZES,
    TARGET_SIZE,
)
from course_lib.bench.mpi_ranks import Ranks
from course_lib.bench.processes import WorkerError
from course_lib.bench.progress import Progress
from course_lib.bench.rounds import interleave
from course_lib.data import load_mnist, one_hot
from course_lib.machines.ranks.launch import waiting
from course_lib.measure import machine

SCHEMA = 1
SETTLE = (
    0.01  # seconds of rest between two runs: BLAS has one thread a rank, and none that spins on
)
Groups = dict[str, "Ranks | str"]


@dataclass(frozen=True)
class Settings:
    """What to measure. seconds: how long a timed run of training lasts, about. torch_python: a Python with PyTorch."""

    sizes: tuple[int, ...] = SIZES
    cases: tuple[tuple[str, int], ...] = CASES
    ranks: tuple[int, ...] = RANKS
    rounds: int = 7
    seconds: float = 0.2
    examples: int = EXAMPLES
    quick: bool = False
    torch_python: str | None = None


QUICK: dict[str, Any] = {
    "sizes": (8, 100_000),
    "cases": (("Net-1h", 64),),
    "ranks": (1, 2),
    "rounds": 2,
    "seconds": 0.02,
    "examples": 2048,
    "quick": True,
}


def measure_mpi(settings: Settings) -> dict[str, Any]:
    """Run everything; return the JSON's dict. Raises WorkerError where our own ranks do not start."""
    began, before = time.monotonic(), load()
    several = [p for p in settings.ranks if p > 1]
    progress = Progress(
        "course bench mpi", 1 + 2 * len(several) + len(several) + 2 * len(settings.cases)
    )
    progress.part("starting the ranks")
    with contextlib.ExitStack() as stack:
        groups, versions = _start(stack, settings)
        costs = {
            key: _costs(groups[key], key, settings, progress) for key in groups if _counts(key)
        }
        sums = [case for p in several for case in _allreduces(groups, p, settings, progress)]
        training = [_train(groups, net, B, settings, progress) for net, B in settings.cases]
    progress.close()
    return {
        **_head(settings),
        "seconds": round(time.monotonic() - began, 1),
        "load": {"before": before, "after": load()},
        "versions": versions,
        "costs": costs,
        "allreduces": sums,
        "training": training,
    }


def _head(settings: Settings) -> dict[str, Any]:
    shown = asdict(settings) | {"cores": machine().usable or 1, "epoch": EPOCH, "eta": ETA}
    del shown["torch_python"]  # a path of this machine is nobody's business
    shown["waiting"] = {str(p): chosen(p) for p in settings.ranks}
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return {
        "schema": SCHEMA,
        "benchmark": "mpi",
        "when": when,
        "machine": asdict(machine()),
        "settings": shown,
    }


def chosen(p: int) -> str:
    """How p ranks wait, as course_lib.mpi.cluster starts them."""
    return "quiet" if waiting(p) else "plain"


def _counts(key: str) -> bool:
    """Is this a group of ours with messages to send?"""
    return key.startswith("mpi-") and not key.startswith("mpi-1-")


# Groups of ranks -----------------------------------------------------------------------------------------------------


def _start(stack: contextlib.ExitStack, settings: Settings) -> tuple[Groups, dict[str, str]]:
    """All groups by name, "mpi-2-quiet" or "torch-2", or why there is none; and the versions of what they run."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mnist"))
    _write(Path(folder), settings.examples)
    started = {name: stack.enter_context(ranks) for name, ranks in _groups(settings)}
    groups: Groups = {}
    versions: dict[str, str] = {}
    for name, ranks in started.items():
        try:
            versions |= ranks.connect()
            ranks.ask("load", folder=folder)
            groups[name] = ranks
        except WorkerError as error:
            if ranks.library == "mpi":
                raise
            missing = "ModuleNotFoundError: No module named 'torch'" in str(error)
            groups[name] = NOT_INSTALLED["torch"] if missing else f"failed: {error}"
    return groups, versions


def _groups(settings: Settings) -> list[tuple[str, Ranks]]:
    ours = [(p, way) for p in settings.ranks for way in (SETTINGS if p > 1 else ("plain",))]
    return [
        *((f"mpi-{p}-{way}", Ranks("mpi", p, way)) for p, way in ours),
        *((f"torch-{p}", Ranks("torch", p, python=settings.torch_python)) for p in settings.ranks),
    ]


def _write(folder: Path, examples: int) -> None:
    """The first examples of MNIST's training set, where every rank can map them."""
    data = load_mnist()
    np.save(folder / "x.npy", data.x_train[:examples])
    np.save(folder / "y.npy", one_hot(data.y_train[:examples], 10))


def _group(groups: Groups, library: str, p: int, way: str) -> Ranks | str:
    return groups[f"mpi-{p}-{way}" if library == "mpi" else f"torch-{p}"]


# What is measured ----------------------------------------------------------------------------------------------------


def _costs(group: Ranks | str, key: str, settings: Settings, progress: Progress) -> dict[str, Any]:
    """Messages, a rank that waits, and the allreduce of the target, with MPICH's settings and with ours."""
    progress.part(f"{key}: messages, and ranks that wait")
    assert isinstance(group, Ranks)
    quick = settings.quick
    cpu, beside, alone = group.ask("waiting", seconds=0.1 if quick else 0.5)
    times = group.ask("messages", sizes=PING_PONG, repeats=10 if quick else 50)
    sums = group.ask(
        "allreduces", names=["mpi", "ring"], size=TARGET_SIZE, rounds=settings.rounds, seconds=0.02
    )
    return {
        "messages": dict(zip(map(str, PING_PONG), times, strict=True)),
        "waiting": cpu,
        "beside": beside,
        "alone": alone,
        "allreduces": sums,
    }


def _allreduces(
    groups: Groups, p: int, settings: Settings, progress: Progress
) -> list[dict[str, Any]]:
    """All allreduces over p ranks, by size."""
    progress.part(f"allreduces over {p} ranks, {settings.rounds} rounds")
    found = []
    for size in settings.sizes:
        ways: dict[str, Any] = {}
        for library, names in (
            ("mpi", [name for name in ALLREDUCES if name != "gloo"]),
            ("torch", ["gloo"]),
        ):
            group = _group(groups, library, p, chosen(p))
            how = {"size": size, "rounds": settings.rounds, "seconds": 0.02}
            ways |= {name: {"seconds": runs} for name, runs in _sums(group, names, how).items()}
        for name in ALLREDUCES:
            if name not in ways:
                ways[name] = {"error": _why_not(groups, p, name)}
        found.append({"p": p, "size": size, "ways": ways})
    return found


def _sums(group: Ranks | str, names: list[str], how: dict[str, Any]) -> dict[str, list[float]]:
    if isinstance(group, str):
        return {}
    try:
        return group.ask("allreduces", names=names, **how)
    except WorkerError as error:
        group.trouble = f"failed: {error}"
        return {}


def _why_not(groups: Groups, p: int, name: str) -> str:
    group = _group(groups, "torch" if name == "gloo" else "mpi", p, chosen(p))
    return group if isinstance(group, str) else group.trouble


Runs = dict[str, Callable[[int], Any]]


def _train(
    groups: Groups, net: str, B: int, settings: Settings, progress: Progress
) -> dict[str, Any]:
    """All schemes on all numbers of ranks for one net and batch size, and the parts of one rank's step."""
    name = f"{net}, B = {B}"
    progress.part(f"{name}: making and checking each scheme")
    rows, runs = _build(groups, net, B, settings)
    for p in settings.ranks:
        ours = groups[f"mpi-{p}-{chosen(p)}"]
        assert isinstance(ours, Ranks)
        shares = [-(-B // q) for q in settings.ranks] if p == 1 else [-(-B // p)]
        how = {"sizes": NETS[net], "B": B, "shares": shares, "seconds": settings.seconds / 5}
        runs[f"parts-{p}"] = partial(_asked, ours, "parts", how)
        if p <= (machine().usable or 1):
            runs[f"sgemm-{p}"] = partial(_asked, ours, "rate", {"seconds": settings.seconds / 2})
    progress.part(f"{name}: {settings.rounds} rounds of {len(runs)} runs")
    answers = interleave(runs, settings.rounds, settle=SETTLE)
    rates = {
        key: found
        for key, found in answers.items()
        if key.startswith("sgemm") and isinstance(found, list)
    }
    parts = {str(p): _by_name(answers[f"parts-{p}"]) for p in settings.ranks}
    for key in rows.keys() & answers.keys():
        found = answers[key]
        rows[key] |= (
            {"error": f"failed: {found}"} if isinstance(found, WorkerError) else {"seconds": found}
        )
    for group in groups.values():
        if isinstance(group, Ranks):
            with contextlib.suppress(WorkerError):  # it ended: its rows say so
                group.ask("clear")
    return {
        "net": net,
        "sizes": list(NETS[net]),
        "B": B,
        "ways": rows,
        "rates": rates,
        "parts": parts,
    }


def _asked(group: Ranks, do: str, how: dict[str, Any], i: int) -> Any:
    return group.ask(do, **how)


def _by_name(found: Any) -> dict[str, list[float]]:
    """{part: seconds, round by round}; nothing where the ranks failed: their rows say so."""
    return (
        {}
        if isinstance(found, WorkerError)
        else {part: [one[part] for one in found] for part in found[0]}
    )


def _build(groups: Groups, net: str, B: int, settings: Settings) -> tuple[dict[str, Any], Runs]:
    """(the rows so far, what to run in each round): each scheme is held against serial at a net's first batch size."""
    check = next(batch for name, batch in settings.cases if name == net) == B
    rows: dict[str, Any] = {}
    runs: Runs = {}
    for key, p, group, scheme in _wanted(groups, settings):
        rows[key] = {"ranks": p, "scheme": scheme}
        if isinstance(group, str):
            rows[key]["error"] = group
            continue
        try:
            how: dict[str, Any] = {
                "sizes": NETS[net],
                "B": B,
                "seconds": settings.seconds,
                "check": check,
            }
            rows[key] |= group.ask("build", key=scheme, **how)
            runs[key] = partial(_time, group, scheme)
        except WorkerError as error:
            rows[key]["error"] = f"failed: {error}"
    return rows, runs


def _wanted(groups: Groups, settings: Settings) -> list[tuple[str, int, Ranks | str, str]]:
    """(key, ranks, group, scheme) of all that is trained; data parallelism by MPI's allreduce with both settings."""
    found = []
    for p in settings.ranks:
        for scheme in SCHEMES:
            if p in scheme.ranks:
                group = _group(groups, scheme.library, p, chosen(p))
                found.append((f"{scheme.key}-{p}", p, group, scheme.key))
        if p > 1:
            other = next(way for way in SETTINGS if way != chosen(p))
            found.append((f"data-mpi-{p}-{other}", p, groups[f"mpi-{p}-{other}"], "data-mpi"))
    return found


def _time(group: Ranks, scheme: str, i: int) -> float:
    return group.ask("time", key=scheme, seed=i)


def failures(result: dict[str, Any]) -> list[str]:
    """What did not work, each in a line; what is not installed is no failure."""
    found = [
        f"{c['p']} ranks, {c['size']} bytes: {name}: {way.get('error')}"
        for c in result["allreduces"]
        for name, way in c["ways"].items()
    ]
    found += [
        f"{c['net']}, B = {c['B']}: {key}: {way.get('error')}"
        for c in result["training"]
        for key, way in c["ways"].items()
    ]
    return [line for line in found if ": failed: " in line]
