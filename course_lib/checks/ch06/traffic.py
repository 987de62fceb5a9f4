"""The checks of requests and sectors, held against what the engine counts, and of the best shape of a warp."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.kernels.running import traced
from course_lib.machines.cpu_engine import tracing

WIDTHS = (32, 16, 8, 4, 2, 1)
COUNTED = r"""
__global__ void product(int M, int N, int K, const float *A, const float *B, float *D)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
    D[i * N + j] = sum;
}
"""


def counted(M, N, K, w):
    """{array: (requests, sectors)} as the engine counts them, in blocks of w x (256 / w)."""
    rng = np.random.default_rng(0)
    A, B = rng.random((M, K), np.float32), rng.random((K, N), np.float32)
    args = [np.int32(M), np.int32(N), np.int32(K), A, B, np.full((M, N), np.nan, np.float32)]
    report = traced(COUNTED, "product", (-(-N // w), -(-M // (256 // w))), (w, 256 // w), args)
    return {X: (report.total("requests", array=X), report.total("sectors", array=X)) for X in "ABD"}


@dataclass(frozen=True)
class Model:
    """{array: (requests, sectors)} by the model; with a field changed, by a known wrong one.

    warps: of a launch. a, b, d: sectors of a request of A, B and D by a warp of w columns and h rows.
    steps: requests of A and B that a warp makes. d_steps: those of D.
    """

    warps: Callable = lambda M, N, w: M * N // 32
    a: Callable = lambda w, h: h
    b: Callable = lambda w, h: -(-w // 8)
    d: Callable = lambda w, h: h * -(-w // 8)
    steps: Callable = lambda K: K
    d_steps: Callable = lambda K: 1

    def __call__(self, M, N, K, w):
        warps, h = self.warps(M, N, w), 32 // w
        loads, stores = warps * self.steps(K), warps * self.d_steps(K)
        return {
            "A": (loads, loads * self.a(w, h)),
            "B": (loads, loads * self.b(w, h)),
            "D": (stores, stores * self.d(w, h)),
        }


traffic = Model()


PART = "a part of a sector is moved as a whole one: round w / 8 up"
NEXT_ROW = (
    "A: the next row's word is K floats away, in another sector: one for each row of the warp"
)
STORED = "D: the warp stores h rows of w neighbours, each of them with sectors of its own"
KNOWN = [
    (
        Model(a=lambda w, h: 1, b=lambda w, h: 4, d=lambda w, h: 4),
        "that is a warp of 32 columns (j along x), whatever w is: a warp has w columns and 32 / w rows",
    ),
    (
        Model(b=lambda w, h: w, d=lambda w, h: 32),
        "a sector for each column: 8 neighbouring floats lie in one sector",
    ),
    (Model(b=lambda w, h: w / 8, d=lambda w, h: h * w / 8), PART),
    (Model(b=lambda w, h: w // 8, d=lambda w, h: h * (w // 8)), PART),
    (
        Model(a=lambda w, h: 32),
        "A: all lanes of a row of the warp want the same word, and there are 32 / w rows",
    ),
    (Model(a=lambda w, h: 4), NEXT_ROW),
    (Model(a=lambda w, h: -(-h // 8)), NEXT_ROW),
    (Model(a=lambda w, h: -(-w // 8), b=lambda w, h: h), "A and B are exchanged"),
    (Model(d=lambda w, h: -(-w // 8)), STORED),
    (Model(d=lambda w, h: 4), STORED),
    (Model(warps=lambda M, N, w: M * N), "a request is one of a warp, of 32 threads: divide by 32"),
    (
        Model(warps=lambda M, N, w: M * N // w),
        "a warp has w columns and 32 / w rows: M N / 32 warps, whatever w is",
    ),
    (Model(warps=lambda M, N, w: M * N // 256), "these are blocks: requests are of warps"),
    (Model(steps=lambda K: 1), "every step of k makes its own requests of A and B"),
    (Model(d_steps=lambda K: K), "D is stored once, after the loop over k"),
]


@function_check("predict_traffic")
def check_predict_traffic(fn, *, rng):
    """The student's prediction, held against the engine's count for fresh sizes."""
    with _no_counting():
        asked = [(sizes := _sizes(rng, w), _read(fn(*sizes))) for w in WIDTHS]
    wants = [counted(*sizes) for sizes, _ in asked]
    cause = next((text for known, text in KNOWN if all(known(*s) == got for s, got in asked)), None)
    for ((M, N, K, w), got), want in zip(asked, wants, strict=True):
        for X in "ABD":
            where = f"M, N, K = {M}, {N}, {K}, blocks of {w} x {256 // w}; (requests, sectors)"
            right = got[X] == want[X]
            require(
                right,
                f"{X}: not what the engine counts",
                _plain(got[X]),
                str(want[X]),
                where,
                cause,
            )
    return f"requests and sectors as the engine counts them, for {len(asked)} fresh sizes and shapes of warp"


@contextmanager
def _no_counting():
    """The engine is closed while the student predicts."""

    def refuse(*args, **kwargs):
        require(
            False,
            "predict_traffic asks the engine",
            cause="a prediction comes before the count: use arithmetic",
        )

    build, tracing.build = tracing.build, refuse
    try:
        yield
    finally:
        tracing.build = build


def _sizes(rng, w):
    """Whole blocks, whole sectors; M and N differ."""
    M, N = (32 * int(n) for n in rng.choice([2, 3, 4], 2, replace=False))
    return -(-M // (256 // w)) * (256 // w), N, 8 * int(rng.integers(1, 4)), w


def _read(got):
    """The answer as {array: (requests, sectors)} of floats."""
    wanted = '{"A": (requests, sectors), "B": (...), "D": (...)}'
    require(
        got is not None,
        "predict_traffic returned None",
        wanted=wanted,
        cause="end with `return` and the dict",
    )
    known = isinstance(got, dict) and set(got) == set("ABD")
    require(
        known,
        'predict_traffic must return a dict with "A", "B" and "D"',
        got=repr(got),
        wanted=wanted,
    )
    pairs = all(
        isinstance(pair, tuple | list | np.ndarray) and len(pair) == 2 for pair in got.values()
    )
    require(pairs, "each entry must be a pair (requests, sectors)", got=repr(got), wanted=wanted)
    return {X: tuple(float(n) for n in pair) for X, pair in got.items()}


def _plain(pair):
    return "(" + ", ".join(f"{n:g}" if n % 1 else str(int(n)) for n in pair) + ")"


# The best shape of a warp -----------------------------------------------------------------------------------------


def step_sectors(w, a_by_rows, b_by_rows):
    """Sectors of A and B that a warp of w columns and 32 / w rows needs for a step of k."""
    h = 32 // w
    return (h if a_by_rows else -(-h // 8)) + (-(-w // 8) if b_by_rows else w)


ORDERS = ((True, True), (False, True), (True, False), (False, False))


@function_check("best_width")
def check_best_width(fn, *, rng):
    """A width with the fewest sectors, for each of the four storage orders."""
    given = {order: fn(*order) for order in ORDERS}
    for (a, b), got in given.items():
        stored = f"A by {'rows' if a else 'columns'}, B by {'rows' if b else 'columns'}"
        require(
            got is not None, "best_width returned None", cause="end with `return` and the width"
        )
        known = isinstance(got, int | float | np.number) and got in WIDTHS
        require(known, "best_width must be one of 32, 16, 8, 4, 2, 1", got=repr(got), where=stored)
        least = min(step_sectors(w, a, b) for w in WIDTHS)
        require(
            step_sectors(got, a, b) == least,
            f"{stored}: there is a better width than {got}",
            got=f"{got}, {step_sectors(got, a, b)} sectors a step",
            wanted=f"{least} sectors a step",
            cause=_width_cause(given, got, a, b),
        )
    return "the fewest sectors a step for all four storage orders"


def _width_cause(given, got, a, b):
    if len(set(given.values())) == 1:
        return "the same width for all four storage orders: where the neighbours of a matrix lie changes what it costs"
    if step_sectors(got, a, b) == max(step_sectors(w, a, b) for w in WIDTHS):
        return "that is the worst: the least is asked for"
    if not b:
        return "B by columns: the w lanes of a row of the warp go down a column, w sectors"
    if not a:
        return (
            "A by columns: the h = 32 / w rows of the warp are neighbours in memory, 8 to a sector"
        )
    return (
        "write down h = 32 / w, the sectors of A and of B, for all six widths, and compare the sums"
    )
