// The shapes in which shared memory, device variables and parameters are declared.
//: several_in_one_line grid=2 block=32 args={"x": random(64, 1)} gives={"x": x.reshape(2, 32)[:, ::-1].ravel() + np.repeat(x[::32], 32)}
__global__ void several_in_one_line(float *x)
{
    __shared__ float a[4][8 + 1], b, c[2][2][8];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    a[t / 8][t % 8] = x[i];
    if (t == 0)
        b = x[i];
    c[t >> 4][t >> 3 & 1][t & 7] = a[t / 8][t % 8];
    __syncthreads();
    int r = 31 - t;
    x[i] = c[r >> 4][r >> 3 & 1][r & 7] + b;
}
//: volatile_before_and_behind block=32 args={"x": arange(32)} gives={"x": np.roll(x, 1) + 5}
__global__ void volatile_before_and_behind(float *x)
{
    volatile __shared__ float s[32];
    __shared__ volatile int five;
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 31)
        five = sizeof(s) / sizeof(s[0]) - 27;
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 31) % 32] + five;
}
//: one_name_in_two_scopes grid=2 block=32 args={"x": random(64, 3)} gives={"x": np.concatenate([x[:32][::-1], np.roll(x[32:], -1)])}
__global__ void one_name_in_two_scopes(float *x)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (blockIdx.x == 0) {
        __shared__ float s[32];
        s[threadIdx.x] = x[i];
        __syncthreads();
        x[i] = s[31 - threadIdx.x];
    } else {
        __shared__ float s[33];
        s[threadIdx.x] = x[i];
        __syncthreads();
        x[i] = s[(threadIdx.x + 1) % 32];
    }
}
//: barrier_in_a_function_twice block=64 args={"x": arange(64)} gives={"x": np.roll(x, -2)}
__device__ float next_of(float v)
{
    __shared__ float s[64];
    s[threadIdx.x] = v;
    __syncthreads();
    float r = s[(threadIdx.x + 1) % 64];
    __syncthreads();
    return r;
}
__global__ void barrier_in_a_function_twice(float *x) { x[threadIdx.x] = next_of(next_of(x[threadIdx.x])); }
//: device_tables block=32 args={"out": unset(32)} symbols={"given": arange(6).reshape(2, 3)} gives={"out": [[2, 3, 5, 7][i % 4] + np.arange(6)[i % 6] + (3 if i % 2 else 1) for i in range(32)]}
__device__ const int primes[] = {2, 3, 5, 7};
__device__ float given[2][3];
struct Entry {
    int a;
    float b;
};
__constant__ Entry entries[2] = {{1, 0.5f}, {3, 0.25f}};
static __global__ void device_tables(float *out)
{
    int i = threadIdx.x;
    out[i] = primes[i % 4] + given[i % 6 / 3][i % 3] + entries[i % 2].a;
}
//: scalars_of_many_types block=32 args={"out": unset(32, f8), "b": np.bool_(True), "c": np.int8(-3), "u": np.uint8(200), "s": np.int16(-300), "l": np.int64(1 << 40), "f": f4(0.5), "d": f8(0.25)} gives={"out": 1 - 3 + 200 - 300 + 2.0 ** 40 + 0.75}
__global__ void scalars_of_many_types(double *out, bool b, signed char c, unsigned char u, short s, long l, float f, const double d)
{
    out[threadIdx.x] = b + c + u + s + (double)l + f + d;
}
//: launch_bounds_and_noinline grid=2 block=64 args={"x": random(128, 5)} gives={"x": 2 * x + 1}
__device__ __noinline__ float twice_plus(float v) { return 2 * v + 1; }
__global__ void __launch_bounds__(64, 2) launch_bounds_and_noinline(float *__restrict__ x)
{
    uint3 t = threadIdx;
    dim3 b = blockDim;
    x[blockIdx.x * b.x + t.x] = twice_plus(x[blockIdx.x * b.x + t.x]);
}
//: without_names block=32 args={"x": arange(32), "_": i4(3)} gives={"x": -x}
__global__ void without_names(float *x, int)
{
    x[threadIdx.x] *= -1;
}
