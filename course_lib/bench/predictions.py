"""The schemes of chapter 04: what was measured, beside what the formulas and the simulator say from f1, f2, f3."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from course_lib.bench.catalogue import LAYERS
from course_lib.bench.summary import quartiles, ratio

NAMES = {
    "serial": "one thread",
    "serial-blas": "one thread, threads inside BLAS",
    "leapfrog": "leapfrogging",
    "deferred": "deferred gradients",
    "data": "data parallelism",
}


class SchemeRow(NamedTuple):
    """One line. backward, whole: median seconds; over_serial: how many times as fast as one thread, whole step.

    formula: the closed formula's seconds for the whole step; simulated: what list scheduling makes of the schedule.
    """

    B: int
    key: str
    label: str
    backward: tuple[float, float, float] | None = None
    whole: tuple[float, float, float] | None = None
    formula: float | None = None
    simulated: float | None = None
    over_serial: float | None = None
    text: str = ""


def scheme_rows(result: dict[str, Any]) -> Iterator[SchemeRow]:
    """A SchemeRow for each batch size and scheme."""
    for case in result["schemes"]:
        if "error" in case:
            yield SchemeRow(case["B"], "", "all schemes", text=case["error"])
        for key, found in case["runs"].items():
            if key != "parts":
                yield _row(case, key, found, result["settings"]["threads"])


def parts(case: dict[str, Any]) -> dict[str, list[float]] | None:
    """{"f1", "f2", "f3": seconds for each layer}: medians over the rounds; None where they were not measured."""
    found = case["runs"].get("parts", {})
    if "f1" not in found:
        return None
    return {name: np.median(found[name], axis=0).tolist() for name in ("f1", "f2", "f3")}


def _row(case: dict[str, Any], key: str, found: dict[str, Any], threads: int) -> SchemeRow:
    name, k = key_of(key)
    label = NAMES[name] + (f", {k} threads" if k > 1 else "")
    if "error" in found:
        return SchemeRow(case["B"], key, label, text=found["error"])
    backward = quartiles(found["backward"]) if "backward" in found else None
    f = parts(case)
    formula, simulated = _predict(name, k, f, threads) if f else (None, None)
    over = ratio(case["runs"].get("serial", {}).get("whole"), found["whole"])
    return SchemeRow(
        case["B"], key, label, backward, quartiles(found["whole"]), formula, simulated, over
    )


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
