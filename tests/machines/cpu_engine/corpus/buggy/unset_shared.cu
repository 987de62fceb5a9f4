// Values of shared memory that nobody has written.
//: partial_load_full_use block=64 args={"A": arange(64), "out": zeros(64), "n": i4(40)}
__global__ void partial_load_full_use(const float *A, float *out, int n)
{
    __shared__ float s[64];
    if ((int)threadIdx.x < n) s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];  // <- initcheck s
}

//: shared_bins_not_zeroed block=64 args={"A": arange(64, i4), "bins": zeros(8, i4)}
__global__ void shared_bins_not_zeroed(const int *A, int *bins)
{
    __shared__ int mine[8];
    atomicAdd(&mine[A[threadIdx.x] % 8], 1);  // <- initcheck mine
    __syncthreads();
    if (threadIdx.x < 8) bins[threadIdx.x] = mine[threadIdx.x];
}

//: shared_sum_without_a_start block=96 args={"A": random(96), "out": zeros(1)}
__global__ void shared_sum_without_a_start(const float *A, float *out)
{
    __shared__ float sum;
    atomicAdd(&sum, A[threadIdx.x]);  // <- initcheck sum
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}

//: halo_left_unset block=32 args={"A": random(32), "out": zeros(32)}
__global__ void halo_left_unset(const float *A, float *out)
{
    __shared__ float s[34];
    int t = threadIdx.x + 1;
    s[t] = A[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[t - 1] + s[t] + s[t + 1];  // <- initcheck s
}

//: padding_column_is_read block=(8, 8) args={"A": random((8, 8)), "out": zeros(8)}
__global__ void padding_column_is_read(const float *A, float *out)
{
    __shared__ float tile[8][9];
    tile[threadIdx.y][threadIdx.x] = A[threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    if (threadIdx.y == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 9; k++) sum += tile[threadIdx.x][k];  // <- initcheck tile
        out[threadIdx.x] = sum;
    }
}

//: dynamic_twice_as_large_as_used block=32 shared=256 args={"A": random(32), "out": zeros(32)}
__global__ void dynamic_twice_as_large_as_used(const float *A, float *out)
{
    extern __shared__ float twice[];
    twice[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = twice[2 * threadIdx.x];  // <- initcheck twice
}

//: warp_slots_of_a_short_block block=96 args={"A": random(96), "out": zeros(1)}
__global__ void warp_slots_of_a_short_block(const float *A, float *out)
{
    __shared__ float of_warp[32];
    float x = A[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = of_warp[threadIdx.x];  // <- initcheck of_warp
        for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
        if (threadIdx.x == 0) out[0] = x;
    }
}

//: second_buffer_read_first block=64 args={"A": random(64), "out": zeros(64)}
__global__ void second_buffer_read_first(const float *A, float *out)
{
    __shared__ float buffer[2][64];
    buffer[0][threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    int now = 1;
    out[threadIdx.x] = buffer[now][threadIdx.x ^ 1];  // <- initcheck buffer
}

//: set_in_block_zero_only grid=2 block=32 args={"A": random(64), "out": zeros(64)}
__global__ void set_in_block_zero_only(const float *A, float *out)
{
    __shared__ float bias;
    if (blockIdx.x == 0 && threadIdx.x == 0) bias = 0.5f;
    __syncthreads();
    int i = blockIdx.x * 32 + threadIdx.x;
    out[i] = A[i] + bias;  // <- initcheck bias
}

//: struct_with_a_field_unset block=32 args={"A": random(32), "out": zeros(32)}
struct Plan { int start, stop, step; };
__global__ void struct_with_a_field_unset(const float *A, float *out)
{
    __shared__ Plan plan;
    if (threadIdx.x == 0) {
        plan.start = 0;
        plan.stop = 32;
    }
    __syncthreads();
    out[threadIdx.x] = A[threadIdx.x] * plan.step + plan.start;  // <- initcheck plan
}
