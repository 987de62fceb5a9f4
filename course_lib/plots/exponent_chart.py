"""How large numbers are: their exponents as shares, over the ranges of a format."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.plots.figure import Figure
from course_lib.plots.inputs import named
from course_lib.plots.line_charts import Series, table_of
from course_lib.plots.palette import COLOURS, DASHES, GREY, MARKERS
from course_lib.plots.style import new_axis, number, styled

SHADES = ("#DDDDDD", "#F2F2F2", "#FFFFFF")


@styled
def exponents(
    arrays: Mapping[str, Any],
    zones: Sequence[tuple[str, int, int]] = (),
    *,
    low: int = -40,
    high: int = 2,
    title: str = "How large the numbers are",
) -> Figure:
    """For each name the share (%) of its numbers in each binade 2^e <= |x| < 2^(e + 1), e from low to high.

    arrays: {name: array of any shape}; zeros are left out, and what lies outside is counted at the end it lies beyond.
    zones: up to three (words, first e, last e), shaded, the words at the top: what a format does with such numbers.

    >>> exponents({"gradients": g}, [("becomes 0", -40, -26)])                          # doctest: +SKIP

    Raises BadInput for arrays without a number above or below 0, NaN or infinity, and for more than three zones.
    """
    if len(zones) > len(SHADES):
        raise BadInput(f"zones are {len(zones)}: at most {len(SHADES)} have a shade")
    at, found = np.arange(low, high + 1), []
    for name, values in named("arrays", arrays).items():
        binades = np.clip(_binades(name, values), low, high)
        shares = 100 * np.bincount(binades - low, minlength=len(at)) / len(binades)
        begin, end = binades.min() - low, binades.max() + 1 - low
        found.append(Series(name, at[begin:end].astype(float), shares[begin:end]))
    axis = new_axis(title)
    _draw(axis, found, [(words, max(first, low), min(last, high)) for words, first, last in zones])
    axis.set_xlim(low - 0.5, high + 0.5)
    return Figure(axis.figure, title, _alt(title, found, zones), *table_of(found, "e"))


def _draw(axis: Any, found: Sequence[Series], zones: Sequence[tuple[str, int, int]]) -> None:
    for n, line in enumerate(found):
        look = {"color": COLOURS[n % 7], "linestyle": DASHES[n % 7], "marker": MARKERS[n % 7]}
        axis.plot(line.x, line.y, label=line.name, markersize=4, **look)
    axis.set(xlabel="e: numbers from 2^e to 2^(e + 1)", ylabel="% of the numbers")
    axis.grid(axis="y")
    top = max(float(series.y.max()) for series in found)
    axis.set_ylim(0, 1.28 * top)
    for (words, first, last), shade in zip(zones, SHADES, strict=False):
        axis.axvspan(first - 0.5, last + 0.5, color=shade, zorder=0)
        middle = (first + last) / 2
        axis.text(middle, 1.25 * top, words, ha="center", va="top", color=GREY, fontsize=9.5)
    axis.legend(loc="center right", frameon=False)  # the largest numbers are few: there is room


def _binades(name: str, values: Any) -> np.ndarray:
    numbers = np.asarray(values, np.float64).ravel()
    if not np.isfinite(numbers).all():
        raise BadInput(f"{name} holds NaN or infinity, which have no exponent: leave them out")
    numbers = numbers[numbers != 0]
    if not len(numbers):
        raise BadInput(f"{name} has no number but 0: there is no exponent to count")
    return np.frexp(numbers)[1] - 1  # frexp's significand lies from 1/2 to 1


def _alt(title: str, found: Sequence[Series], zones: Sequence[tuple[str, int, int]]) -> str:
    """Where each line is highest, and how much of it lies in each zone."""
    parts = [f"{title}. Shares of numbers by exponent."]
    for series in found:
        highest = int(series.x[series.y.argmax()])
        inside = "".join(
            f", {number(round(float(series.y[(series.x >= first) & (series.x <= last)].sum()), 1))} % in "
            f"'{' '.join(words.split())}'"
            for words, first, last in zones
        )
        parts.append(f"{series.name}: most at 2^{number(highest)}{inside}.")
    return " ".join(parts)
