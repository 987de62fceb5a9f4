// In the manner of the Programming Guide, of teaching books, and of programs that verify kernels.
//: MatAdd grid=(3,2) block=(16,16) args={"A": random((20, 40), 1), "B": random((20, 40), 2), "C": unset((20, 40)), "rows": i4(20), "cols": i4(40)} gives={"C": A + B}
__global__ void MatAdd(float *A, float *B, float *C, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < cols && j < rows)
        C[j * cols + i] = A[j * cols + i] + B[j * cols + i];
}
//: MatMulKernel grid=(2,3) block=(16,16) args={"wA": i4(32), "hA": i4(48), "pA": random((48, 32), 1), "pB": random((32, 32), 2), "pC": unset((48, 32))} gives={"pC": pA @ pB}
typedef struct {
    int width;
    int height;
    int stride;
    float *elements;
} Matrix;
__device__ float GetElement(const Matrix A, int row, int col) { return A.elements[row * A.stride + col]; }
__device__ void SetElement(Matrix A, int row, int col, float value) { A.elements[row * A.stride + col] = value; }
__device__ Matrix GetSubMatrix(Matrix A, int row, int col)
{
    Matrix Asub;
    Asub.width = 16;
    Asub.height = 16;
    Asub.stride = A.stride;
    Asub.elements = &A.elements[A.stride * 16 * row + 16 * col];
    return Asub;
}
__global__ void MatMulKernel(int wA, int hA, float *pA, float *pB, float *pC)
{
    Matrix A = {wA, hA, wA, pA}, B = {wA, wA, wA, pB}, C = {wA, hA, wA, pC};
    int blockRow = blockIdx.y, blockCol = blockIdx.x;
    Matrix Csub = GetSubMatrix(C, blockRow, blockCol);
    float Cvalue = 0;
    int row = threadIdx.y, col = threadIdx.x;
    for (int m = 0; m < (A.width / 16); ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m);
        Matrix Bsub = GetSubMatrix(B, m, blockCol);
        __shared__ float As[16][16];
        __shared__ float Bs[16][16];
        As[row][col] = GetElement(Asub, row, col);
        Bs[row][col] = GetElement(Bsub, row, col);
        __syncthreads();
        for (int e = 0; e < 16; ++e)
            Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    SetElement(Csub, row, col, Cvalue);
}
//: stencil_1d grid=3 block=50 args={"in": random(156, 1), "out": zeros(156)} gives={"out": [0, 0, 0] + [random(156, 1)[i - 3:i + 4].sum() for i in range(3, 153)] + [0, 0, 0]}
#define RADIUS 3
__global__ void stencil_1d(float *in, float *out)
{
    __shared__ float temp[50 + 2 * RADIUS];
    int gindex = threadIdx.x + blockIdx.x * blockDim.x + RADIUS, lindex = threadIdx.x + RADIUS;
    temp[lindex] = in[gindex];
    if (threadIdx.x < RADIUS) {
        temp[lindex - RADIUS] = in[gindex - RADIUS];
        temp[lindex + blockDim.x] = in[gindex + blockDim.x];
    }
    __syncthreads();
    float result = 0;
    for (int offset = -RADIUS; offset <= RADIUS; offset++)
        result += temp[lindex + offset];
    out[gindex] = result;
}
//: count_and_or block=64 grid=2 args={"x": random(128, 1), "out": unset((2, 3), i4)}
//+ gives={"out": [[(p > 0).sum(), (p > -2).all(), (p > 2).any()] for p in x.reshape(2, 64)]}
__global__ void count_and_or(const float *x, int *out)
{
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int count = __syncthreads_count(v > 0), all = __syncthreads_and(v > -2), any = __syncthreads_or(v > 2);
    if (threadIdx.x == 0) {
        out[3 * blockIdx.x] = count;
        out[3 * blockIdx.x + 1] = all != 0;
        out[3 * blockIdx.x + 2] = any != 0;
    }
}
//: barrier_in_uniform_branch block=64 grid=3 args={"A": random(192, 1)} gives={"A": np.concatenate([A[:64][::-1], A[64:128], A[128:][::-1]])}
__global__ void barrier_in_uniform_branch(float *A)
{
    __shared__ float s[64];
    if (blockIdx.x % 2 == 0) {
        s[threadIdx.x] = A[blockIdx.x * 64 + threadIdx.x];
        __syncthreads();
        A[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
    }
}
//: ping_pong_phases block=32 grid=2 args={"A": arange(64), "steps": i4(7)} gives={"A": np.concatenate([np.roll(p, -7) for p in A.reshape(2, 32)])}
__global__ void ping_pong_phases(float *A, int steps)
{
    __shared__ float s[2][32];
    int t = threadIdx.x;
    s[0][t] = A[blockIdx.x * 32 + t];
    for (int k = 0; k < steps; ++k) {
        __syncthreads();
        s[(k + 1) & 1][t] = s[k & 1][(t + 1) % 32];
    }
    A[blockIdx.x * 32 + t] = s[steps & 1][t];
}
//: own_cell_only block=(8,4,2) grid=(2,2,2) args={"out": unset((4, 8, 16), i4)} gives={"out": np.arange(512).reshape(4, 8, 16)}
__global__ void own_cell_only(int *out)
{
    dim3 all(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    out[(z * all.y + y) * all.x + x] = (z * all.y + y) * all.x + x;
}
//: early_return_before_warp_work block=96 grid=2 args={"x": random(150, 1), "out": unset(6), "n": i4(150)} gives={"out": [x[32 * w:32 * w + 32].sum() for w in range(5)] + [0]}
__global__ void early_return_before_warp_work(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32, lane = i % 32;
    if (warp * 32 >= n) {
        if (lane == 0)
            out[warp] = 0;
        return;
    }
    float v = i < n ? x[i] : 0;
    __syncwarp();
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (lane == 0)
        out[warp] = v;
}
//: bcast block=32 args={"arg": i4(1234), "out": unset(32, i4)} gives={"out": 1234}
__global__ void bcast(int arg, int *out)
{
    int laneId = threadIdx.x & 0x1f, value;
    if (laneId == 0)
        value = arg;
    value = __shfl_sync(0xffffffff, value, 0);
    out[threadIdx.x] = value;
}
//: scan4 block=64 args={"out": unset(64, i4)} gives={"out": [sum(31 - k for k in range(i // 8 * 8, i + 1)) for i in range(32)] * 2}
__global__ void scan4(int *out)
{
    int laneId = threadIdx.x & 0x1f;
    int value = 31 - laneId;
    for (int i = 1; i <= 4; i *= 2) {
        int n = __shfl_up_sync(0xffffffff, value, i, 8);
        if ((laneId & 7) >= i)
            value += n;
    }
    out[threadIdx.x] = value;
}
//: device_variable_counts grid=3 block=40 args={"where": unset(120, i4)} symbols={"devCounter": zeros(1, i4)} gives={"where": (lambda w: w)(np.arange(120))}
__device__ int devCounter;
__global__ void device_variable_counts(int *where)
{
    int ticket = atomicAdd(&devCounter, 1);
    where[ticket] = ticket;
}
//: recursion_and_pointers block=20 args={"out": unset(20, i4)} gives={"out": [0, 1, 1, 2, 3, 5, 8, 13, 21, 34] * 2}
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int twice(int n) { return 2 * n; }
__global__ void recursion_and_pointers(int *out)
{
    int (*f)(int) = threadIdx.x == 1000 ? twice : fibonacci;
    out[threadIdx.x] = f(threadIdx.x % 10);
}
