// D = alpha A B + beta C, float32.   One idea beyond gemm_register_16x4: a thread's elements of D are a square, 8 x 8.
//
// Matrices and strides as in gemm_naive.cu. Launch: block (16, 16), grid (ceil(N / 128), ceil(M / 128)).
// A block computes a 128 x 128 tile of D in steps of 8 along K: 32 flops for a byte asked of global memory. Each k asks a thread
// for 8 numbers of A and 8 of B, for 64 multiply-adds: a quarter of a load from shared memory for each, where a row of 16 takes
// one. A goes to shared memory as well: 16 threads need each of its numbers now.
// Rows and columns of a thread lie 16 apart, so that a warp reads 16 neighbours of B, in 16 banks, and 2 numbers of A.
#define STEP 8
#define WIDTH 132  // of a tile's rows: 128, and 4 so that rows further down begin in other banks

__global__ void __launch_bounds__(256, 2)
gemm_register_8x8(int M, int N, int K, float alpha, const float *__restrict__ A, int a_row, int a_col,
                  const float *__restrict__ B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ float a_tile[STEP][WIDTH], b_tile[STEP][WIDTH];  // A(i, k) at [k][i], B(k, j) at [k][j]
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x, i0 = blockIdx.y * 128, j0 = blockIdx.x * 128;

    // Of the four elements of A and of B that this thread copies, the first, and how far on the next one lies.
    // Neighbours in the warp take neighbours in memory: along k (8 threads), or along i or j (all 32).
    const bool a_down = a_row != 1, b_down = b_col != 1;
    const int ai = a_down ? t / 8 : t % 128, ak = a_down ? t % 8 : t / 128, i_on = a_down ? 32 : 0, ak_on = a_down ? 0 : 2;
    const int bj = b_down ? t / 8 : t % 128, bk = b_down ? t % 8 : t / 128, j_on = b_down ? 32 : 0, bk_on = b_down ? 0 : 2;

    float d[8][8] = {};
    for (int k0 = 0; k0 < K; k0 += STEP) {
        #pragma unroll
        for (int n = 0; n < 4; n++) {
            const int i = ai + n * i_on, k = ak + n * ak_on;
            a_tile[k][i] = i0 + i < M && k0 + k < K ? A[(i0 + i) * a_row + (k0 + k) * a_col] : 0;
        }
        #pragma unroll
        for (int n = 0; n < 4; n++) {
            const int j = bj + n * j_on, k = bk + n * bk_on;
            b_tile[k][j] = k0 + k < K && j0 + j < N ? B[(k0 + k) * b_row + (j0 + j) * b_col] : 0;
        }
        __syncthreads();  // read after write: the tiles are there

        #pragma unroll
        for (int k = 0; k < STEP; k++) {
            float a[8], b[8];
            #pragma unroll
            for (int n = 0; n < 8; n++) a[n] = a_tile[k][y + 16 * n], b[n] = b_tile[k][x + 16 * n];
            #pragma unroll
            for (int m = 0; m < 8; m++)
                #pragma unroll
                for (int n = 0; n < 8; n++) d[m][n] += a[m] * b[n];
        }
        __syncthreads();  // write after read: nobody overwrites a tile that another still reads
    }

    #pragma unroll
    for (int m = 0; m < 8; m++)
        #pragma unroll
        for (int n = 0; n < 8; n++) {
            const int i = i0 + y + 16 * m, j = j0 + x + 16 * n, at = i * c_row + j * c_col;
            if (i < M && j < N) D[at] = beta == 0 ? alpha * d[m][n] : alpha * d[m][n] + beta * C[at];
        }
}
