"""The tables of `bench mpi`, from the JSON's dict alone."""

from collections.abc import Iterator
from typing import Any

from course_lib.bench.mpi_catalogue import ALLREDUCES, SCHEME, SETTINGS, TARGET_BATCH
from course_lib.bench.mpi_predictions import (
    allreduce_seconds,
    epoch_seconds,
    fitted,
    group_of,
    medians,
)
from course_lib.bench.mpi_targets import runs_of, targets
from course_lib.bench.summary import quartiles, ratio
from course_lib.bench.tables import Table, digits
from course_lib.measure import format_seconds

WORDS = {True: "met", False: "NOT MET", None: "not measured"}


def target_table(result: dict[str, Any]) -> Table:
    """Each target, met or not."""
    lines = [(t.what, t.where, t.want, digits(t.got), WORDS[t.met]) for t in targets(result)]
    return Table("Targets", ("target", "where", "wanted", "found", ""), lines)


def allreduce_tables(result: dict[str, Any]) -> Iterator[Table]:
    """Measured and predicted, for each number of ranks."""
    for p in (p for p in result["settings"]["ranks"] if p > 1):
        cases = [case for case in result["allreduces"] if case["p"] == p]
        header = ("bytes", *ALLREDUCES.values(), "ring / MPI's")
        yield Table(
            f"Allreduce over {p} ranks: median time", header, [_measured(case) for case in cases]
        )
        names = [name for name in ALLREDUCES if allreduce_seconds(result, p, 8, name) is not None]
        header = ("bytes", *(ALLREDUCES[name] for name in names))
        lines = [_predicted(result, case, names) for case in cases]
        yield Table(
            f"Allreduce over {p} ranks: predicted, and how many times that was measured",
            header,
            lines,
        )


def _measured(case: dict[str, Any]) -> tuple[str, ...]:
    times = [_median(runs_of(case, name)) for name in ALLREDUCES]
    return (f"{case['size']:,}", *times, digits(ratio(runs_of(case, "ring"), runs_of(case, "mpi"))))


def _median(runs: list[float | None] | None) -> str:
    return format_seconds(quartiles(runs)[0]) if runs else ""


def _predicted(result: dict[str, Any], case: dict[str, Any], names: list[str]) -> tuple[str, ...]:
    cells = []
    for name in names:
        model, runs = (
            allreduce_seconds(result, case["p"], case["size"], name) or 0.0,
            runs_of(case, name),
        )
        cells.append(
            format_seconds(model)
            + (f", x {digits(quartiles(runs)[0] / model)}" if runs and model else "")
        )
    return (f"{case['size']:,}", *cells)


def scheme_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each net and batch size."""
    header = (
        "scheme",
        "ranks",
        "s an epoch",
        "quartiles",
        "predicted",
        "x serial",
        "efficiency",
        "differs by",
    )
    for case in result["training"]:
        rate = {
            key: digits(quartiles(runs)[0])
            for key, runs in case["rates"].items()
            if isinstance(runs, list)
        }
        told = ", ".join(f"{value} on {key.removeprefix('sgemm-')}" for key, value in rate.items())
        title = (
            f"{case['net']} ({'-'.join(map(str, case['sizes']))}), B = {case['B']}; "
            f"sgemm in the same rounds, GFLOP/s by ranks: {told}"
        )
        shown = [
            key for key, row in case["ways"].items() if key == f"{row['scheme']}-{row['ranks']}"
        ]
        yield Table(title, header, [_scheme_row(result, case, key) for key in shown])


def _scheme_row(result: dict[str, Any], case: dict[str, Any], key: str) -> tuple[str, ...]:
    row, runs = case["ways"][key], runs_of(case, key)
    head = (_label(row), str(row["ranks"]))
    if not runs:
        return (*head, row["error"])
    middle, low, high = quartiles(runs)
    model = epoch_seconds(result, case, key)
    speed = ratio(runs_of(case, "torch-1" if row["scheme"] == "torch" else "serial-1"), runs)
    own = ratio(runs_of(case, "serial-1"), runs)
    error = row.get("disagreement")
    return (
        *head,
        digits(middle),
        f"{digits(low)} to {digits(high)}",
        digits(model),
        digits(own),
        "" if speed is None else f"{100 * speed / row['ranks']:.0f} %",
        "" if error is None else f"{error:.1e}",
    )


def _label(row: dict[str, Any]) -> str:
    if row["scheme"] == "torch":
        return "PyTorch, one thread" if row["ranks"] == 1 else "PyTorch DDP over gloo"
    return SCHEME[row["scheme"]].label


def part_table(result: dict[str, Any]) -> Table:
    """What a data-parallel step is made of, on all ranks at once, beside the step as a whole."""
    lines = [
        _part_row(result, case, int(p))
        for case in result["training"]
        for p in case["parts"]
        if case["parts"][p]
    ]
    header = (
        "net, B",
        "ranks",
        "rows a rank",
        "gradient and packing",
        "on one rank alone",
        "allreduce",
        "gathering the batch",
        "update",
        "sum",
        "the step",
    )
    return Table("The parts of a data-parallel step", header, lines)


def _part_row(result: dict[str, Any], case: dict[str, Any], p: int) -> tuple[str, ...]:
    rows = str(-(-case["B"] // p))
    alone, found = medians(case, 1)[rows], medians(case, p)
    parts = [found[rows], found["allreduce"] if p > 1 else 0.0, found["gather"], found["update"]]
    runs = runs_of(case, "serial-1" if p == 1 else f"data-mpi-{p}")
    step = quartiles(runs)[0] * case["B"] / result["settings"]["epoch"] if runs else None
    cells = [found[rows], alone, *parts[1:], sum(parts)]
    shown = [format_seconds(seconds) if seconds else "" for seconds in (*cells, step)]
    return (f"{case['net']}, {case['B']}", str(p), rows, *shown)


def settings_table(result: dict[str, Any]) -> Table:
    """What waiting costs, with MPICH's settings and with ours."""
    header = (
        "ranks, way of waiting",
        "alpha",
        "1/beta",
        "3.2 MB, MPI's",
        "3.2 MB, ring",
        "a waiting rank",
        "work beside it",
        "data parallel",
    )
    lines = []
    for key, found in result["costs"].items():
        _, p, way = key.split("-")
        alpha, beta = fitted(result, key)
        used = f"{100 * sum(found['waiting']) / len(found['waiting']):.0f} % of a core"
        sums = [_median(found["allreduces"][name]) for name in ("mpi", "ring")]
        mark = ", as the course has it" if key == group_of(result, int(p)) else ""
        bandwidth = f"{1e-9 / beta:.1f} GB/s" if beta else ""
        work = f"{100 * found['beside'] / found['alone']:.0f} %"
        lines.append(
            (
                f"{p}, {SETTINGS[way]}{mark}",
                format_seconds(alpha),
                bandwidth,
                *sums,
                used,
                work,
                _step(result, key),
            )
        )
    return Table("Messages, and ranks that wait", header, lines)


def _step(result: dict[str, Any], key: str) -> str:
    """Seconds an epoch of data parallelism by MPI's allreduce, at the target's batch, with these settings."""
    case = next((case for case in result["training"] if case["B"] == TARGET_BATCH), None)
    _, p, way = key.split("-")
    runs = runs_of(
        case, f"data-mpi-{p}" if key == group_of(result, int(p)) else f"data-mpi-{p}-{way}"
    )
    return f"{digits(quartiles(runs)[0])} s" if runs else ""


def noise_note(result: dict[str, Any]) -> str:
    """How even the machine was: one BLAS thread's product, in the same rounds as the training."""
    values = [v for case in result["training"] for v in case["rates"]["sgemm-1"]]
    middle, low, high = quartiles(values)
    before, after = result["load"]["before"], result["load"]["after"]
    load = "unknown" if before is None else f"{before:g} before, {after:g} after"
    both = [
        ratio(case["rates"].get("sgemm-2"), case["rates"]["sgemm-1"]) for case in result["training"]
    ]
    known = [value for value in both if value is not None]
    text = (
        f"Noise: sgemm (1024^3) on one thread ran at {middle:.0f} GFLOP/s (quartiles {low:.0f} to {high:.0f}, "
        f"extremes {min(values):.0f} to {max(values):.0f}); load average {load}."
    )
    if known:
        text += f" Two ranks, each with its own product, had {quartiles(known)[0]:.2f} times the rate of one."
    return text
