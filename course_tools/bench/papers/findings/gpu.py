"""What the part `gpu` says, where there was a GPU: training beside the CPU, and the products of [003]."""

from course_tools.bench.frame import median, ratio, runs
from course_tools.bench.papers.claim import Part
from course_tools.bench.papers.findings import figures
from course_tools.bench.papers.findings.wording import listed


def faster(made: Part, *, net: str) -> str:
    """How many times as fast our kernels train on the GPU as NumPy on one thread of the same machine's CPU."""
    ways = {"key": "mlp-paper", "over": "numpy", "head": made["device"]}
    return figures.faster(made["training"], net=net, **ways)


def times(made: Part, *, net: str, key: str) -> str:
    """Median seconds an epoch on the GPU, by batch size."""
    return figures.times(made["training"], net=net, key=key, head=made["device"])


def products(made: Part, *, rung: str, over: str = "") -> str:
    """TFLOP/s of one rung by size, and how many times that of another rung."""
    told = []
    for case in made["gpu"]["products"]:
        M, N, K = case["shape"]
        more = ratio(runs(case, over), runs(case, rung))
        beside = f", {more:.2f} times {over}'s" if more else ""
        if seconds := median(runs(case, rung)):
            rate = 2e-12 * M * N * K / seconds
            told.append(f"{rate:.2f} TFLOP/s at {M} x {N} x {K}{beside}")
    return f"{made['device']}: {listed(told, 'this product did not run')}"
