// Many kernels of one program: they share helpers, names of variables, constants and one another's functions.
#include <cstdio>
#include <cstdint>
#include <math.h>
#define CHECK(i, n) if ((i) >= (n)) return
static const int BLOCK = 64;
__constant__ float coefficients[4] = {1.0f, 0.5f, 0.25f, 0.125f};
__device__ float total;
__device__ __forceinline__ int global_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
//: fill grid=2 block=64 args={"x": unset(100), "value": f4(2.5), "n": i4(100)} gives={"x": 2.5}
__global__ void fill(float *x, float value, int n)
{
    int i = global_id();
    CHECK(i, n);
    x[i] = value;
}
//: polynomial grid=2 block=64 args={"x": random(100), "y": unset(100), "n": i4(100)} gives={"y": 1 + x / 2 + x ** 2 / 4 + x ** 3 / 8}
__global__ void polynomial(const float *x, float *y, int n)
{
    int i = global_id();
    CHECK(i, n);
    float power = 1, sum = 0;
#pragma unroll 4
    for (int k = 0; k < 4; ++k, power *= x[i])
        sum += coefficients[k] * power;
    y[i] = sum;
}
//: add_to_total grid=2 block=64 args={"x": ones(128), "n": i4(128)} symbols={"total": zeros(1)} gives={"x": np.ones(128)}
__global__ void add_to_total(const float *x, int n)
{
    __shared__ float tile[BLOCK];
    tile[threadIdx.x] = x[global_id()];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int k = 0; k < BLOCK; ++k)
            atomicAdd(&total, tile[k]);
}
//: take_total block=1 args={"out": unset(1)} symbols={"total": 7 * ones(1)} gives={"out": 7}
__global__ void take_total(float *out) { *out = total; }
//: same_names grid=2 block=64 args={"x": random(128, 2)} gives={"x": np.roll(x.reshape(2, 64), 1, 1).ravel()}
__global__ void same_names(float *x)
{
    __shared__ float tile[BLOCK];
    tile[(threadIdx.x + 1) % BLOCK] = x[global_id()];
    __syncthreads();
    x[global_id()] = tile[threadIdx.x];
}
//: fixed_width_types grid=2 block=50 args={"a": arange(100, np.uint8), "b": arange(100, np.int16), "c": arange(100, np.uint64), "out": unset(100, np.int64), "n": np.uint64(100)} gives={"out": a.astype(np.int64) + b + c.astype(np.int64) + 2}
extern "C" __global__ void fixed_width_types(const uint8_t *a, const int16_t *b, const uint64_t *c, int64_t *out, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (int64_t)a[i] + b[i] + (int64_t)c[i] + (sizeof(float) >> 1);
}
//: elementary_functions block=64 args={"x": random(64, 3), "out": unset((8, 64))} rtol=1e-4
//+ gives={"out": [np.sin(x), np.cos(x), np.exp(x), np.log(x + 2), np.tanh(x), x ** 2, np.floor(x), abs(x) ** 0.5]}
__global__ void elementary_functions(const float *x, float *out)
{
    int i = threadIdx.x;
    float v = x[i];
    out[i] = __sinf(v);
    out[64 + i] = __cosf(v);
    out[128 + i] = expf(v);
    out[192 + i] = logf(v + 2);
    out[256 + i] = tanhf(v);
    out[320 + i] = powf(v, 2.f);
    out[384 + i] = floorf(v);
    out[448 + i] = sqrtf(fabs(v));
}
//: more_functions block=64 args={"x": random(64, 4), "out": unset((7, 64))} rtol=1e-4
//+ gives={"out": [np.fmod(x * 5, 1.5), np.cbrt(x), np.hypot(x, 2), 1 / (1 + np.exp(-x)), np.log1p(x + 1), np.clip(x, -0.5, 0.5), np.sign(x)]}
__global__ void more_functions(const float *x, float *out)
{
    int i = threadIdx.x;
    out[i] = fmodf(x[i] * 5, 1.5f);
    out[64 + i] = cbrtf(x[i]);
    out[128 + i] = hypotf(x[i], 2.0f);
    out[192 + i] = 1.f / (1.f + __expf(-x[i]));
    out[256 + i] = log1pf(x[i] + 1);
    out[320 + i] = min(max(x[i], -0.5f), 0.5f);
    out[384 + i] = copysignf(1.0f, x[i]);
}
// A host's part below the kernels, as programs have it.
#ifndef __CUDACC_RTC__
static inline int blocks_for(int n) { return (n + BLOCK - 1) / BLOCK; }
#endif
