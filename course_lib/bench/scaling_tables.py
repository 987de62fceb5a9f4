"""What the papers discuss: how time depends on the batch size, and what T threads win over one."""

from collections.abc import Iterator
from typing import Any

from course_lib.bench.catalogue import WAY
from course_lib.bench.summary import quartiles, ratio, runs
from course_lib.bench.tables import Table, digits

PAIRS = {  # with threads: the same on one thread
    "loops-threads": "loops",
    "numpy-blas": "numpy",
    "numpy-threads": "numpy",
    "grid": "grid-1",
    "torch": "torch-1",
}


def scaling_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Threads over one thread at each batch size; then the largest batch over the smallest."""
    yield _threads(result)
    if len(result["settings"]["batches"]) > 1:
        yield _batches(result)


def _threads(result: dict[str, Any]) -> Table:
    """Medians of the ratios within a round."""
    T = result["settings"]["threads"]
    header = ("way", *(f"{case['net']}, {case['B']}" for case in result["training"]))
    lines = []
    for several, one in PAIRS.items():
        found = [ratio(runs(case, one), runs(case, several)) for case in result["training"]]
        lines.append(
            (
                f"{WAY[several].label} over {WAY[one].label}",
                *(f"{v:.2f}" if v else "" for v in found),
            )
        )
    return Table(
        f"How many times as fast on {T} threads as on one, by net and batch size", header, lines
    )


def _batches(result: dict[str, Any]) -> Table:
    """Medians over medians: the batch sizes were measured one after the other."""
    small, large = min(result["settings"]["batches"]), max(result["settings"]["batches"])
    nets = result["settings"]["nets"]
    lines = []
    for key in WAY:
        found = {
            (c["net"], c["B"]): quartiles(s)[0] for c in result["training"] if (s := runs(c, key))
        }
        both = [(found.get((net, large)), found.get((net, small))) for net in nets]
        if any(a and b for a, b in both):
            lines.append((WAY[key].label, *(digits(a / b) if a and b else "" for a, b in both)))
    title = f"Time of an epoch at B = {large:,} over that at B = {small:,}: below 1, larger batches are faster"
    return Table(title, ("way", *nets), lines)
