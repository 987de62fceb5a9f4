"""What the part `gpu` says, where there was a GPU: training beside the CPU, and the products of [003]."""

from typing import Any

from course_lib.bench.papers.claim import MEASURED, NOT_MEASURED, Finding, part
from course_lib.bench.summary import quartiles, ratio, runs
from course_lib.bench.tables import digits


@part("gpu")
def faster(
    made: dict[str, Any], *, net: str, key: str = "mlp-paper", over: str = "numpy"
) -> Finding:
    """How many times as fast our kernels train on the GPU as NumPy on one thread of the same machine's CPU."""
    cases = [case for case in made["training"]["training"] if case["net"] == net]
    found = [(case["B"], ratio(runs(case, over), runs(case, key))) for case in cases]
    told = ", ".join(f"{digits(value)} times at B = {B:,}" for B, value in found if value)
    return (
        Finding(MEASURED, f"{made['device']}: {told}")
        if told
        else Finding(NOT_MEASURED, "no such training ran")
    )


@part("gpu")
def times(made: dict[str, Any], *, net: str, key: str) -> Finding:
    """Median seconds an epoch on the GPU, by batch size."""
    cases = [case for case in made["training"]["training"] if case["net"] == net]
    told = ", ".join(
        f"{digits(quartiles(s)[0])} s at B = {c['B']:,}" for c in cases if (s := runs(c, key))
    )
    return (
        Finding(MEASURED, f"{made['device']}: {told}")
        if told
        else Finding(NOT_MEASURED, "no such training ran")
    )


@part("gpu")
def products(made: dict[str, Any], *, rung: str, over: str = "") -> Finding:
    """TFLOP/s of one rung by size, and how many times that of another rung."""
    told = []
    for case in made["gpu"]["products"]:
        M, N, K = case["shape"]
        if seconds := case["ways"].get(rung, {}).get("seconds"):
            rate = 2e-12 * M * N * K / quartiles(seconds)[0]
            more = ratio(case["ways"].get(over, {}).get("seconds"), seconds)
            told.append(
                f"{rate:.2f} TFLOP/s at {M} x {N} x {K}"
                + (f", {more:.2f} times {over}'s" if more else "")
            )
    text = f"{made['device']}: {'; '.join(told)}"
    return Finding(MEASURED, text) if told else Finding(NOT_MEASURED, "this product did not run")
