// Kernels that do not come to their end.
#include <assert.h>
//: assert_of_a_range block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void assert_of_a_range(const float *A, float *out)
{
    float x = A[threadIdx.x];
    assert(x < 30.0f);  // <- crash
    out[threadIdx.x] = x * 2.0f;
}

//: assert_of_the_block_size block=48 args={"A": arange(48), "out": zeros(48)}
__global__ void assert_of_the_block_size(const float *A, float *out)
{
    assert(blockDim.x % 32 == 0);  // <- crash
    out[threadIdx.x] = A[threadIdx.x];
}

//: assert_in_a_helper grid=2 block=16 args={"A": random(32), "out": zeros(32)}
__device__ float checked_root(float x)
{
    assert(x >= 0.0f);  // <- crash
    return sqrtf(x);
}

__global__ void assert_in_a_helper(const float *A, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = checked_root(A[i]);
}

//: loop_that_never_ends block=4 args={"A": arange(4, i4), "stop": i4(3)}
__global__ void loop_that_never_ends(int *A, int stop)
{
    volatile int *p = A;
    while (p[threadIdx.x] != stop + 4)  // <- timeout
        p[threadIdx.x] = p[threadIdx.x] & 3;  // <- timeout
}

//: lock_taken_by_every_lane block=32 args={"lock": zeros(1, i4), "sum": zeros(1)}
__global__ void lock_taken_by_every_lane(int *lock, float *sum)
{
    while (atomicCAS(lock, 0, 1) != 0) { }  // <- timeout
    *(volatile float *)sum += 1.0f;
}
