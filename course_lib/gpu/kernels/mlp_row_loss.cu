// The loss of each example, float32.   Kamra 2016, eq. 6, Darve 2019, section 3.4.
//
//   cross_entropy = 0    loss[i] = sum over j of (A(i, j) - Y(i, j))^2
//   cross_entropy = 1    loss[i] = sum over j of Y(i, j) (s[i] - (Z(i, j) - m[i])) = -log softmax(z)[label]
//                        From Z, not from A: of a sure mistake log(A) would be log(0)
//
// P (A, or Z for the cross-entropy) and Y are M x N with the same strides; loss, m and s have M numbers: m the rows'
// maxima, s the log of their sums of exp(z - m), both null where there is no cross-entropy.
//
// Launch: block (32, 4), grid ceil(M / 4). A warp takes a row, as in mlp_row_max.cu.
__global__ void mlp_row_loss(int M, int N, int cross_entropy, const float *m, const float *s, const float *P,
                             const float *Y, int row, int col, float *loss)
{
    const int i = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (i >= M) return;  // the whole warp, so the exchanges below stay complete

    float sum = 0;
    for (int j = lane; j < N; j += 32) {
        const float p = P[i * row + j * col], y = Y[i * row + j * col];
        sum += cross_entropy ? y * (s[i] - (p - m[i])) : (p - y) * (p - y);
    }
    for (int far = 16; far > 0; far /= 2) sum += __shfl_xor_sync(0xffffffff, sum, far);
    if (lane == 0) loss[i] = sum;
}
