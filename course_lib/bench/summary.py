"""What the raw runs say: medians with quartiles, and ratios of runs that stood side by side in one round."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from course_lib.bench.catalogue import BEST, WAY
from course_lib.measure import step_flops


class Row(NamedTuple):
    """One line of the table. seconds, q25, q75: an epoch; None with `text` where there is no measurement.

    over_loops, over_numpy: how many times as fast as the Numba loops on one thread, and as NumPy on one thread.
    of_sgemm: GFLOP/s over the rate of NumPy's sgemm on as many threads.
    """

    net: str
    B: int
    key: str
    label: str
    threads: int
    seconds: float | None = None
    q25: float | None = None
    q75: float | None = None
    gflops: float | None = None
    over_loops: float | None = None
    over_numpy: float | None = None
    of_sgemm: float | None = None
    text: str = ""


def quartiles(values: Sequence[float | None]) -> tuple[float, float, float]:
    """(median, lower, upper quartile) of the runs there are."""
    found = [v for v in values if v is not None]
    return float(np.median(found)), float(np.quantile(found, 0.25)), float(np.quantile(found, 0.75))


def ratio(
    top: Sequence[float | None] | None, bottom: Sequence[float | None] | None
) -> float | None:
    """Median of top / bottom over the rounds in which both ran: what slowed one down slowed the other."""
    if not top or not bottom:
        return None
    pairs = [t / b for t, b in zip(top, bottom, strict=True) if t is not None and b is not None]
    return float(np.median(pairs)) if pairs else None


def rows(result: dict[str, Any]) -> Iterator[Row]:
    """A Row for each net, batch size and way, in the order in which they were measured."""
    for case in result["training"]:
        for key, found in case["ways"].items():
            yield _row(result, case, key, found)


def runs(case: dict[str, Any], key: str) -> list[float | None] | None:
    """The seconds an epoch of a way, round by round; None where it did not run."""
    return case["ways"].get(key, {}).get("seconds")


def rates(
    result: dict[str, Any], case: dict[str, Any], seconds: Sequence[float | None]
) -> list[float | None]:
    """GFLOP/s of each round."""
    flops = step_flops(case["sizes"], result["settings"]["epoch"]).products / 1e9
    return [None if s is None else flops / s for s in seconds]


def _row(result: dict[str, Any], case: dict[str, Any], key: str, found: dict[str, Any]) -> Row:
    head = (case["net"], case["B"], key, WAY[key].label, found["threads"])
    if "seconds" not in found:
        return Row(*head, text=found["error"])
    seconds = found["seconds"]
    speed = rates(result, case, seconds)
    return Row(
        *head,
        *quartiles(seconds),
        gflops=quartiles(speed)[0],
        over_loops=ratio(runs(case, "loops"), seconds),
        over_numpy=ratio(runs(case, "numpy"), seconds),
        of_sgemm=ratio(speed, case["rates"].get(f"sgemm-{found['threads']}")),
        text=found["note"],
    )


def best_of(case: dict[str, Any]) -> str | None:
    """Our quickest way with T threads, by the median."""
    found = {key: quartiles(s)[0] for key in BEST if (s := runs(case, key))}
    return min(found, key=lambda key: found[key]) if found else None


def noise(result: dict[str, Any]) -> dict[str, Any]:
    """How even the machine was: the sgemm rate at T threads over all rounds, and how often the rate of one thread."""
    T = result["settings"]["threads"]
    values = [
        v
        for case in result["training"]
        for v in case["rates"].get(f"sgemm-{T}", [])
        if v is not None
    ]
    middle, low, high = quartiles(values)
    both = [
        ratio(case["rates"].get(f"sgemm-{T}"), case["rates"].get("sgemm-1"))
        for case in result["training"]
    ]
    found = [value for value in both if value is not None]
    return {
        "median": middle,
        "q25": low,
        "q75": high,
        "min": min(values),
        "max": max(values),
        "spread": (high - low) / middle,
        "scaling": float(np.median(found)) if found else None,
    }


def machine_rate(case: dict[str, Any], key: str) -> tuple[float, float, float] | None:
    """(median, q25, q75) of one of the machine's rates, in GFLOP/s."""
    return quartiles(case["rates"][key]) if case["rates"].get(key) else None
