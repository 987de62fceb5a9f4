"""The targets of `bench mpi`, each met or not, from the raw runs."""

from collections.abc import Iterator
from typing import Any

from course_lib.bench.mpi_catalogue import TARGET_BATCH, TARGET_SIZE
from course_lib.bench.summary import ratio
from course_lib.bench.targets import Target

RING, SPEED = 1.5, 1.7


def targets(result: dict[str, Any]) -> list[Target]:
    """All targets, in the order of the list in docs/bench-mpi.md."""
    return [*_of_rings(result), *_of_training(result)]


def runs_of(case: dict[str, Any] | None, key: str) -> list[float | None] | None:
    """The seconds of a way, round by round; None where it did not run."""
    return None if case is None else case["ways"].get(key, {}).get("seconds")


def _of_rings(result: dict[str, Any]) -> Iterator[Target]:
    for p in (p for p in result["settings"]["ranks"] if p > 1):
        case = next(
            (c for c in result["allreduces"] if (c["p"], c["size"]) == (p, TARGET_SIZE)), None
        )
        got = ratio(runs_of(case, "ring"), runs_of(case, "mpi"))
        where = f"{TARGET_SIZE / 1e6:g} MB, {p} ranks"
        yield Target(
            "The ring's time over MPI's own allreduce's",
            where,
            f"at most {RING:g}",
            got,
            None if got is None else got <= RING,
        )


def _of_training(result: dict[str, Any]) -> Iterator[Target]:
    for case in (case for case in result["training"] if case["B"] == TARGET_BATCH):
        got = ratio(runs_of(case, "serial-1"), runs_of(case, "data-mpi-2"))
        where = f"{case['net']}, B = {case['B']}"
        yield Target(
            "Data parallelism on 2 ranks over serial on one",
            where,
            f"at least {SPEED:g}",
            got,
            None if got is None else got >= SPEED,
        )
