// Z = alpha (sum of partial products) + b + beta C, F = f(Z), float32: what is left to do after a product in slices.
//
// part holds `slices` matrices M x N, one behind the other, each stored as Z and F are; part may be Z or F itself if
// there is one. b, with strides of a matrix whose rows are all alike (b_row = 0), C, Z and F may be null; C may be Z.
//
// Launch: block 256, grid ceil(M N / 256). A thread, an element: it adds the slices in their order, without atomics, so
// that each run gives the same bits. `slices` numbers in, one or two out, for as many flops: memory is what it costs.
static __device__ __forceinline__ float f(float z);  // the activation: its one line is put behind this file

__global__ void mlp_gather(int M, int N, int slices, float alpha, const float *part, const float *b, int b_row,
                           int b_col, float beta, const float *C, int c_row, int c_col, float *Z, float *F, int z_row,
                           int z_col)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= M * N) return;
    const int i = e / N, j = e % N, at = i * z_row + j * z_col;

    float sum = 0;
    for (int s = 0; s < slices; s++) sum += part[s * M * N + at];
    float z = alpha * sum;
    if (b) z += b[i * b_row + j * b_col];
    if (beta != 0) z += beta * C[i * c_row + j * c_col];  // with beta = 0, C is not even read
    if (Z) Z[at] = z;
    if (F) F[at] = f(z);
}
