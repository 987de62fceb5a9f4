"""Pipelines, measured: every schedule by our ranks and by PyTorch's, in the same rounds, and what its tasks take."""

from collections.abc import Iterator
from typing import Any

from course_tools.bench.frame import Progress, Series, clear
from course_tools.bench.mpi.catalogue import MICRO, PIPELINE_NET, PIPELINE_NETS, SCHEDULES
from course_tools.bench.mpi.ranks import by_name, ranks_of


def measure_pipelines(
    groups: dict[str, Any], settings: Any, progress: Progress, settle: float
) -> Iterator[dict[str, Any]]:
    """One case for each net and batch size: its ways, what tasks take, and the bubbles of ours."""
    for net, B in settings.pipelines:
        progress.part(f"pipelines, {net}, B = {B}: making and checking each schedule")
        series = _ways(groups, settings, net, B)
        progress.part(f"{settings.rounds} rounds of {len(series.runs)} runs")
        answers = series.run(settings.rounds, settle)
        clear(groups.values())
        # of ranks that failed there is no bubble: their rows say why
        bubbles = {key: found for key, found in answers.items() if isinstance(found, list)}
        tasks = by_name(answers["tasks"]) if "tasks" in answers else {}
        bubbles.pop("tasks", None)
        head = {"net": net, "sizes": list(PIPELINE_NETS[net]), "B": B, "micro": MICRO}
        yield {**head, "ways": series.rows, "tasks": tasks, "bubbles": bubbles}


def _ways(groups: dict[str, Any], settings: Any, net: str, B: int) -> Series:
    """All ways, made; each of ours is also asked how long its ranks waited; one rank how long tasks take."""
    series, sizes = Series(), PIPELINE_NETS[net]
    activation, loss = PIPELINE_NET
    how = {"sizes": sizes, "B": B, "check": True, "seconds": settings.seconds}
    for library, name, p in wanted(settings.ranks):
        key, row = f"{library}-{name}-{p}", {"ranks": p, "library": library, "schedule": name}
        worker, told = ranks_of(groups, library, p), f"pipeline-{name}"
        series.make(key, row, worker, **how, activation=activation, loss=loss, key=told)
        if library == "mpi" and name != "alone" and key in series.runs:
            series.add(f"bubble-{key}", worker, "bubble", key=told)
    if 1 in settings.ranks:
        series.add("tasks", ranks_of(groups, "mpi", 1), "tasks", sizes=sizes, B=B)
    return series


def wanted(ranks: tuple[int, ...]) -> Iterator[tuple[str, str, int]]:
    """(library, schedule, ranks) in the order of the table; GPipe on one rank is micro-batches without a pipeline."""
    for p in ranks:
        if p == 1:
            yield from (("mpi", "alone", 1), ("torch", "alone", 1), ("mpi", "gpipe", 1))
        else:
            yield from ((library, name, p) for name in SCHEDULES for library in ("mpi", "torch"))
