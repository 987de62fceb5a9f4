// D = alpha A B + beta C, float32.   One idea beyond gemm_vector_8x8: two buffers, and copies that travel during the arithmetic.
//
// Matrices and strides as in gemm_naive.cu. Launch: block (16, 16), grid (ceil(N / 128), ceil(M / 128)).
// Tiles and threads are those of gemm_vector_8x8, whose step loads, waits, stores, and computes then. Here each thread asks
// for its part of the next tiles before it computes with these, and stores it in the other buffer afterwards: a load has
// 512 multiply-adds of its own thread to arrive in, and a step has one barrier instead of two.
#define STEP 8
#define WIDTH 132  // of a tile's rows: 128, and 4 so that four rows further down the banks have moved by 16

// Four numbers `step` apart, of which `left` exist; the others are 0. In one load if they lie side by side, aligned.
__device__ __forceinline__ float4 load4(const float *p, int step, int left)
{
    if (step == 1 && left >= 4 && (size_t)p % 16 == 0) return *(const float4 *)p;
    return make_float4(left > 0 ? p[0] : 0, left > 1 ? p[step] : 0, left > 2 ? p[2 * step] : 0, left > 3 ? p[3 * step] : 0);
}

__device__ __forceinline__ void put(float *tile, bool down, float4 v)  // below each other, or side by side
{
    if (!down) *(float4 *)tile = v;
    else tile[0] = v.x, tile[WIDTH] = v.y, tile[2 * WIDTH] = v.z, tile[3 * WIDTH] = v.w;
}

__device__ __forceinline__ void add(float4 &d, float a, float4 b)  // d += a b
{
    d.x += a * b.x, d.y += a * b.y, d.z += a * b.z, d.w += a * b.w;
}

__global__ void __launch_bounds__(256, 2)
gemm_buffered_8x8(int M, int N, int K, float alpha, const float *__restrict__ A, int a_row, int a_col,
                  const float *__restrict__ B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ __align__(16) float a_tile[2][STEP][WIDTH], b_tile[2][STEP][WIDTH];  // A(i, k) at [k][i], B(k, j) at [k][j]
    const int t = threadIdx.y * 16 + threadIdx.x, i0 = blockIdx.y * 128, j0 = blockIdx.x * 128;
    // What this thread copies: 4 neighbours in memory, down the tile along k (2 threads), or along i or j (32 threads).
    const bool a_down = a_row != 1, b_down = b_col != 1;
    const int ai = a_down ? t / 2 : t % 32 * 4, ak = a_down ? t % 2 * 4 : t / 32, a_step = a_down ? a_col : a_row;
    const int bj = b_down ? t / 2 : t % 32 * 4, bk = b_down ? t % 2 * 4 : t / 32, b_step = b_down ? b_row : b_col;
    int a_at = (i0 + ai) * a_row + ak * a_col, b_at = bk * b_row + (j0 + bj) * b_col;
    const int a_inside = M - i0 - ai, b_inside = N - j0 - bj;  // rows of A, columns of B from here on
    // Is all that this block reads there, and in aligned float4? Then the loop need not ask each time.
    const bool whole = i0 + 128 <= M && j0 + 128 <= N && a_step == 1 && b_step == 1 &&
                       (((size_t)A | (size_t)B) / 4 | (a_down ? a_row : a_col) | (b_down ? b_col : b_row)) % 4 == 0;
    float4 a_next, b_next;  // the next step's copies, on their way
    auto fetch = [&](int k) {
        if (whole && k + STEP <= K) a_next = *(const float4 *)(A + a_at), b_next = *(const float4 *)(B + b_at);
        else a_next = load4(A + a_at, a_step, a_down ? (a_inside > 0 ? K - k - ak : 0) : k + ak < K ? a_inside : 0),
             b_next = load4(B + b_at, b_step, b_down ? (b_inside > 0 ? K - k - bk : 0) : k + bk < K ? b_inside : 0);
        a_at += STEP * a_col, b_at += STEP * b_row;
    };
    const int i = threadIdx.y * 4, j = threadIdx.x * 4;  // where its 4 x 4 of the first quarter begins
    float4 d[2][2][4] = {};  // [half down][half across][row], four columns each
    fetch(0);
    for (int k = 0, now = 0; k < K; k += STEP, now ^= 1) {
        put(&a_tile[now][ak][ai], a_down, a_next), put(&b_tile[now][bk][bj], b_down, b_next);
        __syncthreads();  // read after write: these tiles are there. Write after read: nobody uses the others
        if (k + STEP < K) fetch(k + STEP);  // while the loop below computes
        #pragma unroll
        for (int n = 0; n < STEP; n++) {
            const float4 a[2] = {*(float4 *)&a_tile[now][n][i], *(float4 *)&a_tile[now][n][i + 64]};
            const float4 b[2] = {*(float4 *)&b_tile[now][n][j], *(float4 *)&b_tile[now][n][j + 64]};
            #pragma unroll
            for (int q = 0; q < 4; q++) {
                float4 *quarter = d[q / 2][q % 2];
                add(quarter[0], a[q / 2].x, b[q % 2]), add(quarter[1], a[q / 2].y, b[q % 2]);
                add(quarter[2], a[q / 2].z, b[q % 2]), add(quarter[3], a[q / 2].w, b[q % 2]);
            }
        }
    }
    #pragma unroll
    for (int n = 0; n < 16; n++) {
        const int p = n / 8, q = n / 4 % 2, row = i0 + i + 64 * p + n % 4, column = j0 + j + 64 * q;
        const int at = row * c_row + column * c_col, left = row < M ? N - column : 0;
        float4 v = {}; add(v, alpha, d[p][q][n % 4]);
        if (beta != 0) add(v, beta, load4(C + at, c_col, left));  // with beta = 0, C is not even read
        if (c_col == 1 && left >= 4 && (size_t)(D + at) % 16 == 0) *(float4 *)(D + at) = v;
        else for (int e = 0; e < 4 && e < left; e++) D[at + e * c_col] = e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
    }
}
