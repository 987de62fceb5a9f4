// D = alpha A B + beta C, float32.   Darve 2019, section 4.1, algorithm 1: one thread computes one element of D.
//
// A is M x K, B is K x N, C and D are M x N; C and D may be the same memory. Each matrix comes with two strides:
// X(i, j) is X[i * x_row + j * x_col]. Stored by rows: x_col = 1 and x_row is the leading dimension; stored by columns:
// the other way round; transposed: the two change places. So one kernel serves them all, with no flag and no copy.
//
// Launch: block (32, 8), grid (ceil(N / 32), ceil(M / 8)). A warp is 32 neighbouring columns of one row of D, so stored by
// rows its loads of B and its store to D are coalesced (4 sectors of 32 bytes), and its load of A is one number for all.
// Cost: each thread loads 2 K numbers for 2 K flops: a quarter flop for a byte asked for.
__global__ void gemm_naive(int M, int N, int K, float alpha, const float *A, int a_row, int a_col, const float *B,
                           int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;  // the last blocks hang over the edge; no barrier follows, so leaving early is allowed

    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[i * a_row + k * a_col] * B[k * b_row + j * b_col];

    const int at = i * c_row + j * c_col;
    D[at] = beta == 0 ? alpha * sum : alpha * sum + beta * C[at];  // 0 * NaN is NaN: with beta = 0, C is not even read
}
