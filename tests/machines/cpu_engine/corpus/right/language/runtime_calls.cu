// printf, assert, clocks.
#include <stdio.h>
#include <assert.h>
//: asserts_that_hold grid=2 block=32 args={"x": random(64, 1)} gives={"x": x / 2}
__global__ void asserts_that_hold(float *x)
{
    assert(blockDim.x == 32 && "a warp");
    x[blockIdx.x * 32 + threadIdx.x] /= 2;
}
//: prints_a_line grid=2 block=32 args={"x": random(64, 2)} gives={"x": x + 1}
__global__ void prints_a_line(float *x)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        printf("block %d of %u: %f\n", blockIdx.x, gridDim.x, x[0]);
    x[blockIdx.x * 32 + threadIdx.x] += 1;
}
//: takes_the_time block=32 args={"x": random(32, 3), "took": unset(32, i4)} gives={"took": 1}
__global__ void takes_the_time(const float *x, int *took)
{
    long long start = clock64();
    clock_t begin = clock();
    float v = x[threadIdx.x];
    took[threadIdx.x] = clock64() - start >= 0 && clock() - begin >= 0 && v < 2;
}
