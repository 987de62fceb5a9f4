// dZ = s (A - Y), or s (A - Y) f'(Z), float32.   Kamra 2016, section 4, eq. 8: the delta of the output layer.
//
// Z, A, Y, dZ: n numbers each, stored in the same order; Z may be null where f' does not use it.
//   slope = 1, s = 2/B    the gradient of the mean squared error of Kamra 2016, eq. 6, with f = sigmoid
//   slope = 0, s = 1/B    the gradient of the cross-entropy, with f = softmax (Darve 2019, eq. 3) or sigmoid
//   slope = 0, s = -1     eq. 8 as it is printed
//
// Launch: block 256, grid ceil(n / 256). One thread, one number; neighbours side by side: 4 sectors for a warp's
// request.
static __device__ __forceinline__ float df(float z, float a);  // f': its one line is put behind this file

__global__ void mlp_output_delta(int n, float s, int slope, const float *Z, const float *A, const float *Y, float *dZ)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float a = A[i], d = s * (a - Y[i]);
    dZ[i] = slope ? d * df(Z ? Z[i] : 0, a) : d;
}
