"""The checks of the three intensities of the naive kernel, and of a roofline verdict."""

from dataclasses import replace

from course_lib.checks.kit.core import Case, Check
from course_lib.gpu.data_sheets import DATA_SHEETS


def intensities(
    flops=lambda M, N, K: 2 * M * N * K,
    asked=lambda M, N, K, c: 4 * M * N * (2 * K + 1 + c),
    sectors=lambda M, N, K, c: M * N * (5 * K + 4 + 4 * c),
    least=lambda M, N, K, c: 4 * (M * K + K * N + (1 + c) * M * N),
):
    """The right answer, or a known wrong one. A count of bytes gets M, N, K and c, 1 where C is read."""

    def answer(M, N, K, reads_c):
        return tuple(
            flops(M, N, K) / count(M, N, K, int(reads_c)) for count in (asked, sectors, least)
        )

    return answer


def _more_flops(of_c):
    """So many flops more for each element of D."""
    return lambda M, N, K, c: tuple(
        x * (1 + of_c(int(c)) / (2 * K)) for x in intensities()(M, N, K, c)
    )


def _cases(rng):
    def sizes():
        return int(rng.integers(3, 90)), 32 * int(rng.integers(1, 9)), 8 * int(rng.integers(1, 12))

    return [
        Case((*sizes(), False), "beta = 0"),
        Case((*sizes(), True), "beta is not 0"),
        Case((64, 64, 8, True), "few steps"),
        Case((1, 96, 16, False), "one row"),
    ]


ASKED = [
    (
        intensities(asked=lambda M, N, K, c: M * N * (2 * K + 1 + c)),
        "these are numbers, and each has 4 bytes",
    ),
    (
        intensities(asked=lambda M, N, K, c: 8 * M * N * K),
        "the store of D is missing (and, with beta, the load of C)",
    ),
    (
        intensities(asked=lambda M, N, K, c: 4 * M * N * (2 * K + 1)),
        "with beta each thread loads an element of C",
    ),
]
SECTORS = [
    (
        intensities(sectors=lambda M, N, K, c: 5 * M * N * K),
        "D is missing, 4 for each warp (and, with beta, C)",
    ),
    (
        intensities(sectors=lambda M, N, K, c: M * N * (5 * K + 4)),
        "with beta, C takes as many as D",
    ),
    (
        intensities(sectors=lambda M, N, K, c: M * N * (5 * K + 4 + 4 * c) / 32),
        "each sector has 32 bytes",
    ),
    (
        intensities(sectors=lambda M, N, K, c: 32 * M * N * (5 * K + 4 + 4 * c)),
        "5 a step are those of a warp, not of a thread: there are M N / 32 warps",
    ),
    (
        intensities(sectors=lambda M, N, K, c: M * N * (8 * K + 4 + 4 * c)),
        "A is one word for the whole warp, so one sector a step, not 4",
    ),
    (
        intensities(sectors=lambda M, N, K, c: M * N * (33 * K + 32 + 32 * c)),
        "that is i along x; here j runs along x",
    ),
]
LEAST = [
    (
        intensities(least=lambda M, N, K, c: 4 * (M * K + K * N)),
        "D must be written (and, with beta, C read)",
    ),
    (
        intensities(least=lambda M, N, K, c: 4 * (M * K + K * N + M * N)),
        "with beta, C must be read",
    ),
    (
        intensities(least=lambda M, N, K, c: 4 * M * N * (2 * K + 1 + c)),
        "each number of A and B once, not once for each thread that uses it",
    ),
]
LEASTS = (
    lambda M, N, K, c: 4 * (M * K + K * N + (1 + c) * M * N),
    lambda M, N, K, c: 4 * (M * K + K * N + M * N),
    lambda M, N, K, c: 4 * (M * K + K * N),
)  # with C, without, without D too

check_intensities = Check(
    "intensities",
    _cases,
    lambda M, N, K, reads_c: intensities()(M, N, K, reads_c),
    dtype=None,
    K=4,
    parts=("asked for", "sectors", "compulsory"),
    diagnoses=[
        *(
            (
                _more_flops(of_c),
                "flops are those of the product alone, 2 M N K: alpha and beta are not counted",
            )
            for of_c in (lambda c: 1 + 2 * c, lambda c: 1 + c, lambda c: 2 * c, lambda c: 3)
        ),
        *(
            (
                intensities(
                    asked=lambda M, N, K, c: 8 * M * N * K,
                    sectors=lambda M, N, K, c: 5 * M * N * K,
                    least=least,
                ),
                "the loop alone is counted: each thread also stores an element of D and, where reads_c, loads one of C",
            )
            for least in LEASTS
        ),
        (
            lambda M, N, K, c: intensities()(M, N, K, False),
            "reads_c is not used: where beta is not 0, C is loaded, in all three counts",
        ),
        *((wrong, f"asked for: {text}") for wrong, text in ASKED),
        *((wrong, f"sectors: {text}") for wrong, text in SECTORS),
        *((wrong, f"compulsory: {text}") for wrong, text in LEAST),
    ],
)


# The verdict ------------------------------------------------------------------------------------------------------


def verdict(
    roof=lambda x, gpu: min(gpu.flops, x * gpu.memory),
    share=lambda top, gpu: top / gpu.flops,
    bound=lambda low: "memory" if low else "arithmetic",
    below=None,
):
    """The right answer, or a known wrong one. x: flops a byte; below: tells if the memory limits (else: the ridge)."""

    def answer(flops, moved, gpu):
        top = roof(flops / moved, gpu)
        low = below(top, gpu) if below else flops / moved < gpu.flops / gpu.memory
        return top, share(top, gpu), bound(low)

    return answer


def _verdict_cases(rng):
    plan = {
        "far under the ridge": 0.02,
        "beyond the ridge": 6.0,
        "just under it": 0.9,
        "just beyond it": 1.1,
    }
    cases = []
    for label, times in plan.items():
        flops, memory = float(rng.uniform(5e12, 7e13)), float(rng.uniform(3e11, 3e12))
        gpu = replace(DATA_SHEETS["V100"], name="a GPU of no maker", flops=flops, memory=memory)
        flops = float(rng.integers(1, 99)) * 1e9
        cases.append(Case((flops, flops / (times * gpu.flops / gpu.memory), gpu), label))
    return cases


def _under_the_peak(top, gpu):
    return top < gpu.flops


ROOFS = [
    (lambda x, gpu: x * gpu.memory, "the flat roof is missing: no kernel is faster than the peak"),
    (
        lambda x, gpu: gpu.flops,
        "the sloping roof is missing: intensity times the memory's bytes a second",
    ),
    (lambda x, gpu: max(gpu.flops, x * gpu.memory), "max where min belongs: the lower roof counts"),
    (
        lambda x, gpu: min(gpu.flops, gpu.memory / x),
        "the intensity is upside down: flops for each byte",
    ),
    (
        lambda x, gpu: 1 / (1 / gpu.flops + 1 / (x * gpu.memory)),
        "the two times are added: in this model arithmetic and memory overlap, and the longer of the two counts",
    ),
]

check_verdict = Check(
    "verdict",
    _verdict_cases,
    lambda flops, moved, gpu: verdict()(flops, moved, gpu),
    dtype=None,
    K=4,
    parts=("flops a second at most", "share of the peak", "bound by"),
    diagnoses=[
        *(
            (verdict(roof, below=below), text)
            for roof, text in ROOFS
            for below in (None, _under_the_peak)
        ),
    ],
)
