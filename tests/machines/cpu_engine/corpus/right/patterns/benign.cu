// What looks like a mistake and is none. Where one instruction of one warp stores the same value to one place, CUDA promises
// that one of the stores is done, and it does not matter which: no error.
//: same_value_to_one_flag grid=2 block=32 args={"x": random(64, 1), "found": zeros(2, i4)} gives={"found": (x.reshape(2, 32) > 0.5).any(1)}
__global__ void same_value_to_one_flag(const float *x, int *found)
{
    if (x[blockIdx.x * 32 + threadIdx.x] > 0.5f)
        found[blockIdx.x] = 1;  // one instruction of a warp, one value
}
//: same_value_to_shared grid=3 block=32 args={"A": random(96, 2)} gives={"A": A + 32}
__global__ void same_value_to_shared(float *A)
{
    __shared__ int width;
    width = blockDim.x;  // one instruction of a warp, one value
    __syncthreads();
    A[blockIdx.x * 32 + threadIdx.x] += width;
}
//: mean_of_a_warp_by_all block=32 grid=4 args={"x": random(128, 3), "mean": unset(4)} gives={"mean": x.reshape(4, 32).mean(1)}
__global__ void mean_of_a_warp_by_all(const float *x, float *mean)
{
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    mean[blockIdx.x] = v / 32;  // one instruction of a warp, one value
}
//: sorted_flag grid=1 block=32 args={"x": np.arange(40)[::-1].astype(i4)} gives={"x": np.sort(x)}
__global__ void sorted_flag(int *x)
{
    __shared__ int swapped;
    do {
        __syncthreads();
        if (threadIdx.x == 0)
            swapped = 0;
        for (int phase = 0; phase < 2; ++phase) {
            __syncthreads();
            int i = 2 * threadIdx.x + phase;
            if (i + 1 < 40 && x[i] > x[i + 1]) {
                int t = x[i];
                x[i] = x[i + 1];
                x[i + 1] = t;
                swapped = 1;  // one instruction of a warp, one value
            }
        }
        __syncthreads();
    } while (swapped);
}
//: all_threads_read_one_place grid=2 block=64 args={"x": random(128, 4), "scale": np.array([3], f4)} gives={"x": 3 * x}
__global__ void all_threads_read_one_place(float *x, const float *scale) { x[blockIdx.x * 64 + threadIdx.x] *= *scale; }
//: bytes_of_one_word block=64 args={"out": np.ma.masked_all(64, np.uint8)} gives={"out": np.arange(64) % 7}
__global__ void bytes_of_one_word(unsigned char *out)
{
    __shared__ unsigned char s[64];
    s[threadIdx.x] = threadIdx.x % 7;  // four threads, one word, no byte twice
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
//: read_guarded_by_index grid=2 block=48 args={"x": random(70, 5), "out": unset(70), "n": i4(70)} gives={"out": np.append(x[1:], 0) - np.append(0, x[:-1])}
__global__ void read_guarded_by_index(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (i + 1 < n ? x[i + 1] : 0) - (i > 0 ? x[i - 1] : 0);
}
