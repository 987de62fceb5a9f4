// Template kernels, named with their arguments.
//: reduce_of_floats kernel="reduce<float, 128>" grid=3 block=128 args={"x": random(300, 1), "out": unset(3), "n": i4(300)} gives={"out": [p.sum() for p in np.split(x, [128, 256])]}
template <typename T, unsigned int blockSize>
__global__ void reduce(const T *x, T *out, int n)
{
    __shared__ T s[blockSize];
    unsigned int tid = threadIdx.x, i = blockIdx.x * blockSize + tid;
    s[tid] = i < n ? x[i] : T(0);
    __syncthreads();
    if (blockSize >= 128) {
        if (tid < 64)
            s[tid] += s[tid + 64];
        __syncthreads();
    }
    if (blockSize >= 64) {
        if (tid < 32)
            s[tid] += s[tid + 32];
        __syncthreads();
    }
    for (int d = 16; d > 0; d >>= 1) {
        if (tid < d)
            s[tid] += s[tid + d];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}
//: reduce_of_ints kernel="reduce<int, 64>" grid=5 block=64 args={"x": arange(300, i4), "out": unset(5, i4), "n": i4(300)} gives={"out": [p.sum() for p in np.split(x, [64, 128, 192, 256])]}
//: reduce_of_doubles kernel="reduce<double,32>" grid=2 block=32 args={"x": random(50, 2, f8), "out": unset(2, f8), "n": i4(50)} gives={"out": [x[:32].sum(), x[32:].sum()]}
//: matrix_of_16 kernel="matmul<16>" grid=(2,2) block=(16,16) args={"C": unset((32, 32)), "A": random((32, 48), 3), "B": random((48, 32), 4), "wA": i4(48), "wB": i4(32)} gives={"C": A @ B}
template <int SIZE>
__global__ void matmul(float *C, float *A, float *B, int wA, int wB)
{
    float sum = 0;
    for (int k0 = 0; k0 < wA; k0 += SIZE) {
        __shared__ float As[SIZE][SIZE];
        __shared__ float Bs[SIZE][SIZE];
        As[threadIdx.y][threadIdx.x] = A[(blockIdx.y * SIZE + threadIdx.y) * wA + k0 + threadIdx.x];
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * wB + blockIdx.x * SIZE + threadIdx.x];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIZE; ++k)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    C[(blockIdx.y * SIZE + threadIdx.y) * wB + blockIdx.x * SIZE + threadIdx.x] = sum;
}
//: matrix_of_8 kernel="matmul<8>" grid=(4,4) block=(8,8) args={"C": unset((32, 32)), "A": random((32, 48), 3), "B": random((48, 32), 4), "wA": i4(48), "wB": i4(32)} gives={"C": A @ B}
//: mapped_squares kernel="map<Square, float>" grid=2 block=64 args={"x": random(100, 5), "n": i4(100)} gives={"x": x * x}
struct Square {
    template <typename T> __device__ T operator()(T v) const { return v * v; }
};
template <class F, typename T>
__global__ void map(T *x, int n)
{
    F f;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = f(x[i]);
}
//: with_a_bool kernel="scale<true>" grid=2 block=64 args={"x": random(100, 6), "n": i4(100)} gives={"x": 3 * x}
template <bool THRICE>
__global__ void scale(float *__restrict__ x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if constexpr (THRICE)
        x[i] *= 3;
    else
        x[i] *= 2;
}
//: template_helper block=64 args={"x": random(64, 7), "most": unset(1)} gives={"most": x.max()}
template <typename T> __device__ __forceinline__ T greatest(T a, T b) { return a > b ? a : b; }
template <int WIDTH = 32, typename T> __device__ T warp_greatest(T v)
{
#pragma unroll
    for (int d = WIDTH / 2; d > 0; d /= 2)
        v = greatest<T>(v, __shfl_xor_sync(0xffffffff, v, d, WIDTH));
    return v;
}
__global__ void template_helper(const float *x, float *most)
{
    __shared__ float s[2];
    float v = warp_greatest(x[threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0)
        *most = greatest(s[0], s[1]);
}
//: references_and_defaults grid=2 block=32 args={"a": random(64, 8), "b": random(64, 9)} gives={"a": np.minimum(a, b), "b": np.maximum(a, b) + 3}
template <typename T> __device__ void swap_if(bool yes, T &a, T &b)
{
    T t = yes ? a : b;
    a = yes ? b : a;
    b = t;
}
__device__ float plus(float v, int times = 3, float step = 1.0f)
{
    while (times-- > 0)
        v += step;
    return v;
}
__global__ void references_and_defaults(float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    swap_if(a[i] > b[i], a[i], b[i]);
    b[i] = plus(b[i]);
}
