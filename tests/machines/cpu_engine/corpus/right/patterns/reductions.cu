// The ladder of reductions, from the modulo version to one with shuffles, and what is built like it.
//: reduce_modulo grid=3 block=128 args={"x": random(300), "out": unset(3), "n": i4(300)}
//+ gives={"out": [part.sum() for part in np.split(x, [128, 256])]}
__global__ void reduce_modulo(const float *x, float *out, int n)
{
    __shared__ float s[128];
    unsigned int tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    s[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned int step = 1; step < blockDim.x; step *= 2) {
        if (tid % (2 * step) == 0)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}
//: reduce_strided_index grid=3 block=128 args={"x": random(300), "out": unset(3), "n": i4(300)} shared=512
//+ gives={"out": [part.sum() for part in np.split(x, [128, 256])]}
__global__ void reduce_strided_index(const float *x, float *out, int n)
{
    extern __shared__ float partial[];
    unsigned int tid = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    partial[tid] = i < n ? x[i] : 0;
    __syncthreads();
    for (unsigned int step = 1; step < blockDim.x; step <<= 1) {
        int index = 2 * step * tid;
        if (index < blockDim.x)
            partial[index] += partial[index + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = partial[0];
}
//: reduce_sequential grid=5 block=64 args={"x": random(300, 3), "out": unset(5), "n": i4(300)}
//+ gives={"out": [part.sum() for part in np.split(x, [64, 128, 192, 256])]}
__global__ void reduce_sequential(const float *x, float *out, int n)
{
    __shared__ float s[64];
    const int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    s[tid] = (i < n) ? x[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (tid < half)
            s[tid] += s[tid + half];
        __syncthreads();
    }
    if (!tid)
        out[blockIdx.x] = s[0];
}
//: reduce_first_add grid=3 block=64 args={"x": random(333, 4), "out": unset(3), "n": u4(333)}
//+ gives={"out": [part.sum() for part in np.split(x, [128, 256])]}
__global__ void reduce_first_add(const float *x, float *out, unsigned int n)
{
    __shared__ float s[64];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    float mine = (i < n) ? x[i] : 0;
    if (i + blockDim.x < n)
        mine += x[i + blockDim.x];
    s[tid] = mine;
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 32; half >>= 1) {
        if (tid < half)
            s[tid] = mine = mine + s[tid + half];
        __syncthreads();
    }
    if (tid < 32) {
        mine += s[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            mine += __shfl_down_sync(0xffffffff, mine, offset);
    }
    if (tid == 0)
        out[blockIdx.x] = mine;
}
//: reduce_grid_stride grid=4 block=96 args={"x": random(1001, 5), "out": zeros(1), "n": i4(1001)} rtol=1e-4
//+ gives={"out": x.sum()}
__inline__ __device__ float warp_sum(float v)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

__inline__ __device__ float block_sum(float v)
{
    static __shared__ float per_warp[32];
    int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0)
        per_warp[warp] = v;
    __syncthreads();
    v = (threadIdx.x < blockDim.x / warpSize) ? per_warp[lane] : 0;
    if (warp == 0)
        v = warp_sum(v);
    return v;
}

__global__ void reduce_grid_stride(const float *x, float *out, int n)
{
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += x[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(out, sum);
}
//: dot_product grid=3 block=256 args={"a": random(2000, 6), "b": random(2000, 7), "c": unset(3), "n": i4(2000)}
//+ rtol=1e-4 gives={"c": [sum((a * b)[i] for i in range(2000) if i // 256 % 3 == k) for k in range(3)]}
#define THREADS_PER_BLOCK 256
__global__ void dot_product(float *a, float *b, float *c, int n)
{
    __shared__ float cache[THREADS_PER_BLOCK];
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    int cacheIndex = threadIdx.x;
    float temp = 0;
    while (tid < n) {
        temp += a[tid] * b[tid];
        tid += blockDim.x * gridDim.x;
    }
    cache[cacheIndex] = temp;
    __syncthreads();
    int i = blockDim.x / 2;
    while (i != 0) {
        if (cacheIndex < i)
            cache[cacheIndex] += cache[cacheIndex + i];
        __syncthreads();
        i /= 2;
    }
    if (cacheIndex == 0)
        c[blockIdx.x] = cache[0];
}
//: argmax_rows grid=7 block=64 args={"x": random((7, 150), 8), "best": unset(7), "where": unset(7, i4), "cols": i4(150)}
//+ gives={"best": x.max(1), "where": x.argmax(1)}
__global__ void argmax_rows(const float *__restrict__ x, float *__restrict__ best, int *__restrict__ where, int cols)
{
    __shared__ float value[64];
    __shared__ int index[64];
    const float *row = x + blockIdx.x * cols;
    float most = -INFINITY;
    int at = -1;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        if (row[c] > most) {
            most = row[c];
            at = c;
        }
    value[threadIdx.x] = most;
    index[threadIdx.x] = at;
    __syncthreads();
    for (int half = 32; half; half >>= 1) {
        if (threadIdx.x < half && value[threadIdx.x + half] > value[threadIdx.x]) {
            value[threadIdx.x] = value[threadIdx.x + half];
            index[threadIdx.x] = index[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        best[blockIdx.x] = value[0];
        where[blockIdx.x] = index[0];
    }
}
//: welford_warp grid=4 block=(32,2) args={"x": random((7, 77), 9), "mean": unset(7), "var": unset(7), "rows": i4(7), "cols": i4(77)}
//+ rtol=1e-4 gives={"mean": x.mean(1), "var": x.var(1)}
__global__ void welford_warp(const float *x, float *mean, float *var, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float m = 0.f, m2 = 0.f, count = 0.f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = x[row * cols + c];
        count += 1.f;
        float delta = v - m;
        m += delta / count;
        m2 += delta * (v - m);
    }
    for (int mask = 16; mask > 0; mask >>= 1) {
        float other_m = __shfl_xor_sync(0xffffffff, m, mask);
        float other_m2 = __shfl_xor_sync(0xffffffff, m2, mask);
        float other_count = __shfl_xor_sync(0xffffffff, count, mask);
        float all = count + other_count;
        if (all > 0.f) {
            float delta = other_m - m;
            m += delta * other_count / all;
            m2 += other_m2 + delta * delta * count * other_count / all;
            count = all;
        }
    }
    if (threadIdx.x == 0) {
        mean[row] = m;
        var[row] = m2 / count;
    }
}
//: column_sums grid=3 block=(32,8) args={"A": random((50, 70), 10), "sums": unset(70), "rows": i4(50), "cols": i4(70)}
//+ gives={"sums": A.sum(0)}
__global__ void column_sums(const float *A, float *sums, int rows, int cols)
{
    __shared__ float tile[8][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    if (col < cols)
        for (int row = threadIdx.y; row < rows; row += 8)
            sum += A[row * cols + col];
    tile[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && col < cols) {
        for (int k = 1; k < 8; ++k)
            sum += tile[k][threadIdx.x];
        sums[col] = sum;
    }
}
//: min_and_max block=128 grid=2 args={"x": random(256, 11), "low": ones(1), "high": -ones(1)}
//+ gives={"low": x.min(), "high": x.max()}
__device__ float atomic_extreme(float *address, float value, bool greatest)
{
    int *bits = (int *)address;
    int old = *bits, assumed;
    do {
        assumed = old;
        float now = __int_as_float(assumed);
        float next = greatest ? fmaxf(now, value) : fminf(now, value);
        old = atomicCAS(bits, assumed, __float_as_int(next));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void min_and_max(const float *x, float *low, float *high)
{
    __shared__ float lows[128], highs[128];
    int t = threadIdx.x;
    lows[t] = highs[t] = x[blockIdx.x * blockDim.x + t];
    for (int half = 64; half >= 1; half /= 2) {
        __syncthreads();
        if (t < half) {
            lows[t] = fminf(lows[t], lows[t + half]);
            highs[t] = fmaxf(highs[t], highs[t + half]);
        }
    }
    if (t == 0) {
        atomic_extreme(low, lows[0], false);
        atomic_extreme(high, highs[0], true);
    }
}
