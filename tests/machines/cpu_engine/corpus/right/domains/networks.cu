// Layers, losses, optimisers and random numbers, all of them right.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <cfloat>
namespace cg = cooperative_groups;

//: layer_norm_of_warps grid=2 block=64 args={"x": random((4, 80)), "w": random(80, 2), "b": random(80, 3), "y":
//+ unset((4, 80))} gives={"y": (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b}
//+ rtol=1e-4
__global__ void layer_norm_of_warps(const float *__restrict__ x, const float *w, const float *b, float *y) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    x += row * 80, y += row * 80;
    float sum = 0, square = 0;
    for (int i = warp.thread_rank(); i < 80; i += warp.size()) sum += x[i];
    float mean = cg::reduce(warp, sum, cg::plus<float>{}) / 80;
    for (int i = warp.thread_rank(); i < 80; i += warp.size()) square += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(cg::reduce(warp, square, cg::plus<float>{}) / 80 + 1e-5f);
    for (int c = warp.thread_rank(); c < 80; c += warp.size()) __stcs(y + c, scale * (__ldcs(x + c) - mean) * w[c] + b[c]);
}

//: softmax_in_one_pass grid=3 block=32 args={"x": random((3, 70)), "y": unset((3, 70))} gives={"y": np.exp(x) /
//+ np.exp(x).sum(1, keepdims=True)} rtol=1e-4
struct __align__(8) MaxSum { float most, sum; };
__device__ __forceinline__ MaxSum together(MaxSum a, MaxSum b) {
    bool larger = a.most > b.most;
    MaxSum big = larger ? a : b, small = larger ? b : a;
    big.sum += small.sum * expf(small.most - big.most);
    return big;
}
__global__ void softmax_in_one_pass(const float *x, float *y) {
    x += blockIdx.x * 70, y += blockIdx.x * 70;
    MaxSum mine = {-3.0e38f, 0.0f};
    for (int i = threadIdx.x; i < 70; i += 32) mine = together(mine, MaxSum{x[i], 1.0f});
    for (int d = 16; d > 0; d >>= 1) {
        MaxSum other = {__shfl_xor_sync(0xFFFFFFFF, mine.most, d), __shfl_xor_sync(0xFFFFFFFF, mine.sum, d)};
        mine = together(mine, other);
    }
    for (int i = threadIdx.x; i < 70; i += 32) y[i] = expf(x[i] - mine.most) / mine.sum;
}

//: attention_by_tiles block=16 args={"q": random((16, 8), 1), "k": random((16, 8), 2), "v": random((16, 8), 3),
//+ "o": unset((16, 8))} shared=640 gives={"o": (lambda s: (s / s.sum(1, keepdims=True)) @ v)(np.exp(q @ k.T / 8 **
//+ 0.5) * np.tri(16))} rtol=1e-4
__global__ void attention_by_tiles(const float *q, const float *k, const float *v, float *o) {
    extern __shared__ float memory[];
    float *keys = memory, *values = memory + 8 * 8, *spare = values + 8 * 8;
    int t = threadIdx.x;
    float mine[8], out[8] = {}, most = -INFINITY, sum = 0;
    for (int c = 0; c < 8; c++) mine[c] = q[t * 8 + c] * 0.35355339f;
    spare[t] = 0;
    for (int tile = 0; tile < 2; tile++) {
        __syncthreads();
        for (int i = t; i < 64; i += blockDim.x) keys[i] = k[tile * 64 + i], values[i] = v[tile * 64 + i];
        __syncthreads();
        for (int s = 0; s < 8 && tile * 8 + s <= t; s++) {
            float dot = 0;
            for (int c = 0; c < 8; c++) dot += mine[c] * keys[s * 8 + c];
            float larger = fmaxf(most, dot), shrink = __expf(most - larger), p = __expf(dot - larger);
            for (int c = 0; c < 8; c++) out[c] = out[c] * shrink + p * values[s * 8 + c];
            sum = sum * shrink + p, most = larger;
        }
    }
    for (int c = 0; c < 8; c++) o[t * 8 + c] = out[c] / sum;
}

//: optimiser_with_tail grid=2 block=32 args={"w": random(130), "g": random(130, 2), "m": zeros(130), "n":
//+ np.int32(130)} gives={"m": 0.1 * g, "w": w - 0.001 * g}
__global__ void optimiser_with_tail(float *w, const float *g, float *m, int n) {
    int stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x;
    auto update = [](float &weight, float &moment, float grad) {
        moment = 0.9f * moment + 0.1f * grad;
        weight -= 0.01f * moment;
    };
    for (int i = first; i < n / 4; i += stride) {
        float4 a = ((float4 *)w)[i], b = ((const float4 *)g)[i], c = ((float4 *)m)[i];
        update(a.x, c.x, b.x), update(a.y, c.y, b.y), update(a.z, c.z, b.z), update(a.w, c.w, b.w);
        ((float4 *)w)[i] = a, ((float4 *)m)[i] = c;
    }
    for (int i = n / 4 * 4 + first; i < n; i += stride) update(w[i], m[i], g[i]);
}

//: cross_entropy grid=4 block=64 args={"logits": random((4, 100)), "targets": np.array([5, -100, 99, 0], i4),
//+ "losses": zeros(4)} gives={"losses": [0 if t < 0 else np.log(np.exp(l).sum()) - l[t] for l, t in zip(logits,
//+ targets)]} rtol=1e-4
template <typename F> __device__ float over_block(float v, float first, F f) {
    __shared__ float warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = blockDim.x / 32;
    for (int d = 16; d; d >>= 1) v = f(v, __shfl_down_sync(0xffffffff, v, d));
    if (!lane) warps[warp] = v;
    __syncthreads();
    v = lane < n ? warps[lane] : first;
    for (int d = 16; d; d >>= 1) v = f(v, __shfl_xor_sync(0xffffffff, v, d));
    __syncthreads();
    return v;
}
__global__ void cross_entropy(const float *logits, const int *targets, float *losses) {
    int target = targets[blockIdx.x];
    if (target == -100) return;
    logits += blockIdx.x * 100;
    float most = -INFINITY, sum = 0;
    for (int i = threadIdx.x; i < 100; i += blockDim.x) most = fmaxf(most, logits[i]);
    most = over_block(most, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
    for (int i = threadIdx.x; i < 100; i += blockDim.x) sum += expf(logits[i] - most);
    sum = over_block(sum, 0.0f, [](float a, float b) { return a + b; });
    if (threadIdx.x == 0) losses[blockIdx.x] = logf(sum) + most - logits[target];
}

//: dropout_in_bits grid=2 block=64 args={"x": ones(128), "mask": unset(4, u4), "y": unset(128)} gives={"y": 2 *
//+ ((arange(128, np.uint64) + 1) * 2654435761 % 2**32 >> 31)}
__global__ void dropout_in_bits(const float *x, unsigned *mask, float *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, keep = (i + 1) * 2654435761u >> 31;
    unsigned votes = __ballot_sync(0xffffffff, keep);
    if (threadIdx.x % 32 == 0) mask[i / 32] = votes;
    y[i] = keep ? 2 * x[i] : 0;
}

//: pooled_with_places block=(4,4) args={"in_": arange(64).reshape(8, 8), "out": unset((4, 4)), "place": unset((4,
//+ 4), i4)} gives={"out": in_[1::2, 1::2], "place": in_[1::2, 1::2]}
__global__ void pooled_with_places(const float *in, float *out, int *place) {
    int at = threadIdx.y * 4 + threadIdx.x, best = -1;
    float most = -FLT_MAX;
    for (int dy = 0; dy < 2; dy++) {
        for (int dx = 0; dx < 2; dx++) {
            int i = (2 * threadIdx.y + dy) * 8 + 2 * threadIdx.x + dx;
            if (in[i] <= most) continue;
            most = in[i];
            best = i;
        }
    }
    out[at] = most;
    place[at] = best;
}

//: embedding_gradient grid=6 block=16 args={"d": random((6, 16)), "token": np.array([3, 1, 3, 0, 3, 1], i4),
//+ "table": zeros((4, 16))} gives={"table": [d[token == v].sum(0) for v in range(4)]}
__global__ void embedding_gradient(const float *d, const int *token, float *table) {
    atomicAdd(&table[token[blockIdx.x] * 16 + threadIdx.x], d[blockIdx.x * 16 + threadIdx.x]);
}

//: welford_of_warps block=128 args={"x": random(1000), "mean": unset(1), "var": unset(1)} gives={"mean": x.mean(),
//+ "var": x.var()} rtol=1e-4
struct Moments {
    float mean = 0, m2 = 0;
    int n = 0;
    __device__ void take(float x) {
        float delta = x - mean;
        mean += delta / ++n;
        m2 += delta * (x - mean);
    }
    __device__ void merge(float other_mean, float other_m2, int other_n) {
        int all = n + other_n;
        if (all == 0) return;
        float delta = other_mean - mean;
        mean += delta * other_n / all;
        m2 += other_m2 + delta * delta * n * other_n / all;
        n = all;
    }
};
__global__ void welford_of_warps(const float *x, float *mean, float *var) {
    __shared__ float means[4], m2s[4];
    __shared__ int counts[4];
    Moments mine;
    for (int i = threadIdx.x; i < 1000; i += blockDim.x) mine.take(x[i]);
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_down_sync(~0u, mine.mean, d), m2 = __shfl_down_sync(~0u, mine.m2, d);
        mine.merge(other, m2, __shfl_down_sync(~0u, mine.n, d));
    }
    if (threadIdx.x % 32 == 0) means[threadIdx.x / 32] = mine.mean, m2s[threadIdx.x / 32] = mine.m2, counts[threadIdx.x / 32] = mine.n;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 4; w++) mine.merge(means[w], m2s[w], counts[w]);
    *mean = mine.mean, *var = mine.m2 / mine.n;
}

//: product_with_two_buffers block=(16,16) args={"A": random((16, 64)), "B": random((64, 16), 2), "C": unset((16,
//+ 16))} gives={"C": A @ B} rtol=1e-4
__global__ void product_with_two_buffers(const float *A, const float *B, float *C) {
    __shared__ float As[2][16][16 + 1], Bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y, now = 0;
    As[0][y][x] = A[y * 64 + x], Bs[0][y][x] = B[y * 16 + x];
    float sum = 0, a, b;
    for (int tile = 0; tile < 4; tile++, now ^= 1) {
        __syncthreads();
        bool more = tile + 1 < 4;
        if (more) a = A[y * 64 + (tile + 1) * 16 + x], b = B[((tile + 1) * 16 + y) * 16 + x];
        for (int k = 0; k < 16; k++) sum = fmaf(As[now][y][k], Bs[now][k][x], sum);
        if (more) As[now ^ 1][y][x] = a, Bs[now ^ 1][y][x] = b;
    }
    C[y * 16 + x] = sum;
}

//: halves_by_two block=32 args={"x": random(64).astype(np.float16), "y": random(64, 2).astype(np.float16), "a":
//+ np.float16(0.5)} gives={"y": 0.5 * x + y} rtol=2e-3
__global__ void halves_by_two(const __half2 *x, __half2 *y, __half a) {
    int i = threadIdx.x;
    y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

//: counter_based_numbers block=1 args={"out": unset(4, u4)} gives={"out": [0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
//+ 0x9b00dbd8]}
__device__ uint4 philox_round(uint4 c, uint2 k) {
    uint hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x, hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
    return make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
}
__global__ void counter_based_numbers(uint4 *out) {
    uint4 c = {threadIdx.x, 0, 0, 0};
    uint2 k = make_uint2(0, 0);
    for (int round = 0; round < 10; round++) {
        c = philox_round(c, k);
        k.x += 0x9E3779B9u, k.y += 0xBB67AE85u;
    }
    out[threadIdx.x] = c;
}

//: functor_of_a_template kernel="mapped<Scaled, 4>" block=16 args={"x": arange(64), "y": unset(64), "f":
//+ np.array((3.0, 1), np.dtype([("a", f4), ("b", i4)]))[()]} gives={"y": 3 * x + 1}
struct Scaled {
    float a;
    int b;
    __device__ float operator()(float x) const { return a * x + b; }
};
template <typename F, int each> __global__ void mapped(const float *x, float *y, F f) {
    float held[each];
#pragma unroll
    for (int i = 0; i < each; i++) held[i] = x[i * blockDim.x + threadIdx.x];
#pragma unroll
    for (int i = 0; i < each; i++) y[i * blockDim.x + threadIdx.x] = f(held[i]);
}

//: structures_to_arrays block=64 args={"particles": random((64, 3)), "x": unset(64), "y": unset(64), "z":
//+ unset(64)} gives={"x": particles[:, 0], "y": particles[:, 1], "z": particles[:, 2]}
struct Particle { float x, y, z; };
__global__ void structures_to_arrays(const Particle *particles, float *x, float *y, float *z) {
    __shared__ Particle s[64];
    float *flat = &s[0].x;
    const float *from = reinterpret_cast<const float *>(particles);
    for (int i = threadIdx.x; i < 3 * 64; i += 64) flat[i] = from[i];
    __syncthreads();
    const Particle &p = s[threadIdx.x];
    x[threadIdx.x] = p.x, y[threadIdx.x] = p.y, z[threadIdx.x] = p.z;
}

//: checks_of_bytes block=8 args={"data": arange(64, np.uint8), "out": unset(8, u4)} gives={"out":
//+ [__import__("zlib").crc32(bytes(data[8 * i:8 * i + 8])) for i in range(8)]}
__global__ void checks_of_bytes(const unsigned char *data, unsigned *out) {
    __shared__ unsigned table[256];
    for (unsigned n = threadIdx.x; n < 256; n += blockDim.x) {
        unsigned c = n;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[n] = c;
    }
    __syncthreads();
    unsigned crc = ~0u;
    for (const unsigned char *p = data + 8 * threadIdx.x, *end = p + 8; p != end; ++p) crc = table[(crc ^ *p) & 255] ^ crc >> 8;
    out[threadIdx.x] = ~crc;
}

//: machine_of_states block=32 args={"in_": arange(32, i4), "out": unset(32, i4)} gives={"out": [max(v.bit_length()
//+ - 1, 0) for v in range(32)]}
enum class State : unsigned char { start, count, end };
union Bits { float f; unsigned u; struct { unsigned mantissa : 23, exponent : 8, sign : 1; } part; };
__global__ void machine_of_states(const int *in, int *out) {
    int v = in[threadIdx.x], n = 0;
    State state = State::start;
again:
    switch (state) {
        case State::start: state = v > 1 ? State::count : State::end; goto again;
        case State::count: {
            Bits b;
            b.f = (float)v;
            n = (int)b.part.exponent - 127;
            state = State::end;
        }  // falls through
        case State::end: break;
    }
    out[threadIdx.x] = n;
}

//: bytes_side_by_side args={"x": arange(64, i4), "y": zeros(64, np.uint8)} gives={"y": (2 * x + (x ^ 1)) % 256}
__global__ void bytes_side_by_side(const int *x, unsigned char *y) {
    y[threadIdx.x] = (unsigned char)x[threadIdx.x];
    __syncthreads();
    unsigned char other = y[threadIdx.x ^ 1];
    __syncthreads();
    y[threadIdx.x] = 2 * y[threadIdx.x] + other;
}

//: votes_of_lanes_that_remain args={"x": arange(64, i4), "votes": zeros(64, u4)} gives={"votes": np.where(x % 2,
//+ np.where(x < 32, 0xaaa00000, 0xaaaaaaaa), 0)}
__global__ void votes_of_lanes_that_remain(const int *x, unsigned *votes) {
    int t = threadIdx.x;
    if (x[t] % 2 == 1) votes[t] = __ballot_sync(0xffffffff, x[t] > 20);  // the others have returned: they need not come
}

//: maximum_that_is_set block=32 args={"x": arange(32), "most": zeros(1)} gives={"most": 31}
__global__ void maximum_that_is_set(const float *x, float *most) {
    float m;
    for (int i = 0; i < 32; i++) m = i == 0 ? x[i] : fmaxf(m, x[i]);
    if (threadIdx.x == 0) most[0] = m;
}
