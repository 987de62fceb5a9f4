// Examples of the form of a right case.
//: reverse block=64 args={"A": arange(64), "n": i4(64)} gives={"A": A[::-1]}
__global__ void reverse(float *A, int n)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    A[threadIdx.x] = s[n - 1 - threadIdx.x];
}
