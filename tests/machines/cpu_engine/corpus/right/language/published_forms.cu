// Forms that published kernels have and the other files do not.
#include <cuda_runtime.h>
#include <math_constants.h>
#include <type_traits>

//: packed_sixteen_bytes grid=2 block=32 args={"out": unset(200), "x": random(200, 1), "n": i4(200)} gives={"out": 2 * x + 1}
template <class T> struct alignas(16) Packed {
    static constexpr int size = sizeof(int4) / sizeof(T);
    T payload[size];
    Packed() = default;
    __device__ explicit Packed(int4 bits)
    {
        static_assert(sizeof(bits) == sizeof(payload), "sixteen bytes");
        memcpy(&payload, &bits, sizeof(bits));
    }
    __device__ int4 bits() const
    {
        int4 all;
        memcpy(&all, &payload, sizeof(all));
        return all;
    }
    __device__ T &operator[](int i) { return payload[i]; }
};
template <class T> __device__ Packed<T> load(const T *at) { return Packed<T>{__ldcs(reinterpret_cast<const int4 *>(at))}; }
template <class T> __device__ void store(T *at, Packed<T> value) { *reinterpret_cast<int4 *>(at) = value.bits(); }
__global__ void packed_sixteen_bytes(float *out, const float *x, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * Packed<float>::size;
    if (i >= n)
        return;
    Packed<float> four = load(x + i), made;
    for (int k = 0; k < four.size; ++k)
        made[k] = 2.0f * four[k] + 1.0f;
    store(out + i, made);
}
//: reduction_as_a_parameter grid=3 block=96 args={"x": random(288, 2), "most": unset(3), "sum": unset(3)} gives={"most": x.reshape(3, 96).max(1), "sum": x.reshape(3, 96).sum(1)} rtol=1e-4
__device__ inline float warp_most(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xFFFFFFFF, v, d));
    return v;
}
__device__ inline float warp_sum(float v)
{
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_xor_sync(0xFFFFFFFF, v, d);
    return v;
}
template <float (*of_a_warp)(float)>
__device__ float of_a_block(float mine, float none = 0.0f)
{
    __shared__ float warps[32];  // one for each function
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    mine = of_a_warp(mine);
    if (lane == 0)
        warps[warp] = mine;
    __syncthreads();
    return of_a_warp(lane < blockDim.x / 32 ? warps[lane] : none);
}
__global__ void reduction_as_a_parameter(const float *x, float *most, float *sum)
{
    float mine = x[blockIdx.x * blockDim.x + threadIdx.x];
    float a = of_a_block<warp_most>(mine, -CUDART_INF_F), b = of_a_block<warp_sum>(mine);
    if (threadIdx.x == 0)
        most[blockIdx.x] = a, sum[blockIdx.x] = b;
}
//: activation_of_an_enumeration block=64 kernel="activation_of_an_enumeration<Activation::relu, true>" args={"x": random(64, 3), "y": unset(64)} gives={"y": np.maximum(x, 0) + np.float32(np.pi)}
enum class Activation { none, relu };
template <Activation> struct Function;
template <> struct Function<Activation::relu> {
    static __device__ float of(float v) { return fmaxf(v, 0.0f); }
};
template <Activation kind, bool shifted>
__global__ void activation_of_an_enumeration(const float *x, float *y)
{
    if constexpr (shifted)
        y[threadIdx.x] = Function<kind>::of(x[threadIdx.x]) + CUDART_PI_F;
    else
        y[threadIdx.x] = Function<kind>::of(x[threadIdx.x]);
}
//: limits_without_their_header block=64 args={"level": np.where(np.arange(64) % 3 == 0, 2 ** 32 - 1, 5).astype(u4), "least": np.full(1, 2 ** 31 - 1, i4), "x": arange(64, i4) + 7} gives={"level": np.where(np.arange(64) % 3 == 0, 1, 5), "least": [7]}
__global__ void limits_without_their_header(unsigned *level, int *least, const int *x)
{
    atomicCAS(&level[threadIdx.x], UINT_MAX, 1u);
    int mine = threadIdx.x < 60 ? x[threadIdx.x] : INT_MAX;
    atomicMin(least, mine);
}
//: halves_of_a_warp_in_branches block=32 args={"x": random(32, 4), "y": unset(32)} gives={"y": np.concatenate([x[15::-1], x[:15:-1]])}
__global__ void halves_of_a_warp_in_branches(const float *x, float *y)
{
    __shared__ float s[32];
    const int lane = threadIdx.x;
    const unsigned mine = lane < 16 ? 0x0000ffffu : 0xffff0000u;
    s[lane] = x[lane];
    if (lane < 16) {
        __syncwarp(mine);
        y[lane] = s[15 - lane];
    } else {
        __syncwarp(mine);
        y[lane] = s[47 - lane];
    }
}
//: one_buffer_of_three_types block=64 shared=512 args={"x": random(64, 5), "y": unset(64)} gives={"y": np.roll(x[::-1], -1) + (np.arange(64) ^ 1)}
__global__ void one_buffer_of_three_types(const float *x, float *y)
{
    extern __shared__ __align__(16) unsigned char buffer[];
    double *d = reinterpret_cast<double *>(buffer);
    float *f = reinterpret_cast<float *>(buffer);
    const int t = threadIdx.x;
    d[t] = x[t];
    __syncthreads();
    const float reversed = float(d[63 - t]);
    __syncthreads();
    f[t] = reversed;
    __syncthreads();
    const float turned = f[(t + 1) % 64];
    __syncthreads();
    buffer[t] = t;
    __syncthreads();
    y[t] = turned + buffer[t ^ 1];
}
