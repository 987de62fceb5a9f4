// Z = A W + b, F = f(Z), float32.   Kamra 2016, section 4, eq. 7: the feed-forward kernel, a tiled product with two
// things fused.
//
// A is M x K (a row an example), W is K x N, b has N numbers, Z and F are M x N. Z or F may be null: then it is not
// stored. Every matrix comes with two strides, X(i, j) = X[i * x_row + j * x_col]: how it is stored changes the speed,
// not the result.
//
// Launch: block (32 / TN, 32 / TM), grid (ceil(N / 32), ceil(M / 32)). A block walks along K in steps of 32, as
// gemm_shared does.
//   before  a sum does not begin with 0 but with its neuron's bias: no pass over Z for it
//   after   f is applied to the sum while it is in a register: no pass over Z for it either
// A thread computes TM x TN elements, 32 / TM and 32 / TN apart. TM = TN = 1 is the kernel of Kamra 2016, with 2 loads from
// shared memory for a multiply-add; 4 x 4 needs 8 for 16.
#ifndef TM
#define TM 4
#define TN 4
#endif
#define DOWN (32 / TM)
#define ACROSS (32 / TN)

static __device__ __forceinline__ float f(float z);  // the activation: its one line is put behind this file

__global__ void __launch_bounds__(DOWN * ACROSS)
mlp_forward(int M, int N, int K, const float *A, int a_row, int a_col, const float *W, int w_row, int w_col,
            const float *b, int b_step, float *Z, float *F, int z_row, int z_col)
{
    __shared__ float a_tile[32][33], w_tile[32][33];  // 33: in a column each element lies in another bank
    const int x = threadIdx.x, y = threadIdx.y, t = y * ACROSS + x;
    const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;

    float z[TM][TN];
    #pragma unroll
    for (int r = 0; r < TM; r++)
        #pragma unroll
        for (int c = 0; c < TN; c++) z[r][c] = j0 + x + c * ACROSS < N ? b[(j0 + x + c * ACROSS) * b_step] : 0;

    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int e = t; e < 1024; e += DOWN * ACROSS) {
            const int p = e / 32, q = e % 32;  // neighbouring threads (q) copy neighbours in memory
            const int i = a_col == 1 ? p : q, ak = a_col == 1 ? q : p, wk = w_col == 1 ? p : q, j = w_col == 1 ? q : p;
            a_tile[i][ak] = i0 + i < M && k0 + ak < K ? A[(i0 + i) * a_row + (k0 + ak) * a_col] : 0;
            w_tile[wk][j] = k0 + wk < K && j0 + j < N ? W[(k0 + wk) * w_row + (j0 + j) * w_col] : 0;
        }
        __syncthreads();  // read after write: the tiles are there

        #pragma unroll 8
        for (int k = 0; k < 32; k++) {
            float a[TM], w[TN];
            #pragma unroll
            for (int r = 0; r < TM; r++) a[r] = a_tile[y + r * DOWN][k];  // one word, or a few, for the whole warp
            #pragma unroll
            for (int c = 0; c < TN; c++) w[c] = w_tile[k][x + c * ACROSS];
            #pragma unroll
            for (int r = 0; r < TM; r++)
                #pragma unroll
                for (int c = 0; c < TN; c++) z[r][c] += a[r] * w[c];
        }
        __syncthreads();  // write after read: nobody overwrites a tile that another still reads
    }

    #pragma unroll
    for (int r = 0; r < TM; r++)
        #pragma unroll
        for (int c = 0; c < TN; c++) {
            const int i = i0 + y + r * DOWN, j = j0 + x + c * ACROSS;
            if (i >= M || j >= N) continue;
            if (Z) Z[i * z_row + j * z_col] = z[r][c];
            if (F) F[i * z_row + j * z_col] = f(z[r][c]);
        }
}
