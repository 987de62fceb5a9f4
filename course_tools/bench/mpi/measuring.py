"""What `bench mpi` measures of its groups of ranks: costs, allreduces, schemes of training, pipelines."""

from collections.abc import Iterator
from typing import Any

from course_lib.measure import machine
from course_tools.bench.frame import Progress, Result, Series, WorkerError, answered, by_name, clear
from course_tools.bench.mpi import catalogue
from course_tools.bench.mpi.catalogue import ALLREDUCES, PING_PONG, SCHEDULES, SCHEMES
from course_tools.bench.mpi.ranks import SETTLE, WAITING, Groups, Ranks, chosen, ranks_of
from course_tools.bench.training.catalogue import NETS


def costs(group: Ranks, key: str, settings: Any, progress: Progress) -> Result:
    """Messages, a rank that waits, and the allreduce of the target, with MPICH's settings and with ours."""
    progress.part(f"{key}: messages, and ranks that wait")
    seconds, repeats = (0.1, 10) if settings.quick else (0.5, 50)
    cpu, beside, alone = group.ask("waiting", seconds=seconds)
    times = group.ask("messages", sizes=PING_PONG, repeats=repeats)
    how = {"size": catalogue.TARGET_SIZE, "rounds": settings.rounds, "seconds": 0.02}
    sums = group.ask("allreduces", names=["mpi", "ring"], **how)
    messages = dict(zip(map(str, PING_PONG), times, strict=True))
    found = {"messages": messages, "waiting": cpu, "beside": beside, "alone": alone}
    return {**found, "allreduces": sums}


def allreduces(groups: Groups, p: int, settings: Any, progress: Progress) -> Iterator[Result]:
    """All allreduces over p ranks, by size."""
    progress.part(f"allreduces over {p} ranks, {settings.rounds} rounds")
    ours = [name for name in ALLREDUCES if name != "gloo"]
    for size in settings.sizes:
        how = {"size": size, "rounds": settings.rounds, "seconds": 0.02}
        ways = _sums(groups, p, "mpi", ours, how) | _sums(groups, p, "torch", ["gloo"], how)
        yield {"p": p, "size": size, "ways": ways}


def _sums(groups: Groups, p: int, library: str, names: list[str], how: Any) -> Result:
    group = ranks_of(groups, library, p)
    if isinstance(group, str):
        return {name: {"error": group} for name in names}
    try:
        found = group.ask("allreduces", names=names, **how)
    except WorkerError as error:
        group.trouble = group.trouble or f"failed: {error}"
        return {name: {"error": group.trouble} for name in names}
    return {name: {"seconds": times} for name, times in found.items()}


def train(groups: Groups, net: str, B: int, settings: Any, progress: Progress) -> Result:
    """All schemes on all numbers of ranks for one net and batch size, and the parts of one rank's step."""
    series, name = Series(), f"{net}, B = {B}"
    progress.part(f"{name}: making and checking each scheme")
    check = next(batch for other, batch in settings.cases if other == net) == B
    how: dict[str, Any] = {"sizes": NETS[net], "B": B, "check": check, "seconds": settings.seconds}
    for key, p, group, scheme in _schemes(groups, settings):
        series.make(key, {"ranks": p, "scheme": scheme}, group, **how, key=scheme)
    for p in settings.ranks:
        _add_parts(series, ranks_of(groups, "mpi", p), net, B, p, settings)
    progress.part(f"{name}: {settings.rounds} rounds of {len(series.runs)} runs")
    answers = series.run(settings.rounds, SETTLE)
    parts = {str(p): by_name(answers.pop(f"parts-{p}")) for p in settings.ranks}
    clear(groups.values())
    head = {"net": net, "sizes": list(NETS[net]), "B": B, "ways": series.rows}
    return {**head, "rates": answered(answers), "parts": parts}


def _add_parts(series: Series, ours: Any, net: str, B: int, p: int, settings: Any) -> None:
    """The parts of a step, and the rate of all ranks' products, as runs of the same rounds."""
    shares = [-(-B // q) for q in settings.ranks] if p == 1 else [-(-B // p)]
    how = {"sizes": NETS[net], "B": B, "shares": shares, "seconds": settings.seconds / 5}
    series.add(f"parts-{p}", ours, "parts", **how)
    if p <= (machine().usable or 1):
        series.add(f"sgemm-{p}", ours, "rate", seconds=settings.seconds / 2)


def _schemes(groups: Groups, settings: Any) -> Iterator[tuple[str, int, Any, str]]:
    """(key, ranks, group, scheme) of all that is trained; data parallelism by MPI's allreduce both ways of waiting."""
    for p in settings.ranks:
        for scheme in (scheme for scheme in SCHEMES if p in scheme.ranks):
            yield f"{scheme.key}-{p}", p, ranks_of(groups, scheme.library, p), scheme.key
        if p > 1:
            other = next(way for way in WAITING if way != chosen(p))
            yield f"data-mpi-{p}-{other}", p, groups[f"mpi-{p}-{other}"], "data-mpi"


def pipelines(groups: Groups, settings: Any, progress: Progress) -> Iterator[Result]:
    """One case for each net and batch size: its ways, what tasks take, and the bubbles of ours."""
    for net, B in settings.pipelines:
        progress.part(f"pipelines, {net}, B = {B}: making and checking each schedule")
        series = _pipelines(groups, settings, net, B)
        progress.part(f"{settings.rounds} rounds of {len(series.runs)} runs")
        answers = series.run(settings.rounds, SETTLE)
        clear(groups.values())
        tasks = by_name(answers.pop("tasks")) if "tasks" in answers else {}
        head = {"net": net, "sizes": list(catalogue.PIPELINE_NETS[net]), "B": B}
        head |= {"micro": catalogue.MICRO, "ways": series.rows}
        # of ranks that failed there is no bubble: their rows say why
        yield {**head, "tasks": tasks, "bubbles": answered(answers)}


def _pipelines(groups: Groups, settings: Any, net: str, B: int) -> Series:
    """All ways, made; each of ours is also asked how long its ranks waited; one rank how long tasks take."""
    series, sizes = Series(), catalogue.PIPELINE_NETS[net]
    how = {"sizes": sizes, "B": B, "check": True, "seconds": settings.seconds}
    how |= dict(zip(("activation", "loss"), catalogue.PIPELINE_NET, strict=True))
    for library, name, p in wanted(settings.ranks):
        key, row = f"{library}-{name}-{p}", {"ranks": p, "library": library, "schedule": name}
        worker, told = ranks_of(groups, library, p), f"pipeline-{name}"
        series.make(key, row, worker, **how, key=told)
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
