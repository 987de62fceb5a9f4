"""The schemes of chapter 04: what was measured, beside what the formulas and the simulator say from f1, f2, f3."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from course_lib.measure import format_seconds
from course_tools.bench.frame import Table, digits, ratio, spread, typical
from course_tools.bench.threads.schemes import LAYERS

NAMES = {
    "serial": "one thread",
    "serial-blas": "one thread, threads inside BLAS",
    "leapfrog": "leapfrogging",
    "deferred": "deferred gradients",
    "data": "data parallelism",
}
HEADER = ("scheme", "backward", "whole step", "quartiles", "formula", "simulated", "x one thread")


def scheme_tables(result: dict[str, Any]) -> Iterator[Table]:
    """One table for each batch size."""
    for case in result["schemes"]:
        f = parts(case)
        sums = [f"{name} = {format_seconds(sum(times))}" for name, times in (f or {}).items()]
        told = "; ".join(sums) or "parts not measured"
        title = f"12 layers of width 1024, tanh, MSE, B = {case['B']}; on one thread {told}"
        lines: list[tuple[str, ...]] = []
        if "error" in case:
            lines.append(("all schemes", case["error"]))
        threads = result["settings"]["threads"]
        lines += [_row(case, f, key, threads) for key in case["runs"] if key != "parts"]
        yield Table(title, HEADER, lines)


def parts(case: dict[str, Any]) -> dict[str, list[float]] | None:
    """{"f1", "f2", "f3": seconds for each layer}: medians over the rounds; None where they were not measured."""
    found = case["runs"].get("parts", {})
    if "f1" not in found:
        return None
    return {name: np.median(found[name], axis=0).tolist() for name in ("f1", "f2", "f3")}


def _row(case: dict[str, Any], f: Any, key: str, threads: int) -> tuple[str, ...]:
    found, (name, k) = case["runs"][key], key_of(key)
    label = NAMES[name] + (f", {k} threads" if k > 1 else "")
    if "error" in found:
        return (label, found["error"])
    backward, whole = (typical(found.get(part), format_seconds) for part in ("backward", "whole"))
    predicted = (_time(value) for value in (_predict(name, k, f, threads) if f else (None, None)))
    over = ratio(case["runs"].get("serial", {}).get("whole"), found["whole"])
    return (
        label,
        backward,
        whole,
        spread(found["whole"], format_seconds),
        *predicted,
        digits(over),
    )


def _time(seconds: float | None) -> str:
    return "" if seconds is None else format_seconds(seconds)


def key_of(key: str) -> tuple[str, int]:
    """ "leapfrog-2" -> ("leapfrog", 2); "serial" -> ("serial", 1)."""
    name, _, k = key.rpartition("-")
    return (name, int(k)) if k.isdigit() else (key, 1)


def _predict(
    name: str, k: int, f: dict[str, list[float]], cores: int
) -> tuple[float | None, float | None]:
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
