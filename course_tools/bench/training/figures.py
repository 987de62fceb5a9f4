"""The figures that [000] (7 to 10) and [001] draw: time, GFLOP/s and speed-up against the batch size."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from course_lib.plots import Figure, gflops_against_batch, lines, time_against_batch
from course_tools.bench.frame import Result, quartiles, ratio, runs
from course_tools.bench.training.tables import rates


class Spread(NamedTuple):
    """What time_against_batch draws as a point with its quartiles."""

    median: float
    q25: float
    q75: float


class Style(NamedTuple):
    """What is drawn of a result. stem: of the files' names. drawn: {way: its label}. base: the way that others are
    compared with, called `over` on the axis and `over_title` in the title. peak: GFLOP/s and what reached them."""

    stem: str
    drawn: Mapping[str, str]
    base: str
    over: str
    over_title: str
    peak: tuple[float, str] | None


def figures(result: Result, style: Style) -> dict[str, Figure]:
    """{file name: Figure}, three for each net; a way that is missing at one batch size is left out."""
    found: dict[str, Figure] = {}
    for net in result["settings"]["nets"]:
        cases = [case for case in result["training"] if case["net"] == net]
        keys = [key for key in style.drawn if all(runs(case, key) for case in cases)]
        if cases and keys:
            batches, stem = [case["B"] for case in cases], f"{style.stem}-{net.lower()}"
            series = partial(_series, cases, style, keys)
            found[f"{stem}-time.png"] = _time(net, batches, series)
            found[f"{stem}-gflops.png"] = _gflops(net, batches, series, style, result)
            if style.base in keys:
                found[f"{stem}-speedup.png"] = _speedup(net, batches, series, style)
    return found


def _series(cases: list[Result], style: Style, keys: list[str], point: Any) -> dict[str, list[Any]]:
    """{label: a point for each batch size}; point: (case, the runs of the way) -> what is drawn."""
    return {style.drawn[key]: [point(case, runs(case, key)) for case in cases] for key in keys}


def _time(net: str, batches: list[int], series: Any) -> Figure:
    points = series(lambda case, seconds: Spread(*quartiles(seconds)))
    words = {"ylabel": "seconds for 50,000 examples", "title": f"{net}: time of an epoch"}
    return time_against_batch(batches, points, **words)


def _gflops(net: str, batches: list[int], series: Any, style: Style, result: Result) -> Figure:
    peak, reached = style.peak or (None, "")
    title = f"{net}: floating-point operations per second{reached and f', {reached} as the peak'}"
    points = series(lambda case, seconds: quartiles(rates(result, case, seconds))[0])
    return gflops_against_batch(batches, points, peak=peak, title=title)


def _speedup(net: str, batches: list[int], series: Any, style: Style) -> Figure:
    """How many times as fast as the way that the style takes as the base."""
    points = series(lambda case, seconds: ratio(runs(case, style.base), seconds))
    words: dict[str, Any] = {"title": f"{net}: speed-up over {style.over_title}"}
    words |= {"xlabel": "batch size B (examples)", "ylabel": f"times as fast as {style.over}"}
    return lines(batches, points, logx=True, logy=True, xticks=batches, **words)
