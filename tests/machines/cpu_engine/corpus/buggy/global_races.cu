// Threads of one block or of several at one place of global memory.
//: sum_into_one_cell grid=2 block=64 args={"A": random(128), "sum": zeros(1)}
__global__ void sum_into_one_cell(const float *A, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    *sum += A[i];  // <- racecheck sum
}

//: global_histogram_plain grid=3 block=50 args={"A": arange(150, i4), "bins": zeros(10, i4), "n": i4(150)}
__global__ void global_histogram_plain(const int *A, int *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) bins[A[i] % 10] += 1;  // <- racecheck bins
}

//: shift_left_in_place grid=2 block=32 args={"A": arange(65), "n": i4(64)}
__global__ void shift_left_in_place(float *A, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        A[i] = A[i + 1];  // <- racecheck A
}

//: jacobi_in_place grid=(2, 2) block=(8, 8) args={"U": random((16, 16)), "n": i4(16)}
__global__ void jacobi_in_place(float *U, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        float around = U[y * n + x - 1] + U[y * n + x + 1] + U[(y - 1) * n + x] + U[(y + 1) * n + x];  // <- racecheck U
        U[y * n + x] = 0.25f * around;  // <- racecheck U
    }
}

//: transpose_in_place_both_halves grid=(2, 2) block=(8, 8) args={"A": random((16, 16)), "n": i4(16)}
__device__ void exchange(float &a, float &b)
{
    float kept = a;  // <- racecheck A
    a = b;  // <- racecheck A
    b = kept;  // <- racecheck A
}

__global__ void transpose_in_place_both_halves(float *A, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x != y) exchange(A[y * n + x], A[x * n + y]);
}

//: barrier_does_not_reach_other_blocks grid=4 block=32 args={"A": arange(128), "part": zeros(4), "out": zeros(4)}
__global__ void barrier_does_not_reach_other_blocks(const float *A, float *part, float *out)
{
    if (threadIdx.x == 0)
        part[blockIdx.x] = A[blockIdx.x * blockDim.x];  // <- racecheck part
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (unsigned b = 0; b < gridDim.x; b++) sum += part[b];  // <- racecheck part
        out[blockIdx.x] = sum;
    }
}

//: maximum_by_hand grid=2 block=40 args={"A": random(80), "most": np.full(1, -9, f4)}
__global__ void maximum_by_hand(const float *A, float *most)
{
    float mine = A[blockIdx.x * blockDim.x + threadIdx.x];
    if (mine > most[0])  // <- racecheck most
        most[0] = mine;  // <- racecheck most
}

//: block_offset_forgotten grid=4 block=64 args={"A": arange(256), "out": zeros(256)}
__global__ void block_offset_forgotten(const float *A, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[threadIdx.x] = A[i] * 2.0f;  // <- racecheck out
}

//: graph_relax_plain grid=1 block=48 args={"from": arange(48, i4), "to": arange(48, i4) % 12,
//+ "cost": random(48), "best": np.full(12, 1e9, f4)}
__global__ void graph_relax_plain(const int *from, const int *to, const float *cost, float *best)
{
    int e = threadIdx.x;
    float path = cost[from[e]] + 2.0f;
    best[to[e]] = fminf(best[to[e]], path);  // <- racecheck best
}

//: flag_without_fence grid=2 block=32 args={"data": zeros(32), "flag": zeros(1, i4), "out": zeros(32)}
__global__ void flag_without_fence(float *data, int *flag, float *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x * 2.0f;  // <- racecheck data
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) { }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];  // <- racecheck data
    }
}

//: last_block_without_fence grid=4 block=32 args={"A": arange(128), "part": zeros(128), "count": zeros(1, i4), "out": zeros(1)}
__global__ void last_block_without_fence(const float *A, float *part, int *count, float *out)
{
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[i] = A[i] * A[i];  // <- racecheck part
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(count, 1) == (int)gridDim.x - 1;
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int k = 0; k < 128; k++) sum += part[k];  // <- racecheck part
        out[0] = sum;
    }
}

//: atomic_here_plain_there grid=2 block=64 args={"A": random(128), "total": zeros(1), "seen": zeros(128)}
__global__ void atomic_here_plain_there(const float *A, float *total, float *seen)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, A[i]);  // <- racecheck total
    seen[i] = *total;  // <- racecheck total
}

//: scatter_by_wrong_map block=64 args={"map": arange(64, i4) // 3, "A": arange(64), "out": zeros(64)}
__global__ void scatter_by_wrong_map(const int *map, const float *A, float *out)
{
    int i = threadIdx.x;
    out[map[i]] = A[i];  // <- racecheck out
}

//: column_sums_by_element grid=2 block=(8, 4) args={"A": random((8, 16)), "sums": zeros(16), "rows": i4(8), "columns": i4(16)}
__global__ void column_sums_by_element(const float *A, float *sums, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int y = threadIdx.y; y < rows; y += blockDim.y)
        if (x < columns) sums[x] += A[y * columns + x];  // <- racecheck sums
}
