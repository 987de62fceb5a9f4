// v = alpha (column sums of dZ) + beta b, float32: db, or the step b := b - eta db with alpha = -eta, beta = 1, v = b.
//
// dZ is M x N with strides; b and v have N numbers, a step apart; v may be b. With beta = 0, b is not read.
//
// Launch: block (32, 8), grid ceil(N / 32). A warp is 32 neighbouring columns of one row: coalesced. Each of the 8
// warps adds every eighth row, then their 8 sums meet in shared memory. No atomics: the order of the sum is the same in
// every run.
__global__ void mlp_column_sums(int M, int N, float alpha, const float *dZ, int d_row, int d_col, float beta,
                                const float *b, int b_step, float *v, int v_step)
{
    __shared__ float part[8][32];
    const int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 32 + x;

    float sum = 0;
    if (j < N)
        for (int i = y; i < M; i += 8) sum += dZ[i * d_row + j * d_col];
    part[y][x] = sum;
    __syncthreads();  // read after write: all eight sums are there

    if (y > 0 || j >= N) return;  // after the last barrier
    for (int p = 1; p < 8; p++) sum += part[p][x];
    v[j * v_step] = beta == 0 ? alpha * sum : alpha * sum + beta * b[j * b_step];
}
