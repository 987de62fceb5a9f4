// Fragments of tensor cores (wmma) used as CUDA does not allow, or before anything is in them.
#include <mma.h>
using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> TileA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> TileB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

//: sum_never_filled block=32 args={"A": random((16, 16), 1, np.float16), "B": random((16, 16), 2, np.float16), "D": zeros(256)}
__global__ void sum_never_filled(const half *A, const half *B, float *D)
{
    TileA a;
    TileB b;
    Sum sum;
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(sum, a, b, sum);  // <- initcheck sum
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);
}

//: tile_of_b_forgotten block=32 args={"A": random((16, 16), 1, np.float16), "D": zeros(256)}
__global__ void tile_of_b_forgotten(const half *A, float *D)
{
    TileA a;
    TileB b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::mma_sync(sum, a, b, sum);  // <- initcheck b
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);
}

//: stored_without_a_sum block=32 args={"D": zeros(256)}
__global__ void stored_without_a_sum(float *D)
{
    Sum sum;
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);  // <- initcheck sum
}

//: unset_matrix_as_fragment block=32 args={"A": unset((16, 16), np.float16), "D": zeros(256, np.float16)}
__global__ void unset_matrix_as_fragment(const half *A, half *D)
{
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> f;
    wmma::load_matrix_sync(f, A, 16, wmma::mem_row_major);  // <- initcheck A
    wmma::store_matrix_sync(D, f, 16, wmma::mem_row_major);
}

//: half_a_warp block=32 args={"A": random((16, 16), 1, np.float16), "D": zeros(256)}
__global__ void half_a_warp(const half *A, float *D)
{
    TileA a;
    if (threadIdx.x < 16)
        wmma::load_matrix_sync(a, A, 16);  // <- synccheck
    D[threadIdx.x] = 1.0f;
}

//: half_a_warp_before_a_barrier block=64 args={"A": random((16, 16), 1, np.float16), "D": zeros(256)}
__global__ void half_a_warp_before_a_barrier(const half *A, float *D)
{
    TileA a;
    if (threadIdx.x % 32 < 16)
        wmma::load_matrix_sync(a, A, 16);  // <- synccheck
    __syncthreads();
    D[threadIdx.x] = 1.0f;
}

//: branches_of_a_warp block=32 args={"A": random((16, 16), 1, np.float16), "B": random((16, 16), 2, np.float16), "D": zeros(256)}
__global__ void branches_of_a_warp(const half *A, const half *B, float *D)
{
    TileA a;
    if (threadIdx.x < 16)
        wmma::load_matrix_sync(a, A, 16);  // <- synccheck
    else
        wmma::load_matrix_sync(a, B, 16);  // <- synccheck
    D[threadIdx.x] = 1.0f;
}

//: lanes_without_a_row_have_left block=32 args={"A": random((16, 16), 1, np.float16), "D": zeros(256), "n": i4(20)}
__global__ void lanes_without_a_row_have_left(const half *A, float *D, int n)
{
    TileA a;
    if (threadIdx.x >= n) return;
    wmma::load_matrix_sync(a, A, 16);  // <- synccheck
    D[threadIdx.x] = 1.0f;
}

//: block_of_48 block=48 args={"A": random((16, 16), 1, np.float16), "D": zeros(256)}
__global__ void block_of_48(const half *A, float *D)
{
    TileA a;
    wmma::load_matrix_sync(a, A, 16);  // <- synccheck
    D[threadIdx.x] = 1.0f;
}

//: rows_of_ragged_matrix block=32 args={"A": random((16, 21), 1, np.float16), "D": zeros(256)}
__global__ void rows_of_ragged_matrix(const half *A, float *D)
{
    TileA a;
    wmma::load_matrix_sync(a, A, 21);  // <- memcheck A
    D[threadIdx.x] = 1.0f;
}

//: rows_of_six_floats block=32 args={"D": zeros((16, 18))}
__global__ void rows_of_six_floats(float *D)
{
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(D, sum, 18, wmma::mem_row_major);  // <- memcheck D
}

//: tile_from_column_8 block=32 args={"A": random((16, 32), 1, np.float16), "D": zeros(256)}
__global__ void tile_from_column_8(const half *A, float *D)
{
    TileA a;
    wmma::load_matrix_sync(a, A + 8, 32);  // <- memcheck A
    D[threadIdx.x] = 1.0f;
}

//: shared_tile_from_an_odd_row block=32 args={"A": random((16, 40), 1, np.float16), "D": zeros(256)}
__global__ void shared_tile_from_an_odd_row(const half *A, float *D)
{
    __shared__ __align__(32) half tile[17][40];
    TileA a;
    for (int t = threadIdx.x; t < 17 * 40; t += 32) tile[t / 40][t % 40] = t < 640 ? A[t] : half(0.0f);
    __syncwarp();
    wmma::load_matrix_sync(a, &tile[1][0], 40);  // <- memcheck tile
    D[threadIdx.x] = 1.0f;
}

//: a_lane_a_row block=32 args={"A": random((32, 32), 1, np.float16), "D": zeros(256)}
__global__ void a_lane_a_row(const half *A, float *D)
{
    TileA a;
    wmma::load_matrix_sync(a, A + threadIdx.x / 16 * 512, 32);  // <- memcheck A
    D[threadIdx.x] = 1.0f;
}

//: a_lane_a_distance block=32 args={"A": random((32, 32), 1, np.float16), "D": zeros(256)}
__global__ void a_lane_a_distance(const half *A, float *D)
{
    TileA a;
    wmma::load_matrix_sync(a, A, threadIdx.x < 16 ? 16 : 32);  // <- memcheck A
    D[threadIdx.x] = 1.0f;
}

//: tile_over_the_last_row grid=2 block=32 args={"A": random((24, 16), 1, np.float16), "D": zeros(256)}
__global__ void tile_over_the_last_row(const half *A, float *D)
{
    TileA a;
    wmma::load_matrix_sync(a, A + blockIdx.x * 256, 16);  // <- memcheck A
    if (threadIdx.x == 0) D[blockIdx.x] = 1.0f;
}

//: sum_stored_over_the_last_row grid=2 block=32 args={"D": zeros((24, 16))}
__global__ void sum_stored_over_the_last_row(float *D)
{
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(D + blockIdx.x * 256, sum, 16, wmma::mem_row_major);  // <- memcheck D
}

//: last_steps_of_k block=32 args={"A": random((16, 40), 1, np.float16), "D": zeros(256), "K": i4(40)}
__global__ void last_steps_of_k(const half *A, float *D, int K)
{
    TileA a;
    for (int k = 0; k < K; k += 16)
        wmma::load_matrix_sync(a, A + k, K);  // <- memcheck A
    D[threadIdx.x] = 1.0f;
}

//: copied_by_the_warp_itself block=32 args={"A": random((16, 16), 1, np.float16), "D": zeros(256)}
__global__ void copied_by_the_warp_itself(const half *A, float *D)
{
    __shared__ __align__(32) half tile[256];
    TileA a;
    for (int t = threadIdx.x; t < 256; t += 32) tile[t] = A[t];
    wmma::load_matrix_sync(a, tile, 16);  // <- racecheck tile
    D[threadIdx.x] = 1.0f;
}

//: copied_by_another_warp block=64 args={"A": random((32, 16), 1, np.float16), "D": zeros(256)}
__global__ void copied_by_another_warp(const half *A, float *D)
{
    __shared__ __align__(32) half tile[512];
    TileA a;
    for (int t = threadIdx.x; t < 512; t += 64) tile[t] = A[t];
    __syncwarp();
    wmma::load_matrix_sync(a, tile + threadIdx.x / 32 * 256, 16);  // <- racecheck tile
    D[threadIdx.x] = 1.0f;
}

//: next_tile_copied_too_early block=32 args={"A": random((2, 16, 16), 1, np.float16), "D": zeros(256)}
__global__ void next_tile_copied_too_early(const half *A, float *D)
{
    __shared__ __align__(32) half tile[256];
    TileA a;
    for (int k = 0; k < 2; k++) {
        for (int t = threadIdx.x; t < 256; t += 32)
            tile[t] = A[256 * k + t];  // <- racecheck tile
        __syncwarp();
        wmma::load_matrix_sync(a, tile, 16);
    }
    D[threadIdx.x] = 1.0f;
}

//: read_back_without_a_barrier block=32 args={"D": zeros(256)}
__global__ void read_back_without_a_barrier(float *D)
{
    __shared__ __align__(32) float staged[256];
    Sum sum;
    wmma::fill_fragment(sum, 1.0f);
    wmma::store_matrix_sync(staged, sum, 16, wmma::mem_row_major);
    for (int t = threadIdx.x; t < 256; t += 32)
        D[t] = staged[t];  // <- racecheck staged
}

//: all_warps_store_one_tile block=64 args={"D": zeros(256)}
__global__ void all_warps_store_one_tile(float *D)
{
    Sum sum;
    wmma::fill_fragment(sum, float(threadIdx.x / 32));
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);  // <- racecheck D
}
