"""What `bench gpu` shows of the training: tables and the figures that [000] draws (7 to 10), from the JSON alone."""

from collections.abc import Iterator
from typing import Any

from course_lib.bench.gpu_catalogue import TRAINERS
from course_lib.bench.gpu_targets import cublas
from course_lib.bench.summary import machine_rate, quartiles, rates, ratio, runs
from course_lib.bench.tables import Table, digits

# Seven, one for each colour of the palette.
DRAWN = ("numpy", "grid", "torch", "mlp-paper", "mlp-tiles", "torch-gpu-sent", "torch-gpu-resident")
OLDER = {"error": "not in this result, which is older than that part", "training": [], "engine": []}
HEADER = ("way", "on", "s an epoch", "quartiles", "GFLOP/s", "x NumPy", "differs from serial by")


def part(result: dict[str, Any]) -> dict[str, Any]:
    """The training's part of a result."""
    return result.get("training", OLDER)


def training_note(result: dict[str, Any]) -> str:
    """Was there a GPU to train on?"""
    made = part(result)
    if "error" in made:
        return f"Net-1h and Net-2h on a GPU: {made['error']}."
    return (
        f"Net-1h and Net-2h: runs of about {made['settings']['seconds']:g} s, scaled to an epoch of "
        f"{made['settings']['epoch']:,} examples."
    )


def training_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each net and batch size."""
    for case in part(result)["training"]:
        yield _table(result, case, "")


def engine_training_tables(result: dict[str, Any]) -> Iterator[Table]:
    """The small net on the CPU engine: the time a student waits; it says nothing about a GPU."""
    for case in part(result)["engine"]:
        yield _table(result, case, ", on the CPU engine: this says nothing about a GPU")


def _table(result: dict[str, Any], case: dict[str, Any], words: str) -> Table:
    made = part(result)
    told = ", ".join(
        f"{found[0]:.0f} on {n} thread{'s' if n > 1 else ''}"
        for n in sorted({1, made["settings"]["threads"]})
        if (found := machine_rate(case, f"sgemm-{n}"))
    )
    sizes = "-".join(map(str, case["sizes"]))
    title = f"{case['net']} ({sizes}), B = {case['B']}{words}; the CPU's sgemm in the same rounds: {told} GFLOP/s"
    return Table(title, HEADER, [_row(made, case, key, row) for key, row in case["ways"].items()])


def _row(
    made: dict[str, Any], case: dict[str, Any], key: str, row: dict[str, Any]
) -> tuple[str, ...]:
    way, found = TRAINERS[key], row.get("seconds")
    where = f"CPU, {row['threads']} thread{'s' if row['threads'] > 1 else ''}"
    head = (way.label, "GPU" if way.library in ("mlp", "torch-gpu-training") else where)
    if not found:
        return (*head, row["error"])
    middle, low, high = map(digits, quartiles(found))
    rate = quartiles(rates(made, case, found))[0]
    label = f"{way.label} ({row['note']})" if row["note"] else way.label
    numbers = (
        digits(rate),
        digits(ratio(runs(case, "numpy"), found)),
        f"{row['disagreement']:.1e}",
    )
    return (label, head[1], middle, f"{low} to {high}", *numbers)


def training_figures(result: dict[str, Any]) -> dict[str, Any]:
    """{file name: Figure}: time, GFLOP/s and speed-up against batch size, for each net; none without a GPU."""
    made = part(result)
    if not made["training"]:
        return {}
    from course_lib.bench.figures import Style, figures
    from course_lib.bench.files import slug

    labels = {key: TRAINERS[key].label for key in DRAWN}
    over = "NumPy on one thread"
    return figures(made, Style(slug(result["device"]), labels, "numpy", over, over, _peak(result)))


def _peak(result: dict[str, Any]) -> tuple[float, str] | None:
    """cuBLAS's rate at the largest square product measured."""
    found = []
    for case in result["gpu"].get("products", []):
        M, N, K = case["shape"]
        if M == N == K and (seconds := cublas(case)):
            found.append((M, 2 * M * N * K / quartiles(seconds)[0] / 1e9))
    if not found:
        return None
    n, rate = max(found)
    return rate, f"cuBLAS's product of {n} x {n} matrices"
