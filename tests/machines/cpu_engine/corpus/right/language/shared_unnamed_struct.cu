// Shared memory of a struct that is defined where it is declared.
//: struct_in_shared block=32 args={"x": random(32, 2)} gives={"x": x[::-1] + 1}
__global__ void struct_in_shared(float *x)
{
    __shared__ struct {
        float value[32];
        int shift;
    } both;
    both.value[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x == 0)
        both.shift = 1;
    __syncthreads();
    x[threadIdx.x] = both.value[31 - threadIdx.x] + both.shift;
}
