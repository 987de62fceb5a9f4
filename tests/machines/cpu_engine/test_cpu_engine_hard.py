"""Kernels on which racecheck and synccheck could be wrong: each is right (no report) or wrong in one place (that line).

What cannot be judged is listed in the README of the engine's folder; test_what_it_cannot_see shows some of it.
"""

import numpy as np
import pytest
from engine_runs import everywhere, line, needs_compiler, run

from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler

RIGHT = r"""
__global__ void double_buffer(const float *A, float *B, int *C)
{
    __shared__ float buffer[2][64];
    float s = 0;
    for (int k = 0; k < 5; k++) {
        buffer[k % 2][threadIdx.x] = A[64 * k + threadIdx.x];
        __syncthreads();  // one barrier a step is enough: the next step writes the other half
        s += buffer[k % 2][63 - threadIdx.x];
    }
    B[threadIdx.x] = s;
}
__global__ void block_sum(const float *A, float *B, int *C)
{
    __shared__ float warps[2];
    float v = A[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    B[threadIdx.x] = warps[0] + warps[1];
}
__global__ void neighbours_in_a_warp(const float *A, float *B, int *C)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncwarp();
    float v = s[threadIdx.x ^ 1];
    __syncwarp();
    s[threadIdx.x] = v;
    __syncwarp();
    B[threadIdx.x] = s[threadIdx.x ^ 2];
}
__global__ void hand_over(const float *A, float *B, int *C)
{
    if (blockIdx.x == 0) {
        B[64 + threadIdx.x] = A[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) { __threadfence(); atomicExch(&C[0], 1); }
    } else {
        if (threadIdx.x == 0) { while (atomicAdd(&C[0], 0) == 0); __threadfence(); }
        __syncthreads();
        B[threadIdx.x] = B[64 + 63 - threadIdx.x];
    }
}
__global__ void hand_over_volatile(const float *A, float *B, int *C)
{
    volatile int *flag = C;
    if (blockIdx.x == 0) {
        B[64 + threadIdx.x] = A[threadIdx.x];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *flag = 1;
    } else {
        if (threadIdx.x == 0) { while (*flag == 0); __threadfence(); }
        __syncthreads();
        B[threadIdx.x] = B[64 + 63 - threadIdx.x];
    }
}
__global__ void last_thread_sums(const float *A, float *B, int *C)
{
    if (threadIdx.x >= 32) return;
    B[64 + 32 * blockIdx.x + threadIdx.x] = A[32 * blockIdx.x + threadIdx.x];
    __threadfence();
    if (atomicAdd(&C[0], 1) == 63) {
        float s = 0;
        for (int i = 0; i < 64; i++) s += B[64 + i];
        B[0] = s;
    }
}
__global__ void shared_histogram(const float *A, float *B, int *C)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], 1);
    __syncthreads();
    B[threadIdx.x] = bins[(threadIdx.x + 1) % 4];
}
__global__ void stencil_in_place(const float *A, float *B, int *C)
{
    B[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    float v = B[(threadIdx.x + 1) % 64];
    __syncthreads();
    B[threadIdx.x] = v;
}
__global__ void scan(const float *A, float *B, int *C)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        float v = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
    }
    B[threadIdx.x] = s[threadIdx.x];
}
__global__ void some_lanes_leave(const float *A, float *B, int *C)
{
    if (threadIdx.x % 32 >= 20) return;
    float v = A[threadIdx.x];
    for (int d = 1; d < 20; d *= 2) {
        float w = __shfl_down_sync(0xfffffu, v, d);
        if (threadIdx.x % 32 + d < 20) v += w;
    }
    B[threadIdx.x] = v;
}
__global__ void locked(const float *A, float *B, int *C)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&C[0], 0, 1) != 0);
        __threadfence();
        B[0] += 1;
        __threadfence();
        atomicExch(&C[0], 0);
    }
}
__global__ void bytes_of_one_word(const float *A, float *B, int *C)
{
    __shared__ char s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    B[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void largest_by_cas(const float *A, float *B, int *C)
{
    int old = C[0], assumed;  // a guess: where it is wrong, the first atomicCAS says so
    do {
        assumed = old;
        old = atomicCAS(&C[0], assumed, __float_as_int(fmaxf(A[threadIdx.x], __int_as_float(assumed))));
    } while (assumed != old);
    __threadfence();
    if (atomicAdd(&C[1], 1) == 127) B[0] = __int_as_float(atomicAdd(&C[0], 0));
}
__global__ void sum_of_doubles_by_cas(const float *A, float *B, int *C)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    unsigned long long old = sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(&sum, assumed, __double_as_longlong(A[threadIdx.x] + __longlong_as_double(assumed)));
    } while (assumed != old);
    __syncthreads();
    B[threadIdx.x] = __longlong_as_double(sum);
}
"""

a64 = np.random.default_rng(4).uniform(1, 2, 5 * 64).astype(np.float32)
first = a64[:64]
# kernel, blocks, what the first elements of B must be
RESULTS = [
    ("double_buffer", 1, a64.reshape(5, 64)[:, ::-1].sum(0)),
    ("block_sum", 1, np.full(64, first.sum())),
    ("neighbours_in_a_warp", 1, first[np.arange(64) ^ 3]),
    ("hand_over", 2, first[::-1]),
    ("hand_over_volatile", 2, first[::-1]),
    ("last_thread_sums", 2, np.array([first.sum()])),
    ("shared_histogram", 1, np.full(64, 16)),
    ("stencil_in_place", 1, np.roll(first, -1)),
    ("scan", 1, np.cumsum(first)),
    ("some_lanes_leave", 1, first[None, :20][:, ::-1].cumsum(1)[0, ::-1]),
    ("locked", 3, np.array([3.0])),
    ("bytes_of_one_word", 1, np.arange(64) ^ 1),
    ("largest_by_cas", 2, first.max(keepdims=True)),
    ("sum_of_doubles_by_cas", 1, np.full(64, first.sum())),
]


@everywhere
@pytest.mark.parametrize("kernel, blocks, expected", RESULTS, ids=[row[0] for row in RESULTS])
def test_right(how, kernel, blocks, expected):
    B, C = np.zeros(128, np.float32), np.zeros(4, np.int32)
    run(how, RIGHT, kernel, blocks, 64, [a64, B, C])
    np.testing.assert_allclose(B[: len(expected)], expected, rtol=1e-5)


WRONG = r"""
__global__ void wrong_half(const float *A, float *B, int *C)
{
    __shared__ float buffer[2][64];
    float s = 0;
    for (int k = 0; k < 5; k++) {
        buffer[0][threadIdx.x] = A[64 * k + threadIdx.x];  // wrong_half
        __syncthreads();
        s += buffer[0][63 - threadIdx.x];
    }
    B[threadIdx.x] = s;
}
__global__ void no_syncwarp(const float *A, float *B, int *C)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    B[threadIdx.x] = s[threadIdx.x ^ 1];  // no_syncwarp
}
__global__ void syncwarp_for_two_warps(const float *A, float *B, int *C)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncwarp();
    B[threadIdx.x] = s[threadIdx.x ^ 32];  // syncwarp_for_two_warps
}
__global__ void old_warp_reduction(const float *A, float *B, int *C)
{
    __shared__ volatile float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] += s[threadIdx.x + 32];
        s[threadIdx.x] += s[threadIdx.x + 16];  // old_warp_reduction
    }
    __syncthreads();
    B[threadIdx.x] = s[0];
}
__global__ void no_fence(const float *A, float *B, int *C)
{
    if (blockIdx.x == 0) {
        B[64 + threadIdx.x] = A[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(&C[0], 1);
    } else {
        if (threadIdx.x == 0) while (atomicAdd(&C[0], 0) == 0);
        __syncthreads();
        B[threadIdx.x] = B[64 + 63 - threadIdx.x];  // no_fence
    }
}
__global__ void fence_before_barrier_missing(const float *A, float *B, int *C)
{
    if (blockIdx.x == 0) {
        B[64 + threadIdx.x] = A[threadIdx.x];
        if (threadIdx.x == 0) { __threadfence(); atomicExch(&C[0], 1); }  // the others may not have written yet
    } else {
        if (threadIdx.x == 0) while (atomicAdd(&C[0], 0) == 0);
        __syncthreads();
        B[threadIdx.x] = B[64 + 63 - threadIdx.x];  // fence_before_barrier_missing
    }
}
__global__ void taken_by_one_thread(const float *A, float *B, int *C)
{
    if (blockIdx.x == 0) {
        B[64 + threadIdx.x] = A[threadIdx.x];
        __syncthreads();
        if (threadIdx.x == 0) { __threadfence(); atomicExch(&C[0], 1); }
    } else {
        if (threadIdx.x == 0) while (atomicAdd(&C[0], 0) == 0);
        B[threadIdx.x] = B[64 + 63 - threadIdx.x];  // taken_by_one_thread
    }
}
__global__ void last_without_barrier(const float *A, float *B, int *C)
{
    __shared__ bool last;
    if (threadIdx.x == 0) last = atomicAdd(&C[0], 1) == 1;
    if (last) B[threadIdx.x] = A[threadIdx.x];  // last_without_barrier
}
__global__ void reset_beside_atomics(const float *A, float *B, int *C)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    atomicAdd(&count, 1);  // reset_beside_atomics
    __syncthreads();
    B[threadIdx.x] = count;
}
__global__ void scan_one_barrier(const float *A, float *B, int *C)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        if (threadIdx.x >= d) s[threadIdx.x] += s[threadIdx.x - d];  // scan_one_barrier
    }
    B[threadIdx.x] = s[threadIdx.x];
}
__global__ void neighbour_block(const float *A, float *B, int *C)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.x < 32) B[i] = A[i];
    __syncthreads();
    if (threadIdx.x < 32) B[64 + i] = B[63 - i];  // neighbour_block
}
__global__ void lock_without_fence(const float *A, float *B, int *C)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&C[0], 0, 1) != 0);
        B[0] += 1;  // lock_without_fence
        atomicExch(&C[0], 0);
    }
}
__global__ void read_that_no_cas_checks(const float *A, float *B, int *C)
{
    if (C[0] < threadIdx.x) atomicExch(&C[0], threadIdx.x);  // read_that_no_cas_checks
}
__global__ void cas_that_expects_something_else(const float *A, float *B, int *C)
{
    int old = C[0];  // cas_that_expects_something_else
    if (atomicCAS(&C[0], 99, 1) == 5) B[0] = old;
}
__global__ void read_again_after_the_cas(const float *A, float *B, int *C)
{
    int old = C[0];
    if (atomicCAS(&C[0], old, old + 1) == old)
        B[threadIdx.x] = C[0];  // read_again_after_the_cas
}
__global__ void shuffle_in_a_branch(const float *A, float *B, int *C)
{
    float v = A[threadIdx.x];
    if (threadIdx.x % 32 < 16)
        v += __shfl_down_sync(~0u, v, 8);  // shuffle_in_a_branch
    __syncthreads();
    B[threadIdx.x] = v;
}
__global__ void warps_at_different_barriers(const float *A, float *B, int *C)
{
    if (threadIdx.x < 32) {
        B[threadIdx.x] = A[threadIdx.x];
        __syncthreads();  // warps_at_different_barriers
    } else
        __syncthreads();
}
"""


@pytest.mark.parametrize(
    "kernel", [name.split("(")[0] for name in WRONG.split("__global__ void ")[1:]]
)
def test_wrong(kernel):
    B, C = np.zeros(128, np.float32), np.zeros(4, np.int32)
    body = WRONG.split(f"{kernel}(")[1].split("\n}\n")[0]
    blocks = 2 if "C[0]" in body or "blockIdx" in body else 1
    report = trace(WRONG, kernel, blocks, 64, [a64, B, C])
    synchronous = kernel in ("shuffle_in_a_branch", "warps_at_different_barriers")
    wanted = [
        error
        for error in report.errors
        if error["tool"] == ("synccheck" if synchronous else "racecheck")
    ]
    lines = [(error["line"], (error["other"] or {}).get("line")) for error in wanted]
    assert any(line(WRONG, kernel) in pair for pair in lines), report


UNSEEN = r"""
__global__ void inside_the_array(float *A, int n) { if (threadIdx.x == 0) A[0 * n + n] = 1; }
__global__ void stale(float *A, int n) { if (threadIdx.x > 0) A[threadIdx.x] = A[threadIdx.x] + 1; }
__global__ void other_path(float *A, int n) { if (n > 1000) A[n] = 1; }
struct alignas(16) Four { float v[4]; };
__global__ void copy_of_a_struct(float *A, int n) {
    Four f = *(const Four *)(A + 1);
    A[64 + threadIdx.x] = f.v[0] + f.v[3];
}
"""


@pytest.mark.parametrize("kernel", ["inside_the_array", "stale", "other_path", "copy_of_a_struct"])
def test_what_it_cannot_see(kernel):
    """A wrong row of the right array; old values that count as set; code that these arguments do not reach; whether a
    struct of one's own, whose members are moved one by one, lies where it may."""
    assert trace(UNSEEN, kernel, 1, 32, [np.zeros((4, 32), np.float32), np.int32(32)]).ok
