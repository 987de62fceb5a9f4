// Half precision.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
//: half_axpy grid=2 block=64 args={"a": f4(0.5), "x": random(100, 1).astype(np.float16), "y": random(100, 2).astype(np.float16), "n": i4(100)} rtol=2e-3 gives={"y": 0.5 * x.astype(f4) + y}
__global__ void half_axpy(float a, const half *x, half *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma(__float2half(a), x[i], y[i]);
}
//: half_accumulates_in_float grid=5 block=32 args={"x": random((5, 70), 3).astype(np.float16), "out": unset(5), "n": i4(70)} rtol=1e-4 gives={"out": (x.astype(f4) ** 2).sum(1)}
__global__ void half_accumulates_in_float(const __half *x, float *out, int n)
{
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        float v = __half2float(x[blockIdx.x * n + i]);
        sum += v * v;
    }
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}
//: half_operators block=50 grid=2 args={"x": random(100, 4).astype(np.float16), "y": 2 + random(100, 5).astype(np.float16), "out": unset(100, np.float16)} rtol=5e-3
//+ gives={"out": (x.astype(f4) + y) * x / y - x}
__global__ void half_operators(const half *x, const half *y, half *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half a = x[i], b = y[i];
    out[i] = (a + b) * a / b - a;
}
//: half_intrinsics block=100 args={"x": random(100, 6).astype(np.float16), "y": random(100, 7).astype(np.float16), "out": unset((4, 100), np.float16)} rtol=5e-3
//+ gives={"out": [x.astype(f4) + y, x.astype(f4) * y, x.astype(f4) - y, np.maximum(x, y)]}
__global__ void half_intrinsics(const half *x, const half *y, half *out)
{
    int i = threadIdx.x, n = blockDim.x;
    out[i] = __hadd(x[i], y[i]);
    out[n + i] = __hmul(x[i], y[i]);
    out[2 * n + i] = __hsub(x[i], y[i]);
    out[3 * n + i] = __hgt(x[i], y[i]) ? x[i] : y[i];
}
//: half2_pairs grid=2 block=32 args={"x": random(128, 8).astype(np.float16), "y": random(128, 9).astype(np.float16), "out": unset(128, np.float16)} rtol=5e-3 gives={"out": x.astype(f4) * y + y}
__global__ void half2_pairs(const half2 *x, const half2 *y, half2 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hadd2(__hmul2(x[i], y[i]), y[i]);
}
//: half2_parts block=32 args={"x": random(64, 10).astype(np.float16), "lows": unset(32), "sums": unset(32)} rtol=5e-3 gives={"lows": x[::2].astype(f4), "sums": x[::2].astype(f4) + x[1::2]}
__global__ void half2_parts(const half *x, float *lows, float *sums)
{
    int i = threadIdx.x;
    half2 pair = reinterpret_cast<const half2 *>(x)[i];
    float2 both = __half22float2(pair);
    lows[i] = __low2float(pair);
    sums[i] = both.x + both.y + 0.f * __high2float(pair);
}
//: half_functions block=64 args={"x": 1.5 + random(64, 11).astype(np.float16), "out": unset((3, 64), np.float16)} rtol=5e-3 gives={"out": [np.exp(x.astype(f4)), np.sqrt(x.astype(f4)), np.log(x.astype(f4))]}
__global__ void half_functions(const half *x, half *out)
{
    out[threadIdx.x] = hexp(x[threadIdx.x]);
    out[64 + threadIdx.x] = hsqrt(x[threadIdx.x]);
    out[128 + threadIdx.x] = hlog(x[threadIdx.x]);
}
//: half_tile_product grid=(2,2) block=(16,16) args={"A": random((32, 32), 12).astype(np.float16), "B": random((32, 32), 13).astype(np.float16), "C": unset((32, 32)), "n": i4(32)} rtol=1e-4 gives={"C": A.astype(f4) @ B.astype(f4)}
__global__ void half_tile_product(const half *A, const half *B, float *C, int n)
{
    __shared__ half As[16][16], Bs[16][16];
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        As[threadIdx.y][threadIdx.x] = A[(blockIdx.y * 16 + threadIdx.y) * n + k0 + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += __half2float(As[threadIdx.y][k]) * __half2float(Bs[k][threadIdx.x]);
        __syncthreads();
    }
    C[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = sum;
}
//: bfloat16_from_bits block=64 args={"x": (random(64, 14).view(u4) >> 16).astype(np.uint16), "out": unset(64)} gives={"out": 2 * (x.astype(u4) << u4(16)).view(f4)}
__global__ void bfloat16_from_bits(const __nv_bfloat16 *x, float *out)
{
    out[threadIdx.x] = __bfloat162float(x[threadIdx.x]) + (float)x[threadIdx.x];
}
//: bfloat16_rounds block=64 args={"x": random(64, 15), "out": unset(64)} rtol=8e-3 gives={"out": x}
__global__ void bfloat16_rounds(const float *x, float *out)
{
    __nv_bfloat16 b = __float2bfloat16(x[threadIdx.x]);
    out[threadIdx.x] = __bfloat162float(b);
}
