"""What the part `counts` says: the CPU engine's counts of the kernels that [000] and [003] describe. No times."""

from typing import Any

from course_lib.bench.papers.claim import COMPUTED, COUNTED, MEASURED, NOT_MEASURED, Finding, part
from course_lib.gpu import gemm_cost

LARGE = 4096  # where the edges of a product no longer count


@part("counts")
def product(made: dict[str, Any], *, rung: str, over: str = "") -> Finding:
    """Flops a byte of global traffic, loads, FMAs a shared wavefront of one product; and against another one."""
    found = made["products"].get(rung)
    if found is None:
        return Finding(NOT_MEASURED, "this run did not count it")
    large = gemm_cost(rung, LARGE, LARGE, LARGE)
    text = (
        f"{made['side']}^3: {_told(found)}; {large['flops'] / large['bytes']:.2f} flops a byte at {LARGE:,}^3, "
        "by the cost model"
    )
    if over:
        other = made["products"][over]
        text += (
            f"; {other['loads'] / found['loads']:.1f} times fewer loads and "
            f"{other['sectors'] / found['sectors']:.1f} times fewer sectors than {over}"
        )
    return Finding(COUNTED, text)


def _told(found: dict[str, Any]) -> str:
    fma = found["flops"] / 2 / 32  # of a warp
    text = f"{found['flops'] / (32 * found['sectors']):.2f} flops a byte of global memory, {found['loads']:,} loads"
    return text + (
        f", {fma / found['wavefronts']:.2f} FMAs a shared wavefront" if found["wavefronts"] else ""
    )


@part("counts")
def conflicts(made: dict[str, Any]) -> Finding:
    """Wavefronts beyond the least of the tiled product, both matrices by rows."""
    found = made["products"]["shared"]
    sectors = found["sectors"] / found["requests"]
    return Finding(
        COUNTED,
        f"both matrices by rows, as in the CUDA samples: {sectors:g} sectors a request, and "
        f"{found['wavefronts'] - found['ideal_wavefronts']} wavefronts more than the least",
    )


@part("counts")
def coalesced(made: dict[str, Any]) -> Finding:
    """Sectors a request of the transposed product and of the update, beside the least."""
    if "global" not in made:
        return Finding(NOT_MEASURED, "this run did not count it")
    told = [
        f"{kernel} {c['sectors'] / c['requests']:g} sectors a request (the least: "
        f"{c['ideal_sectors'] / c['requests']:g})"
        for kernel, c in made["global"].items()
    ]
    return Finding(COUNTED, f"our kernels, matrices by rows: {', '.join(told)}")


@part("counts")
def update(made: dict[str, Any]) -> Finding:
    """Wavefronts an example of the update, by batch size, before and after the tiles are turned."""
    told = [
        f"B = {case['B']}: {case['wavefronts']['neuron a row'] / case['B']:,.0f} (turned "
        f"{case['wavefronts']['example a row'] / case['B']:,.0f})"
        for case in made["update"]
    ]
    return Finding(COUNTED, f"shared wavefronts an example: {', '.join(told)}")


@part("counts")
def turned(made: dict[str, Any]) -> Finding:
    """Wavefronts of the update with turned tiles, with padding and without: the difference would be conflicts."""
    told = [
        f"B = {case['B']}: {case['wavefronts']['example a row'] - case['wavefronts']['padded']:,}"
        for case in made["update"]
    ]
    return Finding(
        COUNTED,
        f"wavefronts more than with padding, neurons side by side in memory: {', '.join(told)}",
    )


@part("counts")
def delta(made: dict[str, Any]) -> Finding:
    """Wavefronts of the stores of W's tile in the transposed product."""
    plain, padded = (made["delta"][name] for name in ("unpadded", "padded"))
    return Finding(
        COUNTED,
        f"64 x 10 times 10 x 64, W's tile: {plain['store']:,} wavefronts for its stores without "
        f"padding, {padded['store']:,} with; {plain['load']:,} for its loads",
    )


def useful(result: dict[str, Any]) -> Finding:
    """The useful share of the multiply-adds with tiles of 32, layer by layer, at B = 64."""
    told = []
    for n_in, n_out in ((784, 1024), (1024, 1024), (1024, 10)):
        rounded = [-(-n // 32) * 32 for n in (64, n_in, n_out)]
        told.append(
            f"{n_in} x {n_out}: {64 * n_in * n_out / (rounded[0] * rounded[1] * rounded[2]):.0%}"
        )
    return Finding(COMPUTED, f"useful share of the multiply-adds, B = 64: {', '.join(told)}")


@part("counts")
def difference(made: dict[str, Any]) -> Finding:
    """How far float32 products are from float64: the rungs on the engine, and the CPU's BLAS."""
    told = [f"{rung} {found['difference']:.0e}" for rung, found in made["products"].items()]
    blas = made["products"]["naive"]["blas_difference"]
    return Finding(
        MEASURED,
        f"{made['side']}^3 in float32 against float64, largest difference over the largest entry: "
        f"{', '.join(told)}, NumPy's BLAS {blas:.0e}",
    )
