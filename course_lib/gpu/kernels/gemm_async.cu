// D = alpha A B + beta C, float32.   One idea beyond gemm_warptile: cp.async, copies that pass by the registers (sm_80).
//
// Matrices and strides as in gemm_naive.cu. Launch: block (256), grid (ceil(N / 128), ceil(M / 128)).
// Tiles of block, warp and thread as in gemm_warptile. A copy of 4 or 16 bytes goes from global straight to shared memory
// while its thread computes: no register holds it, nothing stores it. Older GPUs copy at once, in the usual way.
// As such a copy cannot turn a tile, A(i, k) lies at [i][k]; a thread reads four k of a row in one float4.
extern "C++" {  // PyCUDA puts extern "C" around a source, and templates in this header do without it
#include <cuda_pipeline_primitives.h>
}
#define STEP 16
#define LONG 24    // of a row of A's tile: 16, and 8 so that four neighbouring rows lie in different banks
#define WIDTH 132  // of a row of B's tile: 128, and 4 so that four rows further down the banks have moved by 16
typedef float ATile[128][LONG], BTile[STEP][WIDTH];
#if __CUDA_ARCH__ < 800  // here a copy is in a register on its way, and a T4's shared memory holds one block
#define BLOCKS 1
#else
#define BLOCKS 2
#endif

// Any tiles, four bytes at a time. Where the matrices end (`rows`, `columns`, `ks` from here on), a 0 is written instead.
__device__ void copy(ATile &a_tile, BTile &b_tile, const float *A, int a_row, int a_col, const float *B,
                                     int b_row, int b_col, int rows, int columns, int ks, int t)
{
    const bool across = b_col == 1;  // neighbours in the warp take neighbours in memory
    #pragma unroll 1
    for (int e = 0; e < 8; e++) {
        const int ai = t / 8 + e / 2 * 32, ak = t % 8 + e % 2 * 8;
        const int bj = across ? t % 128 : ai, bk = across ? t / 128 + 2 * e : ak;
        __pipeline_memcpy_async(&a_tile[ai][ak], A + ai * a_row + ak * a_col, 4, ai < rows && ak < ks ? 0 : 4);
        __pipeline_memcpy_async(&b_tile[bk][bj], B + bk * b_row + bj * b_col, 4, bj < columns && bk < ks ? 0 : 4);
    }
}

// Whole, aligned tiles of matrices stored by rows, 16 bytes at a time. A, B: the first number of this thread.
__device__ __forceinline__ void copy16(ATile &a_tile, BTile &b_tile, const float *A, const float *B, int b_row, int t)
{
    #pragma unroll
    for (int h = 0; h < 2; h++) {
        __pipeline_memcpy_async(&a_tile[t / 2][t % 2 * 4 + 8 * h], A + 8 * h, 16);
        __pipeline_memcpy_async(&b_tile[t / 32 + 8 * h][t % 32 * 4], B + 8 * h * b_row, 16);
    }
}

__device__ __forceinline__ void add(float4 &d, float a, float4 b)  // d += a b
{
    d.x += a * b.x, d.y += a * b.y, d.z += a * b.z, d.w += a * b.w;
}

__device__ void multiply(const ATile &a_tile, const BTile &b_tile, int i, int j, float4 (&d)[8][2])
{
    #pragma unroll
    for (int n = 0; n < STEP; n += 4) {
        float4 a[8];
        #pragma unroll
        for (int r = 0; r < 8; r++) a[r] = *(const float4 *)&a_tile[i + 4 * r][n];
        #pragma unroll
        for (int e = 0; e < 4; e++) {
            const float4 b[2] = {*(const float4 *)&b_tile[n + e][j], *(const float4 *)&b_tile[n + e][j + 32]};
            #pragma unroll
            for (int r = 0; r < 8; r++) {
                const float a_now = e == 0 ? a[r].x : e == 1 ? a[r].y : e == 2 ? a[r].z : a[r].w;
                add(d[r][0], a_now, b[0]), add(d[r][1], a_now, b[1]);
            }
        }
    }
}

__global__ void __launch_bounds__(256, BLOCKS)
gemm_async(int M, int N, int K, float alpha, const float *__restrict__ A, int a_row, int a_col,
           const float *__restrict__ B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    __shared__ __align__(16) ATile a_tile[2];
    __shared__ __align__(16) BTile b_tile[2];
    const int t = threadIdx.x, i0 = blockIdx.y * 128, j0 = blockIdx.x * 128;
    A += i0 * a_row, B += j0 * b_col;
    const bool whole = i0 + 128 <= M && j0 + 128 <= N && a_col == 1 && b_col == 1 &&
                       (((size_t)A | (size_t)B) / 4 | a_row | b_row) % 4 == 0;
    // The thread has 8 rows, 4 apart, and twice 4 columns. 8 lanes side by side read 32 neighbours of B, and one row of A.
    const int warp = t / 32, lane = t % 32, i = warp / 2 * 32 + lane / 8, j = warp % 2 * 64 + lane % 8 * 4;
    float4 d[8][2] = {};
    const float *p = A + (t / 2 * a_row + t % 2 * 4), *q = B + (t / 32 * b_row + t % 32 * 4);  // what it copies next
    if (whole && STEP <= K) copy16(a_tile[0], b_tile[0], p, q, b_row, t);
    else copy(a_tile[0], b_tile[0], A, a_row, a_col, B, b_row, b_col, M - i0, N - j0, K, t);
    __pipeline_commit();
    int k = 0;
    p += STEP, q += STEP * b_row;
    for (; whole && k + 3 * STEP <= K; k += 2 * STEP, p += 2 * STEP)  // two steps a turn: both buffers' addresses are known
        #pragma unroll
        for (int now = 0; now < 2; now++) {
            __pipeline_wait_prior(0);  // for this thread's copies
            __syncthreads();           // as below
            copy16(a_tile[now ^ 1], b_tile[now ^ 1], p + now * STEP, q, b_row, t);
            __pipeline_commit();
            q += STEP * b_row;
            multiply(a_tile[now], b_tile[now], i, j, d);
        }
    #pragma unroll 1
    for (int now = 0; k < K; k += STEP, now ^= 1) {  // what is left of K; of ragged or unaligned blocks, all
        __pipeline_wait_prior(0);
        __syncthreads();  // read after write: all threads' copies are there. Write after read: nobody uses the others any more
        const int next = k + STEP;
        if (next < K)
            copy(a_tile[now ^ 1], b_tile[now ^ 1], A + next * a_col, a_row, a_col, B + next * b_row, b_row, b_col,
                 M - i0, N - j0, K - next, t);
        __pipeline_commit();
        multiply(a_tile[now], b_tile[now], i, j, d);
    }
    #pragma unroll
    for (int n = 0; n < 16; n++) {
        const int row = i0 + i + n / 2 * 4, column = j0 + j + 32 * (n % 2);
        const int at = row * c_row + column * c_col, left = row < M ? N - column : 0;
        float4 v = {}; add(v, alpha, d[n / 2][n % 2]);
        const bool wide = c_col == 1 && left >= 4 && ((size_t)(C + at) | (size_t)(D + at)) % 16 == 0;
        if (wide && beta != 0) add(v, beta, *(const float4 *)(C + at));  // with beta = 0, C is not even read
        if (wide) *(float4 *)(D + at) = v;
        else for (int e = 0; e < 4 && e < left; e++) {
            const float sum = e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
            D[at + e * c_col] = beta == 0 ? sum : sum + beta * C[at + e * c_col];
        }
    }
}
