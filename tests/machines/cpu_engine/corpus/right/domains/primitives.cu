// Sorting, scans, histograms, transforms and hand-overs, all of them right.

//: bitonic_sort args={"keys": random(128)} gives={"keys": np.sort(keys)}
__global__ void bitonic_sort(float *keys) {
    __shared__ float s[128];
    unsigned t = threadIdx.x;
    s[t] = keys[t], s[t + 64] = keys[t + 64];
    for (unsigned size = 2; size <= 128; size <<= 1) {
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned at = 2 * t - (t & (stride - 1));
            bool up = (t & (size / 2)) == 0;
            float a = s[at], b = s[at + stride];
            if ((a > b) == up) s[at] = b, s[at + stride] = a;
        }
    }
    __syncthreads();
    keys[t] = s[t], keys[t + 64] = s[t + 64];
}

//: blelloch_scan args={"data": arange(128)} gives={"data": np.cumsum(data) - data}
#define PADDED(i) ((i) + ((i) >> 5))
__global__ void blelloch_scan(float *data) {
    __shared__ float s[PADDED(128)];
    int t = threadIdx.x, offset = 1, a = t, b = t + 64;
    s[PADDED(a)] = data[a];
    s[PADDED(b)] = data[b];
    for (int d = 64; d > 0; d >>= 1, offset *= 2) {
        __syncthreads();
        if (t < d) s[PADDED(offset * (2 * t + 2) - 1)] += s[PADDED(offset * (2 * t + 1) - 1)];
    }
    if (t == 0) s[PADDED(127)] = 0;
    for (int d = 1; d < 128; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = PADDED(offset * (2 * t + 1) - 1), j = PADDED(offset * (2 * t + 2) - 1);
            float x = s[i];
            s[i] = s[j];
            s[j] += x;
        }
    }
    __syncthreads();
    data[a] = s[PADDED(a)];
    data[b] = s[PADDED(b)];
}

//: two_buffers_scan args={"x": ones(64), "y": zeros(64)} gives={"y": arange(64) + 1}
__global__ void two_buffers_scan(const float *x, float *y) {
    __shared__ float s[2 * 64];
    int t = threadIdx.x, out = 0, in = 1;
    s[out * 64 + t] = x[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        out = 1 - out, in = 1 - out;
        s[out * 64 + t] = t >= d ? s[in * 64 + t] + s[in * 64 + t - d] : s[in * 64 + t];
        __syncthreads();
    }
    y[t] = s[out * 64 + t];
}

//: radix_by_bits block=128 args={"keys": ((arange(128, np.int64) * 7919) % 127).astype(u4)} gives={"keys":
//+ np.sort(keys)}
__device__ unsigned zeros_before(unsigned flag, unsigned *all) {
    __shared__ unsigned warps[4];
    unsigned t = threadIdx.x, lane = t & 31, votes = __ballot_sync(~0u, flag);
    if (lane == 0) warps[t / 32] = __popc(votes);
    __syncthreads();
    unsigned before = 0, sum = 0;
    for (unsigned w = 0; w < 4; w++) {
        if (w < t / 32) before += warps[w];
        sum += warps[w];
    }
    __syncthreads();
    *all = sum;
    return before + __popc(votes & ((1u << lane) - 1));
}
__global__ void radix_by_bits(unsigned *keys) {
    __shared__ unsigned s[128];
    unsigned t = threadIdx.x, key = keys[t];
    for (int bit = 0; bit < 7; bit++) {
        unsigned zero = ~key >> bit & 1, all, rank = zeros_before(zero, &all);
        s[zero ? rank : all + t - rank] = key;
        __syncthreads();
        key = s[t];
        __syncthreads();
    }
    keys[t] = key;
}

//: merge_by_rank block=96 args={"a": np.sort(random(40, 1)), "b": np.sort(random(56, 2)), "c": unset(96)}
//+ gives={"c": np.sort(np.concatenate([a, b]))}
template <bool before_equal> __device__ int rank_of(float x, const float *sorted, int n) {
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        bool left = before_equal ? sorted[middle] <= x : sorted[middle] < x;
        if (left) low = middle + 1;
        else high = middle;
    }
    return low;
}
__global__ void merge_by_rank(const float *a, const float *b, float *c) {
    int t = threadIdx.x;
    if (t < 40) c[t + rank_of<false>(a[t], b, 56)] = a[t];
    else c[t - 40 + rank_of<true>(b[t - 40], a, 40)] = b[t - 40];
}

//: counts_of_each_warp block=128 args={"x": ((arange(1024, np.int64) * 31) % 97).astype(np.uint8), "counts":
//+ zeros(97, u4)} gives={"counts": np.bincount(x, minlength=97)}
__global__ void counts_of_each_warp(const unsigned char *x, unsigned *counts) {
    __shared__ unsigned h[4][97];
    unsigned *mine = h[threadIdx.x >> 5];
    for (int i = threadIdx.x; i < 4 * 97; i += blockDim.x) ((unsigned *)h)[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) {
        uint word = reinterpret_cast<const uint *>(x)[i];
        for (int byte = 0; byte < 4; byte++, word >>= 8) atomicAdd(mine + (word & 0xFF), 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < 97; bin += blockDim.x) {
        unsigned sum = 0;
        for (int w = 0; w < 4; w++) sum += h[w][bin];
        counts[bin] = sum;
    }
}

//: compaction_of_warps grid=2 args={"in_": arange(128, i4) - 50, "out": zeros(128, i4), "total": zeros(1, i4)}
//+ gives={"total": [77], "out": np.where(arange(128, i4) < 77, arange(128, i4) + 1, 0)}
__global__ void compaction_of_warps(const int *in, int *out, int *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, v = in[i];
    if (v > 0) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1, at;
        if (lane == leader) at = atomicAdd(total, __popc(active));
        at = __shfl_sync(active, at, leader);
        out[at + __popc(active & ((1u << lane) - 1))] = v;
    }
}

//: segments_of_a_warp block=32 args={"x": ones(32), "head": (arange(32, i4) % 5 == 0).astype(i4), "y": zeros(32)}
//+ gives={"y": arange(32) % 5 + 1}
__global__ void segments_of_a_warp(const float *x, const int *head, float *y) {
    int lane = threadIdx.x;
    unsigned heads = __ballot_sync(0xffffffffu, head[lane]);
    int start = 31 - __clz(heads & (0xffffffffu >> (31 - lane)));
    float sum = x[lane];
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        float left = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane - d >= start) sum += left;
    }
    y[lane] = sum;
}

//: look_back_with_fence grid=5 args={"x": ones(320), "y": zeros(320), "sums": unset(5), "state": zeros(5, i4),
//+ "ticket": zeros(1, u4)} gives={"y": arange(320) + 1}
__global__ void look_back_with_fence(const float *x, float *y, volatile float *sums, int *state, unsigned *ticket) {
    __shared__ unsigned part;
    __shared__ float before, warps[2];
    if (threadIdx.x == 0) part = atomicInc(ticket, 0xffffffff);
    __syncthreads();
    int t = threadIdx.x, lane = t & 31;
    float sum = x[part * 64 + t];
    for (int d = 1; d < 32; d *= 2) {
        float left = __shfl_up_sync(~0u, sum, d);
        sum += lane >= d ? left : 0;
    }
    if (lane == 31) warps[t / 32] = sum;
    __syncthreads();
    if (t >= 32) sum += warps[0];
    if (t == 63) {
        float all = 0;
        if (part > 0) {
            while (atomicAdd(&state[part - 1], 0) != 1) __nanosleep(20);
            __threadfence();
            all = sums[part - 1];
        }
        before = all;
        sums[part] = all + sum;
        __threadfence();
        atomicExch(&state[part], 1);
    }
    __syncthreads();
    y[part * 64 + t] = before + sum;
}

//: run_lengths args={"x": arange(64, i4) // 7, "values": zeros(64, i4), "lengths": zeros(64, i4), "runs": zeros(1,
//+ i4)} gives={"runs": [10], "lengths": np.where(arange(64, i4) < 9, 7, np.where(arange(64, i4) == 9, 1, 0)),
//+ "values": np.where(arange(64, i4) < 10, arange(64, i4), 0)}
__global__ void run_lengths(const int *x, int *values, int *lengths, int *runs) {
    __shared__ int starts[65], warp_runs;
    int t = threadIdx.x, begins = t == 0 || x[t] != x[t - 1];
    unsigned votes = __ballot_sync(~0u, begins);
    if (t == 31) warp_runs = __popc(votes);
    __syncthreads();
    int at = __popc(votes & ((1u << (t & 31)) - 1)) + (t > 31 ? warp_runs : 0);
    if (begins) starts[at] = t;
    int all = __syncthreads_count(begins);
    if (t == 0) starts[all] = 64, *runs = all;
    __syncthreads();
    if (t < all) values[t] = x[starts[t]], lengths[t] = starts[t + 1] - starts[t];
}

//: cyclic_reduction args={"a": random(64, 1) * (arange(64) > 0), "b": random(64, 2) + 4, "c": random(64, 3) *
//+ (arange(64) < 63), "d": random(64, 4)} gives={"d": np.linalg.solve(np.diag(b) + np.diag(a[1:], -1) +
//+ np.diag(c[:-1], 1), d)} rtol=1e-4
__global__ void cyclic_reduction(const float *a, const float *b, const float *c, float *d) {
    __shared__ float sa[64], sb[64], sc[64], sd[64];
    int t = threadIdx.x;
    sa[t] = a[t], sb[t] = b[t], sc[t] = c[t], sd[t] = d[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int up = max(t - step, 0), down = min(t + step, 63);
        float k1 = t - step >= 0 ? sa[t] / sb[up] : 0, k2 = t + step < 64 ? sc[t] / sb[down] : 0;
        float nb = sb[t] - sc[up] * k1 - sa[down] * k2, nd = sd[t] - sd[up] * k1 - sd[down] * k2;
        float na = -sa[up] * k1, nc = -sc[down] * k2;
        __syncthreads();
        sa[t] = na, sb[t] = nb, sc[t] = nc, sd[t] = nd;
        __syncthreads();
    }
    d[t] = sd[t] / sb[t];
}

//: fourier args={"re": random(64, 1), "im": random(64, 2)} gives={"re": np.fft.fft(re + 1j * im).real, "im":
//+ np.fft.fft(re + 1j * im).imag} block=32 rtol=1e-4
struct Complex {
    float x, y;
    __device__ Complex operator+(const Complex &o) const { return {x + o.x, y + o.y}; }
    __device__ Complex operator-(const Complex &o) const { return {x - o.x, y - o.y}; }
    __device__ Complex operator*(const Complex &o) const { return {x * o.x - y * o.y, x * o.y + y * o.x}; }
};
__global__ void fourier(float *re, float *im) {
    __shared__ Complex s[64];
    for (int i = threadIdx.x; i < 64; i += 32) s[__brev(i) >> 26] = Complex{re[i], im[i]};
    __syncthreads();
    for (int half = 1; half < 64; half *= 2) {
        int k = threadIdx.x % half, at = threadIdx.x / half * 2 * half + k;
        Complex w;
        sincospif(-(float)k / half, &w.y, &w.x);
        Complex a = s[at], b = s[at + half] * w;
        s[at] = a + b;
        s[at + half] = a - b;
        __syncthreads();
    }
    for (int i = threadIdx.x; i < 64; i += 32) re[i] = s[i].x, im[i] = s[i].y;
}

//: walsh args={"x": random(64)} gives={"x": np.array([[(-1) ** bin(i & j).count("1") for j in range(64)] for i in
//+ range(64)]) @ x} block=16 shared=256 rtol=1e-4
__global__ void walsh(float *x) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) s[i] = x[i];
    for (int stride = 16; stride > 0; stride >>= 2) {
        __syncthreads();
        int low = threadIdx.x & (stride - 1), i0 = ((threadIdx.x - low) << 2) + low;
        float d0 = s[i0], d1 = s[i0 + stride], d2 = s[i0 + 2 * stride], d3 = s[i0 + 3 * stride], t;
        t = d0, d0 = d0 + d2, d2 = t - d2;
        t = d1, d1 = d1 + d3, d3 = t - d3;
        s[i0] = d0 + d1, s[i0 + stride] = d0 - d1, s[i0 + 2 * stride] = d2 + d3, s[i0 + 3 * stride] = d2 - d3;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) x[i] = s[i];
}

//: haar block=32 args={"x": ((arange(64) >= 32) * 1).astype(f4), "y": unset(64)} gives={"y": [4, -4, *[0] * 62]}
__global__ void haar(const float *x, float *y) {
    __shared__ float s[64];
    const float root = 0.70710678f;
    int t = threadIdx.x;
    s[t] = x[t], s[t + 32] = x[t + 32];
    for (int n = 32; n > 0; n /= 2) {
        __syncthreads();
        float sum = 0, difference = 0;
        if (t < n) sum = (s[2 * t] + s[2 * t + 1]) * root, difference = (s[2 * t] - s[2 * t + 1]) * root;
        __syncthreads();
        if (t < n) s[t] = sum, y[n + t] = difference;
    }
    if (t == 0) y[0] = s[0];
}
