// Atomic functions with a scope of their own.
//: block_scoped_atomics grid=2 block=64 args={"bins": unset((2, 4), i4)} gives={"bins": [[16] * 4] * 2}
__global__ void block_scoped_atomics(int *bins)
{
    __shared__ int local[4];
    if (threadIdx.x < 4)
        local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd_block(&local[threadIdx.x % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4)
        bins[blockIdx.x * 4 + threadIdx.x] = local[threadIdx.x];
}
//: system_scoped_atomics grid=3 block=32 args={"sum": zeros(1), "most": zeros(1, i4)} gives={"sum": 96, "most": 95}
__global__ void system_scoped_atomics(float *sum, int *most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd_system(sum, 1.0f);
    atomicMax_system(most, i);
}

//: scoped_atomics_within_a_block grid=2 block=64 args={"count": zeros(2, i4), "best": zeros(2, i4)}
//+ gives={"count": [64, 64], "best": [64, 64]}
__global__ void scoped_atomics_within_a_block(int *count, int *best) {
    atomicAdd_block(&count[blockIdx.x], 1);
    int old = best[blockIdx.x], seen, mine = threadIdx.x + 1;
    do {
        seen = old;
        if (seen >= mine) break;
        old = atomicCAS_block(&best[blockIdx.x], seen, mine);
    } while (old != seen);
}
