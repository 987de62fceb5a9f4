"""The checks of requests and sectors, held against what the engine counts, and of the best shape of a warp."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, require
from course_lib.checks.kit.freeform import function_check, require_returned
from course_lib.checks.kit.kernels.running import traced
from course_lib.machines.cpu_engine import tracing

WIDTHS = (32, 16, 8, 4, 2, 1)
FOURS = r"""
// D = A B^T, the sums over k of A[i][k] B[j][k], four k at a time.   A: M x K, B: N x K, D: M x N floats, by rows
__global__ void fours(int M, int N, int K, const float *A, const float *B, float *D)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    const float4 *a = (const float4 *)(A + i * K), *b = (const float4 *)(B + j * K);
    float sum = 0;
    for (int k = 0; k < K / 4; k++) {
        float4 p = a[k], q = b[k];
        sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    }
    D[i * N + j] = sum;
}
"""
GIVEN = ("FOURS",)


def counted(M, N, K, w):
    """{array: (requests, sectors)} as the engine counts them, in blocks of w x (256 / w)."""
    rng = np.random.default_rng(0)
    A, B = rng.random((M, K), np.float32), rng.random((N, K), np.float32)
    args = [np.int32(M), np.int32(N), np.int32(K), A, B, np.full((M, N), np.nan, np.float32)]
    report = traced(FOURS, "fours", (-(-N // w), -(-M // (256 // w))), (w, 256 // w), args)
    return {X: (report.total("requests", array=X), report.total("sectors", array=X)) for X in "ABD"}


def _cases(rng):
    """Whole blocks, whole sectors; M and N differ."""
    cases = []
    for w in WIDTHS:
        M, N = (32 * int(n) for n in rng.choice([2, 3, 4], 2, replace=False))
        M = -(-M // (256 // w)) * (256 // w)
        cases.append(
            Case((M, N, 8 * int(rng.integers(1, 4)), w), f"blocks of {w} x {256 // w} threads")
        )
    return cases


def _alone(fn, *sizes):
    """The engine is closed while the student predicts."""

    def refuse(*args, **kwargs):
        raise RuntimeError("a prediction comes before the count: use arithmetic, not the engine")

    build, tracing.build = tracing.build, refuse
    try:
        return fn(*sizes)
    finally:
        tracing.build = build


def _floats(answer):
    """{array: (requests, sectors)} in floats, where the answer has this form: 64.0 is as good as 64."""
    try:
        return {X: tuple(float(n) for n in pair) for X, pair in answer.items()}
    except (AttributeError, TypeError, ValueError):
        return answer


check_wide_traffic = Check(
    "wide_traffic",
    _cases,
    lambda M, N, K, w: counted(M, N, K, w),
    dtype=None,
    K=4,
    call=_alone,
    post=_floats,
)


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
        require_returned(got, "best_width", "`return` and the width")
        known = isinstance(got, int | float | np.number) and got in WIDTHS
        widths = ", ".join(map(str, given.values()))
        where = f"{stored}; both by rows, A by columns, B by columns, both by columns: {widths}"
        whole = isinstance(got, int | np.integer) and 0 < got < 32
        rows = f"with {got} columns a warp of 32 has no whole number of rows: try the divisors of 32 alone"
        require(
            known,
            "best_width must be one of 32, 16, 8, 4, 2, 1",
            got=repr(got),
            where=where,
            likely=rows if whole else None,
        )
        least = min(step_sectors(w, a, b) for w in WIDTHS)
        require(
            step_sectors(got, a, b) == least,
            f"{stored}: there is a better width than {got}",
            got=f"{got}, {step_sectors(got, a, b)} sectors a step",
            wanted=f"{least} sectors a step",
            where=where,
        )
    return "the fewest sectors a step for all four storage orders"
