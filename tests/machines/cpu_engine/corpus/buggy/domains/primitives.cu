// Sorting, scans, histograms and hand-overs, each with one mistake.

//: bitonic_barrier_outside args=[random(64)]
__global__ void bitonic_barrier_outside(float *keys) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = keys[t];
    for (int size = 2; size <= 64; size *= 2) {
        __syncthreads();
        for (int stride = size / 2; stride > 0; stride /= 2) {
            int other = t ^ stride;
            if (other > t) {
                bool up = (t & size) == 0;
                float a = s[t], b = s[other];  // <- racecheck s
                if ((a > b) == up) {
                    s[t] = b;  // <- racecheck s
                    s[other] = a;  // <- racecheck s
                }
            }
        }
    }
    __syncthreads();
    keys[t] = s[t];
}

//: blelloch_cleared_by_the_last args=[random(128)]
__global__ void blelloch_cleared_by_the_last(float *data) {
    __shared__ float s[128];
    int t = threadIdx.x, offset = 1;
    s[2 * t] = data[2 * t];
    s[2 * t + 1] = data[2 * t + 1];
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == blockDim.x - 1) s[127] = 0;  // <- racecheck s
    for (int d = 1; d < 128; d *= 2) {
        offset >>= 1;
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            float x = s[a];
            s[a] = s[b];  // <- racecheck s
            s[b] += x;  // <- racecheck s
        }
        __syncthreads();
    }
    data[2 * t] = s[2 * t];
    data[2 * t + 1] = s[2 * t + 1];
}

//: split_total_not_awaited args=[arange(128, u4)[::-1].copy()] block=128
__global__ void split_total_not_awaited(unsigned *keys) {
    __shared__ unsigned rank[128], zeros;
    unsigned t = threadIdx.x, key = keys[t];
    for (unsigned bit = 0; bit < 7; bit++) {
        unsigned is_zero = !(key >> bit & 1);
        rank[t] = is_zero;
        __syncthreads();
        for (unsigned d = 1; d < 128; d *= 2) {
            unsigned left = t >= d ? rank[t - d] : 0;
            __syncthreads();
            rank[t] += left;
            __syncthreads();
        }
        if (t == 127) zeros = rank[t];  // <- racecheck zeros
        unsigned to = is_zero ? rank[t] - 1 : zeros + t - rank[t];  // <- racecheck zeros
        keys[to & 127] = key;
        __syncthreads();
        key = keys[t];
        __syncthreads();
    }
}

//: merge_path_looks_behind args=[arange(64), arange(64) + 100, zeros(128), np.int32(64)] block=128
__device__ int split_of(const float *a, const float *b, int n, int diagonal) {
    int low = max(0, diagonal - n), high = min(diagonal, n);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - middle]) low = middle + 1;  // <- memcheck b
        else high = middle;
    }
    return low;
}
__global__ void merge_path_looks_behind(const float *a, const float *b, float *c, int n) {
    int d = threadIdx.x, i = split_of(a, b, n, d), j = d - i;
    c[d] = j >= n || (i < n && a[i] <= b[j]) ? a[i] : b[j];
}

//: odd_even_last_pair args=[random(64)]
__global__ void odd_even_last_pair(float *keys) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = keys[t];
    __syncthreads();
    for (int round = 0; round < 64; round++) {
        if (t % 2 == round % 2) {
            float a = s[t], b = s[t + 1];  // <- memcheck s
            if (a > b) s[t] = b, s[t + 1] = a;
        }
        __syncthreads();
    }
    keys[t] = s[t];
}

//: bin_of_the_largest args=[np.linspace(0, 1, 64, dtype=f4), zeros(16, i4)]
__global__ void bin_of_the_largest(const float *x, int *counts) {
    __shared__ int h[16];
    if (threadIdx.x < 16) h[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&h[(int)(x[threadIdx.x] * 16)], 1);  // <- memcheck h
    __syncthreads();
    if (threadIdx.x < 16) counts[threadIdx.x] = h[threadIdx.x];
}

//: byte_counters_merged_at_once args=[arange(2048, np.uint8), zeros(32, u4)]
__global__ void byte_counters_merged_at_once(const unsigned char *data, unsigned *counts) {
    __shared__ unsigned char mine[32][64];
    int t = threadIdx.x;
    for (int bin = 0; bin < 32; bin++) mine[bin][t] = 0;
    for (int i = t; i < 2048; i += 64) mine[data[i] % 32][t]++;  // <- racecheck mine
    if (t < 32) {
        unsigned sum = 0;
        for (int i = 0; i < 64; i++) sum += mine[t][i];  // <- racecheck mine
        counts[t] = sum;
    }
}

//: compaction_asks_lane_zero args=[arange(64, i4) - 20, zeros(64, i4), zeros(1, i4)]
__global__ void compaction_asks_lane_zero(const int *in, int *out, int *total) {
    int v = in[threadIdx.x], lane = threadIdx.x % 32;
    if (v > 0) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1, at = 0;
        if (lane == leader) at = atomicAdd(total, __popc(active));
        at = __shfl_sync(active, at, 0);  // <- synccheck
        out[at + __popc(active & ((1u << lane) - 1))] = v;
    }
}

//: offsets_of_other_blocks grid=4 args=[ones(256), zeros(4)]
__global__ void offsets_of_other_blocks(float *x, float *sums) {
    __shared__ float s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = x[i];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        float left = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    if (t == 63) sums[blockIdx.x] = s[63];  // <- racecheck sums
    __syncthreads();
    float before = 0;
    for (int b = 0; b < blockIdx.x; b++) before += sums[b];  // <- racecheck sums
    x[i] = s[t] + before;
}

//: look_back_without_fence grid=4 args=[ones(256), zeros(4), zeros(4, i4)]
__global__ void look_back_without_fence(const float *x, float *inclusive, int *ready) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        float before = 0;
        if (blockIdx.x > 0) {
            while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {}
            before = inclusive[blockIdx.x - 1];  // <- racecheck inclusive
        }
        inclusive[blockIdx.x] = before + s[0];  // <- racecheck inclusive
        atomicExch(&ready[blockIdx.x], 1);
    }
}

//: producer_and_consumer_warps args=[arange(256), zeros(256)]
__global__ void producer_and_consumer_warps(const float *in, float *out) {
    __shared__ float stage[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int step = 0; step <= 8; step++) {
        if (warp == 0 && step < 8) stage[0][lane] = in[step * 32 + lane];  // <- racecheck stage
        if (warp == 1 && step > 0) out[(step - 1) * 32 + lane] = 2 * stage[0][lane];  // <- racecheck stage
        __syncthreads();
    }
}
