// Kernels that end themselves.
//: trap_after_a_check block=32 args={"A": arange(32, i4), "out": zeros(32, i4)}
__global__ void trap_after_a_check(const int *A, int *out)
{
    if (A[threadIdx.x] == 17)
        __trap();  // <- crash
    out[threadIdx.x] = A[threadIdx.x];
}
