// Two threads of a block at one place of shared memory, and no barrier between them.
//: mirror_far_half block=128 args={"A": arange(128)}
__global__ void mirror_far_half(float *A)
{
    __shared__ float line[128];
    int t = threadIdx.x;
    line[t] = A[t];  // <- racecheck line
    A[t] = line[127 - t];  // <- racecheck line
}

//: transpose_tile_early grid=(2, 2) block=(16, 16) args={"in": random((32, 32)), "out": zeros((32, 32)), "n": i4(32)}
__global__ void transpose_tile_early(const float *in, float *out, int n)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];  // <- racecheck tile
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];  // <- racecheck tile
}

//: rotate_in_place block=96 args={"A": arange(96, i4), "steps": i4(3)}
__global__ void rotate_in_place(int *A, int steps)
{
    __shared__ int ring[96];
    ring[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        int next = ring[(threadIdx.x + 1) % blockDim.x];  // <- racecheck ring
        ring[threadIdx.x] = next;  // <- racecheck ring
        __syncthreads();
    }
    A[threadIdx.x] = ring[threadIdx.x];
}

//: leader_sets_and_all_read grid=3 block=64 args={"A": arange(192), "out": zeros(192)}
__global__ void leader_sets_and_all_read(const float *A, float *out)
{
    __shared__ float scale;
    if (threadIdx.x == 0)
        scale = A[blockIdx.x * blockDim.x] + 1.0f;  // <- racecheck scale
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = A[i] * scale;  // <- racecheck scale
}

//: counter_without_atomic block=80 args={"A": random(80), "out": zeros(1, i4)}
__global__ void counter_without_atomic(const float *A, int *out)
{
    __shared__ int positive;
    if (threadIdx.x == 0) positive = 0;
    __syncthreads();
    if (A[threadIdx.x] > 0.0f)
        positive++;  // <- racecheck positive
    __syncthreads();
    if (threadIdx.x == 0) out[0] = positive;
}

//: histogram_bins_plain grid=2 block=64 args={"A": arange(128, i4), "bins": zeros(8, i4)}
__global__ void histogram_bins_plain(const int *A, int *bins)
{
    __shared__ int mine[8];
    if (threadIdx.x < 8) mine[threadIdx.x] = 0;
    __syncthreads();
    int bin = (A[blockIdx.x * blockDim.x + threadIdx.x] * 7) & 7;
    mine[bin] = mine[bin] + 1;  // <- racecheck mine
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

//: histogram_zeroed_too_late block=128 args={"A": arange(128, i4), "bins": zeros(16, i4)}
__global__ void histogram_zeroed_too_late(const int *A, int *bins)
{
    __shared__ int mine[16];
    for (int b = threadIdx.x; b < 16; b += blockDim.x)
        mine[b] = 0;  // <- racecheck mine
    atomicAdd(&mine[A[threadIdx.x] % 16], 1);  // <- racecheck mine
    __syncthreads();
    if (threadIdx.x < 16) bins[threadIdx.x] = mine[threadIdx.x];
}

//: double_buffer_that_is_one block=64 args={"A": arange(64), "turns": i4(4)}
__device__ void smooth_from_to(const float *from, float *to, int t, int n)
{
    int left = t > 0 ? t - 1 : 0, right = t < n - 1 ? t + 1 : n - 1;
    to[t] = (from[left] + from[right]) * 0.5f;  // <- racecheck pair
}

__global__ void double_buffer_that_is_one(float *A, int turns)
{
    __shared__ float pair[2][64];
    int now = 0;
    pair[0][threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < turns; k++) {
        smooth_from_to(pair[now], pair[now], threadIdx.x, 64);  // <- racecheck pair
        __syncthreads();
    }
    A[threadIdx.x] = pair[now][threadIdx.x];
}

//: chunk_loop_one_barrier block=64 args={"A": random(256), "out": zeros(64), "n": i4(256)}
__global__ void chunk_loop_one_barrier(const float *A, float *out, int n)
{
    __shared__ float chunk[64];
    float sum = 0.0f;
    for (int start = 0; start < n; start += 64) {
        chunk[threadIdx.x] = A[start + threadIdx.x];  // <- racecheck chunk
        __syncthreads();
        for (int k = 0; k < 64; k++)
            sum += chunk[k] * (k + 1);  // <- racecheck chunk
    }
    out[threadIdx.x] = sum;
}

//: dynamic_halves_overlap block=64 shared=512 args={"A": random(64), "B": random(64), "out": zeros(64)}
__global__ void dynamic_halves_overlap(const float *A, const float *B, float *out)
{
    extern __shared__ float pool[];
    float *a = pool;
    float *b = pool + blockDim.x / 2;
    a[threadIdx.x] = A[threadIdx.x];  // <- racecheck pool
    b[threadIdx.x] = B[threadIdx.x];  // <- racecheck pool
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

//: two_threads_a_slot block=128 args={"A": arange(128), "out": zeros(64)}
__global__ void two_threads_a_slot(const float *A, float *out)
{
    __shared__ float slot[64];
    slot[threadIdx.x % 64] = A[threadIdx.x];  // <- racecheck slot
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = slot[threadIdx.x];
}

//: lanes_store_different_values block=32 args={"A": arange(32), "out": zeros(16)}
__global__ void lanes_store_different_values(const float *A, float *out)
{
    __shared__ float half_of_it[16];
    half_of_it[threadIdx.x >> 1] = A[threadIdx.x];  // <- racecheck half_of_it
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = half_of_it[threadIdx.x];
}

//: struct_field_before_barrier block=(8, 8) args={"A": random(64), "out": zeros(64)}
struct Range { float low, high; };
__global__ void struct_field_before_barrier(const float *A, float *out)
{
    __shared__ Range range;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    if (t == 63) {
        range.low = A[0];  // <- racecheck range
        range.high = A[63];  // <- racecheck range
    }
    out[t] = (A[t] - range.low) / (range.high - range.low + 3.0f);  // <- racecheck range
}

//: bitonic_without_barrier block=64 args={"A": random(64)}
__global__ void bitonic_without_barrier(float *A)
{
    __shared__ float key[64];
    unsigned t = threadIdx.x;
    key[t] = A[t];
    __syncthreads();
    for (unsigned k = 2; k <= 64; k *= 2) {
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                float a = key[t], b = key[other];  // <- racecheck key
                if ((a > b) == up) {
                    key[t] = b;  // <- racecheck key
                    key[other] = a;  // <- racecheck key
                }
            }
        }
        __syncthreads();
    }
    A[t] = key[t];
}
