// m[i] = max over j of Z(i, j), float32: what keeps softmax from overflowing.
//
// Z is M x N with strides, m has M numbers. A NaN in a row is passed over; softmax itself then shows it.
//
// Launch: block (32, 4), grid ceil(M / 4). A warp takes a row: each lane every 32nd number, then five exchanges of
// registers, with the lane 16, 8, 4, 2, 1 away. No shared memory, no barrier. Of a row of 10, 22 lanes have nothing to
// do.
__global__ void mlp_row_max(int M, int N, const float *Z, int z_row, int z_col, float *m)
{
    const int i = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (i >= M) return;  // the whole warp, so the exchanges below stay complete

    float best = Z[i * z_row];  // a lane without numbers of its own starts with the row's first
    for (int j = lane; j < N; j += 32) best = fmaxf(best, Z[i * z_row + j * z_col]);
    for (int far = 16; far > 0; far /= 2) best = fmaxf(best, __shfl_xor_sync(0xffffffff, best, far));
    if (lane == 0) m[i] = best;
}
