"""The targets of `bench gpu`, in the order of the list in docs/bench-gpu.md."""

from collections.abc import Iterator
from typing import Any

from course_tools.bench.frame import Runs, Target, alone, at_least, at_most, over, quickest, runs
from course_tools.bench.gpu.catalogue import KERNELS, PEERS, RUNGS


def targets(result: dict[str, Any]) -> Iterator[Target]:
    """Of products, traces and barriers on the CPU, then of a GPU."""
    sizes = {case["n"]: case for case in result["products"]}
    ways = {key for case in result["products"] for key in case["ways"]}
    # a result of the day when there were fewer rungs has no targets for the others
    rungs = [rung for rung in RUNGS if f"plain-{rung}" in ways]
    for rung in rungs:
        found = over(runs(sizes.get(512), f"plain-{rung}"), runs(sizes.get(512), "blas"))
        yield at_most("The engine's time over one BLAS thread's", f"512^3, {rung}", 100, found)
    for rung in RUNGS[:2]:
        found = over(runs(sizes.get(64), f"numba-{rung}"), runs(sizes.get(64), f"plain-{rung}"))
        yield at_least("Numba's simulator's time over the engine's", f"64^3, {rung}", 200, found)
    for rung in rungs:
        found = alone(runs(sizes.get(128), f"traced-{rung}"))
        yield at_most("A whole trace, seconds", f"128^3, {rung}", 0.5, found)
    for block, row in result["barrier"].items():
        found = alone([1e9 * seconds for seconds in row.get("seconds", ())])
        yield at_most("A barrier, ns a thread", f"{block} threads a block", 20, found)
    yield from _of_kernels(result.get("kernels", {}))
    for case in result["compile"][:1]:
        for kind, seconds in case.get("first", {}).items():
            yield at_most("The first compile on a machine, seconds", kind, 1, alone(seconds))
    yield from _of_gpu(result["gpu"])


def _of_kernels(kernels: dict[str, Any]) -> Iterator[Target]:
    """Their rate against that of another clone's, and what the tracer costs."""

    def seconds(kind: str, rung: str, n: int, when: str = "now") -> Runs | None:
        return kernels.get(f"{kind}-{rung}-{n} {when}", {}).get("seconds")

    for n, kind, rung in KERNELS:
        now, where = seconds(kind, rung, n), f"{n}^3, {rung}"
        if kind == "traced" and f"{kind}-{rung}-{n} now" in kernels:
            found = over(now, seconds("single", rung, n))
            yield at_most("A kernel's time traced over plain", where, 25, found)
        elif n == 256 and (before := seconds(kind, rung, n, "before")):
            where += ", 1 thread" if kind == "single" else ", all threads"
            yield at_least("A kernel's rate over that before", where, 2, over(before, now))


def cublas(case: dict[str, Any] | None) -> Runs | None:
    """The runs of cuBLAS: of the quicker library, where there are two."""
    return quickest(*(runs(case, key) for key in PEERS))


def _of_gpu(gpu: dict[str, Any]) -> Iterator[Target]:
    cases, large = gpu.get("products", []), [4096, 4096, 4096]
    case = next((case for case in cases if case["shape"] == large), None)
    absent = ("not measured: no GPU",) if "error" in gpu else ()
    name, found = "4096^3 on the GPU", over(cublas(case), runs(case, "warptile"))
    yield at_least("gemm_warptile's rate over cuBLAS's in float32", name, 0.9, found, *absent)
    found = over(runs(case, "shared"), runs(case, "register_16x4"))
    yield at_least("gemm_register_16x4's rate over gemm_shared's", name, 3, found, *absent)
