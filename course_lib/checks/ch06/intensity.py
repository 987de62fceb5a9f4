"""The checks of the three intensities of the naive kernel, and of a roofline verdict."""

from dataclasses import replace

from course_lib.checks.kit.core import Case, Check
from course_lib.gpu.data_sheets import DATA_SHEETS


def intensities(M, N, K, reads_c):
    """Flops a byte: asked for, in sectors, compulsory."""
    flops, c = 2 * M * N * K, int(reads_c)
    counts = (
        4 * M * N * (2 * K + 1 + c),
        M * N * (5 * K + 4 + 4 * c),
        4 * (M * K + K * N + (1 + c) * M * N),
    )
    return tuple(flops / count for count in counts)


def _cases(rng):
    def sizes():
        return int(rng.integers(3, 90)), 32 * int(rng.integers(1, 9)), 8 * int(rng.integers(1, 12))

    return [
        Case((*sizes(), False), "beta = 0"),
        Case((*sizes(), True), "beta is not 0"),
        Case((64, 64, 8, True), "few steps"),
        Case((1, 96, 16, False), "one row"),
    ]


check_intensities = Check(
    "intensities",
    _cases,
    intensities,
    dtype=None,
    K=4,
    parts=("asked for", "sectors", "compulsory"),
)


# The verdict ------------------------------------------------------------------------------------------------------


def verdict(flops, moved, gpu):
    """The lower roof, its share of the peak, and the name of that roof."""
    roof = min(gpu.flops, flops / moved * gpu.memory)
    return roof, roof / gpu.flops, "memory" if roof < gpu.flops else "arithmetic"


def _verdict_cases(rng):
    plan = {
        "far under the ridge": 0.02,
        "beyond the ridge": 6.0,
        "under it": 0.3,
        "just under it": 0.9,
        "just beyond it": 1.1,
    }
    cases = []
    for label, times in plan.items():
        flops, memory = float(rng.uniform(5e12, 7e13)), float(rng.uniform(3e11, 3e12))
        gpu = replace(DATA_SHEETS["V100"], name="a GPU of no maker", flops=flops, memory=memory)
        flops = float(rng.integers(1, 99)) * 1e9
        cases.append(Case((flops, flops / (times * gpu.flops / gpu.memory), gpu), label))
    few = "0.7 flops a byte: less than 1, more than the ridge upside down"
    return [*cases, Case((flops, flops / 0.7, gpu), few)]


check_verdict = Check(
    "verdict",
    _verdict_cases,
    verdict,
    dtype=None,
    K=4,
    parts=("flops a second at most", "share of the peak", "bound by"),
)
