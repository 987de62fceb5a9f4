// A(i, j) = exp(Z(i, j) - m[i]) / sum, sum = sum over j of exp(Z(i, j) - m[i]), s[i] = log(sum), float32.
// Darve 2019, section 3.3.
//
// Z and A are M x N with the same strides, m (the rows' maxima, from mlp_row_max.cu) and s have M numbers. Taking m off
// changes no result, but no exponent is above 0 and one is 0: nothing overflows, and the sum lies between 1 and N,
// whatever Z is.
//
// Launch: block (32, 4), grid ceil(M / 4). A warp takes a row, as in mlp_row_max.cu; after the exchanges every lane has
// the sum.
__global__ void mlp_softmax(int M, int N, const float *m, const float *Z, float *A, int z_row, int z_col, float *s)
{
    const int i = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (i >= M) return;  // the whole warp, so the exchanges below stay complete

    float sum = 0;
    for (int j = lane; j < N; j += 32) sum += expf(Z[i * z_row + j * z_col] - m[i]);
    for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
    for (int j = lane; j < N; j += 32) A[i * z_row + j * z_col] = expf(Z[i * z_row + j * z_col] - m[i]) / sum;
    if (lane == 0) s[i] = logf(sum);
}
