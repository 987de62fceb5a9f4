// D = alpha A B + beta C on tensor cores, as gemm_wmma.cu, but the warps of a block share tiles of A and B.
//
// Launch: block 128, grid (ceil(N / 64), ceil(M / 64)); sm_70 or newer. Four warps compute a 64 x 64 tile of D, each a quarter
// of it: 2 x 2 fragments. At each step all copy 64 x 64 elements of A and of B to shared memory. An element of A or B is
// read from global memory once for 64 of D, not for 16; and a fragment, once loaded, is multiplied twice.
#include <mma.h>
using namespace nvcuda;

#define TILE 64
#define WIDE (TILE + 8)  // 16 bytes more: 8 rows one below the other fall on different banks, for copies and for fragments

// Eight neighbours in row i of X (rows x columns), from column j on: 16 bytes. Where X ends they are zeros.
__device__ uint4 eight(const half *X, int rows, int columns, int i, int j)
{
    if (i < rows && j + 8 <= columns && columns % 8 == 0)  // at once, if 16 bytes may begin there
        return *(const uint4 *)&X[i * columns + j];
    __align__(16) half found[8];
    #pragma unroll
    for (int e = 0; e < 8; e++) {
        found[e] = __float2half(0.0f);
        if (i < rows && j + e < columns) found[e] = X[i * columns + j + e];
    }
    return *(uint4 *)found;
}

// Copies the tile of X whose first element is (i0, j0): eight threads a row, 16 rows at a time.
__device__ void copy_tile(half (*tile)[WIDE], const half *X, int rows, int columns, int i0, int j0)
{
    const int x = threadIdx.x % 8 * 8;
    for (int y = threadIdx.x / 8; y < TILE; y += 16)
        *(uint4 *)&tile[y][x] = eight(X, rows, columns, i0 + y, j0 + x);
}

extern "C" __global__ void __launch_bounds__(128)
gemm_wmma_shared(int M, int N, int K, float alpha, const half *A, const half *B, float beta, const float *C, float *D)
{
    __shared__ __align__(32) half a_tile[TILE][WIDE], b_tile[TILE][WIDE];
    __shared__ __align__(32) float staged[4][16][24];  // of each warp: a fragment of D on its way over an edge
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int y0 = warp / 2 * 32, x0 = warp % 2 * 32;  // the warp's quarter
    const int i0 = blockIdx.y * TILE, j0 = blockIdx.x * TILE;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2], c;
    #pragma unroll  // all loops over fragments: a register has no index that is known only at run time
    for (int f = 0; f < 4; f++) wmma::fill_fragment(sum[f / 2][f % 2], 0.0f);

    for (int k0 = 0; k0 < K; k0 += TILE) {
        copy_tile(a_tile, A, M, K, i0, k0);
        copy_tile(b_tile, B, K, N, k0, j0);
        __syncthreads();  // read after write: no warp loads before all have copied
        for (int k = 0; k < TILE; k += 16) {
            #pragma unroll
            for (int f = 0; f < 2; f++) {
                wmma::load_matrix_sync(a[f], &a_tile[y0 + 16 * f][k], WIDE);
                wmma::load_matrix_sync(b[f], &b_tile[k][x0 + 16 * f], WIDE);
            }
            #pragma unroll
            for (int f = 0; f < 4; f++) wmma::mma_sync(sum[f / 2][f % 2], a[f / 2], b[f % 2], sum[f / 2][f % 2]);
        }
        __syncthreads();  // write after read: no warp copies the next tiles before all have loaded these
    }

    #pragma unroll
    for (int f = 0; f < 4; f++) {
        const int i1 = i0 + y0 + f / 2 * 16, j1 = j0 + x0 + f % 2 * 16;
        if (i1 + 16 <= M && j1 + 16 <= N && N % 4 == 0) {  // the same for all lanes of a warp
            wmma::fill_fragment(c, 0.0f);
            if (beta != 0) wmma::load_matrix_sync(c, C + i1 * N + j1, N, wmma::mem_row_major);
            for (int e = 0; e < c.num_elements; e++) c.x[e] = alpha * sum[f / 2][f % 2].x[e] + beta * c.x[e];
            wmma::store_matrix_sync(D + i1 * N + j1, c, N, wmma::mem_row_major);
            continue;
        }
        wmma::store_matrix_sync(&staged[warp][0][0], sum[f / 2][f % 2], 24, wmma::mem_row_major);
        __syncwarp();  // read after write, among the lanes of the warp
        for (int t = lane; t < 256; t += 32) {
            const int i = i1 + t / 16, j = j1 + t % 16, at = i * N + j;
            if (i >= M || j >= N) continue;
            const float product = alpha * staged[warp][t / 16][t % 16];
            D[at] = beta == 0 ? product : product + beta * C[at];
        }
        __syncwarp();  // write after read: the next fragment takes the same place
    }
}
