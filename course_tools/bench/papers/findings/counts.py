"""What the part `counts` says: the CPU engine's counts of the kernels that [000] and [003] describe. No times."""

from typing import Any

from course_lib.gpu import gemm_cost
from course_tools.bench.papers.claim import NotMeasured, Part
from course_tools.bench.papers.findings.wording import each_case

LARGE = 4096  # where the edges of a product no longer count
UPDATES = ("neuron a row", "example a row", "padded")
NOT_COUNTED = "this run did not count it"


def product(made: Part, *, rung: str, over: str = "") -> str:
    """Flops a byte of global traffic, loads, FMAs a shared wavefront of one product; and against another one."""
    found = made["products"].get(rung)
    if found is None:
        raise NotMeasured(NOT_COUNTED)
    large = gemm_cost(rung, LARGE, LARGE, LARGE)
    text = (
        f"{made['side']}^3: {_told(found)}; {large['flops'] / large['bytes']:.2f} flops per byte "
        f"at {LARGE:,}^3, by the cost model"
    )
    if not over:
        return text
    fewer = {name: made["products"][over][name] / found[name] for name in ("loads", "sectors")}
    return (
        f"{text}; {fewer['loads']:.1f} times fewer loads and "
        f"{fewer['sectors']:.1f} times fewer sectors than {over}"
    )


def conflicts(made: Part) -> str:
    """Wavefronts beyond the least of the tiled product, both matrices row-major."""
    found = made["products"]["shared"]
    return (
        f"row-major matrices, as in the CUDA samples: {found['sectors'] / found['requests']:g} sectors "
        f"per request, and {found['wavefronts'] - found['ideal_wavefronts']} wavefronts more than the least"
    )


def coalesced(made: Part) -> str:
    """Sectors per request of the transposed product and of the update, beside the least."""
    if "global" not in made:
        raise NotMeasured(NOT_COUNTED)
    told = [
        f"{kernel} {counts['sectors'] / counts['requests']:g} sectors per request "
        f"(the least: {counts['ideal_sectors'] / counts['requests']:g})"
        for kernel, counts in made["global"].items()
    ]
    return f"our kernels, matrices by rows: {'; '.join(told)}"


def update(made: Part, *, each: str, head: str) -> str:
    """Wavefronts of the update by batch size: of an example, as it stands and turned; conflicts, by padding, turned."""
    cases = []
    for case in made["update"]:
        B, (plain, turned, padded) = case["B"], map(case["wavefronts"].get, UPDATES)
        each_one = {"plain": plain / B, "turned": turned / B}
        cases.append({"B": B, "conflicts": turned - padded, **each_one})
    return f"{head}: {each_case(each, cases, NOT_COUNTED)}"


def delta(made: Part) -> str:
    """Wavefronts of the stores of W's tile in the transposed product."""
    plain, padded = (made["delta"][name] for name in ("unpadded", "padded"))
    return (
        f"64 x 10 times 10 x 64, W's tile: {plain['store']:,} wavefronts for its stores without padding, "
        f"{padded['store']:,} with; {plain['load']:,} for its loads"
    )


def difference(made: Part) -> str:
    """How far float32 products are from float64: the rungs on the engine, and the CPU's BLAS."""
    told = [f"{rung} {found['difference']:.0e}" for rung, found in made["products"].items()]
    blas = made["products"]["naive"]["blas_difference"]
    return (
        f"{made['side']}^3 in float32 against float64, largest difference over the largest entry: "
        f"{', '.join(told)}; NumPy's BLAS {blas:.0e}"
    )


def _told(found: dict[str, Any]) -> str:
    intensity = found["flops"] / (32 * found["sectors"])  # a sector has 32 bytes
    text = f"{intensity:.2f} flops per byte of global memory, {found['loads']:,} loads"
    if not found["wavefronts"]:
        return text
    fma = found["flops"] / 2 / 32  # of a warp
    return f"{text}, {fma / found['wavefronts']:.2f} FMAs a shared wavefront"
