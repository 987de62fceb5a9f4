// D = alpha A B + beta C, float32.   Darve 2019, section 4.2: 16 x 4 threads, each with a row of 16 elements of D in registers.
//
// Matrices and strides as in gemm_naive.cu. Launch: block (16, 4), grid (ceil(M / 64), ceil(N / 16)).
// A block computes a 64 x 16 tile of D and walks along K in steps of 4. At each step a 4 x 16 tile of B goes to shared memory, one
// element a thread; 4 elements of A go straight to the registers of the one thread that owns their row: nobody else needs them.
// Then 4 x 16 multiply-adds for 5 loads from global memory, 4 of A and 1 of B: for each one load from shared memory, none of A.
//
// Coalescing: neighbouring threads own neighbouring ROWS, so a warp's load of A(i, k), and its store to D(i, j), goes down a
// column. Stored by columns that is 128 bytes side by side, 4 sectors; stored by rows it is 32 rows and 32 sectors, of which
// it uses 4 bytes each. gemm.py therefore has D stored by columns: for row-major arrays it computes D^T = B^T A^T.
__global__ void __launch_bounds__(64)
gemm_register_16x4(int M, int N, int K, float alpha, const float *__restrict__ A, int a_row, int a_col,
                   const float *__restrict__ B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ float b_tile[4][16];
    const int t = threadIdx.y * 16 + threadIdx.x;  // 0 to 63: the row of the tile of D
    const int i = blockIdx.x * 64 + t, j0 = blockIdx.y * 16;

    // Which element of the tile of B this thread copies: neighbours in the warp take neighbours in memory.
    const int tk = b_row == 1 ? t % 4 : t / 16, tj = b_row == 1 ? t / 4 : t % 16;

    float d[16] = {0};
    for (int k0 = 0; k0 < K; k0 += 4) {
        // Rows 2 and 3 swap their halves (column ^ 8), or rows 0 and 2 share banks when B comes by columns.
        b_tile[tk][tj ^ (tk & 2) * 4] = k0 + tk < K && j0 + tj < N ? B[(k0 + tk) * b_row + (j0 + tj) * b_col] : 0;
        float a[4];
        #pragma unroll
        for (int k = 0; k < 4; k++) a[k] = i < M && k0 + k < K ? A[i * a_row + (k0 + k) * a_col] : 0;
        __syncthreads();  // read after write: all 64 elements of the tile are there

        #pragma unroll
        for (int k = 0; k < 4; k++)
            #pragma unroll
            for (int j = 0; j < 16; j++) d[j] += a[k] * b_tile[k][j ^ (k & 2) * 4];  // one word for all threads
        __syncthreads();  // write after read: nobody overwrites a tile that another still reads
    }

    if (i >= M) return;  // after the last barrier
    #pragma unroll
    for (int j = 0; j < 16; j++)
        if (j0 + j < N) {
            const int at = i * c_row + (j0 + j) * c_col;
            D[at] = beta == 0 ? alpha * d[j] : alpha * d[j] + beta * C[at];
        }
}
