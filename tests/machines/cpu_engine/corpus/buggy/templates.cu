// Mistakes in helpers that are templates.
//: syncthreads_or_by_some_rows block=(16, 4) args={"A": random(64), "out": zeros(64)}
template <int ROWS> __device__ int any_big(float x)
{
    int found = 0;
    if (threadIdx.y < ROWS)
        found = __syncthreads_or(x > 0.5f);  // <- synccheck
    return found;
}

__global__ void syncthreads_or_by_some_rows(const float *A, float *out)
{
    int t = threadIdx.y * 16 + threadIdx.x;
    out[t] = any_big<3>(A[t]) ? 1.0f : 0.0f;  // <- synccheck
}

//: template_tile_of_wrong_size block=(8, 8) args={"A": random((8, 8)), "out": zeros((8, 8))}
template <int SIZE> __device__ void fill_tile(float *tile, const float *A)
{
    tile[threadIdx.y * SIZE + threadIdx.x] = A[threadIdx.y * 8 + threadIdx.x];  // <- memcheck patch
}

__global__ void template_tile_of_wrong_size(const float *A, float *out)
{
    __shared__ float patch[64];
    fill_tile<12>(patch, A);  // <- memcheck patch
    __syncthreads();
    out[threadIdx.y * 8 + threadIdx.x] = patch[threadIdx.x];
}

//: columns_per_thread_overrun block=(8, 8) args={"A": random((8, 8)), "B": random((8, 24)), "C": zeros((8, 24))}
template <int TILE, int PER> __device__ void row_times_tile(const float *A, const float *B, float *C, int n)
{
    float acc[PER] = {};
    for (int k = 0; k < TILE; k++)
        for (int j = 0; j < PER; j++)
            acc[j] += A[threadIdx.y * TILE + k] * B[k * n + threadIdx.x + j * TILE];  // <- memcheck B
    for (int j = 0; j < PER; j++)
        C[threadIdx.y * n + threadIdx.x + j * TILE] = acc[j];
}

__global__ void columns_per_thread_overrun(const float *A, const float *B, float *C)
{
    row_times_tile<8, 4>(A, B, C, 24);
}

//: template_sum_of_any_type block=64 args={"A": arange(64, i4), "out": zeros(1, i4)}
template <typename T> __device__ T block_total(T *s)
{
    for (int half = 32; half > 0; half /= 2)
        if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];  // <- racecheck s
    __syncthreads();
    return s[0];  // <- racecheck s
}

__global__ void template_sum_of_any_type(const int *A, int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = A[threadIdx.x];
    __syncthreads();
    int total = block_total(s);
    if (threadIdx.x == 0) out[0] = total;
}
