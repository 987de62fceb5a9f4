// out[at + block] = scale * (the block's share of the sum of x, or of x^2), float32: the mean loss, and the L2 penalty.
//
// x is M x N with strides; out has a number for each block. A second launch, with one block, sums these: no atomics, so
// that the order of the sum, and with it every bit of the loss, is the same in each run.
//
// Launch: block 256, grid as many as wanted. Threads side by side add numbers side by side, then a tree: 128 threads,
// 64, ... 1.
__global__ void mlp_sum(int M, int N, float scale, int squared, const float *x, int x_row, int x_col, float *out,
                        int at)
{
    __shared__ float part[256];
    const int t = threadIdx.x;

    float sum = 0;
    for (int e = blockIdx.x * 256 + t; e < M * N; e += gridDim.x * 256) {
        const float value = x[e / N * x_row + e % N * x_col];
        sum += squared ? value * value : value;
    }
    part[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();  // read after write: what the other half has added is there
        if (t < half) part[t] += part[t + half];
    }
    if (t == 0) out[at + blockIdx.x] = scale * part[0];
}
