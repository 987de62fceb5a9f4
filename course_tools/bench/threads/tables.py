"""The tables of `bench threads` beside those of training, and its targets, from the JSON's dict alone.

What the papers discuss: how time depends on the batch size, and what T threads win over one. The schemes of chapter
04: what was measured, beside what the formulas and the simulator say from f1, f2, f3.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from course_lib.measure import format_seconds
from course_tools.bench import frame
from course_tools.bench.frame import Result, Table, digits, over, ratio, runs
from course_tools.bench.threads.schemes import LAYERS
from course_tools.bench.training.catalogue import WAY
from course_tools.bench.training.tables import rates

PAIRS = {  # with threads: the same on one thread
    "loops-threads": "loops",
    "numpy-blas": "numpy",
    "numpy-threads": "numpy",
    "grid": "grid-1",
    "torch": "torch-1",
}
NAMES = {
    "serial": "one thread",
    "serial-blas": "one thread, threads inside BLAS",
    "leapfrog": "leapfrogging",
    "deferred": "deferred gradients",
    "data": "data parallelism",
}
HEADER = ("scheme", "backward", "whole step", "quartiles", "formula", "simulated", "x one thread")


def scaling_tables(result: Result) -> Iterator[Table]:
    """Threads over one thread at each batch size; then the largest batch over the smallest."""
    yield _threads(result)
    if len(result["settings"]["batches"]) > 1:
        yield _batches(result)


def _threads(result: Result) -> Table:
    """Medians of the ratios within a round."""
    cases, lines = result["training"], []
    for several, one in PAIRS.items():
        found = [ratio(runs(case, one), runs(case, several)) for case in cases]
        cells = [f"{value:.2f}" if value else "" for value in found]
        lines.append((f"{WAY[several].label} over {WAY[one].label}", *cells))
    T = result["settings"]["threads"]
    title = f"How many times as fast on {T} threads as on one, by net and batch size"
    return Table(title, ("way", *(f"{case['net']}, {case['B']}" for case in cases)), lines)


def _batches(result: Result) -> Table:
    """Medians over medians: the batch sizes were measured one after the other."""
    small, large = min(result["settings"]["batches"]), max(result["settings"]["batches"])
    nets, lines = result["settings"]["nets"], []
    for key, way in WAY.items():
        found = {(c["net"], c["B"]): frame.median(runs(c, key)) for c in result["training"]}
        pairs = [(found.get((net, large)), found.get((net, small))) for net in nets]
        cells = [digits(a / b) if a and b else "" for a, b in pairs]
        lines += [(way.label, *cells)] if any(cells) else []
    title = f"Time of an epoch at B = {large:,} over that at B = {small:,}: below 1, larger batches are faster"
    return Table(title, ("way", *nets), lines)


def scheme_tables(result: Result) -> Iterator[Table]:
    """One table for each batch size."""
    for case in result["schemes"]:
        f = parts(case)
        sums = [f"{name} = {format_seconds(sum(times))}" for name, times in (f or {}).items()]
        told = "; ".join(sums) or "parts not measured"
        title = f"12 layers of width 1024, tanh, MSE, B = {case['B']}; on one thread {told}"
        failed = [("all schemes", case["error"])] if "error" in case else []
        threads = result["settings"]["threads"]
        keys = [key for key in case["runs"] if key != "parts"]
        yield Table(title, HEADER, [*failed, *(_row(case, f, key, threads) for key in keys)])


def parts(case: Result) -> dict[str, list[float]] | None:
    """{"f1", "f2", "f3": seconds for each layer}: medians over the rounds; None where they were not measured."""
    found = case["runs"].get("parts", {})
    if "f1" not in found:
        return None
    return {name: np.median(found[name], axis=0).tolist() for name in ("f1", "f2", "f3")}


def _row(case: Result, f: Any, key: str, threads: int) -> tuple[str, ...]:
    found, (name, _, k) = case["runs"][key], key.rpartition("-")
    name, several = (name, int(k)) if k.isdigit() else (key, 1)
    label = NAMES[name] + (f", {several} threads" if several > 1 else "")
    if "error" in found:
        return (label, found["error"])
    backward, whole = (
        frame.typical(found.get(part), format_seconds) for part in ("backward", "whole")
    )
    quarters = frame.spread(found["whole"], format_seconds)
    predicted = _predict(name, several, f, threads) if f else (None, None)
    shown = ("" if seconds is None else format_seconds(seconds) for seconds in predicted)
    over = ratio(case["runs"].get("serial", {}).get("whole"), found["whole"])
    return (label, backward, whole, quarters, *shown, digits(over))


def _predict(name: str, k: int, f: Any, cores: int) -> tuple[float | None, float | None]:
    """(the closed formula, the simulator's makespan) of a step in seconds, where there is one."""
    from course_lib.threads import deferred_schedule, leapfrog_schedule, predicted_costs, simulate

    formulas = predicted_costs(LAYERS, k, f["f1"], f["f2"], f["f3"])
    formula = formulas.get({"data": "data parallel"}.get(name, name))
    if name == "leapfrog":
        schedule = leapfrog_schedule(LAYERS, k)
    elif name == "deferred":
        schedule = deferred_schedule(LAYERS, k, f["f2"], f["f3"])
    else:
        return formula, None
    return formula, simulate(schedule, f["f2"], f["f3"], f["f1"], cores=cores).makespan


def targets(result: Result) -> Iterator[frame.Target]:
    """Of the steps at batches of 256 or more, then of the schemes, as docs/bench-threads.md lists them."""
    T = result["settings"]["threads"]
    cases = {f"{c['net']}, B = {c['B']}": c for c in result["training"] if c["B"] >= 256}
    for where, case in cases.items():
        found = over(runs(case, "grid"), runs(case, "torch"))
        yield frame.at_most("GridStep's time over PyTorch's, equal threads", where, 0.9, found)
    for where, case in cases.items():
        speed = rates(result, case, runs(case, "grid") or [])
        found = over(speed, case["rates"].get(f"sgemm-{T}"))
        yield frame.at_least("GridStep's GFLOP/s over the machine's sgemm rate", where, 0.9, found)
    for where, case in cases.items():
        best = frame.quickest(*(runs(case, key) for key in ("loops", "numpy", "grid-1")))
        if case["B"] == 1024:
            found = over(best, runs(case, "grid"))
            yield frame.at_least(f"GridStep on {T} threads over our best on one", where, 1.9, found)
    for case in (case for case in result["schemes"] if case["B"] >= 128):
        two = [case["runs"].get(f"{name}-2", {}) for name in ("leapfrog", "deferred")]
        for what, name in (("backward pass", "backward"), ("forward and backward", "whole")):
            title = f"Leapfrogging's time over deferred gradients', {what}"
            found = over(*(each.get(name) for each in two))
            yield frame.at_least(title, f"k = 2, B = {case['B']}", 1.15, found)
