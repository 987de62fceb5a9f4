// Matrix products of every rung, with a slip in the tile.
//: naive_guard_on_one_side grid=(2, 2) block=(8, 8) args={"A": random((10, 12)), "B": random((12, 14)), "C": zeros((10, 14)), "m": i4(10), "n": i4(14), "k": i4(12)}
__global__ void naive_guard_on_one_side(const float *A, const float *B, float *C, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i++)
            sum += A[row * k + i] * B[i * n + col];  // <- memcheck A
        C[row * n + col] = sum;  // <- memcheck C
    }
}

//: tiled_second_barrier_missing grid=(2, 2) block=(16, 16) args={"A": random((32, 32)), "B": random((32, 32)), "C": zeros((32, 32)), "n": i4(32)}
__global__ void tiled_second_barrier_missing(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[16][16], Bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int t = 0; t < n; t += 16) {
        As[ty][tx] = A[row * n + t + tx];  // <- racecheck As
        Bs[ty][tx] = B[(t + ty) * n + col];  // <- racecheck Bs
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += As[ty][k] * Bs[k][tx];  // <- racecheck
    }
    C[row * n + col] = sum;
}

//: tiled_first_barrier_missing grid=(2, 2) block=(8, 8) args={"A": random((16, 16)), "B": random((16, 16)), "C": zeros((16, 16)), "n": i4(16)}
__global__ void tiled_first_barrier_missing(const float *A, const float *B, float *C, int n)
{
    __shared__ float left[8][8];
    __shared__ float right[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float sum = 0.0f;
    for (int t = 0; t < n / 8; t++) {
        left[ty][tx] = A[row * n + t * 8 + tx];  // <- racecheck left
        right[ty][tx] = B[(t * 8 + ty) * n + col];  // <- racecheck right
        for (int k = 0; k < 8; k++)
            sum += left[ty][k] * right[k][tx];  // <- racecheck
        __syncthreads();
    }
    C[row * n + col] = sum;
}

//: tile_edge_not_filled grid=(2, 2) block=(8, 8) args={"A": random((12, 12)), "B": random((12, 12)), "C": zeros((12, 12)), "n": i4(12)}
__global__ void tile_edge_not_filled(const float *A, const float *B, float *C, int n)
{
    __shared__ float Ae[8][8], Be[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
    float sum = 0.0f;
    for (int t = 0; t < n; t += 8) {
        if (row < n && t + tx < n) Ae[ty][tx] = A[row * n + t + tx];
        if (col < n && t + ty < n) Be[ty][tx] = B[(t + ty) * n + col];
        __syncthreads();
        if (blockIdx.x == 1)
            for (int k = 0; k < 8; k++) sum += Ae[ty][k] * Be[k][tx];  // <- initcheck
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}

//: strides_of_b_swapped grid=(2, 1) block=(8, 8) args={"A": random((8, 24)), "B": random((24, 16)), "C": zeros((8, 16)), "k": i4(24), "n": i4(16)}
__global__ void strides_of_b_swapped(const float *A, const float *B, float *C, int k, int n)
{
    int col = blockIdx.x * 8 + threadIdx.x, row = threadIdx.y;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += A[row * k + i] * B[i * k + col];  // <- memcheck B
    C[row * n + col] = sum;
}

//: register_blocking_bad_bound block=(4, 4) args={"A": random((16, 8)), "B": random((8, 16)), "C": zeros((16, 16)), "tm": i4(5)}
__global__ void register_blocking_bad_bound(const float *A, const float *B, float *C, int tm)
{
    float acc[4][4] = {}, a[4], b[4];
    for (int k = 0; k < 8; k++) {
        for (int i = 0; i < tm; i++) a[i] = A[(threadIdx.y * 4 + i) % 16 * 8 + k];  // <- memcheck a
        for (int j = 0; j < 4; j++) b[j] = B[k * 16 + threadIdx.x * 4 + j];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) C[(threadIdx.y * 4 + i) * 16 + threadIdx.x * 4 + j] = acc[i][j];
}

//: split_k_without_atomic grid=(1, 1, 2) block=(8, 8) args={"A": random((8, 16)), "B": random((16, 8)), "C": zeros((8, 8))}
__global__ void split_k_without_atomic(const float *A, const float *B, float *C)
{
    float sum = 0.0f;
    for (int k = blockIdx.z * 8; k < (blockIdx.z + 1) * 8; k++)
        sum += A[threadIdx.y * 16 + k] * B[k * 8 + threadIdx.x];
    C[threadIdx.y * 8 + threadIdx.x] += sum;  // <- racecheck C
}

//: double_buffered_wrong_stage grid=2 block=(8, 8) args={"A": random((16, 32)), "B": random((32, 8)), "C": zeros((16, 8))}
__global__ void double_buffered_wrong_stage(const float *A, const float *B, float *C)
{
    __shared__ float a[2][8][8], b[2][8][8];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.x * 8 + ty;
    float sum = 0.0f;
    a[0][ty][tx] = A[row * 32 + tx];
    b[0][ty][tx] = B[ty * 8 + tx];
    __syncthreads();
    for (int t = 0; t < 4; t++) {
        int now = t & 1, next = now;
        if (t < 3) {
            a[next][ty][tx] = A[row * 32 + (t + 1) * 8 + tx];  // <- racecheck a
            b[next][ty][tx] = B[((t + 1) * 8 + ty) * 8 + tx];  // <- racecheck b
        }
        for (int k = 0; k < 8; k++) sum += a[now][ty][k] * b[now][k][tx];  // <- racecheck
        __syncthreads();
    }
    C[row * 8 + tx] = sum;
}

//: vector_loads_of_an_odd_matrix grid=1 block=(4, 8) args={"A": random((8, 18)), "out": zeros((8, 18))}
__global__ void vector_loads_of_an_odd_matrix(const float *A, float *out)
{
    int row = threadIdx.y, c = threadIdx.x * 4;
    float4 v = *reinterpret_cast<const float4 *>(&A[row * 18 + c]);  // <- memcheck A
    out[row * 18 + c] = v.x + v.y + v.z + v.w;
}

//: beta_times_an_empty_c grid=(1, 1) block=(8, 8) args={"A": random((8, 8)), "B": random((8, 8)), "C": unset((8, 8)), "alpha": f4(1), "beta": f4(0)}
__global__ void beta_times_an_empty_c(const float *A, const float *B, float *C, float alpha, float beta)
{
    int i = threadIdx.y * 8 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += A[threadIdx.y * 8 + k] * B[k * 8 + threadIdx.x];
    C[i] = alpha * sum + beta * C[i];  // <- initcheck C
}

//: tile_store_guard_holds_the_barrier grid=(2, 1) block=(8, 8) args={"A": random((8, 12)), "B": random((12, 12)), "C": zeros((8, 12)), "n": i4(12)}
__global__ void tile_store_guard_holds_the_barrier(const float *A, const float *B, float *C, int n)
{
    __shared__ float rows[8][4];
    int col = blockIdx.x * 8 + threadIdx.x, ty = threadIdx.y;
    float sum = 0.0f;
    if (col < n) {
        for (int t = 0; t < n; t += 4) {
            if (threadIdx.x < 4) rows[ty][threadIdx.x] = A[ty * n + t + threadIdx.x];
            __syncthreads();  // <- synccheck
            for (int k = 0; k < 4; k++) sum += rows[ty][k] * B[(t + k) * n + col];
            __syncthreads();  // <- synccheck
        }
        C[ty * n + col] = sum;
    }
}
