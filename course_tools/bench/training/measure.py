"""Training, measured: all ways for one net and batch size, checked, then timed in rounds; for every benchmark."""

from collections.abc import Sequence
from typing import NamedTuple

from course_tools.bench.frame import Group, Progress, Result, Series, Workers, answered, clear
from course_tools.bench.training.catalogue import Way


class Effort(NamedTuple):
    """threads: for all that have several. seconds: how long a timed run lasts, about."""

    threads: int
    rounds: int
    seconds: float


class Case(NamedTuple):
    """A net, its widths and a batch size. check: hold each way's first steps against the serial library's."""

    net: str
    sizes: tuple[int, ...]
    B: int
    check: bool = True


def train(
    workers: Workers, effort: Effort, ways: Sequence[Way], case: Case, progress: Progress
) -> Result:
    """All these ways for one case: what each is, and the seconds an epoch of each round; and the machine's rates."""
    name, series = f"{case.net}, B = {case.B}", Series()
    progress.part(f"{name}: making and checking each way")
    how = {"sizes": case.sizes, "B": case.B, "seconds": effort.seconds, "check": case.check}
    for way in ways:
        T = effort.threads if way.threads == "T" else 1
        worker = workers[way.library]
        series.make(way.key, {"threads": T}, worker, way.slow, threads=T, **how)
    _add_rates(series, workers, effort)
    progress.part(f"{name}: {effort.rounds} rounds of {len(series.runs)} runs")
    rates = answered(series.run(effort.rounds))
    clear(workers.values())
    head = {"net": case.net, "sizes": list(case.sizes), "B": case.B}
    return {**head, "ways": series.rows, "rates": rates}


def _add_rates(series: Series, workers: Workers, effort: Effort) -> None:
    """The machine's rates, named "sgemm-1" and so on, as runs of the same rounds."""
    both, T = sorted({1, effort.threads}), effort.threads
    wanted = [("course", "sgemm", n) for n in both]
    wanted += [("course", "sgemm-separate", T)] if T > 1 else []
    wanted += [("torch", "torch-sgemm", n) for n in both]
    for library, key, n in wanted:
        worker = workers.get(library)
        if isinstance(worker, Group):
            how = {"key": key, "threads": n, "seconds": effort.seconds / 2}
            series.add(f"{key}-{n}", worker, "rate", **how)
