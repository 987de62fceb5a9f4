"""Planted bugs: each is caught by the right tool, in the right line, in the right array, with words that say why."""

import numpy as np
import pytest
from engine_runs import line, needs_compiler

from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler

BUGS = r"""
__global__ void no_first_barrier(const float *A, float *B)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = A[threadIdx.x];
    B[threadIdx.x] = tile[63 - threadIdx.x];  // no-first-barrier
}
__global__ void no_second_barrier(const float *A, float *B)
{
    __shared__ float tile[64];
    float s = 0;
    for (int k = 0; k < 4; k++) {
        tile[threadIdx.x] = A[64 * k + threadIdx.x];
        __syncthreads();
        s += tile[63 - threadIdx.x];  // no-second-barrier
    }
    B[threadIdx.x] = s;
}
__global__ void right_by_luck(const float *A, float *B)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = A[0];
    B[threadIdx.x] = total;  // right-by-luck
}
__global__ void off_by_one(float *A, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) A[i] = 1;  // off-by-one
}
__global__ void wrong_guard(float *A, int rows, int cols)
{
    int r = threadIdx.y, c = threadIdx.x;
    if (r < cols && c < rows) A[r + rows * c] = 1;  // wrong-guard
}
__global__ void no_guard(float *A) { A[blockIdx.x * blockDim.x + threadIdx.x] += 1; }  // no-guard
__global__ void before_start(float *A) { A[(int)threadIdx.x - 2] = 1; }  // before-start
__global__ void shared_too_small(float *A)
{
    __shared__ float narrow[60], wide[64];
    narrow[threadIdx.x] = A[threadIdx.x];  // shared-too-small
    wide[threadIdx.x] = 1;
}
__global__ void shared_two_dimensions(float *A)
{
    __shared__ float tile[8][9];
    tile[threadIdx.x][threadIdx.y] = A[threadIdx.x];  // two-dimensions
}
__global__ void dynamic_too_small(float *A)
{
    extern __shared__ double buffer[];
    buffer[threadIdx.x] = A[threadIdx.x];  // dynamic-too-small
}
__global__ void early_return(float *A, int n)
{
    __shared__ float s[64];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();  // early-return
    A[threadIdx.x] = s[n - 1 - threadIdx.x];
}
__global__ void one_branch(float *A)
{
    if (threadIdx.x < 16)
        __syncthreads();  // one-branch
    A[threadIdx.x] = 1;
}
__global__ void both_branches(float *A)
{
    if (threadIdx.x < 16) {
        A[threadIdx.x] = 2;
        __syncthreads();  // both-branches
    } else {
        __syncthreads();  // both-branches-other
    }
    A[threadIdx.x] = 1;
}
__global__ void barrier_in_uneven_loop(float *A)
{
    for (int k = 0; k < 1 + threadIdx.x / 32; k++) {
        A[threadIdx.x] += 1;
        __syncthreads();  // uneven-loop
    }
}
__global__ void unset_shared(float *A)
{
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    A[threadIdx.x] = s[63 - threadIdx.x];  // unset-shared
}
__global__ void unset_global(float *sum, const float *A) { sum[threadIdx.x] += A[threadIdx.x]; }  // unset-global
__global__ void misaligned(float *A)
{
    float4 v = *(float4 *)(A + 4 * threadIdx.x + 1);  // misaligned
    A[threadIdx.x] = v.x;
}
__global__ void null_pointer(float *A, float *B) { A[threadIdx.x] = B[threadIdx.x]; }  // null
__global__ void endless(volatile float *A)
{
    while (A[threadIdx.x] < 2) A[threadIdx.x] *= 0.5f;  // endless
}
__global__ void endless_silent(volatile int *A) { int i = 1; while (i) asm volatile("" : "+r"(i)); A[0] = i; }
__global__ void wild(float *A) { *(A + (1ll << 40) * (threadIdx.x + 1)) = 1; }  // wild
__global__ void two_blocks(float *A) { A[threadIdx.x] = blockIdx.x; }  // two-blocks
__global__ void lost_update(int *A) { A[0] = A[0] + 1; }  // lost-update
__global__ void beside_an_atomic(int *A, int *B)
{
    atomicAdd(&A[0], 1);  // beside-an-atomic-other
    B[threadIdx.x] = A[0];  // beside-an-atomic
}
__global__ void crashes(int *A, int n) { A[threadIdx.x] = 7; A[threadIdx.x] = A[threadIdx.x] / n; }  // crash
__global__ void trap(int *A) { A[threadIdx.x] = 7; __builtin_trap(); }  // trap
__global__ void deep(int *A, int n);
__device__ __noinline__ int deeper(int *A, int n)
{
    volatile char room[4096];
    for (int i = 0; i < 4096; i += 64) room[i] = n;
    return n ? deeper(A, n - 1) + room[64] : A[0];
}
__global__ void deep(int *A, int n) { A[0] = deeper(A, n); }
__global__ void warp_hang(float *A)
{
    if (threadIdx.x < 16) __syncwarp(); else __syncthreads();  // warp-hang
    A[threadIdx.x] = 1;
}
__global__ void not_in_mask(float *A) { A[threadIdx.x] = __shfl_sync(0xffffu, 1.0f, 0); }  // not-in-mask
__global__ void two_shuffles(float *A)
{
    float v = 1;
    if (threadIdx.x < 16)
        v = __shfl_sync(~0u, v, 1);  // two-shuffles
    else
        v = __shfl_sync(~0u, v, 2);  // two-shuffles-other
    A[threadIdx.x] = v;
}
__device__ float table[8];
__global__ void off_the_table(float *A) { A[threadIdx.x] = table[threadIdx.x]; }  // off-the-table
__global__ void fine(float *A) { A[threadIdx.x] = 1; }
"""


def some(n, dtype=np.float32):
    return np.random.default_rng(n).uniform(1, 2, n).astype(dtype)


ONE = np.ones(1, np.int32)
NAN = np.full(64, np.nan, np.float32)
# kernel, grid, block, arguments, tool, mark of the line, array, words of the message
CASES = [
    (
        "no_first_barrier",
        1,
        64,
        [some(64), some(64)],
        "racecheck",
        "no-first-barrier",
        "tile",
        "barrier is missing",
    ),
    (
        "no_second_barrier",
        1,
        64,
        [some(256), some(64)],
        "racecheck",
        "no-second-barrier",
        "tile",
        "wrong side",
    ),
    (
        "right_by_luck",
        1,
        64,
        [some(1), some(64)],
        "racecheck",
        "right-by-luck",
        "total",
        "barrier is missing",
    ),
    (
        "off_by_one",
        1,
        64,
        [some(40), np.int32(40)],
        "memcheck",
        "off-by-one",
        "A",
        "A[40], which has 40 elements",
    ),
    (
        "wrong_guard",
        1,
        (8, 8),
        [some(21), np.int32(7), np.int32(3)],
        "memcheck",
        "wrong-guard",
        "A",
        "`if (i < n)`",
    ),
    (
        "no_guard",
        2,
        32,
        [some(63)],
        "memcheck",
        "no-guard",
        "A",
        "thread (31, 0, 0) of block (1, 0, 0)",
    ),
    (
        "before_start",
        1,
        32,
        [some(64)],
        "memcheck",
        "before-start",
        "A",
        "2 elements before its start",
    ),
    (
        "shared_too_small",
        1,
        64,
        [some(64)],
        "memcheck",
        "shared-too-small",
        "narrow",
        "narrow[60], which has 60",
    ),
    (
        "shared_two_dimensions",
        1,
        (9, 9),
        [some(9)],
        "memcheck",
        "two-dimensions",
        "tile",
        "[8][0], which has 8 x 9",
    ),
    (
        "dynamic_too_small",
        1,
        64,
        [some(64)],
        "memcheck",
        "dynamic-too-small",
        "buffer",
        "buffer[32], which has 32",
    ),
    (
        "early_return",
        1,
        64,
        [some(64), np.int32(50)],
        "synccheck",
        "early-return",
        "",
        "early return",
    ),
    ("one_branch", 1, 64, [some(64)], "synccheck", "one-branch", "", "inside an if or a loop"),
    ("both_branches", 1, 64, [some(64)], "synccheck", "both-branches", "", "both branches"),
    ("barrier_in_uneven_loop", 1, 64, [some(64)], "synccheck", "uneven-loop", "", "32 threads"),
    (
        "unset_shared",
        1,
        64,
        [some(64)],
        "initcheck",
        "unset-shared",
        "s",
        "s[63], which nothing has written",
    ),
    (
        "unset_global",
        1,
        64,
        [NAN.copy(), some(64)],
        "initcheck",
        "unset-global",
        "sum",
        "nothing has written",
    ),
    ("misaligned", 1, 8, [some(64)], "memcheck", "misaligned", "A", "float2 or float4"),
    ("null_pointer", 1, 8, [some(64), None], "memcheck", "null", "", "null pointer"),
    ("endless", 1, 4, [some(64)], "timeout", "endless", "", "condition never becomes false"),
    ("wild", 1, 4, [some(64)], "memcheck", "wild", "", "no array"),
    ("two_blocks", 2, 4, [some(4)], "racecheck", "two-blocks", "A", "blocks run in any order"),
    ("lost_update", 1, 64, [some(1, np.int32)], "racecheck", "lost-update", "A", "barrier"),
    (
        "beside_an_atomic",
        1,
        64,
        [ONE, some(64, np.int32)],
        "racecheck",
        "beside-an-atomic",
        "A",
        "atomic",
    ),
    ("trap", 1, 4, [some(64, np.int32)], "crash", "trap", "", "crashed"),
    ("warp_hang", 1, 32, [some(32)], "synccheck", "warp-hang", "", "wait here forever"),
    ("not_in_mask", 1, 32, [some(32)], "synccheck", "not-in-mask", "", "leaves out its own lane"),
    ("two_shuffles", 1, 32, [some(32)], "synccheck", "two-shuffles", "", "both branches"),
    (
        "off_the_table",
        1,
        16,
        [some(16)],
        "memcheck",
        "off-the-table",
        "table",
        "table[8], which has 8",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_caught(case):
    kernel, grid, block, args, tool, mark, array, words = case
    shared = 256 if kernel == "dynamic_too_small" else 0
    report = trace(
        BUGS, kernel, grid, block, args, shared=shared, timeout=1 if tool == "timeout" else 20
    )
    first = report.errors[0]
    assert first["tool"] == tool, report
    assert line(BUGS, mark) in (first["line"], (first["other"] or {}).get("line")), report
    assert first["array"] == array and words in first["message"], report
    allowed = (
        {tool, "initcheck"} if tool == "synccheck" else {tool}
    )  # what an early return did not do, others miss
    assert {error["tool"] for error in report.errors} <= allowed, report


def test_both_sides_of_a_race_are_one_finding():
    report = trace(BUGS, "no_second_barrier", 1, 64, [some(256), some(64)])
    (error,) = report.errors
    assert {error["op"], error["other"]["op"]} == {"load", "store"}
    marked = line(BUGS, "no-second-barrier")
    assert {error["line"], error["other"]["line"]} == {marked, marked - 2}


def test_other_line_of_a_barrier():
    (error,) = trace(BUGS, "both_branches", 1, 64, [some(64)]).errors
    assert error["other"]["line"] == line(BUGS, "both-branches-other") and error["count"] == 48


@pytest.mark.parametrize("kernel, tool", [("endless_silent", "timeout"), ("deep", "crash")])
def test_ends_where_nothing_is_traced(kernel, tool):
    A = np.arange(4, dtype=np.int32)
    args = [A] if kernel == "endless_silent" else [A, np.int32(100000)]
    report = trace(BUGS, kernel, 1, 1, args, timeout=1)
    assert report.errors[0]["tool"] == tool, report
    assert trace(BUGS, "fine", 1, 4, [some(4)]).ok


def test_a_division_by_zero_is_no_error_on_a_gpu_but_a_crash_here():
    report = trace(BUGS, "crashes", 1, 4, [np.arange(4, dtype=np.int32), np.int32(0)])
    assert (
        not report.errors or report.errors[0]["tool"] == "crash"
    )  # arm64 gives 0, as a GPU gives anything


def test_errors_come_in_order_of_importance():
    source = """__global__ void k(float *A, float *B)
    {
        __shared__ float s[8], t[8];
        if (threadIdx.x < 4) s[threadIdx.x] = B[threadIdx.x];
        t[0] = threadIdx.x;
        if (threadIdx.x < 4) __syncthreads();
        if (threadIdx.x == 7 && blockIdx.x == 0) A[threadIdx.x + 1] = 1;
        else A[threadIdx.x] = s[7 - threadIdx.x % 4];
    }"""
    report = trace(source, "k", 2, 8, [some(8), some(8)])
    tools = list(dict.fromkeys(error["tool"] for error in report.errors))
    assert tools == ["memcheck", "synccheck", "racecheck", "initcheck"], report


def test_a_barrier_that_some_miss_comes_before_the_race_that_it_causes():
    source = """__global__ void k(const float *A, float *B)
    {
        __shared__ float s[96];
        s[threadIdx.x] = A[threadIdx.x];
        if (threadIdx.x < 64) __syncthreads();
        B[threadIdx.x] = s[95 - threadIdx.x];
        __syncthreads();
    }"""
    report = trace(source, "k", 1, 96, [some(96), some(96)])
    first, *others = [(error["tool"], error["line"]) for error in report.errors]
    assert first == ("synccheck", 5) and "racecheck" in {tool for tool, _ in others}, report


def test_synccheck_counts_threads_not_barriers():
    source = "__global__ void f() { if (threadIdx.x > 9) return; for (int k = 0; k < 5; k++) __syncthreads(); }"
    (error,) = trace(source, "f", 3, 32, []).errors
    assert error["count"] == 22 and "22 threads of block (0, 0, 0)" in error["message"]
    (error,) = trace(source.replace("> 9", "> 30"), "f", 1, 32, []).errors
    assert "thread (31, 0, 0) of block (0, 0, 0) has returned" in error["message"]
