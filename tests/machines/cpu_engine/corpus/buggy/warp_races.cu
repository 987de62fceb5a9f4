// Lanes of one warp that count on running in step.
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
