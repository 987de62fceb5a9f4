// An index outside an array of shared memory.
//: block_larger_than_the_tile block=80 args={"A": arange(80), "out": zeros(80)}
__global__ void block_larger_than_the_tile(const float *A, float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = A[threadIdx.x];  // <- memcheck s
    __syncthreads();
    out[threadIdx.x] = s[0];
}

//: halo_without_room block=64 args={"A": arange(66), "out": zeros(64)}
__global__ void halo_without_room(const float *A, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    if (t < 2) s[t + 64] = A[t + 64];  // <- memcheck s
    __syncthreads();
    out[t] = s[t];
}

//: dynamic_in_floats_not_bytes block=64 shared=64 args={"A": arange(64), "out": zeros(64)}
__global__ void dynamic_in_floats_not_bytes(const float *A, float *out)
{
    extern __shared__ float room[];
    room[threadIdx.x] = A[threadIdx.x];  // <- memcheck room
    __syncthreads();
    out[threadIdx.x] = room[threadIdx.x ^ 1];
}

//: tile_row_past_the_end block=(16, 16) args={"A": random((16, 16)), "out": zeros((16, 16))}
__global__ void tile_row_past_the_end(const float *A, float *out)
{
    __shared__ float tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = A[y * 16 + x];
    __syncthreads();
    out[y * 16 + x] = tile[y + 1][x];  // <- memcheck tile
}

//: index_before_the_array block=64 args={"A": arange(64), "out": zeros(64)}
__global__ void index_before_the_array(const float *A, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = A[t];
    __syncthreads();
    out[t] = s[t] + s[t - 2];  // <- memcheck s
}

//: near_another_shared_array block=48 args={"A": arange(48), "out": zeros(48)}
__global__ void near_another_shared_array(const float *A, float *out)
{
    __shared__ float first[48];
    __shared__ float second[48];
    int t = threadIdx.x;
    first[t] = A[t];
    second[t] = 2.0f * A[t];
    __syncthreads();
    out[t] = first[t + 8] + second[t];  // <- memcheck first
}

//: far_over_another_shared_array block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void far_over_another_shared_array(const float *A, float *out)
{
    __shared__ float small[32];
    __shared__ float big[2048];
    int t = threadIdx.x;
    small[t] = A[t];
    for (int k = t; k < 2048; k += 32) big[k] = k;
    __syncthreads();
    out[t] = small[t * 33] + big[t];  // <- memcheck small
}

//: warp_sums_more_than_slots block=128 args={"A": random(128), "out": zeros(1)}
__global__ void warp_sums_more_than_slots(const float *A, float *out)
{
    __shared__ float of_warp[3];
    float x = A[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(0xffffffffu, x, d);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = x;  // <- memcheck of_warp
    __syncthreads();
    if (threadIdx.x == 0) out[0] = of_warp[0] + of_warp[1] + of_warp[2];
}

//: shared_histogram_bad_bin block=64 args={"A": arange(64, i4), "bins": zeros(8, i4)}
__global__ void shared_histogram_bad_bin(const int *A, int *bins)
{
    __shared__ int mine[8];
    if (threadIdx.x < 8) mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[A[threadIdx.x] - 60 > 0 ? 8 : 1], 1);  // <- memcheck mine
    __syncthreads();
    if (threadIdx.x < 8) bins[threadIdx.x] = mine[threadIdx.x];
}

//: column_of_a_narrow_matrix block=(4, 16) args={"A": random((16, 4)), "out": zeros((4, 16))}
__global__ void column_of_a_narrow_matrix(const float *A, float *out)
{
    __shared__ float m[16][4];
    int x = threadIdx.x, y = threadIdx.y;
    m[y][x] = A[y * 4 + x];
    __syncthreads();
    out[x * 16 + y] = m[x * 5][y];  // <- memcheck m
}
