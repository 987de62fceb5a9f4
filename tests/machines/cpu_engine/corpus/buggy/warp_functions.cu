// Shuffles, votes and __syncwarp() with a mask that does not fit the lanes.
//: shuffle_of_full_mask_in_a_branch block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void shuffle_of_full_mask_in_a_branch(const float *A, float *out)
{
    float x = A[threadIdx.x];
    if (threadIdx.x < 16)
        x += __shfl_down_sync(0xffffffff, x, 8);  // <- synccheck
    out[threadIdx.x] = x;
}

//: shuffle_from_outside_the_mask block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void shuffle_from_outside_the_mask(const float *A, float *out)
{
    float x = A[threadIdx.x];
    if (threadIdx.x < 16)
        x = __shfl_sync(0x0000ffff, x, 20);  // <- synccheck
    out[threadIdx.x] = x;
}

//: caller_not_in_its_mask block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void caller_not_in_its_mask(const float *A, float *out)
{
    float x = A[threadIdx.x];
    x += __shfl_xor_sync(0x7fffffff, x, 1);  // <- synccheck
    out[threadIdx.x] = x;
}

//: ballot_in_the_guard grid=2 block=32 args={"A": random(50), "out": zeros(2, u4), "n": i4(50)}
__global__ void ballot_in_the_guard(const float *A, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned votes = __ballot_sync(0xffffffffu, A[i] > 0.0f);  // <- synccheck
        if (threadIdx.x == 0) out[blockIdx.x] = votes;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] += 1;
}

//: sum_of_the_last_partial_warp block=64 args={"A": arange(48), "out": zeros(2), "n": i4(48)}
__device__ float add_up_warp(float x)
{
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_down_sync(0xffffffffu, x, d);  // <- synccheck
    return x;
}

__global__ void sum_of_the_last_partial_warp(const float *A, float *out, int n)
{
    int t = threadIdx.x;
    if (t >= n) return;
    float sum = add_up_warp(A[t]);  // <- synccheck
    if (t % 32 == 0) out[t / 32] = sum;
}

//: small_block_full_mask block=20 args={"A": arange(20), "out": zeros(1)}
__global__ void small_block_full_mask(const float *A, float *out)
{
    float x = A[threadIdx.x];
    for (int d = 16; d > 0; d >>= 1)
        x += __shfl_down_sync(0xffffffffu, x, d);  // <- synccheck
    if (threadIdx.x == 0) out[0] = x;
}

//: syncwarp_in_a_branch block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void syncwarp_in_a_branch(const float *A, float *out)
{
    float x = A[threadIdx.x];
    if (threadIdx.x & 1) {
        x *= 2.0f;
        __syncwarp();  // <- synccheck
    } else {
        x += __shfl_xor_sync(0x55555555u, x, 2);
        __syncthreads();  // <- synccheck
    }
    out[threadIdx.x] = x;
}

//: syncwarp_without_itself block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void syncwarp_without_itself(const float *A, float *out)
{
    out[threadIdx.x] = A[threadIdx.x];
    __syncwarp(0xfffffffeu);  // <- synccheck
}

//: broadcast_from_a_lane_that_left block=64 args={"A": arange(64), "out": zeros(64)}
__global__ void broadcast_from_a_lane_that_left(const float *A, float *out)
{
    int lane = threadIdx.x % 32;
    float x = A[threadIdx.x];
    if (lane != 0) {
        unsigned mask = __activemask();
        x -= __shfl_sync(mask, x, 0);  // <- synccheck
    }
    out[threadIdx.x] = x;
}

//: shuffle_up_out_of_the_mask block=32 args={"A": arange(32, i4), "out": zeros(32, i4)}
__global__ void shuffle_up_out_of_the_mask(const int *A, int *out)
{
    int lane = threadIdx.x, x = A[lane];
    if (lane >= 8) {
        int before = __shfl_up_sync(0xffffff00u, x, 4);  // <- synccheck
        x += before;
    }
    out[lane] = x;
}

//: any_in_both_branches block=32 args={"A": random(32), "out": zeros(32, i4)}
__global__ void any_in_both_branches(const float *A, int *out)
{
    int r;
    if (A[threadIdx.x] > 0.0f)
        r = __any_sync(0xffffffffu, A[threadIdx.x] > 0.9f);  // <- synccheck
    else
        r = __all_sync(0xffffffffu, A[threadIdx.x] < -0.9f);  // <- synccheck
    out[threadIdx.x] = r;
}

//: loop_leaves_the_warp block=32 args={"A": arange(32, i4), "out": zeros(32, i4)}
__global__ void loop_leaves_the_warp(const int *A, int *out)
{
    int x = A[threadIdx.x];
    for (int k = 0; k < x; k++)
        x += __shfl_xor_sync(0xffffffffu, 0, 1) - 1;  // <- synccheck
    out[threadIdx.x] = x;
    __syncwarp();  // <- synccheck
}
