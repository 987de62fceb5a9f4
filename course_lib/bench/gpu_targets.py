"""The targets of `bench gpu`, each met or not, from the raw runs."""

from collections.abc import Iterator
from typing import Any

from course_lib.bench.gpu_catalogue import PEERS, RUNGS
from course_lib.bench.summary import quartiles, ratio
from course_lib.bench.targets import Target

LARGE = [4096, 4096, 4096]


def targets(result: dict[str, Any]) -> list[Target]:
    """All targets, in the order of the list in docs/bench-gpu.md."""
    return [*_of_products(result), *_of_traces(result), *_of_barriers(result), *_of_gpu(result)]


def seconds(case: dict[str, Any] | None, key: str) -> list[float | None] | None:
    """The seconds of a way, round by round; None where it did not run."""
    return None if case is None else case["ways"].get(key, {}).get("seconds")


def at_size(result: dict[str, Any], n: int) -> dict[str, Any] | None:
    """The products n x n x n on the CPU."""
    return next((case for case in result["products"] if case["n"] == n), None)


def on_gpu(result: dict[str, Any], shape: list[int]) -> dict[str, Any] | None:
    """The products of that shape on the GPU."""
    return next(
        (case for case in result["gpu"].get("products", []) if case["shape"] == shape), None
    )


def cublas(case: dict[str, Any] | None) -> list[float | None] | None:
    """The runs of cuBLAS: of the quicker library, where there are two."""
    found = [runs for key in PEERS if (runs := seconds(case, key))]
    return min(found, key=lambda runs: quartiles(runs)[0]) if found else None


def _of_products(result: dict[str, Any]) -> Iterator[Target]:
    case = at_size(result, 512)
    for rung in RUNGS:
        got = ratio(seconds(case, f"plain-{rung}"), seconds(case, "blas"))
        yield _at_most("The engine's time over one BLAS thread's", f"512^3, {rung}", 100, got)
    case = at_size(result, 64)
    for rung in RUNGS[:2]:
        got = ratio(seconds(case, f"numba-{rung}"), seconds(case, f"plain-{rung}"))
        yield _at_least("Numba's simulator's time over the engine's", f"64^3, {rung}", 200, got)


def _of_traces(result: dict[str, Any]) -> Iterator[Target]:
    case = at_size(result, 128)
    for rung in RUNGS:
        runs = seconds(case, f"traced-{rung}")
        yield _at_most(
            "A whole trace, seconds", f"128^3, {rung}", 0.5, quartiles(runs)[0] if runs else None
        )


def _of_barriers(result: dict[str, Any]) -> Iterator[Target]:
    for block, row in result["barrier"].items():
        runs = row.get("seconds")
        got = 1e9 * quartiles(runs)[0] if runs else None
        yield _at_most("A barrier, ns a thread", f"{block} threads a block", 20, got)


def _of_gpu(result: dict[str, Any]) -> Iterator[Target]:
    case, name = on_gpu(result, LARGE), "4096^3 on the GPU"
    got = ratio(cublas(case), seconds(case, "warptile"))
    yield _at_least("gemm_warptile's rate over cuBLAS's in float32", name, 0.9, got)
    got = ratio(seconds(case, "shared"), seconds(case, "register_16x4"))
    yield _at_least("gemm_register_16x4's rate over gemm_shared's", name, 3, got)


def _at_most(what: str, where: str, bound: float, got: float | None) -> Target:
    return Target(what, where, f"at most {bound:g}", got, None if got is None else got <= bound)


def _at_least(what: str, where: str, bound: float, got: float | None) -> Target:
    return Target(what, where, f"at least {bound:g}", got, None if got is None else got >= bound)
