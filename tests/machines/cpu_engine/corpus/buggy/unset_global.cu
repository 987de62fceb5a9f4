// Values of global memory that nobody has written.
//: input_never_copied grid=2 block=32 args={"A": unset(64), "out": zeros(64)}
__global__ void input_never_copied(const float *A, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = A[i] * 2.0f;  // <- initcheck A
}

//: int_counter_not_zeroed block=64 args={"A": random(64), "count": unset(1, i4)}
__global__ void int_counter_not_zeroed(const float *A, int *count)
{
    if (A[threadIdx.x] > 0.0f) atomicAdd(count, 1);  // <- initcheck count
}

//: int_table_not_filled block=32 args={"where": unset(32, i4), "out": zeros(32, i4)}
__global__ void int_table_not_filled(const int *where, int *out)
{
    out[threadIdx.x] = where[threadIdx.x] + 1;  // <- initcheck where
}

//: last_quarter_not_copied block=64 args={"A": np.ma.array(arange(64), mask=arange(64) >= 48), "out": zeros(64)}
__global__ void last_quarter_not_copied(const float *A, float *out)
{
    out[threadIdx.x] = sqrtf(A[threadIdx.x]);  // <- initcheck A
}

//: every_fourth_not_written block=16 args={"A": np.ma.array(arange(64, i4), mask=arange(64) % 4 == 3), "out": zeros(16, i4)}
__global__ void every_fourth_not_written(const int *A, int *out)
{
    int sum = 0;
    for (int k = 0; k < 4; k++) sum += A[threadIdx.x * 4 + k];  // <- initcheck A
    out[threadIdx.x] = sum;
}

//: accumulates_into_an_empty_result grid=2 block=48 args={"A": random(96), "C": unset(96)}
__global__ void accumulates_into_an_empty_result(const float *A, float *C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] += A[i];  // <- initcheck C
}

//: scratch_read_where_not_written block=64 args={"A": arange(64), "scratch": unset(128), "out": zeros(64)}
__global__ void scratch_read_where_not_written(const float *A, float *scratch, float *out)
{
    int t = threadIdx.x;
    scratch[2 * t] = A[t];
    __syncthreads();
    out[t] = scratch[t];  // <- initcheck scratch
}

//: border_of_the_grid_unset block=(8, 8) args={"U": np.ma.array(random((10, 10)), mask=np.pad(np.zeros((8, 8), bool), 1, constant_values=True)), "out": zeros((8, 8))}
__global__ void border_of_the_grid_unset(const float *U, float *out)
{
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    out[threadIdx.y * 8 + threadIdx.x] = U[y * 10 + x - 1] + U[y * 10 + x + 1];  // <- initcheck U
}

//: one_element_of_a_matrix block=(16, 4) args={"A": np.ma.array(random((4, 16)), mask=arange(64).reshape(4, 16) == 37), "out": zeros((4, 16))}
__device__ inline float squared(const float *p) { return *p * *p; }  // <- initcheck A
__global__ void one_element_of_a_matrix(const float *A, float *out)
{
    int i = threadIdx.y * 16 + threadIdx.x;
    out[i] = squared(A + i);  // <- initcheck A
}

//: bytes_half_unset block=32 args={"A": np.ma.array(np.ones(32, np.uint8), mask=arange(32) % 2 == 1), "out": zeros(32, i4)}
__global__ void bytes_half_unset(const unsigned char *A, int *out)
{
    out[threadIdx.x] = A[threadIdx.x] * 3;  // <- initcheck A
}

//: float4_with_one_lane_unset block=16 args={"A": np.ma.array(random(64), mask=arange(64) == 62), "out": zeros(16)}
__global__ void float4_with_one_lane_unset(const float4 *A, float *out)
{
    float4 v = A[threadIdx.x];  // <- initcheck A
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

//: doubles_unset_in_the_middle block=32 args={"A": np.ma.array(np.ones(32), mask=arange(32) == 16), "out": np.zeros(32)}
__global__ void doubles_unset_in_the_middle(const double *A, double *out)
{
    out[threadIdx.x] = A[threadIdx.x] / 3.0;  // <- initcheck A
}

//: loop_bound_from_unset_memory block=4 args={"length": np.ma.array(np.array([2, 3, 0, 1], i4), mask=[0, 0, 1, 0]), "out": zeros(4, i4)}
__global__ void loop_bound_from_unset_memory(const int *length, int *out)
{
    int n = min(length[threadIdx.x], 5), sum = 0;  // <- initcheck length
    for (int k = 0; k < n; k++) sum += k;
    out[threadIdx.x] = sum;
}
