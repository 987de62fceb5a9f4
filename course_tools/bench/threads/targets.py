"""The targets of `bench threads`, in the order of the list in docs/bench-threads.md."""

from collections.abc import Iterator
from typing import Any

from course_tools.bench.frame import Target, at_least, at_most, over, quickest, runs
from course_tools.bench.training.tables import rates


def targets(result: dict[str, Any]) -> Iterator[Target]:
    """Of the steps at batches of 256 or more, then of the schemes."""
    T = result["settings"]["threads"]
    cases = {f"{c['net']}, B = {c['B']}": c for c in result["training"] if c["B"] >= 256}
    for where, case in cases.items():
        found = over(runs(case, "grid"), runs(case, "torch"))
        yield at_most("GridStep's time over PyTorch's, equal threads", where, 0.9, found)
    for where, case in cases.items():
        speed = rates(result, case, runs(case, "grid") or [])
        found = over(speed, case["rates"].get(f"sgemm-{T}"))
        yield at_least("GridStep's GFLOP/s over the machine's sgemm rate", where, 0.9, found)
    for where, case in cases.items():
        best = quickest(*(runs(case, key) for key in ("loops", "numpy", "grid-1")))
        if case["B"] == 1024:
            found = over(best, runs(case, "grid"))
            yield at_least(f"GridStep on {T} threads over our best on one", where, 1.9, found)
    for case in (case for case in result["schemes"] if case["B"] >= 128):
        yield from _of_schemes(case)


def _of_schemes(case: dict[str, Any]) -> Iterator[Target]:
    leapfrog, deferred = (case["runs"].get(f"{name}-2", {}) for name in ("leapfrog", "deferred"))
    for what, name in (("backward pass", "backward"), ("forward and backward", "whole")):
        found = over(leapfrog.get(name), deferred.get(name))
        title = f"Leapfrogging's time over deferred gradients', {what}"
        yield at_least(title, f"k = 2, B = {case['B']}", 1.15, found)
