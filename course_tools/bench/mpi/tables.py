"""The tables of `bench mpi` and its pipelines' targets, from the JSON's dict alone."""

from collections.abc import Iterator

from course_lib.measure import format_seconds
from course_lib.mpi.pipeline import bubble
from course_tools.bench import frame
from course_tools.bench.frame import Result, Runs, Table, digits, ratio, runs, typical
from course_tools.bench.mpi import predictions
from course_tools.bench.mpi.catalogue import ALLREDUCES, SCHEDULES, SCHEME, TARGET_BATCH
from course_tools.bench.mpi.ranks import WAITING
from course_tools.bench.training.tables import case_name

# fmt: off
TRAINED = ("scheme", "ranks", "s an epoch", "quartiles", "predicted", "x serial", "efficiency", "differs by")
PARTS = ("net, B", "ranks", "rows a rank", "gradient and packing", "on one rank alone", "allreduce",
         "gathering the batch", "update", "sum", "the step")
COSTS = ("ranks, way of waiting", "alpha", "1/beta", "3.2 MB, MPI's", "3.2 MB, ring", "a waiting rank",
         "work beside it", "data parallel")
PIPELINES = ("schedule", "ranks", "ms per step", "quartiles", "predicted", "x serial", "x PyTorch", "bubble",
             "predicted bubble", "differs by")
# fmt: on
BOUND = 0.15  # by how much a measured step may differ from the simulated one: set before anything was measured


def of(case: Result) -> str:
    """A case, for a title."""
    return f"{case['net']}, B = {case['B']}"


def _time(seconds: float | None) -> str:
    return format_seconds(seconds) if seconds else ""


def _ms(seconds: float | None) -> str:
    return "" if seconds is None else digits(1e3 * seconds)


def allreduce_tables(result: Result) -> Iterator[Table]:
    """Measured and predicted, for each number of ranks."""
    for p in (p for p in result["settings"]["ranks"] if p > 1):
        cases = [case for case in result["allreduces"] if case["p"] == p]
        header = ("bytes", *ALLREDUCES.values(), "ring / MPI's")
        title = f"Allreduce over {p} ranks"
        yield Table(f"{title}: median time", header, [_measured(case) for case in cases])
        names = [name for name in ALLREDUCES if name in predictions.MODELLED]
        lines = [_predicted(result, case, names) for case in cases]
        title = f"{title}: predicted, and how many times that was measured"
        yield Table(title, ("bytes", *(ALLREDUCES[name] for name in names)), lines)


def _measured(case: Result) -> tuple[str, ...]:
    times = [typical(runs(case, name), format_seconds) for name in ALLREDUCES]
    return (f"{case['size']:,}", *times, digits(ratio(runs(case, "ring"), runs(case, "mpi"))))


def _predicted(result: Result, case: Result, names: list[str]) -> tuple[str, ...]:
    cells = []
    for name in names:
        model = predictions.allreduce_seconds(result, case["p"], case["size"], name) or 0.0
        found = frame.median(runs(case, name))
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
        yield Table(title, TRAINED, [_scheme_row(result, case, key) for key in shown])


def _scheme_row(result: Result, case: Result, key: str) -> tuple[str, ...]:
    row = case["ways"][key]
    p, base = row["ranks"], "torch-1" if row["scheme"].startswith("torch") else "serial-1"

    def more(seconds: Runs) -> Iterator[str]:
        yield digits(predictions.epoch_seconds(result, case, key))
        yield digits(ratio(runs(case, "serial-1"), seconds))
        speed = ratio(runs(case, base), seconds)
        yield frame.percent(speed and speed / p)
        yield frame.tiny(row.get("disagreement"))

    label = SCHEME[row["scheme"]].label
    if row["scheme"] == "torch":
        label = "PyTorch, one thread" if p == 1 else "PyTorch DDP over gloo"
    return frame.timed_row((label, str(p)), row, more)


def part_table(result: Result) -> Table:
    """What a data-parallel step is made of, on all ranks at once, beside the step as a whole."""
    cases = [
        (case, int(p)) for case in result["training"] for p, found in case["parts"].items() if found
    ]
    lines = [_part_row(result, case, p) for case, p in cases]
    return Table("The parts of a data-parallel step", PARTS, lines)


def _part_row(result: Result, case: Result, p: int) -> tuple[str, ...]:
    rows = str(-(-case["B"] // p))
    alone, found = (frame.medians(case["parts"][str(n)]) for n in (1, p))
    parts = [found["allreduce"] if p > 1 else 0.0, found["gather"], found["update"]]
    step = frame.median(runs(case, "serial-1" if p == 1 else f"data-mpi-{p}"))
    whole = step and step * case["B"] / result["settings"]["epoch"]
    cells = [found[rows], alone[rows], *parts, sum(parts, found[rows]), whole]
    return (f"{case['net']}, {case['B']}", str(p), rows, *map(_time, cells))


def waiting_table(result: Result) -> Table:
    """What messages and waiting cost, with MPICH's settings and with ours."""
    lines = [_cost_row(result, key, found) for key, found in result["costs"].items()]
    return Table("Messages, and ranks that wait", COSTS, lines)


def _cost_row(result: Result, key: str, found: Result) -> tuple[str, ...]:
    _, p, way = key.split("-")
    ours = key == predictions.group_of(result, int(p))
    alpha, beta = predictions.fitted(result, key)
    return (
        f"{p}, {WAITING[way]}{', as the course has it' if ours else ''}",
        format_seconds(alpha),
        f"{1e-9 / beta:.1f} GB/s" if beta else "",
        *(typical(found["allreduces"][name], format_seconds) for name in ("mpi", "ring")),
        f"{frame.percent(sum(found['waiting']) / len(found['waiting']))} of a core",
        frame.percent(found["beside"] / found["alone"]),
        _step(result, f"data-mpi-{p}" if ours else f"data-mpi-{p}-{way}"),
    )


def _step(result: Result, key: str) -> str:
    """Seconds an epoch of data parallelism by MPI's allreduce, at the target's batch."""
    case = next((case for case in result["training"] if case["B"] == TARGET_BATCH), None)
    found = runs(case, key)
    return f"{typical(found)} s" if found else ""


def pipeline_tables(result: Result) -> Iterator[Table | str]:
    """A table for each net and batch size; in words where the run had none."""
    cases = result.get("pipelines", [])
    if not cases:
        yield "This run has no pipelines."
    for case in cases:
        title = f"{of(case)}, {case['micro']} micro-batches"
        yield Table(title, PIPELINES, [_pipeline_row(result, case, key) for key in case["ways"]])


def _pipeline_row(result: Result, case: Result, key: str) -> tuple[str, ...]:
    row = case["ways"][key]
    ours, name = row["library"] == "mpi", row["schedule"]

    def more(seconds: Runs) -> Iterator[str]:
        piped = ours and name != "alone"
        yield _ms(predictions.step_seconds(result, case, name, row["ranks"])) if piped else ""
        yield digits(ratio(runs(case, "mpi-alone-1"), seconds))
        yield digits(ratio(runs(case, key.replace("mpi", "torch")), seconds)) if ours else ""
        waited = frame.median(case["bubbles"].get(f"bubble-{key}"))
        yield frame.percent(waited)
        line = waited is not None and predictions.timeline(result, case, name, row["ranks"])
        yield frame.percent(bubble(line)) if line else ""
        yield frame.tiny(row.get("disagreement"))

    label = SCHEDULES.get(name, "") + ("" if ours else ", PyTorch over gloo")
    if name == "alone":
        label = f"{'serial' if ours else 'PyTorch'}, the whole batch"
    return frame.timed_row((label, str(row["ranks"])), row, more, _ms)


def pipeline_targets(result: Result) -> Iterator[frame.Target]:
    """For each net and number of ranks: by which share a step differs from the simulated, where most."""
    for case in result.get("pipelines", []):
        for p in (p for p in result["settings"]["ranks"] if p > 1):
            far = {name: _deviation(result, case, name, p) for name in SCHEDULES}
            name = max(far, key=lambda name: far[name].got or 0.0)
            where = f"{case['net']}, {p} ranks: {SCHEDULES[name]}"
            yield frame.at_most("A pipeline's step off the simulated", where, BOUND, far[name])


def _deviation(result: Result, case: Result, name: str, p: int) -> frame.Found:
    """How far the median step, and its frame.quartiles, are from the prediction, as shares of it."""
    seconds = runs(case, f"mpi-{name}-{p}")
    step = predictions.step_seconds(result, case, name, p)
    if not seconds or step is None:
        return frame.Found(None, None)
    got, *ends = (abs(each / step - 1) for each in frame.quartiles(seconds))
    return frame.Found(got, (min(ends), max(ends)) if len(seconds) > 1 else None)
