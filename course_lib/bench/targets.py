"""The targets this benchmark was built to meet, each met or not, from the raw runs."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from course_lib.bench.summary import quartiles, rates, ratio, runs


class Target(NamedTuple):
    """What was wanted, where, what was found; met is None where something needed was not measured."""

    what: str
    where: str
    want: str
    got: float | None
    met: bool | None


def targets(result: dict[str, Any]) -> list[Target]:
    """All targets, in the order of the list in docs/bench-threads.md."""
    return [*_of_steps(result), *_of_schemes(result)]


def _of_steps(result: dict[str, Any]) -> Iterator[Target]:
    T = result["settings"]["threads"]
    cases = [case for case in result["training"] if case["B"] >= 256]
    for case in cases:
        where, ours = f"{case['net']}, B = {case['B']}", runs(case, "grid")
        yield _at_most(
            "GridStep's time over PyTorch's, equal threads",
            where,
            0.9,
            ratio(ours, runs(case, "torch")),
        )
    for case in cases:
        where, ours = f"{case['net']}, B = {case['B']}", runs(case, "grid")
        share = ratio(rates(result, case, ours or []), case["rates"].get(f"sgemm-{T}"))
        yield _at_least("GridStep's GFLOP/s over the machine's sgemm rate", where, 0.9, share)
    for case in cases:
        if case["B"] == 1024:
            where = f"{case['net']}, B = 1024"
            speed = ratio(_best_single(case), runs(case, "grid"))
            yield _at_least(f"GridStep on {T} threads over our best on one", where, 1.9, speed)


def _best_single(case: dict[str, Any]) -> list[float | None] | None:
    """The runs of our quickest way on one thread."""
    found = [s for key in ("loops", "numpy", "grid-1") if (s := runs(case, key))]
    return min(found, key=lambda s: quartiles(s)[0]) if found else None


def _of_schemes(result: dict[str, Any]) -> Iterator[Target]:
    for case in result["schemes"]:
        if case["B"] < 128:
            continue
        leapfrog, deferred = (
            case["runs"].get(f"{name}-2", {}) for name in ("leapfrog", "deferred")
        )
        for what, name in (("backward pass", "backward"), ("forward and backward", "whole")):
            found = ratio(leapfrog.get(name), deferred.get(name))
            where = f"k = 2, B = {case['B']}"
            yield _at_least(
                f"Leapfrogging's time over deferred gradients', {what}", where, 1.15, found
            )


def _at_least(what: str, where: str, bound: float, got: float | None) -> Target:
    return Target(what, where, f"at least {bound:.2f}", got, None if got is None else got >= bound)


def _at_most(what: str, where: str, bound: float, got: float | None) -> Target:
    return Target(what, where, f"at most {bound:.2f}", got, None if got is None else got <= bound)
