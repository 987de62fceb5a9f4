// Matrix products, from the naive one to tiles in registers.
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
//: sgemm_naive grid=(2,3) block=(32,32) args={"M": i4(40), "N": i4(70), "K": i4(33), "alpha": f4(0.5), "A": random((40, 33), 1), "B": random((33, 70), 2), "beta": f4(3), "C": random((40, 70), 3)}
//+ gives={"C": 0.5 * A @ B + 3 * C}
__global__ void sgemm_naive(int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
    const uint x = blockIdx.x * blockDim.x + threadIdx.x;
    const uint y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < M && y < N) {
        float tmp = 0.0;
        for (int i = 0; i < K; ++i)
            tmp += A[x * K + i] * B[i * N + y];
        C[x * N + y] = alpha * tmp + beta * C[x * N + y];
    }
}
//: sgemm_coalesced grid=(3,3) block=256 args={"M": i4(40), "N": i4(48), "K": i4(20), "A": random((40, 20), 1), "B": random((20, 48), 2), "C": unset((40, 48))} gives={"C": A @ B}
__global__ void sgemm_coalesced(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int cRow = blockIdx.x * 16 + (threadIdx.x / 16);
    const int cCol = blockIdx.y * 16 + (threadIdx.x % 16);
    if (cRow < M && cCol < N) {
        float tmp = 0.0f;
        for (int i = 0; i < K; ++i)
            tmp += A[cRow * K + i] * B[i * N + cCol];
        C[cRow * N + cCol] = tmp;
    }
}
//: matrixMulCUDA grid=(3,2) block=(16,16) args={"C": unset((32, 48)), "A": random((32, 64), 4), "B": random((64, 48), 5), "wA": i4(64), "wB": i4(48)} gives={"C": A @ B}
#define BLOCK_SIZE 16
__global__ void matrixMulCUDA(float *C, float *A, float *B, int wA, int wB)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int aBegin = wA * BLOCK_SIZE * by, aEnd = aBegin + wA - 1, aStep = BLOCK_SIZE;
    int bBegin = BLOCK_SIZE * bx, bStep = BLOCK_SIZE * wB;
    float Csub = 0;
    for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[ty][tx] = A[a + wA * ty + tx];
        Bs[ty][tx] = B[b + wB * ty + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BLOCK_SIZE; ++k)
            Csub += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    int c = wB * BLOCK_SIZE * by + BLOCK_SIZE * bx;
    C[c + wB * ty + tx] = Csub;
}
//: matmul_ragged_tiles grid=(4,3) block=(8,8) args={"A": random((19, 21), 6), "B": random((21, 30), 7), "C": unset((19, 30)), "M": i4(19), "K": i4(21), "N": i4(30)} gives={"C": A @ B}
__global__ void matmul_ragged_tiles(const float *A, const float *B, float *C, int M, int K, int N)
{
    __shared__ float As[8][8], Bs[8][9];
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    float sum = 0.f;
    for (int p = 0; p < (K + 7) / 8; p++) {
        int ka = p * 8 + threadIdx.x, kb = p * 8 + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? A[row * K + ka] : 0.f;
        Bs[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : 0.f;
        __syncthreads();
        for (int k = 0; k < 8; k++)
            sum = fmaf(As[threadIdx.y][k], Bs[k][threadIdx.x], sum);
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}
//: sgemm_1d_blocktile grid=(2,2) block=128 args={"M": i4(64), "N": i4(64), "K": i4(24), "A": random((64, 24), 8), "B": random((24, 64), 9), "C": unset((64, 64))} gives={"C": A @ B}
__global__ void sgemm_1d_blocktile(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int BM = 32, BN = 32, BK = 4, TM = 8;
    const uint cRow = blockIdx.y, cCol = blockIdx.x;
    const int threadCol = threadIdx.x % BN, threadRow = threadIdx.x / BN;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    A += cRow * BM * K;
    B += cCol * BN;
    C += cRow * BM * N + cCol * BN;
    const uint innerColA = threadIdx.x % BK, innerRowA = threadIdx.x / BK;
    const uint innerColB = threadIdx.x % BN, innerRowB = threadIdx.x / BN;
    float threadResults[TM] = {0.0};
    for (uint bkIdx = 0; bkIdx < K; bkIdx += BK) {
        As[innerRowA * BK + innerColA] = A[innerRowA * K + innerColA];
        Bs[innerRowB * BN + innerColB] = B[innerRowB * N + innerColB];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (uint dotIdx = 0; dotIdx < BK; ++dotIdx) {
            float tmpB = Bs[dotIdx * BN + threadCol];
            for (uint resIdx = 0; resIdx < TM; ++resIdx)
                threadResults[resIdx] += As[(threadRow * TM + resIdx) * BK + dotIdx] * tmpB;
        }
        __syncthreads();
    }
    for (uint resIdx = 0; resIdx < TM; ++resIdx)
        C[(threadRow * TM + resIdx) * N + threadCol] = threadResults[resIdx];
}
//: sgemm_2d_blocktile grid=(2,1) block=64 args={"M": i4(32), "N": i4(64), "K": i4(16), "A": random((32, 16), 1), "B": random((16, 64), 2), "C": unset((32, 64))} gives={"C": A @ B}
__global__ void __launch_bounds__(64) sgemm_2d_blocktile(int M, int N, int K, float *A, float *B, float *C)
{
    constexpr int BM = 32, BN = 32, BK = 8, TM = 4, TN = 4;
    __shared__ float As[BM * BK];
    __shared__ float Bs[BK * BN];
    const int threadCol = threadIdx.x % (BN / TN), threadRow = threadIdx.x / (BN / TN);
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float threadResults[TM * TN] = {0.0}, regM[TM] = {0.0}, regN[TN] = {0.0};
    for (unsigned bk = 0; bk < K; bk += BK) {
        for (unsigned at = threadIdx.x; at < BM * BK; at += blockDim.x)
            As[at] = A[(at / BK) * K + at % BK];
        for (unsigned at = threadIdx.x; at < BK * BN; at += blockDim.x)
            Bs[at] = B[(at / BN) * N + at % BN];
        __syncthreads();
        A += BK;
        B += BK * N;
        for (unsigned dot = 0; dot < BK; ++dot) {
            for (int i = 0; i < TM; ++i)
                regM[i] = As[(threadRow * TM + i) * BK + dot];
            for (int i = 0; i < TN; ++i)
                regN[i] = Bs[dot * BN + threadCol * TN + i];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    threadResults[m * TN + n] += regM[m] * regN[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
            C[(threadRow * TM + m) * N + threadCol * TN + n] = threadResults[m * TN + n];
}
//: sgemm_vectorized grid=(1,2) block=64 args={"N": i4(32), "K": i4(16), "A": random((64, 16), 1), "B": random((16, 32), 2), "C": unset((64, 32))} gives={"C": A @ B}
__global__ void sgemm_vectorized(int N, int K, float *A, float *B, float *C)
{
    __shared__ float As[8][32];
    __shared__ float Bs[8][32];
    const int tc = threadIdx.x % 8, tr = threadIdx.x / 8;
    const int rowA = threadIdx.x / 2, colA = (threadIdx.x % 2) * 4, rowB = threadIdx.x / 8, colB = (threadIdx.x % 8) * 4;
    A += blockIdx.y * 32 * K;
    C += blockIdx.y * 32 * N;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < K; k0 += 8) {
        float4 tmp = reinterpret_cast<float4 *>(&A[rowA * K + k0 + colA])[0];
        As[colA + 0][rowA] = tmp.x;
        As[colA + 1][rowA] = tmp.y;
        As[colA + 2][rowA] = tmp.z;
        As[colA + 3][rowA] = tmp.w;
        reinterpret_cast<float4 *>(&Bs[rowB][colB])[0] = reinterpret_cast<float4 *>(&B[(k0 + rowB) * N + colB])[0];
        __syncthreads();
        for (int k = 0; k < 8; ++k) {
            float4 a = *reinterpret_cast<float4 *>(&As[k][tr * 4]);
            float4 b = *(float4 *)(&Bs[k][tc * 4]);
            float am[4] = {a.x, a.y, a.z, a.w}, bn[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
            for (int m = 0; m < 4; ++m)
#pragma unroll
                for (int n = 0; n < 4; ++n)
                    acc[m][n] += am[m] * bn[n];
        }
        __syncthreads();
    }
    for (int m = 0; m < 4; ++m)
        *reinterpret_cast<float4 *>(&C[(tr * 4 + m) * N + tc * 4]) = make_float4(acc[m][0], acc[m][1], acc[m][2], acc[m][3]);
}
//: sgemm_double_buffer grid=(2,2) block=(16,16) args={"n": i4(32), "A": random((32, 32), 1), "B": random((32, 32), 2), "C": unset((32, 32))} gives={"C": A @ B}
__global__ void sgemm_double_buffer(int n, const float *A, const float *B, float *C)
{
    __shared__ float As[2][16][16], Bs[2][16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, now = 0;
    As[0][ty][tx] = A[row * n + tx];
    Bs[0][ty][tx] = B[ty * n + col];
    __syncthreads();
    float sum = 0;
    for (int k0 = 16; k0 <= n; k0 += 16) {
        float nextA, nextB;
        if (k0 < n) {
            nextA = A[row * n + k0 + tx];
            nextB = B[(k0 + ty) * n + col];
        }
        for (int k = 0; k < 16; ++k)
            sum += As[now][ty][k] * Bs[now][k][tx];
        if (k0 < n) {
            As[now ^ 1][ty][tx] = nextA;
            Bs[now ^ 1][ty][tx] = nextB;
        }
        __syncthreads();
        now ^= 1;
    }
    C[row * n + col] = sum;
}
//: gemv_warp_per_row grid=3 block=128 args={"A": random((10, 77), 1), "x": random(77, 2), "y": unset(10), "rows": i4(10), "cols": i4(77)} gives={"y": A @ x}
__global__ void gemv_warp_per_row(const float *A, const float *x, float *y, int rows, int cols)
{
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (warp >= rows)
        return;
    float sum = 0;
    for (int c = lane; c < cols; c += 32)
        sum += A[warp * cols + c] * x[c];
    for (int offset = 16; offset; offset >>= 1)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0)
        y[warp] = sum;
}
//: spmv_csr grid=2 block=8 args={"rows": i4(10), "ptr": np.array([0, 2, 2, 5, 6, 9, 11, 12, 13, 16, 20], i4), "col": arange(20, i4) * 7 % 10, "val": random(20, 1), "x": random(10, 2), "y": unset(10)}
//+ gives={"y": [(val[a:b] * x[col[a:b]]).sum() for a, b in zip(ptr[:-1], ptr[1:])]}
__global__ void spmv_csr(int rows, const int *ptr, const int *col, const float *val, const float *x, float *y)
{
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        float dot = 0;
        int row_start = ptr[row], row_end = ptr[row + 1];
        for (int jj = row_start; jj < row_end; jj++)
            dot += val[jj] * x[col[jj]];
        y[row] = dot;
    }
}
//: batched_dgemm grid=(1,1,5) block=(6,7) args={"A": random((5, 7, 4), 1, f8), "B": random((5, 4, 6), 2, f8), "C": unset((5, 7, 6), f8), "k": i4(4)} gives={"C": A @ B}
__global__ void batched_dgemm(const double *A, const double *B, double *C, int k)
{
    int row = threadIdx.y, col = threadIdx.x, M = blockDim.y, N = blockDim.x, batch = blockIdx.z;
    double sum = 0.0;
    for (int i = 0; i < k; i++)
        sum += A[(batch * M + row) * k + i] * B[(batch * k + i) * N + col];
    C[(batch * M + row) * N + col] = sum;
}
