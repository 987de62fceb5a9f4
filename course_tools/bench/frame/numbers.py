"""What the raw runs say: medians with quartiles, and ratios of runs that stood side by side in one round."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Runs = Sequence[float | None]  # one for each round; None where it had no turn


def known(values: Runs | None) -> list[float]:
    """The runs there are."""
    return [value for value in values or () if value is not None]


def quartiles(values: Runs) -> tuple[float, float, float]:
    """(median, lower, upper quartile) of the runs there are."""
    found = known(values)
    return float(np.median(found)), float(np.quantile(found, 0.25)), float(np.quantile(found, 0.75))


def median(values: Runs | None) -> float | None:
    """Of the runs there are; None without any."""
    return quartiles(values)[0] if values and known(values) else None


def ratios(top: Runs | None, bottom: Runs | None) -> list[float]:
    """top / bottom of the rounds in which both ran: what slowed one down slowed the other."""
    if not top or not bottom:
        return []
    pairs = zip(top, bottom, strict=True)
    return [t / b for t, b in pairs if t is not None and b is not None]


def ratio(top: Runs | None, bottom: Runs | None) -> float | None:
    """Median of the ratios; None without any."""
    return median(ratios(top, bottom))


def runs(case: dict[str, Any] | None, key: str) -> list[float | None] | None:
    """The seconds of a way in a case, round by round; None where it did not run."""
    return None if case is None else case["ways"].get(key, {}).get("seconds")


def quickest(*series: Runs | None) -> Runs | None:
    """The series with the smallest median; None where there is none."""
    return min((one for one in series if one), key=lambda one: quartiles(one)[0], default=None)
