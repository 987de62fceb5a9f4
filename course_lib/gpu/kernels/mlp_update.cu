// V = alpha A^T dZ + beta W, float32.   Kamra 2016, section 4, eq. 10: the weight update.
//
// A is K x M (a row an example), dZ is K x N, W and V are M x N; V may be W. Each comes with its strides, as in
// mlp_forward.cu.
//   alpha = -eta, beta = 1 - eta lam, V = W    the step W := W - eta (dW + lam W); 1/B is in dZ, or in alpha (eq. 10)
//   alpha = 1, beta = lam                      the gradient itself
//
// Each example k adds the outer product of a row of A and a row of dZ. The sum stays in registers, and W is touched
// once.
//
// Launch: block (32 / TN, 32 / TM), grid (ceil(N / 32), ceil(M / 32)). Both tiles are transposed: a ROW is an
// example, so that threads side by side, which own neighbouring neurons, read neighbouring words. With AS_STORED a row
// is a neuron's 32 examples, and with PAD=0 the next neuron's begins in the same bank: the conflicts of Kamra 2016.
#ifndef TM
#define TM 4
#define TN 4
#endif
#define DOWN (32 / TM)
#define ACROSS (32 / TN)
#ifndef PAD
#define PAD 1
#endif
#ifdef AS_STORED
#define AT(neuron, k) [neuron][k]
#else
#define AT(neuron, k) [k][neuron]
#endif

__global__ void __launch_bounds__(DOWN * ACROSS)
mlp_update(int M, int N, int K, float alpha, const float *A, int a_row, int a_col,
           const float *dZ, int d_row, int d_col, float beta, const float *W, int w_row, int w_col,
           float *V, int v_row, int v_col)
{
    __shared__ float a_tile[32][32 + PAD], d_tile[32][32 + PAD];
    const int x = threadIdx.x, y = threadIdx.y, t = y * ACROSS + x;
    const int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;

    float sum[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += 32) {
        for (int e = t; e < 1024; e += DOWN * ACROSS) {
            const int p = e / 32, q = e % 32;  // neighbouring threads (q) copy neighbours in memory
            const int ak = a_col == 1 ? p : q, i = a_col == 1 ? q : p, dk = d_col == 1 ? p : q, j = d_col == 1 ? q : p;
            a_tile AT(i, ak) = k0 + ak < K && i0 + i < M ? A[(k0 + ak) * a_row + (i0 + i) * a_col] : 0;
            d_tile AT(j, dk) = k0 + dk < K && j0 + j < N ? dZ[(k0 + dk) * d_row + (j0 + j) * d_col] : 0;
        }
        __syncthreads();  // read after write: the tiles are there

        #pragma unroll 8
        for (int k = 0; k < 32; k++) {  // an outer product for each example
            float a[TM], d[TN];
            #pragma unroll
            for (int r = 0; r < TM; r++) a[r] = a_tile AT(y + r * DOWN, k);  // one word, or a few, for the whole warp
            #pragma unroll
            for (int c = 0; c < TN; c++) d[c] = d_tile AT(x + c * ACROSS, k);
            #pragma unroll
            for (int r = 0; r < TM; r++)
                #pragma unroll
                for (int c = 0; c < TN; c++) sum[r][c] += a[r] * d[c];
        }
        __syncthreads();  // write after read: nobody overwrites a tile that another still reads
    }

    #pragma unroll
    for (int r = 0; r < TM; r++)
        #pragma unroll
        for (int c = 0; c < TN; c++) {
            const int i = i0 + y + r * DOWN, j = j0 + x + c * ACROSS;
            if (i >= M || j >= N) continue;
            const float step = alpha * sum[r][c];  // with beta = 0, W is not even read
            V[i * v_row + j * v_col] = beta == 0 ? step : step + beta * W[i * w_row + j * w_col];
        }
}
