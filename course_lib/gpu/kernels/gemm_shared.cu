// D = alpha A B + beta C, float32.   Darve 2019, section 4.1, algorithm 2: 32 x 32 threads share tiles of A and B.
//
// Matrices and strides as in gemm_naive.cu. Launch: block (32, 32), grid (ceil(N / 32), ceil(M / 32)).
// A block computes a 32 x 32 tile of D. It walks along K in steps of 32; at each step every thread copies one element of A and
// one of B to shared memory, where 32 threads use it. So each number is asked of global memory 32 times less often
// than in gemm_naive: 8 flops for a byte asked for. What is left: two loads from shared memory for each multiply-add.
__global__ void __launch_bounds__(1024)
gemm_shared(int M, int N, int K, float alpha, const float *A, int a_row, int a_col, const float *B, int b_row, int b_col,
            float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ float a_tile[32][33];  // 33: in a column of 33 wide rows each element lies in another bank
    __shared__ float b_tile[32][33];
    const int x = threadIdx.x, y = threadIdx.y;
    const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32, i = i0 + y, j = j0 + x;

    // Neighbouring threads (x) copy neighbours in memory: along a row, or along a column if the matrix is stored by columns.
    const bool a_by_columns = a_row == 1, b_by_columns = b_row == 1;
    const int ai = a_by_columns ? x : y, ak = a_by_columns ? y : x;
    const int bk = b_by_columns ? x : y, bj = b_by_columns ? y : x;

    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        // Outside of the matrices the tiles hold zeros, which change no sum; no thread skips a barrier.
        a_tile[ai][ak] = i0 + ai < M && k0 + ak < K ? A[(i0 + ai) * a_row + (k0 + ak) * a_col] : 0;
        b_tile[bk][bj] = k0 + bk < K && j0 + bj < N ? B[(k0 + bk) * b_row + (j0 + bj) * b_col] : 0;
        __syncthreads();  // read after write: nobody uses a tile before all 1,024 threads have filled it

        #pragma unroll
        for (int k = 0; k < 32; k++) sum += a_tile[y][k] * b_tile[k][x];  // a: one word for all; b: 32 banks
        __syncthreads();  // write after read: nobody overwrites a tile that another still reads
    }

    if (i < M && j < N) {
        const int at = i * c_row + j * c_col;
        D[at] = beta == 0 ? alpha * sum : alpha * sum + beta * C[at];
    }
}
