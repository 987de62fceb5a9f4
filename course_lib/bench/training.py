"""Training, measured: all ways for one net and batch size, checked, then timed in rounds; for every benchmark."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from course_lib.bench.catalogue import Way
from course_lib.bench.processes import Worker, WorkerError
from course_lib.bench.progress import Progress
from course_lib.bench.rounds import interleave

Workers = Mapping[str, Worker | str]  # by library; a text says why there is none


@dataclass(frozen=True)
class Effort:
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
) -> dict[str, Any]:
    """All these ways for one case: what each is, and the seconds of each round; and the machine's rates."""
    name = f"{case.net}, B = {case.B}"
    progress.part(f"{name}: making and checking each way")
    rows, runs = _build(workers, effort, ways, case)
    runs |= _rates(workers, effort)
    progress.part(f"{name}: {effort.rounds} rounds of {len(runs)} runs")
    answers = interleave(runs, effort.rounds, [way.key for way in ways if way.slow])
    rates = {
        key: answers[key]
        for key in runs
        if key not in rows and not isinstance(answers[key], WorkerError)
    }
    for key in set(runs) & set(rows):
        found = answers[key]
        if isinstance(found, WorkerError):
            rows[key] = {"threads": rows[key]["threads"], "error": f"failed: {found}"}
        else:
            rows[key]["seconds"] = [None if pair is None else pair[1] for pair in found]
    for worker in workers.values():
        if isinstance(worker, Worker):
            with contextlib.suppress(WorkerError):  # it died: its rows say so
                worker.ask("clear")
    return {"net": case.net, "sizes": list(case.sizes), "B": case.B, "ways": rows, "rates": rates}


def _build(
    workers: Workers, effort: Effort, ways: Sequence[Way], case: Case
) -> tuple[dict[str, Any], dict[str, Callable[[int], Any]]]:
    """(the rows so far, what to run in each round) of all ways."""
    rows: dict[str, Any] = {}
    runs: dict[str, Callable[[int], Any]] = {}
    for way in ways:
        T = effort.threads if way.threads == "T" else 1
        worker = workers[way.library]
        if isinstance(worker, str):
            rows[way.key] = {"threads": T, "error": worker}
            continue
        wanted = {
            "sizes": case.sizes,
            "B": case.B,
            "threads": T,
            "seconds": effort.seconds,
            "check": case.check,
        }
        try:
            made = worker.ask("build", key=way.key, **wanted)
        except WorkerError as error:
            rows[way.key] = {"threads": T, "error": _why(error)}
            continue
        rows[way.key] = {"threads": T, **made}
        runs[way.key] = partial(_time, worker, way.key)
    return rows, runs


def _why(error: WorkerError) -> str:
    """What stands in a row without numbers. More threads than examples, for one, is nobody's failure."""
    return (
        str(error).replace("BadInput: ", "not possible: ")
        if error.kind == "BadInput"
        else f"failed: {error}"
    )


def _time(worker: Worker, key: str, i: int) -> list[float]:
    return worker.ask("time", key=key, seed=i)


def _rates(workers: Workers, effort: Effort) -> dict[str, Callable[[int], Any]]:
    """The machine's rates, named "sgemm-1" and so on, as runs of the same rounds."""
    threads = effort.threads
    wanted = [("course", "sgemm", T) for T in sorted({1, threads})]
    wanted += [("course", "sgemm-separate", threads)] if threads > 1 else []
    wanted += [("torch", "torch-sgemm", T) for T in sorted({1, threads})]
    return {
        f"{key}-{T}": partial(_rate, worker, key, T, effort.seconds / 2)
        for library, key, T in wanted
        if isinstance(worker := workers.get(library, ""), Worker)
    }


def _rate(worker: Worker, key: str, threads: int, seconds: float, i: int) -> float:
    return worker.ask("rate", key=key, threads=threads, seconds=seconds)
