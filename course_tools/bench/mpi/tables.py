"""The tables of `bench mpi`, from the JSON's dict alone."""

from collections.abc import Iterator, Sequence
from typing import Any

from course_lib.measure import format_seconds
from course_tools.bench import frame
from course_tools.bench.frame import Runs, Table, digits, median, ratio, runs, typical
from course_tools.bench.mpi.catalogue import ALLREDUCES, SCHEME, TARGET_BATCH, WAITING
from course_tools.bench.mpi.predictions import (
    allreduce_seconds,
    epoch_seconds,
    fitted,
    group_of,
    medians,
)
from course_tools.bench.training.tables import case_name

Result = dict[str, Any]
SCHEMES = ("scheme", "ranks", "s an epoch", "quartiles", "predicted", "x serial", "efficiency")
PARTS = ("gradient and packing", "on one rank alone", "allreduce", "gathering the batch", "update")
COSTS = ("alpha", "1/beta", "3.2 MB, MPI's", "3.2 MB, ring", "a waiting rank", "work beside it")


def allreduce_tables(result: Result) -> Iterator[Table]:
    """Measured and predicted, for each number of ranks."""
    for p in (p for p in result["settings"]["ranks"] if p > 1):
        cases = [case for case in result["allreduces"] if case["p"] == p]
        header = ("bytes", *ALLREDUCES.values(), "ring / MPI's")
        title = f"Allreduce over {p} ranks"
        yield Table(f"{title}: median time", header, [_measured(case) for case in cases])
        names = [name for name in ALLREDUCES if allreduce_seconds(result, p, 8, name) is not None]
        lines = [_predicted(result, case, names) for case in cases]
        title = f"{title}: predicted, and how many times that was measured"
        yield Table(title, ("bytes", *(ALLREDUCES[name] for name in names)), lines)


def _measured(case: dict[str, Any]) -> tuple[str, ...]:
    times = [typical(runs(case, name), format_seconds) for name in ALLREDUCES]
    over = ratio(runs(case, "ring"), runs(case, "mpi"))
    return (f"{case['size']:,}", *times, digits(over))


def _predicted(result: Result, case: dict[str, Any], names: list[str]) -> tuple[str, ...]:
    cells = []
    for name in names:
        model = allreduce_seconds(result, case["p"], case["size"], name) or 0.0
        found = median(runs(case, name))
        times = f", x {digits(found / model)}" if found and model else ""
        cells.append(format_seconds(model) + times)
    return (f"{case['size']:,}", *cells)


def scheme_tables(result: Result) -> Iterator[Table]:
    """One table for each net and batch size; what waits in the other way stands in a table of its own."""
    for case in result["training"]:
        rates = {key.removeprefix("sgemm-"): typical(rate) for key, rate in case["rates"].items()}
        told = ", ".join(f"{rate} on {ranks}" for ranks, rate in rates.items())
        title = f"{case_name(case)}; sgemm in the same rounds, GFLOP/s by ranks: {told}"
        ways = case["ways"].items()
        shown = [key for key, row in ways if key == f"{row['scheme']}-{row['ranks']}"]
        lines = [_scheme_row(result, case, key) for key in shown]
        yield Table(title, (*SCHEMES, "differs by"), lines)


def _scheme_row(result: Result, case: dict[str, Any], key: str) -> tuple[str, ...]:
    row = case["ways"][key]
    p, base = row["ranks"], "torch-1" if row["scheme"].startswith("torch") else "serial-1"

    def more(seconds: Runs) -> Sequence[str]:
        speed, error = ratio(runs(case, base), seconds), row.get("disagreement")
        own = digits(ratio(runs(case, "serial-1"), seconds))
        share = "" if speed is None else f"{100 * speed / p:.0f} %"
        differs = "" if error is None else f"{error:.1e}"
        return digits(epoch_seconds(result, case, key)), own, share, differs

    return frame.timed_row((_label(row), str(p)), row, more)


def _label(row: dict[str, Any]) -> str:
    if row["scheme"] == "torch":
        return "PyTorch, one thread" if row["ranks"] == 1 else "PyTorch DDP over gloo"
    return SCHEME[row["scheme"]].label


def part_table(result: Result) -> Table:
    """What a data-parallel step is made of, on all ranks at once, beside the step as a whole."""
    lines = []
    for case in result["training"]:
        lines += [_part_row(result, case, int(p)) for p, found in case["parts"].items() if found]
    header = ("net, B", "ranks", "rows a rank", *PARTS, "sum", "the step")
    return Table("The parts of a data-parallel step", header, lines)


def _part_row(result: Result, case: dict[str, Any], p: int) -> tuple[str, ...]:
    rows = str(-(-case["B"] // p))
    alone, found = medians(case, 1)[rows], medians(case, p)
    parts = [found["allreduce"] if p > 1 else 0.0, found["gather"], found["update"]]
    step = median(runs(case, "serial-1" if p == 1 else f"data-mpi-{p}"))
    whole = step and step * case["B"] / result["settings"]["epoch"]
    cells = [found[rows], alone, *parts, sum(parts, found[rows]), whole]
    shown = [format_seconds(seconds) if seconds else "" for seconds in cells]
    return (f"{case['net']}, {case['B']}", str(p), rows, *shown)


def waiting_table(result: Result) -> Table:
    """What messages and waiting cost, with MPICH's settings and with ours."""
    lines = [_cost_row(result, key, found) for key, found in result["costs"].items()]
    header = ("ranks, way of waiting", *COSTS, "data parallel")
    return Table("Messages, and ranks that wait", header, lines)


def _cost_row(result: Result, key: str, found: dict[str, Any]) -> tuple[str, ...]:
    _, p, way = key.split("-")
    ours = key == group_of(result, int(p))
    alpha, beta = fitted(result, key)
    sums = [typical(found["allreduces"][name], format_seconds) for name in ("mpi", "ring")]
    return (
        f"{p}, {WAITING[way]}{', as the course has it' if ours else ''}",
        format_seconds(alpha),
        f"{1e-9 / beta:.1f} GB/s" if beta else "",
        *sums,
        f"{100 * sum(found['waiting']) / len(found['waiting']):.0f} % of a core",
        f"{100 * found['beside'] / found['alone']:.0f} %",
        _step(result, f"data-mpi-{p}" if ours else f"data-mpi-{p}-{way}"),
    )


def _step(result: Result, key: str) -> str:
    """Seconds an epoch of data parallelism by MPI's allreduce, at the target's batch."""
    case = next((case for case in result["training"] if case["B"] == TARGET_BATCH), None)
    found = runs(case, key)
    return f"{digits(frame.quartiles(found)[0])} s" if found else ""
