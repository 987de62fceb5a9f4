"""What synccheck says of shuffles and barriers, and how racecheck grades threads that store to one place."""

import numpy as np
import pytest
from engine_runs import line, needs_compiler, run

from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler

SHUFFLES = r"""
__global__ void too_wide_for_its_mask(float *A)
{
    float v = A[threadIdx.x];
    if (threadIdx.x < 16) {
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffff, v, d);  // too_wide_for_its_mask
        A[threadIdx.x] = v;
    }
}
__global__ void beyond_the_last_lane(float *A)
{
    float v = A[threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(~0u, v, d);  // beyond_the_last_lane
    if (threadIdx.x % 32 == 0) A[threadIdx.x] = v;
}
__global__ void from_one_that_returned(int *A)
{
    if (threadIdx.x > 20) return;
    int v = A[threadIdx.x];
    A[threadIdx.x] = max(v, __shfl_xor_sync(~0u, v, 16));  // from_one_that_returned
}
__global__ void least_of_some(int *A)
{
    int v = A[threadIdx.x];
    if (threadIdx.x < 10)
        A[threadIdx.x] = min(v, __shfl_sync(0x3ff, v, 10));  // least_of_some
}
__global__ void not_used(float *A)
{
    if (threadIdx.x >= 20) return;
    float v = A[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) {
        float w = __shfl_down_sync(0xfffff, v, d);
        if (threadIdx.x + d < 20) v += w;
    }
    if (threadIdx.x == 0) { A[0] = v; printf("once"); }
}
__global__ void segments(float *A)
{
    float v = A[threadIdx.x];
    for (int d = 4; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d, 8);
    v += __shfl_up_sync(~0u, v, 1);
    A[threadIdx.x] = __shfl_xor_sync(~0u, v, 8, 8);
}
"""


@pytest.mark.parametrize(
    "kernel, block, lane, times, words",
    [
        ("too_wide_for_its_mask", 32, 16, 31, "which the mask leaves out"),
        ("beyond_the_last_lane", 48, 16, 31, "which the block does not have"),
        ("from_one_that_returned", 32, 21, 11, "which has returned"),
        ("least_of_some", 32, 10, 10, "which the mask leaves out"),
    ],
)
def test_a_shuffle_from_a_lane_that_is_not_there(kernel, block, lane, times, words):
    dtype = np.int32 if "int *A" in SHUFFLES.split(kernel)[1][:10] else np.float32
    (error,) = trace(SHUFFLES, kernel, 1, block, [np.arange(64, dtype=dtype)]).errors
    assert (error["tool"], error["line"]) == ("synccheck", line(SHUFFLES, kernel))
    assert f"lane {lane}" in error["message"] and words in error["message"]
    assert error["count"] == times and error["thread"][0] % 32 < lane


@pytest.mark.parametrize("how", ["plain", "traced"])
def test_it_gives_back_poison(how):
    A = np.arange(64, dtype=np.float32)
    if how == "plain":
        run(how, SHUFFLES, "too_wide_for_its_mask", 1, 32, [A])
    else:
        trace(SHUFFLES, "too_wide_for_its_mask", 1, 32, [A])
    assert np.isnan(A[:16]).all() and (A[16:] == np.arange(16, 64)).all()


def test_what_no_result_depends_on_is_no_error():
    A = np.arange(64, dtype=np.float32)
    report = trace(SHUFFLES, "not_used", 1, 32, [A])
    assert report.ok and A[0] == 190 and report.printed == "once", report
    assert report.total("requests", op="store") == 1


def test_outside_of_the_segment_a_lane_keeps_its_own_value():
    A = np.ones(32, np.float32)
    assert trace(SHUFFLES, "segments", 1, 32, [A]).ok
    assert (A == 16).all()


STORES = r"""
__global__ void one_place(int *A) { A[0] = 7; }
__global__ void found(int *A)
{
    __shared__ int any;
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    if (A[threadIdx.x] > 3) any = 1;
    __syncthreads();
    A[threadIdx.x] = any;
}
__global__ void changed(int *A) { if (A[threadIdx.x + 1] >= 0) A[0] = 1; }
__global__ void bytes(char *A) { A[threadIdx.x / 2] = threadIdx.x / 2; }
__global__ void other_values(int *A) { A[0] = A[threadIdx.x + 1]; }  // other_values
__global__ void sometimes(int *A) { A[0] = threadIdx.x < 60; }  // sometimes
__global__ void same_work(const int *X, int *A) { A[threadIdx.x] = X[threadIdx.x]; }  // same_work
__global__ void count(int *A) { A[0] += 1; }  // count
__global__ void two_stores(int *A)
{
    if (threadIdx.x == 0) A[0] = 5;
    if (threadIdx.x == 40) A[0] = 5;
}
__global__ void read_too(int *A)
{
    if (threadIdx.x == 0) A[0] = 5;
    A[threadIdx.x + 1] = A[0];  // read_too
}
"""


@pytest.mark.parametrize(
    "kernel, grid, array",
    [("one_place", 1, "A"), ("found", 1, "any"), ("changed", 3, "A"), ("two_stores", 1, "A")],
)
def test_the_same_value_is_a_note(kernel, grid, array):
    report = trace(STORES, kernel, grid, 64, [np.arange(65, dtype=np.int32)])
    assert report.ok and report.errors == [], report
    note = report.notes[0]
    assert (note["tool"], note["array"]) == ("racecheck", array)
    assert "with the same value" in note["message"] and "barrier" not in note["message"]
    assert note["message"] in str(report) and set(note) >= {
        "line",
        "block",
        "thread",
        "count",
        "kind",
    }
    assert [n["kind"] for n in report.notes] == ["block", "blocks"][: 1 + (grid > 1)]


def test_the_same_bytes_are_a_note():
    report = trace(STORES, "bytes", 1, 64, [np.zeros(65, np.int8)])
    assert report.ok and report.notes[0]["count"] == 32


@pytest.mark.parametrize(
    "kernel, grid, words",
    [
        (
            "other_values",
            1,
            "give each thread its own element, let one thread write, or use an atomic",
        ),
        ("sometimes", 1, "A barrier cannot help"),
        ("count", 1, "which needs an atomic"),
        ("read_too", 1, "a barrier is missing"),
        ("same_work", 2, "two blocks access the same element"),
    ],
)
def test_other_races_are_errors_with_advice_that_fits(kernel, grid, words):
    X, A = np.arange(64, dtype=np.int32), np.arange(65, dtype=np.int32)
    report = trace(STORES, kernel, grid, 64, [X, A] if kernel == "same_work" else [A])
    (error,) = report.errors
    lines = (error["line"], error["other"]["line"])
    assert error["tool"] == "racecheck" and line(STORES, kernel) in lines and not report.notes
    assert words in error["message"]


BARRIERS = r"""
template <class T> DEVICE T both(T *s, T v)
{
    s[threadIdx.x] = v;
    __syncthreads();  // barrier
    return s[threadIdx.x ^ 1];
}
DEVICE void meet() { __syncthreads(); }
__global__ void two_in_one_line(float *A)
{
    if (threadIdx.x < 32) __syncthreads(); else __syncthreads();
}
__global__ void called_in_both_branches(float *A)
{
    __shared__ float s[64];
    if (threadIdx.x < 32) A[threadIdx.x] = both(s, 1.0f);
    else A[threadIdx.x] = both(s, 2.0f);
}
__global__ void one_after_the_other(float *A)
{
    if (threadIdx.x < 32) meet();
    A[threadIdx.x] = 1;
    meet();
    A[threadIdx.x] += 1;
    if (threadIdx.x >= 32) meet();
}
__global__ void right(float *A)
{
    __shared__ float s[64];
    float v = 0;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) v += 1;
        v += both(s, v);
        if (threadIdx.x < 32) v += 1;
        meet();
        if (threadIdx.x < 32) A[threadIdx.x] += s[threadIdx.x + 32];
        meet();
    }
    #pragma unroll
    for (int k = 0; k < 4; k++) { v += both(s, v); meet(); }
    for (int k = 0; k < threadIdx.x; k++) v += 1;
    A[threadIdx.x] = v + both(s, v);
    if (blockIdx.x == 0) { __syncthreads(); A[threadIdx.x] = 1; } else { __syncthreads(); A[threadIdx.x + 64] = 2; }
}
"""
KINDS = [
    "__device__",
    "static __device__",
    "__device__ inline",
    "__noinline__ __device__",
    "__device__ __forceinline__",
]


@pytest.mark.parametrize("kind", KINDS[:-1])  # what is inlined by force cannot be told apart
@pytest.mark.parametrize(
    "kernel", ["two_in_one_line", "called_in_both_branches", "one_after_the_other"]
)
def test_threads_at_different_barriers_of_one_line(kernel, kind):
    source = BARRIERS.replace("DEVICE", kind)
    error, *_ = trace(source, kernel, 1, 64, [np.ones(128, np.float32)], no_extern_c=True).errors
    assert (error["tool"], error["kind"], error["count"]) == ("synccheck", "different", 32)
    assert "another one in this line" in error["message"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_barrier_that_the_compiler_doubles_is_one_barrier(kind):
    source = BARRIERS.replace("DEVICE", kind)
    report = trace(source, "right", 2, 64, [np.ones(128, np.float32)], no_extern_c=True)
    assert not [e for e in report.errors if e["tool"] == "synccheck"], report


WARPS = r"""
__global__ void functions(unsigned *A, int *B)
{
    unsigned i = threadIdx.x;
    int all;
    A[i] = __reduce_add_sync(~0u, i);
    B[i] = __reduce_max_sync(0xffu << i / 8 * 8, (int)i - 100);
    B[32 + i] = __reduce_min_sync(~0u, (int)i - 100);
    A[32 + i] = __reduce_or_sync(~0u, 1u << i / 4) ^ __reduce_and_sync(~0u, i | 64);
    A[32 + i] ^= __reduce_xor_sync(~0u, i == 3 ? 128u : 0u);
    A[64 + i] = __match_any_sync(~0u, i / 5);
    A[96 + i] = __match_all_sync(~0u, 3.5f, &all) + all;
    B[64 + i] = __match_all_sync(~0u, i / 16 == 0, &all) + all;
    __nanosleep(100);
}
__global__ void who_is_here(int *A)
{
    if (threadIdx.x % 3 == 0) {
        unsigned here = __activemask(), lane = threadIdx.x % 32;
        int leader = __ffs(here) - 1, base = 0;
        if (lane == leader) base = atomicAdd(&A[0], __popc(here));
        base = __shfl_sync(here, base, leader);
        A[1 + base + __popc(here & ((1u << lane) - 1))] = threadIdx.x;
    }
}
__global__ void stop(int *A) { A[threadIdx.x] = 1; if (threadIdx.x == 5) __trap(); }  // stop
"""


@pytest.mark.parametrize("how", ["plain", "traced"])
def test_functions_of_a_warp(how):
    A, B, i = np.zeros(128, np.uint32), np.zeros(96, np.int32), np.arange(32)
    run(how, WARPS, "functions", 1, 32, [A, B])
    assert (
        (A[:32] == 496).all()
        and (B[:32] == i // 8 * 8 + 7 - 100).all()
        and (B[32:64] == -100).all()
    )
    assert (A[32:64] == 255 ^ 64 ^ 128).all() and (A[96:] == 0).all() and (B[64:] == 0).all()
    assert (A[64:96] == [sum(1 << j for j in i if j // 5 == k // 5) for k in i]).all()


@pytest.mark.parametrize("how", ["plain", "traced"])
def test_the_active_mask_is_of_those_in_the_branch(how):
    A = np.zeros(64, np.int32)
    run(how, WARPS, "who_is_here", 1, 64, [A])
    assert A[0] == 22 and sorted(A[1:23]) == list(range(0, 64, 3))


def test_trap_is_a_crash_at_its_line():
    (error,) = trace(WARPS, "stop", 1, 32, [np.zeros(32, np.int32)]).errors
    assert (error["tool"], error["line"]) == ("crash", line(WARPS, "stop"))
