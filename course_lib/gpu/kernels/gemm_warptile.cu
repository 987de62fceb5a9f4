// D = alpha A B + beta C, float32.   Beyond [003]: tiles for the block, the warp and the thread (its reference: CUTLASS).
//
// Matrices and strides as in gemm_naive.cu. Launch: block (256), grid (ceil(N / 128), ceil(M / 128)).
//   block   128 x 128 of D, in steps of 8 along K; two buffers, so that the next tiles travel while these are used
//   warp    32 x 64 of it, as four quarters of 16 x 32; the 8 warps stand 4 x 2
//   thread  4 x 4 of each quarter: 64 elements of D in registers, for which each k needs 8 numbers of A and 8 of B
// So 64 multiply-adds for four float4 loads from shared memory, and 128 of them for each number that comes from global memory.
#define STEP 8
#define WIDTH 132  // of a tile's rows: 128, and 4 so that four rows further down the banks have moved by 16

// Four numbers that lie `step` apart, of which `left` exist; the others are 0. One load if they lie side by side, aligned.
__device__ __forceinline__ float4 load4(const float *p, int step, int left)
{
    if (step == 1 && left >= 4 && (size_t)p % 16 == 0) return *(const float4 *)p;
    return make_float4(left > 0 ? p[0] : 0, left > 1 ? p[step] : 0, left > 2 ? p[2 * step] : 0, left > 3 ? p[3 * step] : 0);
}

// The same for a store.
__device__ __forceinline__ void store4(float *p, int step, int left, float4 v)
{
    if (step == 1 && left >= 4 && (size_t)p % 16 == 0) { *(float4 *)p = v; return; }
    if (left > 0) p[0] = v.x;
    if (left > 1) p[step] = v.y;
    if (left > 2) p[2 * step] = v.z;
    if (left > 3) p[3 * step] = v.w;
}

// Four elements of A (x is i) or B (x is j), from (x, k) on: along k (`down`) or along x. `size`: how many x there are.
__device__ __forceinline__ float4 fetch(const float *p, int x, int size, int x_step, int k, int K, int k_step, bool down)
{
    return down ? load4(p + x * x_step + k * k_step, k_step, x < size ? K - k : 0)
                : load4(p + x * x_step + k * k_step, x_step, k < K ? size - x : 0);
}

// d += a b, for four columns.
__device__ __forceinline__ void add(float4 &d, float a, float4 b)
{
    d.x += a * b.x, d.y += a * b.y, d.z += a * b.z, d.w += a * b.w;
}

__global__ void __launch_bounds__(256, 2)
gemm_warptile(int M, int N, int K, float alpha, const float *__restrict__ A, int a_row, int a_col,
              const float *__restrict__ B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ __align__(16) float a_tile[2][STEP][WIDTH], b_tile[2][STEP][WIDTH];  // A(i, k) at [k][i], B(k, j) at [k][j]
    const int t = threadIdx.x, i0 = blockIdx.y * 128, j0 = blockIdx.x * 128;

    // What this thread copies: 4 neighbours in memory, along k (2 threads a row) or along i or j (32 threads a row of the tile).
    const bool a_down = a_row != 1, b_down = b_col != 1;
    const int ai = a_down ? t / 2 : t % 32 * 4, ak = a_down ? t % 2 * 4 : t / 32;
    const int bj = b_down ? t / 2 : t % 32 * 4, bk = b_down ? t % 2 * 4 : t / 32;
    // Where its 4 x 4 of the first quarter begins: 8 lanes side by side read 32 neighbours of B, and one float4 of A.
    const int warp = t / 32, lane = t % 32, i = warp / 2 * 32 + lane / 8 * 4, j = warp % 2 * 64 + lane % 8 * 4;

    float4 a_next = fetch(A, i0 + ai, M, a_row, ak, K, a_col, a_down);
    float4 b_next = fetch(B, j0 + bj, N, b_col, bk, K, b_row, b_down);
    float4 d[2][2][4] = {};  // [half down][half across][row], four columns each
    for (int k0 = 0, now = 0; k0 < K; k0 += STEP, now ^= 1) {
        store4(&a_tile[now][ak][ai], a_down ? WIDTH : 1, 4, a_next);
        store4(&b_tile[now][bk][bj], b_down ? WIDTH : 1, 4, b_next);
        __syncthreads();  // read after write: these tiles are there. Write after read: nobody uses the other two any more
        if (k0 + STEP < K) {  // on their way while the loop below computes
            a_next = fetch(A, i0 + ai, M, a_row, k0 + STEP + ak, K, a_col, a_down);
            b_next = fetch(B, j0 + bj, N, b_col, k0 + STEP + bk, K, b_row, b_down);
        }
        #pragma unroll
        for (int k = 0; k < STEP; k++) {
            float4 a[2], b[2];
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                a[h] = *(const float4 *)&a_tile[now][k][i + 16 * h];
                b[h] = *(const float4 *)&b_tile[now][k][j + 32 * h];
            }
            #pragma unroll
            for (int pq = 0; pq < 4; pq++) {
                float4 *quarter = d[pq / 2][pq % 2], down = a[pq / 2], across = b[pq % 2];
                add(quarter[0], down.x, across);
                add(quarter[1], down.y, across);
                add(quarter[2], down.z, across);
                add(quarter[3], down.w, across);
            }
        }
    }
    #pragma unroll
    for (int n = 0; n < 16; n++) {
        const int p = n / 8, q = n / 4 % 2, r = n % 4, row = i0 + i + 16 * p + r, column = j0 + j + 32 * q;
        const int at = row * c_row + column * c_col, left = row < M ? N - column : 0;
        float4 v = make_float4(0, 0, 0, 0);
        add(v, alpha, d[p][q][r]);
        if (beta != 0) add(v, beta, load4(C + at, c_col, left));  // with beta = 0, C is not even read
        store4(D + at, c_col, left, v);
    }
}
