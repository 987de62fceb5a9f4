// Lanes of one warp that count on running in step.
#include <cooperative_groups.h>
//: last_warp_without_syncwarp block=64 args={"A": random(64), "out": zeros(1)}
__global__ void last_warp_without_syncwarp(const float *A, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];  // <- racecheck s
        s[t] += s[t + 16];  // <- racecheck s
        s[t] += s[t + 8];  // <- racecheck s
        s[t] += s[t + 4];  // <- racecheck s
        s[t] += s[t + 2];  // <- racecheck s
        s[t] += s[t + 1];  // <- racecheck s
    }
    if (t == 0) out[0] = s[0];
}

//: volatile_warp_sum grid=2 block=128 args={"A": random(256), "out": zeros(2)}
__device__ void fold_warp(volatile float *s, int t)
{
    for (int step = 32; step > 0; step /= 2)
        s[t] += s[t + step];  // <- racecheck s
}

__global__ void volatile_warp_sum(const float *A, float *out)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = A[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) fold_warp(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

//: neighbour_in_a_warp block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void neighbour_in_a_warp(const float *A, float *out)
{
    __shared__ float s[32];
    s[threadIdx.x] = A[threadIdx.x];  // <- racecheck s
    out[threadIdx.x] = s[threadIdx.x ^ 1];  // <- racecheck s
}

//: warp_scan_in_place block=32 args={"A": arange(32, i4), "out": zeros(32, i4)}
__global__ void warp_scan_in_place(const int *A, int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = A[lane];
    __syncwarp();
    for (int d = 1; d < 32; d *= 2) {
        if (lane >= d) s[lane] += s[lane - d];  // <- racecheck s
        __syncwarp();
    }
    out[lane] = s[lane];
}

//: syncwarp_for_two_warps block=64 args={"A": arange(64), "out": zeros(64)}
__global__ void syncwarp_for_two_warps(const float *A, float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];  // <- racecheck s
    __syncwarp();
    out[threadIdx.x] = s[63 - threadIdx.x];  // <- racecheck s
}

//: syncwarp_of_half_a_warp block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void syncwarp_of_half_a_warp(const float *A, float *out)
{
    __shared__ float s[32];
    int lane = threadIdx.x;
    s[lane] = A[lane];  // <- racecheck s
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
    out[lane] = s[(lane + 16) % 32];  // <- racecheck s
}

//: tile_of_each_warp block=(32, 2) args={"A": random(64), "out": zeros(64)}
__global__ void tile_of_each_warp(const float *A, float *out)
{
    __shared__ float tile[2][32];
    int w = threadIdx.y, lane = threadIdx.x;
    tile[w][lane] = A[w * 32 + lane];  // <- racecheck tile
    float a = tile[w][(lane + 1) % 32];  // <- racecheck tile
    out[w * 32 + lane] = a;
}

//: lane_zero_tells_the_warp block=96 args={"A": random(96), "out": zeros(96)}
__global__ void lane_zero_tells_the_warp(const float *A, float *out)
{
    __shared__ float first[3];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) first[warp] = A[threadIdx.x];  // <- racecheck first
    out[threadIdx.x] = A[threadIdx.x] - first[warp];  // <- racecheck first
}

//: branches_pass_a_value block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void branches_pass_a_value(const float *A, float *out)
{
    __shared__ float handed[16];
    int lane = threadIdx.x;
    if (lane < 16)
        handed[lane] = A[lane];  // <- racecheck handed
    else
        out[lane] = handed[lane - 16];  // <- racecheck handed
}

//: warp_writes_through_global block=32 args={"A": arange(32), "B": zeros(32), "out": zeros(32)}
__global__ void warp_writes_through_global(const float *A, float *B, float *out)
{
    int lane = threadIdx.x;
    B[lane] = A[lane] + 1.0f;  // <- racecheck B
    out[lane] = B[31 - lane];  // <- racecheck B
}

//: shuffle_is_no_memory_barrier block=32 args={"x": random(32), "y": zeros(32)}
__global__ void shuffle_is_no_memory_barrier(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];  // <- racecheck s
    float v = __shfl_xor_sync(~0u, x[t], 1);
    y[t] = s[t ^ 1] + v;  // <- racecheck s
}

//: vote_is_no_memory_barrier block=32 args={"x": random(32), "y": zeros(32)}
__global__ void vote_is_no_memory_barrier(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = x[t];  // <- racecheck s
    unsigned m = __ballot_sync(~0u, x[t] > 0);
    if (t == 0) { float sum = 0; for (; m; m &= m - 1) sum += s[__ffs(m) - 1]; y[0] = sum; }  // <- racecheck s
}

//: match_is_no_memory_barrier block=32 args={"k": (np.arange(32) % 4).astype(i4), "y": zeros(32, i4)}
__global__ void match_is_no_memory_barrier(const int *k, int *y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t;  // <- racecheck s
    unsigned peers = __match_any_sync(~0u, k[t]);
    int leader = __ffs(peers) - 1;
    y[t] = s[31 - leader];  // <- racecheck s
}

//: reduce_sync_is_no_memory_barrier block=32 args={"x": arange(32, i4), "y": zeros(32, i4)}
__global__ void reduce_sync_is_no_memory_barrier(const int *x, int *y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = x[t];  // <- racecheck s
    int total = __reduce_add_sync(~0u, x[t]);
    y[t] = total - s[31 - t];  // <- racecheck s
}

//: eight_lane_groups_reuse_a_slot block=32 args={"x": arange(32), "y": zeros(32)}
__global__ void eight_lane_groups_reuse_a_slot(const float *x, float *y) {
    __shared__ float slot[4];
    int t = threadIdx.x, g = t / 8;
    if (t % 8 == 0) slot[g] = x[t];
    __syncwarp();
    float all = slot[0] + slot[1] + slot[2] + slot[3];  // <- racecheck slot
    __syncwarp(0xffu << g * 8);
    if (t % 8 == 0) slot[g] = all;  // <- racecheck slot
    y[t] = all;
}

//: two_tiles_append_to_one_list block=32 args={"x": arange(32), "y": zeros(1)}
__global__ void two_tiles_append_to_one_list(const float *x, float *y) {
    __shared__ float list[32];
    __shared__ int n;
    int t = threadIdx.x;
    if (t == 0) n = 0;
    __syncwarp();
    if (x[t] > 15) { int at = n; n = at + 1; list[at] = x[t]; }  // <- racecheck n
    __syncwarp();
    if (t == 0) y[0] = n + list[0];
}

//: half_tiles_of_one_warp_share_a_word block=32 args={"x": arange(32), "y": zeros(32)}
__global__ void half_tiles_of_one_warp_share_a_word(const float *x, float *y) {
    __shared__ float head;
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    int t = threadIdx.x;
    if (t == 0) head = x[0];
    __syncthreads();
    float v = head;  // <- racecheck head
    tile.sync();
    if (t == 0) head = v + 1;  // <- racecheck head
    y[t] = v;
}

//: tile_shuffle_is_no_memory_barrier block=32 args={"x": arange(32), "y": zeros(32)}
__global__ void tile_shuffle_is_no_memory_barrier(const float *x, float *y) {
    __shared__ float s[32];
    auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    int t = threadIdx.x;
    s[t] = x[t];  // <- racecheck s
    float first = tile.shfl(x[t], 0);
    y[t] = first + s[31 - t];  // <- racecheck s
}

//: narrow_tile_reads_its_neighbour block=64 args={"x": arange(64, i4), "out": zeros(64, i4)}
#include <cooperative_groups.h>
__global__ void narrow_tile_reads_its_neighbour(const int *x, int *out)
{
    __shared__ int s[64];
    auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = x[threadIdx.x];  // <- racecheck s
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 8];  // <- racecheck s
}
