// Examples of the form of a case with a mistake.
//: reverse_without_a_barrier block=64 args={"A": arange(64), "n": i4(64)}
__global__ void reverse_without_a_barrier(float *A, int n)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];
    A[threadIdx.x] = s[n - 1 - threadIdx.x];  // <- racecheck s
}
