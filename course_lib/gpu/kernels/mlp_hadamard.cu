// dZ = dA o f'(Z), float32.   Kamra 2016, section 4, eq. 9: the Hadamard product with the activation's derivative.
//
// Z, A = f(Z), dA, dZ: n numbers each, stored in the same order; dZ may be dA. Where f' comes from is the user's line:
//   from z  any activation: Z must have been kept by the forward pass, or be computed once more, as in Kamra 2016
//   from a  sigmoid, a (1 - a), and tanh, 1 - a a: A is there anyway, and Z may be null
//
// Launch: block 256, grid ceil(n / 256). Two numbers in, one out, a handful of flops: memory is what it costs.
static __device__ __forceinline__ float df(float z, float a);  // f': its one line is put behind this file

__global__ void mlp_hadamard(int n, const float *Z, const float *A, const float *dA, float *dZ)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dZ[i] = dA[i] * df(Z ? Z[i] : 0, A ? A[i] : 0);
}
