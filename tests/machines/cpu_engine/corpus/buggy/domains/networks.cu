// Layers, losses and optimisers, each with one mistake.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

//: mean_not_awaited grid=2 args=[random((2, 64)), zeros((2, 64))]
__global__ void mean_not_awaited(const float *x, float *y) {
    __shared__ float part[2], mean;
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float v = x[blockIdx.x * 64 + t], sum = v;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    if (t == 0) mean = (part[0] + part[1]) / 64;  // <- racecheck mean
    y[blockIdx.x * 64 + t] = v - mean;  // <- racecheck mean
}

//: one_buffer_for_both_reductions args=[random(64), zeros(64)]
__global__ void one_buffer_for_both_reductions(const float *x, float *y) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    }
    __syncthreads();
    float most = s[0];  // <- racecheck s
    s[t] = expf(x[t] - most);  // <- racecheck s
    float mine = s[t];
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) s[t] += s[t + d];
    }
    __syncthreads();
    y[t] = mine / s[0];
}

//: running_maximum_unset block=4 args=[random((4, 16)), zeros((4, 16))]
__global__ void running_maximum_unset(const float *x, float *y) {
    float most, sum = 0;
    for (int i = 0; i < 16; i++) {
        float v = x[threadIdx.x * 16 + i], larger = fmaxf(most, v);  // <- initcheck most
        sum = sum * expf(most - larger) + expf(v - larger);  // <- initcheck most
        most = larger;
    }
    for (int i = 0; i < 16; i++) y[threadIdx.x * 16 + i] = expf(x[threadIdx.x * 16 + i] - most) / sum;  // <- initcheck y
}

//: optimiser_without_tail args=[random(250), random(250), zeros(250), np.int32(250)]
__global__ void optimiser_without_tail(float *w, const float *g, float *m, int n) {
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    float4 grad = *reinterpret_cast<const float4 *>(&g[i]);  // <- memcheck g
    float4 moment = *reinterpret_cast<float4 *>(&m[i]);
    moment.x = 0.9f * moment.x + 0.1f * grad.x;
    moment.y = 0.9f * moment.y + 0.1f * grad.y;
    moment.z = 0.9f * moment.z + 0.1f * grad.z;
    moment.w = 0.9f * moment.w + 0.1f * grad.w;
    *reinterpret_cast<float4 *>(&m[i]) = moment;
    for (int k = 0; k < 4; k++) w[i + k] -= 0.01f * (&moment.x)[k];
}

//: token_past_the_vocabulary grid=4 block=32 args=[zeros((4, 32)), np.array([3, 9, 10, 0], i4), random((10, 32))]
__global__ void token_past_the_vocabulary(float *out, const int *tokens, const float *table) {
    int b = blockIdx.x, c = threadIdx.x;
    out[b * 32 + c] = table[tokens[b] * 32 + c];  // <- memcheck table
}

//: target_to_be_ignored block=8 args=[random((8, 10)), np.array([1, 2, 3, -100, 5, 6, 7, 8], i4), zeros(8)]
__global__ void target_to_be_ignored(const float *logits, const int *targets, float *losses) {
    int i = threadIdx.x;
    float sum = 0;
    for (int j = 0; j < 10; j++) sum += expf(logits[i * 10 + j]);
    losses[i] = logf(sum) - logits[i * 10 + targets[i]];  // <- memcheck logits
}

//: scores_above_the_diagonal block=8 args=[random((8, 4)), random((8, 4), 2), unset((8, 8)), zeros(8)]
__global__ void scores_above_the_diagonal(const float *q, const float *k, float *scores, float *sums) {
    int t = threadIdx.x;
    for (int s = 0; s <= t; s++) {
        float dot = 0;
        for (int c = 0; c < 4; c++) dot += q[t * 4 + c] * k[s * 4 + c];
        scores[t * 8 + s] = dot;
    }
    float sum = 0;
    for (int s = 0; s < 8; s++) sum += expf(scores[t * 8 + s]);  // <- initcheck scores
    sums[t] = sum;
}

//: mask_bits_set_plainly args=[random(64), zeros(2, u4)]
__global__ void mask_bits_set_plainly(const float *x, unsigned *mask) {
    int i = threadIdx.x;
    if (x[i] > 0) mask[i / 32] |= 1u << (i % 32);  // <- racecheck mask
}

//: bias_gradient_of_all_blocks grid=4 block=16 args=[random((4, 16)), zeros(16)]
__global__ void bias_gradient_of_all_blocks(const float *dout, float *dbias) {
    dbias[threadIdx.x] += dout[blockIdx.x * 16 + threadIdx.x];  // <- racecheck dbias
}

//: pooling_past_the_edge block=(4,4) args=[random((7, 7)), zeros((4, 4))]
__global__ void pooling_past_the_edge(const float *in, float *out) {
    int x = threadIdx.x, y = threadIdx.y;
    float most = -INFINITY;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++) most = fmaxf(most, in[(2 * y + dy) * 7 + 2 * x + dx]);  // <- memcheck in
    out[y * 4 + x] = most;
}

//: buffers_of_the_wrong_parity block=(16,16) args=[random((16, 64)), random((64, 16), 2), zeros((16, 16))]
__global__ void buffers_of_the_wrong_parity(const float *A, const float *B, float *C) {
    __shared__ float As[2][16][16], Bs[2][16][16];
    int x = threadIdx.x, y = threadIdx.y;
    As[0][y][x] = A[y * 64 + x];
    Bs[0][y][x] = B[y * 16 + x];
    __syncthreads();
    float sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        int now = tile & 1;
        if (tile < 3) {
            As[now][y][x] = A[y * 64 + (tile + 1) * 16 + x];  // <- racecheck As
            Bs[now ^ 1][y][x] = B[((tile + 1) * 16 + y) * 16 + x];
        }
        for (int k = 0; k < 16; k++) sum += As[now][y][k] * Bs[now][k][x];  // <- racecheck As
        __syncthreads();
    }
    C[y * 16 + x] = sum;
}

//: parts_of_dynamic_memory_overlap shared=512 args=[random(64), zeros(64, i4)]
__global__ void parts_of_dynamic_memory_overlap(const float *x, int *order) {
    extern __shared__ float values[];
    int *index = (int *)&values[blockDim.x - 1];
    int t = threadIdx.x;
    values[t] = x[t];  // <- racecheck values
    index[t] = t;  // <- racecheck values
    __syncthreads();
    order[t] = values[t] > 0 ? index[t] : -1;
}

//: dynamic_memory_for_half_of_it shared=128 args=[random(64), zeros(64)]
__global__ void dynamic_memory_for_half_of_it(const float *x, float *y) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];  // <- memcheck s
    __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x];
}

//: ballot_of_the_odd_lanes args=[arange(64, i4), zeros(64, u4)]
__global__ void ballot_of_the_odd_lanes(const int *x, unsigned *votes) {
    int t = threadIdx.x;
    if (x[t] % 2 == 1) votes[t] = __ballot_sync(0xffffffff, x[t] > 20);  // <- synccheck
    else votes[t] = 0;
    __syncthreads();
    votes[t] += votes[t ^ 1];
}

//: half_of_a_tile_syncs args=[arange(64), zeros(64)]
__global__ void half_of_a_tile_syncs(const float *x, float *y) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    if (tile.thread_rank() < 8) tile.sync();  // <- synccheck
    else __syncthreads();  // <- synccheck
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}

//: a_barrier_in_each_case block=4 args=[zeros(4, i4)]
__global__ void a_barrier_in_each_case(int *x) {
    switch (threadIdx.x % 4) {
        case 0: x[0] = 1; __syncthreads(); break;  // <- synccheck
        case 1: x[1] = 2; __syncthreads(); break;  // <- synccheck
        default: x[threadIdx.x] = 3; __syncthreads();  // <- synccheck
    }
}

//: halves_of_a_neighbour args=[random(64).astype(np.float16)]
#include <cuda_fp16.h>
__global__ void halves_of_a_neighbour(__half *x) {
    int t = threadIdx.x;
    x[t] = __hadd(x[t], x[(t + 2) % 64]);  // <- racecheck x
}

//: word_over_bytes_of_others args=[arange(64, i4), zeros(16, u4)]
__global__ void word_over_bytes_of_others(const int *x, unsigned *words) {
    __shared__ __align__(4) unsigned char bytes[64];
    int t = threadIdx.x;
    bytes[t] = x[t];  // <- racecheck bytes
    if (t < 16) words[t] = ((const unsigned *)bytes)[t];  // <- racecheck bytes
}

//: bytes_over_words_of_others args=[arange(16, u4), zeros(64, np.uint8)]
__global__ void bytes_over_words_of_others(const unsigned *x, unsigned char *bytes) {
    __shared__ unsigned words[16];
    int t = threadIdx.x;
    if (t < 16) words[t] = x[t];  // <- racecheck words
    bytes[t] = ((const unsigned char *)words)[t];  // <- racecheck words
}
