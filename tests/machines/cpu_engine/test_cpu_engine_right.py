"""Correct kernels of every feature of the subset: right numbers, plain and traced (and on a GPU), and no reports."""

import numpy as np
import pytest
from engine_runs import everywhere, needs_compiler, run

pytestmark = needs_compiler

BASICS = r"""
#include <stdio.h>
#include <cuda_runtime.h>
#define TILE 16
struct Scale { float factor, shift; int n; };
__constant__ float weights[4];
__device__ int counter;
__device__ float square(float x) { return x * x; }
static __device__ __forceinline__ float twice(float x) { return 2 * x; }

__global__ void saxpy(const float *__restrict__ x, float *__restrict__ y, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void grid_stride(float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = twice(square(y[i]));
}
__global__ void three_d(int *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z;
}
__global__ void __launch_bounds__(256) transpose(const float *a, float *b, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];  // a comment with __shared__ int x; in it
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = a[r * cols + c];
    __syncthreads();
    c = blockIdx.y * TILE + threadIdx.x, r = blockIdx.x * TILE + threadIdx.y;
    if (r < cols && c < rows) b[r * rows + c] = tile[threadIdx.x][threadIdx.y];
}
__global__ void several(const float *a, float *b)
{
    __shared__ float s[64], t[2][32], alone;
    int i = threadIdx.x;
    if (i == 0) alone = 1;
    s[i] = a[i]; t[i / 32][i % 32] = 10 * a[i];
    __syncthreads();
    b[i] = s[63 - i] + t[(63 - i) / 32][i % 32 ^ 31] * alone;
}
__global__ void branches(const float *a, float *b)
{
    int i = threadIdx.x;
    if (blockIdx.x == 0) {
        __shared__ float s[32];
        s[i] = a[i];
        __syncthreads();
        b[i] = s[31 - i];
    } else {
        __shared__ double s[32];
        s[i] = a[32 + i];
        __syncthreads();
        b[32 + i] = (float)s[i ^ 1];
    }
}
__global__ void dynamic(const float *a, float *b, int n)
{
    extern __shared__ float buffer[];
    float *first = buffer, *second = buffer + n;
    first[threadIdx.x] = a[threadIdx.x];
    second[threadIdx.x] = -a[threadIdx.x];
    __syncthreads();
    b[threadIdx.x] = first[n - 1 - threadIdx.x] + 3 * second[(threadIdx.x + 1) % n];
}
__global__ void votes(const int *a, int *b)
{
    int i = threadIdx.x, p = a[i];
    b[i] = __syncthreads_count(p);
    b[64 + i] = __syncthreads_and(p) + 2 * __syncthreads_or(p);
    unsigned mine = __ballot_sync(0xffffffffu, p);
    b[128 + i] = __popc(mine) + 100 * __any_sync(~0u, p) + 200 * __all_sync(~0u, p);
    if (i % 32 < 7) b[192 + i] = __ballot_sync(0x7fu, p);
}
__global__ void shuffles(const float *a, float *b)
{
    int i = threadIdx.x;
    float v = a[i];
    b[i] = __shfl_sync(~0u, v, 3);
    b[32 + i] = __shfl_sync(~0u, v, 11, 8);
    b[64 + i] = __shfl_up_sync(~0u, v, 2, 16);
    b[96 + i] = __shfl_down_sync(~0u, v, 3, 8);
    b[128 + i] = __shfl_xor_sync(~0u, v, 5);
    b[160 + i] = (float)__shfl_xor_sync(~0u, (double)v, 16);
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (i == 0) b[192] = v;
    if (i < 4) b[193 + i] = __shfl_sync(0xfu, a[i], i + 1, 4);
}
__global__ void warp_reduce(const float *a, float *b)
{
    __shared__ float s[64];
    int i = threadIdx.x;
    s[i] = a[i];
    for (int d = 16; d > 0; d /= 2) {
        __syncwarp();
        float v = i % 32 < d ? s[i + d] : 0;
        __syncwarp();
        s[i] += v;
    }
    __syncwarp();
    if (i % 32 == 0) b[i / 32] = s[i];
}
__global__ void atomics(int *v, float *f, unsigned *u, unsigned long long *l, double *d)
{
    int i = threadIdx.x + 1;
    atomicAdd(&v[0], i); atomicSub(&v[1], i); atomicMin(&v[2], i - 5); atomicMax(&v[3], i); atomicOr(&v[4], 1 << i % 8);
    atomicAnd(&v[5], ~(1 << i % 8)); atomicXor(&v[6], i); atomicExch(&v[7], 7);
    atomicAdd(f, 0.5f); atomicInc(&u[0], 10u); atomicDec(&u[1], 10u); atomicAdd(l, 3ULL); atomicAdd(d, 0.25);
    int seen = *(volatile int *)&v[8 + threadIdx.x], expected;
    do { expected = seen; seen = atomicCAS(&v[8 + threadIdx.x], expected, expected + i); } while (seen != expected);
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&v[7 + 65], total);
}
__global__ void vectors(const float4 *a, float2 *b, float4 *c, float *out)
{
    int i = threadIdx.x;
    __shared__ float4 s[32];
    s[i] = a[i];
    __syncthreads();
    float4 v = s[31 - i];
    float2 w = make_float2(v.x + v.y, v.z * v.w);
    b[i] = w;
    c[i] = make_float4(v.w, v.z, v.y, v.x);
    out[i] = reinterpret_cast<const float *>(a)[4 * i + 1];
}
__global__ void intrinsics(const float *x, float *y, int n)
{
    int i = threadIdx.x;
    float v = x[i];
    if (i >= n) return;
    y[i] = __expf(v) + __logf(v) + rsqrtf(v) + fmaxf(v, 0.5f) + max(1, 2) + min(v, 0.25f) + __fdividef(1.0f, v)
         + fmaf(v, v, 1.0f) + __saturatef(v * 3) + tanhf(v) + __powf(v, 2.0f) + sqrtf(v)
         + __popc(7u) + __clz(1) + __ffs(8)
         + __int_as_float(__float_as_int(v)) + __ldg(x + i) + fabsf(-v) + floorf(v) + __sinf(v) + __cosf(v);
}
__global__ void by_struct(float *y, Scale s, float4 four, double d, unsigned char c, bool yes)
{
    if (threadIdx.x < s.n) y[threadIdx.x] = s.factor * y[threadIdx.x] + s.shift + four.w + (float)d + c + (yes ? 1 : 0);
}
__global__ void constants(float *y)
{
    #pragma unroll
    for (int k = 0; k < 4; k++) y[threadIdx.x] += weights[k];
    #pragma unroll 2
    for (int k = 0; k < 4; k++) y[threadIdx.x] += k;
    atomicAdd(&counter, 1);
}
__global__ void says(int n) { if (threadIdx.x == 1) printf("thread %d of %d: %.2f\n", threadIdx.x, n, 0.5f); }
__global__ void local_array(const float *a, float *b, int k)
{
    float mine[8];
    for (int j = 0; j < 8; j++) mine[j] = a[threadIdx.x * 8 + j];
    float s = 0;
    for (int j = 0; j < 8; j++) s += mine[(j * k) % 8] * (j + 1);
    b[threadIdx.x] = s;
}
__device__ unsigned tickets;
__global__ void sum_in_one_launch(const float *a, float *partial, float *sum, int n)
{
    __shared__ float s[64];
    __shared__ bool last;
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += a[i];
    s[threadIdx.x] = mine;
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float all = 0;
        for (int b = 0; b < gridDim.x; b++) all += partial[b];
        *sum = all;
    }
}
"""

TEMPLATES = r"""
template <typename T, int N> __device__ T reversed(const T *a, int i)
{
    __shared__ T s[N];
    s[i] = a[i];
    __syncthreads();
    return s[N - 1 - i];
}
extern "C" __global__ void both(const float *a, float *b, const int *c, int *d)
{
    b[threadIdx.x] = reversed<float, 64>(a, threadIdx.x);
    d[threadIdx.x] = reversed<int, 64>(c, threadIdx.x);
}
"""


def floats(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 1, shape).astype(np.float32)


@everywhere
def test_ragged_blocks_and_grid_stride(how):
    x, y = floats(1000), floats(1000, seed=1)
    expected = np.float32(2) * x + y
    run(how, BASICS, "saxpy", 8, 128, [x, y, np.float32(2), np.int32(1000)])
    np.testing.assert_allclose(y, expected, rtol=1e-6)
    z = floats(777)
    expected = 2 * z * z
    run(how, BASICS, "grid_stride", 3, 50, [z, np.int32(777)])
    np.testing.assert_allclose(z, expected, rtol=1e-6)


@everywhere
def test_three_dimensions(how):
    out = np.full((5, 7, 9), -1, np.int32)
    run(how, BASICS, "three_d", (3, 2, 3), (4, 4, 2), [out, *np.int32([9, 7, 5])])
    z, y, x = np.indices((5, 7, 9))
    assert (out == x + 100 * y + 10000 * z).all()


@everywhere
def test_shared_memory(how):
    a = floats(37, 21)
    b = np.full((21, 37), np.nan, np.float32)
    run(how, BASICS, "transpose", (2, 3), (16, 16), [a, b, np.int32(37), np.int32(21)])
    assert (b == a.T).all()
    a, b = floats(64), np.full(64, np.nan, np.float32)
    run(how, BASICS, "several", 1, 64, [a, b])
    i = np.arange(64)
    np.testing.assert_allclose(
        b, a[63 - i] + 10 * a[(63 - i) // 32 * 32 + (i % 32 ^ 31)], rtol=1e-6
    )
    run(how, BASICS, "branches", 2, 32, [a, b])
    assert (b[:32] == a[:32][::-1]).all() and (b[32:] == a[32 + (np.arange(32) ^ 1)]).all()
    run(how, BASICS, "dynamic", 1, 64, [a, b, np.int32(64)], shared=2 * 64 * 4)
    np.testing.assert_allclose(b, a[::-1] - 3 * np.roll(a, -1), rtol=1e-5)


@everywhere
def test_votes(how):
    a, b = (np.arange(64) % 3 == 0).astype(np.int32), np.zeros(256, np.int32)
    run(how, BASICS, "votes", 1, 64, [a, b])
    assert (b[:64] == a.sum()).all() and (b[64:128] == 2).all()
    counts = np.repeat(a.reshape(2, 32).sum(1), 32)
    assert (b[128:192] == counts + 100).all()
    low = [sum(int(a[w * 32 + k]) << k for k in range(7)) for w in (0, 1)]
    assert (b[192:199] == low[0]).all() and (b[224:231] == low[1]).all()


@everywhere
def test_shuffles(how):
    a, b, i = floats(32), np.full(197, np.nan, np.float32), np.arange(32)
    run(how, BASICS, "shuffles", 1, 32, [a, b])
    assert (b[:32] == a[3]).all() and (b[32:64] == a[i // 8 * 8 + 3]).all()
    assert (b[64:96] == np.where(i % 16 < 2, a, a[i - 2])).all()
    assert (b[96:128] == np.where(i % 8 + 3 > 7, a, a[(i + 3) % 32])).all()
    assert (b[128:160] == a[i ^ 5]).all() and (b[160:192] == a[i ^ 16]).all()
    np.testing.assert_allclose(b[192], a.sum(), rtol=1e-5)
    assert (b[193:] == a[[1, 2, 3, 0]]).all()
    a, b = floats(64), np.full(2, np.nan, np.float32)
    run(how, BASICS, "warp_reduce", 1, 64, [a, b])
    np.testing.assert_allclose(b, a.reshape(2, 32).sum(1), rtol=1e-5)


@everywhere
def test_atomics(how):
    v = np.zeros(80, np.int32)
    v[5] = 255
    f, u, n, d = (
        np.zeros(1, np.float32),
        np.zeros(2, np.uint32),
        np.zeros(1, np.uint64),
        np.zeros(1),
    )
    run(how, BASICS, "atomics", 3, 64, [v, f, u, n, d])
    assert v[:8].tolist() == [3 * 64 * 65 // 2, -3 * 64 * 65 // 2, -4, 64, 255, 0, 64, 7]
    assert f[0] == 96 and n[0] == 3 * 192 and d[0] == 48
    assert u.tolist() == [192 % 11, (-192) % 11]
    assert v[72] == 192 + 0 and (v[8:72] == 3 * np.arange(1, 65)).all()


@everywhere
def test_vectors_and_structs(how):
    a, b, c, out = (
        floats(32, 4),
        np.zeros((32, 2), np.float32),
        np.zeros((32, 4), np.float32),
        np.zeros(32, np.float32),
    )
    run(how, BASICS, "vectors", 1, 32, [a, b, c, out])
    r = a[::-1]
    assert (b == np.stack([r[:, 0] + r[:, 1], r[:, 2] * r[:, 3]], 1)).all() and (
        c == r[:, ::-1]
    ).all()
    assert (out == a[:, 1]).all()
    y = floats(32)
    expected = np.where(np.arange(32) < 20, 2 * y + 3 + 4 + 5 + 6 + 1, y)
    scale = np.array((2, 3, 20), [("factor", "f4"), ("shift", "f4"), ("n", "i4")])[()]
    four = np.array((1, 2, 3, 4), [(k, "f4") for k in "xyzw"])[()]
    run(
        how,
        BASICS,
        "by_struct",
        1,
        32,
        [y, scale, four, np.float64(5), np.uint8(6), np.bool_(True)],
    )
    np.testing.assert_allclose(y, expected, rtol=1e-6)


@everywhere
def test_intrinsics(how):
    x, y = floats(32), np.full(32, np.nan, np.float32)
    run(how, BASICS, "intrinsics", 1, 32, [x, y, np.int32(30)])
    v = x.astype(np.float64)
    expected = (
        np.exp(v)
        + np.log(v)
        + v**-0.5
        + np.maximum(v, 0.5)
        + 2
        + np.minimum(v, 0.25)
        + 1 / v
        + v * v
        + 1
        + np.clip(3 * v, 0, 1)
        + np.tanh(v)
        + v * v
        + np.sqrt(v)
        + 3
        + 31
        + 4
        + v
        + v
        + v
        + np.floor(v)
        + np.sin(v)
        + np.cos(v)
    )
    np.testing.assert_allclose(y[:30], expected[:30], rtol=1e-4)
    assert np.isnan(y[30:]).all()


@everywhere
def test_symbols_locals_and_unrolled_loops(how):
    y, w = np.zeros(32, np.float32), floats(4)
    run(how, BASICS, "constants", 1, 32, [y], symbols={"weights": w})
    np.testing.assert_allclose(y, w.sum() + 6, rtol=1e-5)
    a, b = floats(32, 8), np.zeros(32, np.float32)
    run(how, BASICS, "local_array", 1, 32, [a, b, np.int32(3)])
    np.testing.assert_allclose(b, a[:, np.arange(8) * 3 % 8] @ np.arange(1, 9), rtol=1e-5)


@everywhere
def test_sum_in_one_launch(how):
    a, partial, total = floats(1000), np.full(6, np.nan, np.float32), np.full(1, np.nan, np.float32)
    run(how, BASICS, "sum_in_one_launch", 6, 64, [a, partial, total, np.int32(1000)])
    np.testing.assert_allclose(total[0], a.sum(), rtol=1e-5)


@everywhere
def test_templates(how):
    a, b = floats(64), np.zeros(64, np.float32)
    c, d = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(how, TEMPLATES, "both", 1, 64, [a, b, c, d], no_extern_c=True)
    assert (b == a[::-1]).all() and (d == c[::-1]).all()


@pytest.mark.parametrize("how", ["plain", "traced"])
def test_printf(how):
    assert run(how, BASICS, "says", 1, 4, [np.int32(4)]) == "thread 1 of 4: 0.50\n"


WAITING = r"""
__global__ void waiting(const float *x, float *y, int *count, int rounds)
{
    __shared__ float s[1024];
    int t = threadIdx.x, n = blockDim.x, half = 0;
    float first = x[t], second = 2 * first, kept[4] = {first, second, 3 * first, 4 * first};
    for (int k = 0; k < rounds; k++) {
        s[t] = kept[k % 4] + second;
        __syncthreads();
        first += s[(t + k + 1) % n];
        if (k % 3 == 0) half += __syncthreads_count(t % 2);
        else __syncthreads();
        if (k % 4 == 1) first += __shfl_xor_sync(__activemask(), first, 1);
    }
    if (t >= n / 2 && rounds % 2) return;  // from here on half of them wait, or none
    y[t] = first + second, count[t] = half;
}
"""


@everywhere
@pytest.mark.parametrize(("threads", "rounds"), [(2, 5), (32, 4), (70, 9), (256, 7), (1024, 6)])
def test_numbers_outlive_all_kinds_of_waiting(how, threads, rounds):
    x = np.random.default_rng(threads).integers(0, 9, threads).astype(np.float32)
    first, half, t = x.copy(), 0, np.arange(threads)
    for k in range(rounds):
        s = (1 + k % 4) * x + 2 * x
        first += s[(t + k + 1) % threads]
        half += threads // 2 * (k % 3 == 0)
        if k % 4 == 1:
            first += first[t ^ 1]
    y, count = np.full(threads, -1, np.float32), np.full(threads, -1, np.int32)
    run(how, WAITING, "waiting", 1, threads, [x, y, count, np.int32(rounds)])
    written = t < (threads // 2 if rounds % 2 else threads)
    np.testing.assert_array_equal(y, np.where(written, first + 2 * x, -1))
    np.testing.assert_array_equal(count, np.where(written, half, -1))
