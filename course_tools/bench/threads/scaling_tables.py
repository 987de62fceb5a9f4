"""What the papers discuss: how time depends on the batch size, and what T threads win over one."""

from collections.abc import Iterator
from typing import Any

from course_tools.bench.frame import Table, digits, median, ratio, runs
from course_tools.bench.training.catalogue import WAY

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
    cases, lines = result["training"], []
    for several, one in PAIRS.items():
        found = [ratio(runs(case, one), runs(case, several)) for case in cases]
        cells = [f"{value:.2f}" if value else "" for value in found]
        lines.append((f"{WAY[several].label} over {WAY[one].label}", *cells))
    T = result["settings"]["threads"]
    title = f"How many times as fast on {T} threads as on one, by net and batch size"
    return Table(title, ("way", *(f"{case['net']}, {case['B']}" for case in cases)), lines)


def _batches(result: dict[str, Any]) -> Table:
    """Medians over medians: the batch sizes were measured one after the other."""
    small, large = min(result["settings"]["batches"]), max(result["settings"]["batches"])
    nets, lines = result["settings"]["nets"], []
    for key, way in WAY.items():
        found = {(c["net"], c["B"]): median(runs(c, key)) for c in result["training"]}
        pairs = [(found.get((net, large)), found.get((net, small))) for net in nets]
        cells = [digits(a / b) if a and b else "" for a, b in pairs]
        lines += [(way.label, *cells)] if any(cells) else []
    title = f"Time of an epoch at B = {large:,} over that at B = {small:,}: below 1, larger batches are faster"
    return Table(title, ("way", *nets), lines)
