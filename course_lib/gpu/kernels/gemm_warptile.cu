// D = alpha A B + beta C, float32.   Beyond Darve 2019: tiles for the block, the warp and the thread (its reference: CUTLASS).
//
// Matrices and strides as in gemm_naive.cu. Launch: block (256), grid (ceil(N / 128), ceil(M / 128)).
//   block   128 x 128 of D, in steps of 16 along K, with two buffers: the next tiles travel while these are used
//   warp    32 x 64 of it, as four quarters of 16 x 32; the 8 warps stand 4 x 2
//   thread  4 x 4 of each quarter: 64 elements of D in registers, for which each k needs 8 numbers of A and 8 of B
// So 64 multiply-adds for four float4 loads from shared memory, and again 64 for each number from global memory.
// A is 128 lines (rows) along k, B 128 lines (columns) along k: one function copies both, given the strides.
#define STEP 16
#define WIDTH 132  // of a tile's rows: 128, and 4 so that four rows further down the banks have moved by 16
typedef float Tile[STEP][WIDTH];  // A(i, k) at [k][i], B(k, j) at [k][j]

// Four numbers `step` apart, of which `left` exist; the others are 0. In one load if they lie side by side, aligned.
__device__ __forceinline__ float4 load4(const float *p, int step, int left)
{
    if (step == 1 && left >= 4 && (size_t)p % 16 == 0) return *(const float4 *)p;
    return make_float4(left > 0 ? p[0] : 0, left > 1 ? p[step] : 0, left > 2 ? p[2 * step] : 0, left > 3 ? p[3 * step] : 0);
}

// What thread t copies: four neighbours in memory, twice (h = 0, 1). They lie down the tile, along k, or across it.
__device__ __forceinline__ int line_of(bool down, int t, int h) { return down ? t / 2 : t % 16 * 4 + 64 * h; }
__device__ __forceinline__ int k_of(bool down, int t, int h) { return down ? t % 2 * 4 + 8 * h : t / 16; }

__device__ __forceinline__ void put(Tile &tile, bool down, int t, int h, float4 v)
{
    float *to = &tile[k_of(down, t, h)][line_of(down, t, h)];
    if (!down) *(float4 *)to = v;
    else to[0] = v.x, to[WIDTH] = v.y, to[2 * WIDTH] = v.z, to[3 * WIDTH] = v.w;
}

// Any tile: of X `lines` lines and `ks` k are left, and steps of line and k lead from number to number.
__device__ void copy(Tile &tile, const float *X, int line, int k, int lines, int ks, int t)
{
    const bool down = line != 1;
    for (int h = 0; h < 2; h++) {
        const int y = line_of(down, t, h), x = k_of(down, t, h);
        const int left = down ? (y < lines ? ks - x : 0) : x < ks ? lines - y : 0;
        put(tile, down, t, h, load4(X + y * line + x * k, down ? k : line, left));
    }
}

__device__ __forceinline__ void add(float4 &d, float a, float4 b)  // d += a b
{
    d.x += a * b.x, d.y += a * b.y, d.z += a * b.z, d.w += a * b.w;
}

// Eight k of two tiles, from k = n on: i and j are where the thread's 4 x 4 of the first quarter begins.
__device__ void multiply(const Tile &a_tile, const Tile &b_tile, int n, int i, int j, float4 (&d)[2][2][4])
{
    #pragma unroll
    for (int end = n + 8; n < end; n++) {
        const float4 a[2] = {*(float4 *)&a_tile[n][i], *(float4 *)&a_tile[n][i + 16]};
        const float4 b[2] = {*(float4 *)&b_tile[n][j], *(float4 *)&b_tile[n][j + 32]};
        #pragma unroll
        for (int q = 0; q < 4; q++) {
            float4 *quarter = d[q / 2][q % 2];
            add(quarter[0], a[q / 2].x, b[q % 2]), add(quarter[1], a[q / 2].y, b[q % 2]);
            add(quarter[2], a[q / 2].z, b[q % 2]), add(quarter[3], a[q / 2].w, b[q % 2]);
        }
    }
}

// Walks along K, two steps a turn, while the tiles ahead are whole and aligned: no question, and both buffers' addresses
// are known. In the kernel once for each way to store A and B, a and b: `down` is then known, too. The k it has come to.
__device__ int walk(bool a, bool b, const float *A, int a_line, int a_k, const float *B, int b_line, int b_k,
                                    int K, Tile *a_tile, Tile *b_tile, int t, int i, int j, float4 (&d)[2][2][4])
{
    const int a_step = STEP * (a ? 1 : a_k), b_step = STEP * (b ? 1 : b_k);
    A += line_of(a, t, 0) * (a ? a_line : 1) + k_of(a, t, 0) * (a ? 1 : a_k) + a_step;
    B += line_of(b, t, 0) * (b ? b_line : 1) + k_of(b, t, 0) * (b ? 1 : b_k) + b_step;
    int k = 0;
    for (; k + 3 * STEP <= K; k += 2 * STEP, A += 2 * a_step, B += 2 * b_step) {
        #pragma unroll
        for (int n = 0; n < 4; n++) {
            const int now = n / 2, h = n % 2;
            if (h == 0) __syncthreads();  // as in the kernel
            const float4 a_next = *(const float4 *)(A + now * a_step + (a ? 8 : 64) * h);  // half of the next tiles,
            const float4 b_next = *(const float4 *)(B + now * b_step + (b ? 8 : 64) * h);  // while half of these is used
            multiply(a_tile[now], b_tile[now], 8 * h, i, j, d);
            put(a_tile[now ^ 1], a, t, h, a_next);
            put(b_tile[now ^ 1], b, t, h, b_next);
        }
    }
    return k;
}

__global__ void __launch_bounds__(256, 2)
gemm_warptile(int M, int N, int K, float alpha, const float *__restrict__ A, int a_row, int a_col,
              const float *__restrict__ B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ __align__(16) Tile a_tile[2], b_tile[2];
    const int t = threadIdx.x, i0 = blockIdx.y * 128, j0 = blockIdx.x * 128;
    // 8 lanes side by side read 32 neighbours of B, and one float4 of A.
    const int warp = t / 32, lane = t % 32, i = warp / 2 * 32 + lane / 8 * 4, j = warp % 2 * 64 + lane % 8 * 4;
    const bool a_down = a_row != 1, b_down = b_col != 1;
    A += i0 * a_row, B += j0 * b_col;
    const bool whole = i0 + 128 <= M && j0 + 128 <= N && (!a_down || a_col == 1) && (!b_down || b_row == 1) &&
                       (((size_t)A | (size_t)B) / 4 | (a_down ? a_row : a_col) | (b_down ? b_col : b_row)) % 4 == 0;
    float4 d[2][2][4] = {};  // [half down][half across][row], four columns each
    copy(a_tile[0], A, a_row, a_col, M - i0, K, t);
    copy(b_tile[0], B, b_col, b_row, N - j0, K, t);
    int k = 0;
    #define WALK(a, b) walk(a, b, A, a_row, a_col, B, b_col, b_row, K, a_tile, b_tile, t, i, j, d)
    if (whole) k = a_down ? b_down ? WALK(true, true) : WALK(true, false) : b_down ? WALK(false, true) : WALK(false, false);
    #pragma unroll 1
    for (int now = 0; k < K; k += STEP, now ^= 1) {  // what is left of it; of ragged or unaligned blocks, all
        __syncthreads();  // read after write: these tiles are there. Write after read: nobody uses the others any more
        const int next = k + STEP;
        if (next < K) {
            copy(a_tile[now ^ 1], A + next * a_col, a_row, a_col, M - i0, K - next, t);
            copy(b_tile[now ^ 1], B + next * b_row, b_col, b_row, N - j0, K - next, t);
        }
        multiply(a_tile[now], b_tile[now], 0, i, j, d);
        multiply(a_tile[now], b_tile[now], 8, i, j, d);
    }
    #pragma unroll
    for (int n = 0; n < 16; n++) {
        const int p = n / 8, q = n / 4 % 2, row = i0 + i + 16 * p + n % 4, column = j0 + j + 32 * q;
        const int at = row * c_row + column * c_col, left = row < M ? N - column : 0;
        float4 v = {}; add(v, alpha, d[p][q][n % 4]);
        if (beta != 0) add(v, beta, load4(C + at, c_col, left));  // with beta = 0, C is not even read
        if (c_col == 1 && left >= 4 && (size_t)(D + at) % 16 == 0) *(float4 *)(D + at) = v;
        else for (int e = 0; e < 4 && e < left; e++) D[at + e * c_col] = e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
    }
}
