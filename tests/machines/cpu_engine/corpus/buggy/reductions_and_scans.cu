// Sums, maxima and prefix sums over a block.
//: interleaved_without_barrier block=64 args={"A": random(64), "out": zeros(1)}
__global__ void interleaved_without_barrier(const float *A, float *out)
{
    __shared__ float s[64];
    unsigned t = threadIdx.x;
    s[t] = A[t];
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2)
        if (t % (2 * d) == 0)
            s[t] += s[t + d];  // <- racecheck s
    if (t == 0) *out = s[0];
}

//: odd_block_size_halved block=96 args={"A": arange(96), "out": zeros(1)}
__global__ void odd_block_size_halved(const float *A, float *out)
{
    __shared__ float s[96];
    unsigned t = threadIdx.x;
    s[t] = A[t];
    __syncthreads();
    for (unsigned half = 64; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];  // <- memcheck s
        __syncthreads();
    }
    if (t == 0) *out = s[0];
}

//: first_add_during_load_overruns grid=2 block=32 args={"A": random(112), "out": zeros(2)}
__global__ void first_add_during_load_overruns(const float *A, float *out)
{
    __shared__ float s[32];
    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = A[i] + A[i + 32];  // <- memcheck A
    __syncthreads();
    for (unsigned half = 16; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

//: result_read_too_early block=64 args={"A": random(64), "out": zeros(64)}
__global__ void result_read_too_early(const float *A, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[t] * A[t];
    for (int half = 32; half > 0; half /= 2) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];  // <- racecheck s
    }
    out[t] = A[t] / s[0];  // <- racecheck s
}

//: hillis_steele_one_buffer block=64 args={"A": arange(64, i4), "out": zeros(64, i4)}
__global__ void hillis_steele_one_buffer(const int *A, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    __syncthreads();
    for (int d = 1; d < 64; d <<= 1) {
        if (t >= d) s[t] = s[t] + s[t - d];  // <- racecheck s
        __syncthreads();
    }
    out[t] = s[t];
}

//: scan_without_a_guard block=32 args={"A": arange(32, i4), "out": zeros(32, i4)}
__global__ void scan_without_a_guard(const int *A, int *out)
{
    __shared__ int s[2][32];
    int t = threadIdx.x, in = 0;
    s[0][t] = A[t];
    __syncthreads();
    for (int d = 1; d < 32; d *= 2) {
        s[1 - in][t] = s[in][t] + s[in][t - d];  // <- memcheck s
        in = 1 - in;
        __syncthreads();
    }
    out[t] = s[in][t];
}

//: blelloch_down_without_barrier block=32 args={"A": arange(64, i4), "out": zeros(64, i4)}
__global__ void blelloch_down_without_barrier(const int *A, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, step = 1;
    s[2 * t] = A[2 * t];
    s[2 * t + 1] = A[2 * t + 1];
    for (int d = 32; d > 0; d >>= 1, step *= 2) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
    }
    if (t == 0) s[63] = 0;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        step >>= 1;
        if (t < d) {
            int a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1;
            int kept = s[a];  // <- racecheck s
            s[a] = s[b];  // <- racecheck s
            s[b] += kept;  // <- racecheck s
        }
    }
    __syncthreads();
    out[2 * t] = s[2 * t];
    out[2 * t + 1] = s[2 * t + 1];
}

//: block_sums_in_one_launch grid=3 block=32 args={"A": arange(96), "sums": zeros(3), "out": zeros(96)}
__global__ void block_sums_in_one_launch(const float *A, float *sums, float *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    float x = A[i];
    for (int d = 1; d < 32; d *= 2) {
        float before = __shfl_up_sync(0xffffffffu, x, d);
        if (threadIdx.x >= d) x += before;
    }
    if (threadIdx.x == 31) sums[blockIdx.x] = x;  // <- racecheck sums
    for (unsigned b = 0; b < blockIdx.x; b++) x += sums[b];  // <- racecheck sums
    out[i] = x;
}

//: warp_reduction_in_a_short_tail grid=1 block=40 args={"A": random(40), "out": zeros(2)}
__inline__ __device__ float warp_sum_full(float x)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1)
        x += __shfl_down_sync(0xffffffff, x, offset);  // <- synccheck
    return x;
}

__global__ void warp_reduction_in_a_short_tail(const float *A, float *out)
{
    float x = warp_sum_full(A[threadIdx.x]);  // <- synccheck
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = x;
}

//: result_of_all_blocks_stored_plain grid=4 block=32 args={"A": random(128), "out": zeros(1)}
__global__ void result_of_all_blocks_stored_plain(const float *A, float *out)
{
    float x = A[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d >>= 1) x += __shfl_xor_sync(0xffffffffu, x, d);
    if (threadIdx.x == 0) out[0] = x;  // <- racecheck out
}

//: arg_max_pair_not_together block=64 args={"A": random(64), "out": zeros(1, i4)}
__global__ void arg_max_pair_not_together(const float *A, int *out)
{
    __shared__ float value[64];
    __shared__ int where[64];
    int t = threadIdx.x;
    value[t] = A[t];  // <- racecheck value
    where[t] = t;
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half && value[t + half] > value[t]) {  // <- racecheck value
            value[t] = value[t + half];  // <- racecheck value
            where[t] = where[t + half];
        }
        __syncthreads();
    }
    if (t == 0) out[0] = where[0];
}
