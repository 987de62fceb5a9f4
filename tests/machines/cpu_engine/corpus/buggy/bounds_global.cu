// An index outside an array of global memory, a little or far.
//: guard_forgotten grid=2 block=64 args={"A": arange(100), "out": zeros(128)}
__global__ void guard_forgotten(const float *A, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = A[i] + 1.0f;  // <- memcheck A
}

//: guard_less_or_equal grid=2 block=33 args={"A": arange(65), "out": zeros(65), "n": i4(65)}
__global__ void guard_less_or_equal(const float *A, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        float x = i < n ? A[i] : 0.0f;
        out[i] = 2.0f * x;  // <- memcheck out
    }
}

//: left_neighbour_of_the_first block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void left_neighbour_of_the_first(const float *A, float *out)
{
    int i = threadIdx.x;
    out[i] = A[i] - A[i - 1];  // <- memcheck A
}

//: row_and_column_swapped grid=(4, 1) block=(16, 8) args={"A": random((8, 64)), "B": random((8, 64)), "C": zeros((8, 64)),
//+ "rows": i4(8), "columns": i4(64)}
__global__ void row_and_column_swapped(const float *A, const float *B, float *C, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
    if (y < rows && x < columns)
        C[y * columns + x] = A[y * columns + x] + B[x * columns + y];  // <- memcheck B
}

//: wrong_stride_far_away block=32 args={"A": random(64), "B": random(4096), "C": zeros(4096), "out": zeros(32)}
__global__ void wrong_stride_far_away(const float *A, const float *B, const float *C, float *out)
{
    int i = threadIdx.x;
    float x = A[i * 64];  // <- memcheck A
    out[i] = x + B[i * 64] + C[i * 64];
}

//: store_far_into_a_neighbour block=32 args={"a": random(32), "b": zeros(32), "c": random(4000)}
__global__ void store_far_into_a_neighbour(const float *a, float *b, const float *c)
{
    int i = threadIdx.x;
    b[i + 1000] = a[i] + c[i];  // <- memcheck b
}

//: index_in_bytes block=32 args={"A": arange(32), "out": zeros(32)}
__global__ void index_in_bytes(const float *A, float *out)
{
    int i = threadIdx.x;
    out[i] = A[i * sizeof(float)];  // <- memcheck A
}

//: negative_by_a_thousand block=64 args={"first": random(5000), "second": random(64), "out": zeros(64)}
__global__ void negative_by_a_thousand(const float *first, const float *second, float *out)
{
    int i = threadIdx.x;
    out[i] = first[i] + second[i - 1024];  // <- memcheck second
}

//: gather_from_a_bad_table block=16 args={"where": np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 93, 2], i4), "A": random(10), "out": zeros(16)}
__device__ float fetch(const float *values, int i) { return values[i]; }  // <- memcheck A
__global__ void gather_from_a_bad_table(const int *where, const float *A, float *out)
{
    out[threadIdx.x] = fetch(A, where[threadIdx.x]);  // <- memcheck A
}

//: float4_over_the_tail block=16 args={"A": random(62), "out": zeros(64)}
__global__ void float4_over_the_tail(const float *A, float *out)
{
    int i = threadIdx.x;
    float4 v = reinterpret_cast<const float4 *>(A)[i];  // <- memcheck A
    out[4 * i] = v.x;
    out[4 * i + 1] = v.y;
    out[4 * i + 2] = v.z;
    out[4 * i + 3] = v.w;
}

//: grid_stride_runs_too_long grid=2 block=24 args={"A": random(100), "n": i4(100)}
__global__ void grid_stride_runs_too_long(float *A, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n + 2; i += blockDim.x * gridDim.x)
        A[i] = A[i] * 0.5f;  // <- memcheck A
}

//: csr_row_after_the_last block=8 args={"start": np.array([0, 2, 4, 6, 8, 10, 12, 14], i4), "column": arange(16, i4), "x": random(16), "y": zeros(8)}
__global__ void csr_row_after_the_last(const int *start, const int *column, const float *x, float *y)
{
    int row = threadIdx.x;
    float sum = 0.0f;
    for (int k = start[row]; k < start[row + 1]; k++)  // <- memcheck start
        sum += x[column[k]];
    y[row] = sum;
}

//: atomic_into_a_bin_too_high block=64 args={"A": arange(64, i4), "bins": zeros(8, i4)}
__global__ void atomic_into_a_bin_too_high(const int *A, int *bins)
{
    atomicAdd(&bins[A[threadIdx.x] / 7], 1);  // <- memcheck bins
}

//: doubles_in_a_float_array block=32 args={"A": zeros(32), "n": i4(32)}
__global__ void doubles_in_a_float_array(void *A, int n)
{
    double *wide = (double *)A;
    if ((int)threadIdx.x < n) wide[threadIdx.x] = threadIdx.x * 0.5;  // <- memcheck A
}

//: struct_array_by_floats block=16 args={"points": random(48), "out": zeros(16)}
struct Point { float x, y, z; };
__global__ void struct_array_by_floats(const Point *points, float *out)
{
    const Point &p = points[threadIdx.x * 3];
    out[threadIdx.x] = p.x * p.x + p.y * p.y;  // <- memcheck points
}

//: overflowing_index block=32 args={"A": random(64), "out": zeros(32), "pitch": i4(100000000)}
__global__ void overflowing_index(const float *A, float *out, int pitch)
{
    int i = threadIdx.x;
    out[i] = A[(long long)i * pitch];  // <- memcheck A
}

//: unsigned_minus_one block=32 args={"A": random(32), "out": zeros(32)}
__global__ void unsigned_minus_one(const float *A, float *out)
{
    unsigned before = threadIdx.x - 1;
    out[threadIdx.x] = A[before];  // <- memcheck A
}

//: one_block_too_many grid=5 block=16 args={"A": random(64), "out": zeros(64)}
__global__ void one_block_too_many(const float *__restrict__ A, float *__restrict__ out)
{
    unsigned i = blockIdx.x * 16 + threadIdx.x;
    float x = A[i % 64];
    out[i] = x;  // <- memcheck out
}

//: pixel_of_four_channels grid=(2, 2) block=(8, 4) args={"rgb": np.zeros((8, 16, 3), np.uint8), "grey": np.zeros((8, 16), np.uint8), "w": i4(16)}
__global__ void pixel_of_four_channels(const unsigned char *rgb, unsigned char *grey, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int i = (y * w + x) * 4;
    grey[y * w + x] = (rgb[i] + rgb[i + 1] + rgb[i + 2]) / 3;  // <- memcheck rgb
}
