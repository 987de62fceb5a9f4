"""The figures that [000] (7 to 10) and [001] draw: time, GFLOP/s and speed-up against the batch size."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from course_lib.bench.catalogue import WAY
from course_lib.bench.summary import noise, rates, ratio, runs
from course_lib.bench.summary import quartiles as quartiles_of
from course_lib.plots import Figure, gflops_against_batch, lines, time_against_batch

# Seven, one for each colour of the palette. Plain Python is left out: a thousand times the others' time, it would
# press them into one line.
DRAWN = ("loops", "loops-threads", "numpy", "numpy-blas", "grid", "torch", "sklearn")


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


def threads_style(result: dict[str, Any]) -> Style:
    """Of `bench threads`."""
    T = result["settings"]["threads"]
    peak = noise(result)["median"], f"sgemm on {T} thread{'s' if T > 1 else ''}"
    drawn = {key: WAY[key].label for key in DRAWN}
    return Style(
        "threads", drawn, "loops", "the Numba loops", "the compiled loops on one thread", peak
    )


def figures(result: dict[str, Any], style: Style | None = None) -> dict[str, Figure]:
    """{file name: Figure}, three for each net. style: by default that of `bench threads`."""
    style = style or threads_style(result)
    found: dict[str, Figure | None] = {}
    for net in result["settings"]["nets"]:
        cases = [case for case in result["training"] if case["net"] == net]
        stem, keys = (
            f"{style.stem}-{net.lower()}",
            [k for k in style.drawn if all(runs(case, k) for case in cases)],
        )
        if cases and keys:
            found[f"{stem}-time.png"] = _time(net, cases, style, keys)
            found[f"{stem}-gflops.png"] = _gflops(result, net, cases, style, keys)
            found[f"{stem}-speedup.png"] = _speedup(net, cases, style, keys)
    return {name: figure for name, figure in found.items() if figure is not None}


def save(result: dict[str, Any], folder: Path, style: Style | None = None) -> list[Path]:
    """Write all figures into a folder."""
    return [figure.save(folder / name) for name, figure in figures(result, style).items()]


Cases = list[dict[str, Any]]


def _batches(cases: Cases) -> list[int]:
    return [case["B"] for case in cases]


def _time(net: str, cases: Cases, style: Style, keys: list[str]) -> Figure:
    series = {
        style.drawn[key]: [Spread(*quartiles_of(runs(case, key) or [])) for case in cases]
        for key in keys
    }
    return time_against_batch(
        _batches(cases),
        series,
        ylabel="seconds for 50,000 examples",
        title=f"{net}: time of an epoch",
    )


def _gflops(
    result: dict[str, Any], net: str, cases: Cases, style: Style, keys: list[str]
) -> Figure:
    series = {
        style.drawn[key]: [
            quartiles_of(rates(result, case, runs(case, key) or []))[0] for case in cases
        ]
        for key in keys
    }
    peak, reached = style.peak or (None, "")
    title = f"{net}: floating-point operations a second{reached and f', {reached} as the peak'}"
    return gflops_against_batch(_batches(cases), series, peak=peak, title=title)


def _speedup(net: str, cases: Cases, style: Style, keys: list[str]) -> Figure | None:
    """How many times as fast as the way that the style takes as the base."""
    if style.base not in keys:
        return None
    series = {
        style.drawn[key]: [ratio(runs(case, style.base), runs(case, key)) for case in cases]
        for key in keys
    }
    return lines(
        _batches(cases),
        series,
        xlabel="batch size B (examples)",
        ylabel=f"times as fast as {style.over}",
        title=f"{net}: speed-up over {style.over_title}",
        logx=True,
        logy=True,
        xticks=_batches(cases),
    )
