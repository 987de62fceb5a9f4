// Fragments of tensor cores (wmma) as CUDA's documents use them.
#include <mma.h>
using namespace nvcuda;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> TileA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> TileB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;

//: one_tile block=32 args={"A": random((16, 16), 1, np.float16), "B": random((16, 16), 2, np.float16), "D": unset((16, 16))}
//+ gives={"D": A.astype(f4) @ B.astype(f4)}
__global__ void one_tile(const half *A, const half *B, float *D)
{
    TileA a;
    TileB b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);
}

//: all_by_columns block=32 args={"A": random((16, 16), 1, np.float16), "B": random((16, 16), 2, np.float16), "D": unset((16, 16))}
//+ gives={"D": (A.T.astype(f4) @ B.T.astype(f4)).T}
__global__ void all_by_columns(const half *A, const half *B, float *D)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 16);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_col_major);
}

//: scaled_and_added block=32 args={"A": random((16, 48), 1, np.float16), "B": random((48, 16), 2, np.float16), "C": random((16, 16), 3), "D": unset((16, 16))}
//+ gives={"D": 2 * (A.astype(f4) @ B.astype(f4)) - C}
__global__ void scaled_and_added(const half *A, const half *B, const float *C, float *D)
{
    TileA a;
    TileB b;
    Sum sum, c;
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = 0.0f;
    for (int k = 0; k < 48; k += 16) {
        wmma::load_matrix_sync(a, A + k, 48);
        wmma::load_matrix_sync(b, B + k * 16, 16);
        wmma::mma_sync(sum, a, b, sum);
    }
    wmma::load_matrix_sync(c, C, 16, wmma::mem_row_major);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = 2.0f * sum.x[i] - c.x[i];
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);
}

//: four_warps_behind_a_barrier block=128 args={"A": random((64, 16), 1, np.float16), "B": random((16, 16), 2, np.float16), "D": unset((64, 16))}
//+ gives={"D": A.astype(f4) @ B.astype(f4)}
__global__ void four_warps_behind_a_barrier(const half *A, const half *B, float *D)
{
    __shared__ __align__(32) half a_tile[64][24], b_tile[16][24];
    int warp = threadIdx.x / 32;
    for (int t = threadIdx.x; t < 1024; t += 128) a_tile[t / 16][t % 16] = A[t];
    for (int t = threadIdx.x; t < 256; t += 128) b_tile[t / 16][t % 16] = B[t];
    __syncthreads();
    TileA a;
    TileB b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, &a_tile[16 * warp][0], 24);
    wmma::load_matrix_sync(b, &b_tile[0][0], 24);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(D + warp * 256, sum, 16, wmma::mem_row_major);
}

//: warps_without_a_tile_leave block=128 args={"A": random((32, 16), 1, np.float16), "D": unset((32, 16), np.float16)}
//+ gives={"D": A}
__global__ void warps_without_a_tile_leave(const half *A, half *D)
{
    int warp = threadIdx.x / 32;
    if (warp >= 2) return;
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> f;
    wmma::load_matrix_sync(f, A + warp * 256, 16, wmma::mem_row_major);
    wmma::store_matrix_sync(D + warp * 256, f, 16, wmma::mem_row_major);
}

//: tall_tiles block=32 args={"A": random((32, 16), 1, np.float16), "B": random((16, 8), 2, np.float16), "D": unset((32, 8))}
//+ gives={"D": A.astype(f4) @ B.astype(f4)}
__global__ void tall_tiles(const half *A, const half *B, float *D)
{
    wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 32, 8, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 32, 8, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, 8);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(D, sum, 8, wmma::mem_row_major);
}

//: rounded_to_tf32 block=32 args={"A": random((16, 8), 1), "B": random((8, 16), 2), "D": unset((16, 16))} rtol=1e-2
//+ gives={"D": A @ B}
__global__ void rounded_to_tf32(const float *A, const float *B, float *D)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(a, A, 8);
    wmma::load_matrix_sync(b, B, 16);
    for (int i = 0; i < a.num_elements; i++) a.x[i] = wmma::__float_to_tf32(a.x[i]);
    for (int i = 0; i < b.num_elements; i++) b.x[i] = wmma::__float_to_tf32(b.x[i]);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);
}
