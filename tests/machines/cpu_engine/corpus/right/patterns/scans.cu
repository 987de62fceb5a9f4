// Scans, histograms, sorts and compaction.
//: scan_double_buffer block=100 grid=3 shared=800 args={"out": unset(300, i4), "x": arange(300, i4)}
//+ gives={"out": np.concatenate([np.cumsum(part) - part for part in x.reshape(3, 100)])}
__global__ void scan_double_buffer(int *out, const int *x)
{
    extern __shared__ int temp[];
    int t = threadIdx.x, n = blockDim.x, first = blockIdx.x * n;
    int pout = 0, pin = 1;
    temp[t] = t > 0 ? x[first + t - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (t >= offset)
            temp[pout * n + t] = temp[pin * n + t] + temp[pin * n + t - offset];
        else
            temp[pout * n + t] = temp[pin * n + t];
        __syncthreads();
    }
    out[first + t] = temp[pout * n + t];
}
//: scan_work_efficient block=64 grid=2 args={"out": unset(256, i4), "x": arange(256, i4)}
//+ gives={"out": np.concatenate([np.cumsum(part) - part for part in x.reshape(2, 128)])}
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void scan_work_efficient(int *out, const int *x)
{
    __shared__ int temp[128 + 4];
    const int n = 128;
    int t = threadIdx.x, offset = 1;
    x += blockIdx.x * n;
    out += blockIdx.x * n;
    int ai = t, bi = t + n / 2;
    int bankA = CONFLICT_FREE_OFFSET(ai), bankB = CONFLICT_FREE_OFFSET(bi);
    temp[ai + bankA] = x[ai];
    temp[bi + bankB] = x[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (t == 0)
        temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            int left = temp[a];
            temp[a] = temp[b];
            temp[b] += left;
        }
    }
    __syncthreads();
    out[ai] = temp[ai + bankA];
    out[bi] = temp[bi + bankB];
}
//: kogge_stone grid=3 block=64 args={"X": random(150), "Y": unset(150), "sums": unset(3), "n": u4(150)}
//+ gives={"Y": np.concatenate([np.cumsum(p) for p in np.split(X, [64, 128])]), "sums": [p.sum() for p in np.split(X, [64, 128])]}
#define SECTION_SIZE 64
__global__ void kogge_stone(float *X, float *Y, float *sums, unsigned int n)
{
    __shared__ float XY[SECTION_SIZE];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        XY[threadIdx.x] = X[i];
    else
        XY[threadIdx.x] = 0.0f;
    for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
        __syncthreads();
        float temp;
        if (threadIdx.x >= stride)
            temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
        __syncthreads();
        if (threadIdx.x >= stride)
            XY[threadIdx.x] = temp;
    }
    if (i < n)
        Y[i] = XY[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = XY[threadIdx.x];
}
//: brent_kung grid=2 block=32 args={"X": random(100, 2), "Y": unset(100), "n": u4(100)}
//+ gives={"Y": np.concatenate([np.cumsum(p) for p in np.split(X, [64])])}
__global__ void brent_kung(float *X, float *Y, unsigned int n)
{
    __shared__ float XY[SECTION_SIZE];
    unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
    XY[threadIdx.x] = i < n ? X[i] : 0;
    XY[threadIdx.x + blockDim.x] = i + blockDim.x < n ? X[i + blockDim.x] : 0;
    for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
        if (index < SECTION_SIZE)
            XY[index] += XY[index - stride];
    }
    for (int stride = SECTION_SIZE / 4; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
        if (index + stride < SECTION_SIZE)
            XY[index + stride] += XY[index];
    }
    __syncthreads();
    if (i < n)
        Y[i] = XY[threadIdx.x];
    if (i + blockDim.x < n)
        Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}
//: shfl_scan_test grid=2 block=256 args={"data": arange(512, i4) % 7, "partial_sums": unset(2, i4)}
//+ gives={"data": np.concatenate([np.cumsum(p) for p in data.reshape(2, 256)]), "partial_sums": data.reshape(2, 256).sum(1)}
__global__ void shfl_scan_test(int *data, int *partial_sums)
{
    __shared__ int sums[8];
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int lane_id = id % warpSize, warp_id = threadIdx.x / warpSize;
    int value = data[id];
#pragma unroll
    for (int i = 1; i <= 32; i *= 2) {
        int n = __shfl_up_sync(0xffffffff, value, i, 32);
        if (lane_id >= i)
            value += n;
    }
    if (threadIdx.x % warpSize == warpSize - 1)
        sums[warp_id] = value;
    __syncthreads();
    if (warp_id == 0 && lane_id < blockDim.x / warpSize) {
        int warp_sum = sums[lane_id];
        int mask = (1 << (blockDim.x / warpSize)) - 1;
        for (int i = 1; i <= blockDim.x / warpSize; i *= 2) {
            int n = __shfl_up_sync(mask, warp_sum, i, blockDim.x / warpSize);
            if (lane_id >= i)
                warp_sum += n;
        }
        sums[lane_id] = warp_sum;
    }
    __syncthreads();
    int blockSum = 0;
    if (warp_id > 0)
        blockSum = sums[warp_id - 1];
    value += blockSum;
    data[id] = value;
    if (threadIdx.x == blockDim.x - 1)
        partial_sums[blockIdx.x] = value;
}
//: uniform_add grid=3 block=100 args={"data": arange(280, i4), "partial_sums": np.array([5, 9, 20], i4), "len": i4(280)}
//+ gives={"data": data + np.repeat([0, 5, 9], 100)[:280]}
__global__ void uniform_add(int *data, int *partial_sums, int len)
{
    __shared__ int buf;
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        buf = blockIdx.x ? partial_sums[blockIdx.x - 1] : 0;
    __syncthreads();
    if (id < len)
        data[id] += buf;
}
//: histogram_shared grid=4 block=128 args={"data": np.random.default_rng(1).integers(0, 256, 3000).astype(np.uint8), "bins": zeros(256, u4), "n": i4(3000)}
//+ gives={"bins": np.bincount(data, minlength=256)}
__global__ void histogram_shared(const unsigned char *data, unsigned int *bins, int n)
{
    __shared__ unsigned int local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x)
        atomicAdd(&bins[b], local[b]);
}
//: histogram_per_warp grid=2 block=96 args={"data": np.random.default_rng(2).integers(0, 2**32, 500).astype(u4), "partial": unset((2, 256), u4), "n": u4(500)}
//+ gives={"partial": [np.bincount(data[np.arange(500) // 96 % 2 == k].view(np.uint8), minlength=256) for k in (0, 1)]}
#define WARP_COUNT 3
#define HISTOGRAM256_BIN_COUNT 256
__device__ inline void addByte(unsigned int *s_WarpHist, unsigned int data) { atomicAdd(s_WarpHist + data, 1); }
__device__ inline void addWord(unsigned int *s_WarpHist, unsigned int data)
{
    addByte(s_WarpHist, (data >> 0) & 0xFFU);
    addByte(s_WarpHist, (data >> 8) & 0xFFU);
    addByte(s_WarpHist, (data >> 16) & 0xFFU);
    addByte(s_WarpHist, (data >> 24) & 0xFFU);
}
__global__ void histogram_per_warp(const unsigned int *data, unsigned int *partial, unsigned int n)
{
    __shared__ unsigned int s_Hist[WARP_COUNT * HISTOGRAM256_BIN_COUNT];
    unsigned int *s_WarpHist = s_Hist + (threadIdx.x >> 5) * HISTOGRAM256_BIN_COUNT;
    for (unsigned int i = 0; i < HISTOGRAM256_BIN_COUNT / 32; i++)
        s_Hist[threadIdx.x + i * blockDim.x] = 0;
    __syncthreads();
    for (unsigned int pos = blockIdx.x * blockDim.x + threadIdx.x; pos < n; pos += blockDim.x * gridDim.x)
        addWord(s_WarpHist, data[pos]);
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < HISTOGRAM256_BIN_COUNT; bin += blockDim.x) {
        unsigned int sum = 0;
        for (unsigned int i = 0; i < WARP_COUNT; i++)
            sum += s_Hist[bin + i * HISTOGRAM256_BIN_COUNT];
        partial[blockIdx.x * HISTOGRAM256_BIN_COUNT + bin] = sum;
    }
}
//: bitonic_sort_shared grid=2 block=64 args={"keys": random(256, 4), "values": arange(256, i4)}
//+ gives={"keys": np.sort(keys.reshape(2, 128)).ravel(), "values": (np.argsort(keys.reshape(2, 128)) + [[0], [128]]).ravel()}
__device__ inline void comparator(float &keyA, int &valA, float &keyB, int &valB, unsigned int dir)
{
    if ((keyA > keyB) == dir) {
        float k = keyA;
        keyA = keyB;
        keyB = k;
        int v = valA;
        valA = valB;
        valB = v;
    }
}
__global__ void bitonic_sort_shared(float *keys, int *values)
{
    __shared__ float s_key[128];
    __shared__ int s_val[128];
    keys += blockIdx.x * 128 + threadIdx.x;
    values += blockIdx.x * 128 + threadIdx.x;
    s_key[threadIdx.x] = keys[0];
    s_val[threadIdx.x] = values[0];
    s_key[threadIdx.x + 64] = keys[64];
    s_val[threadIdx.x + 64] = values[64];
    for (unsigned int size = 2; size < 128; size <<= 1) {
        unsigned int ddd = 1 ^ ((threadIdx.x & (size / 2)) != 0);
        for (unsigned int stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    for (unsigned int stride = 64; stride > 0; stride >>= 1) {
        __syncthreads();
        unsigned int pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], 1);
    }
    __syncthreads();
    keys[0] = s_key[threadIdx.x];
    values[0] = s_val[threadIdx.x];
    keys[64] = s_key[threadIdx.x + 64];
    values[64] = s_val[threadIdx.x + 64];
}
//: bitonic_sort_warp grid=2 block=64 args={"x": random(128, 5)} gives={"x": np.sort(x.reshape(4, 32)).ravel()}
__global__ void bitonic_sort_warp(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float mine = x[i];
    for (int size = 2; size <= 32; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            float other = __shfl_xor_sync(0xffffffff, mine, stride);
            bool up = (lane & size) == 0, lower = (lane & stride) == 0;
            mine = (up == lower) ? fminf(mine, other) : fmaxf(mine, other);
        }
    x[i] = mine;
}
//: odd_even_sort block=50 args={"x": random(100, 6), "n": i4(100)} gives={"x": np.sort(x)}
__global__ void odd_even_sort(float *x, int n)
{
    for (int phase = 0; phase < n; ++phase) {
        int i = 2 * threadIdx.x + (phase & 1);
        if (i + 1 < n && x[i] > x[i + 1]) {
            float t = x[i];
            x[i] = x[i + 1];
            x[i + 1] = t;
        }
        __syncthreads();
    }
}
//: compact_positive grid=3 block=96 args={"x": random(250, 7), "kept": zeros(250), "count": zeros(1, i4), "n": i4(250)}
//+ gives={"count": (x > 0).sum()}
__global__ void compact_positive(const float *x, float *kept, int *count, int n)
{
    __shared__ int in_block, first;
    if (threadIdx.x == 0)
        in_block = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x, place = -1;
    if (i < n && x[i] > 0)
        place = atomicAdd(&in_block, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        first = atomicAdd(count, in_block);
    __syncthreads();
    if (place >= 0)
        kept[first + place] = x[i];
}
