"""Quantities side by side."""

from typing import Any

from course_lib.plots.figure import Figure
from course_lib.plots.inputs import named, numbers
from course_lib.plots.palette import BLUE, INK
from course_lib.plots.style import (
    BESIDE,
    new_axis,
    number,
    plain_axis,
    plain_log_axis,
    sentence,
    styled,
)


@styled
def bars(
    values, *, xlabel: str = "value", title: str = "", log: bool = False, end: float | None = None
) -> Figure:
    """One horizontal bar for each name, its value printed at the end.

    log: a log axis. A bar's length means nothing there, since the axis has no zero: points are drawn instead.
    end: what the axis reaches at least, the whole of which the bars are parts.

    >>> bars({"loops": 3.1, "Numba": 0.2, "BLAS": 0.02}, xlabel="seconds", log=True)           # doctest: +SKIP

    Raises BadInput for an empty dict, NaN, or values of 0 or less on a log axis.
    """
    names = list(named("values", values))
    amounts = numbers("values", list(values.values()), positive=log)
    title = title or f"{sentence(xlabel)} of {', '.join(names)}"
    axis = new_axis(title, 1.1 + 0.42 * len(names))
    places = range(len(names))
    if log:
        axis.scatter(amounts, places, color=BLUE, s=60, zorder=3)
        axis.set_xscale("log")
        axis.set_xlim(amounts.min() / 1.6, amounts.max() * 3)
        plain_log_axis(axis.xaxis, axis.get_xlim())
        axis.grid(axis="both")
    else:
        axis.barh(places, amounts, color=BLUE, height=0.62)
        plain_axis(axis.xaxis)
        axis.margins(x=0.14)
        if end is not None:
            axis.update_datalim([(end, 0)], updatey=False)
        axis.axvline(0, color=INK, linewidth=0.8)
        axis.grid(axis="x")
    _annotate(axis, names, amounts, xlabel)
    told = "; ".join(f"{name} {number(v)}" for name, v in zip(names, amounts, strict=True))
    kind = "Points on a log axis" if log else "Bars"
    rows = list(zip(names, amounts.tolist(), strict=True))
    alt = f"{title}. {kind}: {xlabel}. {told}."
    return Figure(axis.figure, title, alt, ["name", xlabel], rows)


def _annotate(axis: Any, names: list[str], amounts: Any, xlabel: str) -> None:
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.45, -0.55)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel(xlabel)
    for place, amount in enumerate(amounts):
        side, offset = ("right", (-7, 0)) if amount < 0 else ("left", (7, 0))
        axis.annotate(number(amount), (amount, place), offset, va="center", ha=side, **BESIDE)
