// dA = dZ W^T, float32.   Kamra 2016, section 4, eq. 9: the transposed product, which takes the delta one layer down.
//
// dZ is M x K (a row an example), W is N x K as the forward pass has it, dA is M x N: each row of dA is a row of dZ
// times W^T. Nothing is transposed in memory: only the index changes, W(j, k) where a product has W(k, j). Strides as
// in mlp_forward.cu. fused = 1: dA f'(Z) is stored at once, so that dA need not be written, read and written again by
// mlp_hadamard.cu; Z, A: as there, with the strides of dA.
//
// Launch: block (32 / TN, 32 / TM), grid (ceil(N / 32), ceil(M / 32)). A warp copies a piece of a row of W, where
// neighbours lie side by side, and puts it into a COLUMN of the tile: 33 words apart, so into 32 different banks. 32
// apart, all would be one bank.
#ifndef TM
#define TM 4
#define TN 4
#endif
#define DOWN (32 / TM)
#define ACROSS (32 / TN)
#ifndef PAD
#define PAD 1
#endif

static __device__ __forceinline__ float df(float z, float a);  // f': its one line is put behind this file

__global__ void __launch_bounds__(DOWN * ACROSS)
mlp_transposed(int M, int N, int K, const float *dZ, int d_row, int d_col, const float *W, int w_row, int w_col,
               int fused, const float *Z, const float *A, float *dA, int a_row, int a_col)
{
    __shared__ float d_tile[32][32 + PAD], w_tile[32][32 + PAD];
    const int x = threadIdx.x, y = threadIdx.y, t = y * ACROSS + x;
    const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;

    float sum[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int e = t; e < 1024; e += DOWN * ACROSS) {
            const int p = e / 32, q = e % 32;  // neighbouring threads (q) copy neighbours in memory
            const int i = d_col == 1 ? p : q, dk = d_col == 1 ? q : p, j = w_col == 1 ? p : q, wk = w_col == 1 ? q : p;
            d_tile[i][dk] = i0 + i < M && k0 + dk < K ? dZ[(i0 + i) * d_row + (k0 + dk) * d_col] : 0;
            w_tile[wk][j] = j0 + j < N && k0 + wk < K ? W[(j0 + j) * w_row + (k0 + wk) * w_col] : 0;
        }
        __syncthreads();  // read after write: the tiles are there

        #pragma unroll 8
        for (int k = 0; k < 32; k++) {
            float d[TM], w[TN];
            #pragma unroll
            for (int r = 0; r < TM; r++) d[r] = d_tile[y + r * DOWN][k];  // one word, or a few, for the whole warp
            #pragma unroll
            for (int c = 0; c < TN; c++) w[c] = w_tile[k][x + c * ACROSS];
            #pragma unroll
            for (int r = 0; r < TM; r++)
                #pragma unroll
                for (int c = 0; c < TN; c++) sum[r][c] += d[r] * w[c];
        }
        __syncthreads();  // write after read: nobody overwrites a tile that another still reads
    }

    #pragma unroll
    for (int r = 0; r < TM; r++)
        #pragma unroll
        for (int c = 0; c < TN; c++) {
            const int i = i0 + y + r * DOWN, j = j0 + x + c * ACROSS, at = i * a_row + j * a_col;
            if (i < M && j < N) dA[at] = fused ? sum[r][c] * df(Z ? Z[at] : 0, A ? A[at] : 0) : sum[r][c];
        }
}
