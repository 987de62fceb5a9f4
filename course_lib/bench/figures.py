"""The figures that [000] (7 to 10) and [001] draw: time, GFLOP/s and speed-up against the batch size."""

from pathlib import Path
from typing import Any, NamedTuple

from ..plots import Figure, gflops_against_batch, lines, time_against_batch
from .catalogue import WAY
from .summary import noise, rates, ratio, runs
from .summary import quartiles as quartiles_of

# Seven, one for each colour of the palette. Plain Python is left out: a thousand times the others' time, it would
# press them into one line.
DRAWN = ("loops", "loops-threads", "numpy", "numpy-blas", "grid", "torch", "sklearn")


class Spread(NamedTuple):
    """What time_against_batch draws as a point with its quartiles."""

    median: float
    q25: float
    q75: float


def figures(result: dict[str, Any]) -> dict[str, Figure]:
    """{file name: Figure}, three for each net."""
    found: dict[str, Figure | None] = {}
    for net in result["settings"]["nets"]:
        cases = [case for case in result["training"] if case["net"] == net]
        stem = f"threads-{net.lower()}"
        found[f"{stem}-time.png"] = _time(net, cases)
        found[f"{stem}-gflops.png"] = _gflops(result, net, cases)
        found[f"{stem}-speedup.png"] = _speedup(net, cases)
    return {name: figure for name, figure in found.items() if figure is not None}


def save(result: dict[str, Any], folder: Path) -> list[Path]:
    """Write all figures into a folder."""
    return [figure.save(folder / name) for name, figure in figures(result).items()]


def _drawn(cases: list[dict[str, Any]]) -> list[str]:
    """The ways that were measured at every batch size."""
    return [key for key in DRAWN if all(runs(case, key) for case in cases)]


def _batches(cases: list[dict[str, Any]]) -> list[int]:
    return [case["B"] for case in cases]


def _time(net: str, cases: list[dict[str, Any]]) -> Figure:
    series = {WAY[key].label: [Spread(*quartiles_of(runs(case, key) or [])) for case in cases] for key in _drawn(cases)}
    return time_against_batch(
        _batches(cases), series, ylabel="seconds for 50,000 examples", title=f"{net}: time of an epoch"
    )


def _gflops(result: dict[str, Any], net: str, cases: list[dict[str, Any]]) -> Figure:
    series = {
        WAY[key].label: [quartiles_of(rates(result, case, runs(case, key) or []))[0] for case in cases]
        for key in _drawn(cases)
    }
    T = result["settings"]["threads"]
    title = f"{net}: floating-point operations a second, sgemm on {T} thread{'s' if T > 1 else ''} as the peak"
    return gflops_against_batch(_batches(cases), series, peak=noise(result)["median"], title=title)


def _speedup(net: str, cases: list[dict[str, Any]]) -> Figure | None:
    """How many times as fast as the compiled loops on one thread."""
    drawn = _drawn(cases)
    if "loops" not in drawn:
        return None
    series = {WAY[key].label: [ratio(runs(case, "loops"), runs(case, key)) for case in cases] for key in drawn}
    return lines(
        _batches(cases), series, xlabel="batch size B (examples)", ylabel="times as fast as the Numba loops",
        title=f"{net}: speed-up over the compiled loops on one thread", logx=True, logy=True, xticks=_batches(cases),
    )  # fmt: skip
