"""The tables of pipelines and their targets, from the JSON's dict alone."""

from collections.abc import Iterator, Sequence
from typing import Any

from course_lib.mpi.pipeline import bubble
from course_tools.bench import frame
from course_tools.bench.frame import Runs, Table, Target, digits, median, quartiles, ratio, runs
from course_tools.bench.frame.targets import Found
from course_tools.bench.mpi.catalogue import SCHEDULES
from course_tools.bench.mpi.pipeline_predictions import predicted, predicted_step

Result = dict[str, Any]
HEADER = ("schedule", "ranks", "ms a step", "quartiles", "predicted", "x serial", "x PyTorch")
MORE = ("bubble", "predicted bubble", "differs by")
BOUND = 0.15  # by how much a measured step may differ from the simulated one: set before anything was measured


def pipeline_tables(result: Result) -> Iterator[Any]:
    """A table for each net and batch size; in words where the run had none."""
    cases = result.get("pipelines", [])
    if not cases:
        yield "This run has no pipelines."
    for case in cases:
        title = f"{case['net']}, B = {case['B']}, {case['micro']} micro-batches"
        yield Table(title, (*HEADER, *MORE), [_row(result, case, key) for key in case["ways"]])


def _row(result: Result, case: dict[str, Any], key: str) -> tuple[str, ...]:
    row = case["ways"][key]
    ours = row["library"] == "mpi"

    def more(seconds: Runs) -> Sequence[str]:
        theirs = runs(case, key.replace("mpi", "torch")) if ours else None
        speed = digits(ratio(runs(case, "mpi-alone-1"), seconds))
        shares, error = _bubbles(result, case, key), row.get("disagreement")
        differs = "" if error is None else f"{error:.1e}"
        return (
            _expected(result, case, row),
            speed,
            digits(ratio(theirs, seconds)),
            *shares,
            differs,
        )

    return frame.timed_row((_label(row), str(row["ranks"])), row, more, _ms)


def _expected(result: Result, case: dict[str, Any], row: dict[str, Any]) -> str:
    """The simulator's step, of ours."""
    if row["library"] != "mpi" or row["schedule"] == "alone":
        return ""
    step = predicted_step(result, case, row["schedule"], row["ranks"])
    return "" if step is None else _ms(step)


def _bubbles(result: Result, case: dict[str, Any], key: str) -> tuple[str, str]:
    """(measured, predicted) shares of a step in which ranks wait, of ours."""
    row, found = case["ways"][key], median(case["bubbles"].get(f"bubble-{key}"))
    if found is None:
        return "", ""
    line = predicted(result, case, row["schedule"], row["ranks"])
    return _percent(found), "" if line is None else _percent(bubble(line))


def _label(row: dict[str, Any]) -> str:
    name, ours = SCHEDULES.get(row["schedule"]), row["library"] == "mpi"
    if name is None:
        return "serial, the whole batch" if ours else "PyTorch, the whole batch"
    return name if ours else f"{name}, PyTorch over gloo"


def _ms(seconds: float) -> str:
    return digits(1e3 * seconds)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def targets(result: Result) -> Iterator[Target]:
    """For each net and number of ranks: by which share a step differs from the simulated, where most."""
    for case in result.get("pipelines", []):
        for p in (p for p in result["settings"]["ranks"] if p > 1):
            far = {name: _deviation(result, case, name, p) for name in SCHEDULES}
            name = max(far, key=lambda name: far[name].got or 0.0)
            where = f"{case['net']}, {p} ranks: {SCHEDULES[name]}"
            yield frame.at_most("A pipeline's step off the simulated", where, BOUND, far[name])


def _deviation(result: Result, case: dict[str, Any], name: str, p: int) -> Found:
    """How far the median step, and its quartiles, are from the prediction, as shares of it."""
    seconds, step = runs(case, f"mpi-{name}-{p}"), predicted_step(result, case, name, p)
    if not seconds or step is None:
        return Found(None, None)
    got, *ends = (abs(each / step - 1) for each in quartiles(seconds))
    return Found(got, (min(ends), max(ends)) if len(seconds) > 1 else None)
