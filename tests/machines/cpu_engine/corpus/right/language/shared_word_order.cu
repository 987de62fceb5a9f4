// Shared memory that is declared with its words in another order.
//: type_before_shared block=32 grid=3 args={"x": arange(96, i4)} gives={"x": np.repeat(x.reshape(3, 32).sum(1), 32) + 1}
__global__ void type_before_shared(int *x)
{
    int __shared__ values[32], sum;
    int i = blockIdx.x * 32 + threadIdx.x;
    values[threadIdx.x] = x[i];
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int k = 0; k < 32; ++k)
            sum += values[k];
    }
    __syncthreads();
    x[i] = sum + 1;
}
//: aligned_and_volatile_words block=32 args={"x": random(128, 2)} gives={"x": x.reshape(32, 4)[::-1].ravel()}
__global__ void aligned_and_volatile_words(float *x)
{
    __shared__ __align__(16) float a[128];
    unsigned __shared__ int flags[32];
    reinterpret_cast<float4 *>(a)[threadIdx.x] = reinterpret_cast<float4 *>(x)[threadIdx.x];
    flags[threadIdx.x] = threadIdx.x;
    __syncthreads();
    reinterpret_cast<float4 *>(x)[threadIdx.x] = reinterpret_cast<float4 *>(a)[flags[31 - threadIdx.x]];
}
