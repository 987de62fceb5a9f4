// Shared memory that a macro declares.
#define TILE(name, n) __shared__ float name[n]
//: tile_of_a_macro block=32 args={"x": random(32, 3)} gives={"x": x[::-1]}
__global__ void tile_of_a_macro(float *x)
{
    TILE(s, 32);
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[31 - threadIdx.x];
}
