// D = alpha A B + beta C on tensor cores. A (M x K) and B (K x N) are half, C and D (M x N) float, all stored by rows.
//
// Launch: block 32, grid (ceil(N / 16), ceil(M / 16)); sm_70 or newer. One warp computes one tile of 16 x 16 of D:
// it walks along K in steps of 16, and at each step all of its lanes together multiply a tile of A by a tile of B. Which
// lane holds which elements of a fragment, CUDA does not say. The sums are float: products of half fit into it exactly.
#include <mma.h>
using namespace nvcuda;

#define WIDE 24  // elements from row to row of a staged tile: 8 rows of 24 half, 4 of 24 float fall on different banks

// Loads the tile of X (rows x columns) whose first element is (i0, j0). Over an edge it holds zeros, which change no sum.
template <class Fragment>
__device__ void load_tile(Fragment &fragment, const half *X, int rows, int columns, int i0, int j0, half *staged)
{
    // Straight from global memory only if all of the tile is there, and rows lie a multiple of 16 bytes apart.
    if (i0 + 16 <= rows && j0 + 16 <= columns && columns % 8 == 0) {  // the same for all lanes
        wmma::load_matrix_sync(fragment, X + i0 * columns + j0, columns);
        return;
    }
    for (int t = threadIdx.x; t < 256; t += 32) {
        const int i = i0 + t / 16, j = j0 + t % 16;
        half element = __float2half(0.0f);
        if (i < rows && j < columns) element = X[i * columns + j];
        staged[t / 16 * WIDE + t % 16] = element;
    }
    __syncwarp();  // read after write: no lane loads before all have copied
    wmma::load_matrix_sync(fragment, staged, WIDE);
    __syncwarp();  // write after read: no lane copies the next tile before all have loaded this one
}

extern "C" __global__ void __launch_bounds__(32)
gemm_wmma(int M, int N, int K, float alpha, const half *A, const half *B, float beta, const float *C, float *D)
{
    __shared__ __align__(32) half a_staged[16 * WIDE], b_staged[16 * WIDE];
    __shared__ __align__(32) float d_staged[16 * WIDE];
    const int i0 = blockIdx.y * 16, j0 = blockIdx.x * 16;

    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k0 = 0; k0 < K; k0 += 16) {
        load_tile(a, A, M, K, i0, k0, a_staged);
        load_tile(b, B, K, N, k0, j0, b_staged);
        wmma::mma_sync(sum, a, b, sum);
    }

    // alpha and beta go over the fragments element by element: those of `sum` and `c` have the same places in a lane.
    if (i0 + 16 <= M && j0 + 16 <= N && N % 4 == 0) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        wmma::fill_fragment(c, 0.0f);
        if (beta != 0) wmma::load_matrix_sync(c, C + i0 * N + j0, N, wmma::mem_row_major);
        for (int e = 0; e < sum.num_elements; e++) sum.x[e] = alpha * sum.x[e] + beta * c.x[e];
        wmma::store_matrix_sync(D + i0 * N + j0, sum, N, wmma::mem_row_major);
        return;
    }
    // A fragment is stored as a whole; so over an edge it goes to shared memory, and from there what D has room for.
    wmma::store_matrix_sync(d_staged, sum, WIDE, wmma::mem_row_major);
    __syncwarp();  // read after write: other lanes have stored what this one reads
    for (int t = threadIdx.x; t < 256; t += 32) {
        const int i = i0 + t / 16, j = j0 + t % 16, at = i * N + j;
        if (i >= M || j >= N) continue;
        const float product = alpha * d_staged[t / 16 * WIDE + t % 16];
        D[at] = beta == 0 ? product : product + beta * C[at];
    }
}
