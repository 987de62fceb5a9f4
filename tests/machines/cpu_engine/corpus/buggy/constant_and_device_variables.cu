// __constant__ and __device__ variables.
__constant__ float weights[9];
__constant__ float gain;
__device__ float table[64];
__device__ int ticket;
__device__ float grid_sum;

//: store_to_constant_array block=16 args={"A": random(16)} symbols={"weights": ones(9)}
__global__ void store_to_constant_array(float *A)
{
    if (threadIdx.x < 9) ((float *)weights)[threadIdx.x] = A[threadIdx.x];  // <- memcheck weights
    A[threadIdx.x] += 1.0f;
}

//: store_to_constant_scalar block=16 args={"A": random(16)} symbols={"gain": np.full(1, 2, f4)}
__global__ void store_to_constant_scalar(float *A)
{
    float *g = const_cast<float *>(&gain);
    if (threadIdx.x == 0) *g = 3.0f;  // <- memcheck gain
    A[threadIdx.x] += 1.0f;
}

//: constant_tap_past_the_end block=32 args={"A": random(64), "out": zeros(32), "taps": i4(10)} symbols={"weights": ones(9)}
__global__ void constant_tap_past_the_end(const float *A, float *out, int taps)
{
    float sum = 0.0f;
    for (int k = 0; k < taps; k++) sum += weights[k] * A[threadIdx.x + k];  // <- memcheck weights
    out[threadIdx.x] = sum;
}

//: constant_before_the_start block=32 args={"out": zeros(32)} symbols={"weights": ones(9)}
__global__ void constant_before_the_start(float *out)
{
    out[threadIdx.x] = weights[(int)threadIdx.x % 9 - 4];  // <- memcheck weights
}

//: device_table_far_read block=64 args={"out": zeros(64), "far": i4(1024)} symbols={"table": arange(64)}
__global__ void device_table_far_read(float *out, int far)
{
    out[threadIdx.x] = table[threadIdx.x + far];  // <- memcheck table
}

//: device_table_far_store block=32 args={"A": random(32), "far": i4(1024)} symbols={"table": arange(64)}
__global__ void device_table_far_store(const float *A, int far)
{
    table[threadIdx.x + far] = A[threadIdx.x];  // <- memcheck table
}

//: device_table_near_store grid=3 block=32 args={"A": random(96)} symbols={"table": arange(64)}
__global__ void device_table_near_store(const float *A)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    table[i] = A[i];  // <- memcheck table
}

//: device_table_megabytes_before block=32 args={"out": zeros(32), "step": i4(-1000000)} symbols={"table": arange(64)}
__global__ void device_table_megabytes_before(float *out, int step)
{
    out[threadIdx.x] = table[(int)threadIdx.x + step];  // <- memcheck table
}

//: device_counter_plain grid=4 block=32 args={"out": zeros(128, i4)} symbols={"ticket": zeros(1, i4)}
__global__ void device_counter_plain(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ticket++;  // <- racecheck ticket
}

//: device_sum_without_atomic grid=4 block=32 args={"A": random(128)} symbols={"grid_sum": zeros(1)}
__global__ void device_sum_without_atomic(const float *A)
{
    if (threadIdx.x == 0)
        grid_sum += A[blockIdx.x * 32];  // <- racecheck grid_sum
}

//: device_table_neighbours_race block=64 args={"out": zeros(64)} symbols={"table": arange(64)}
__global__ void device_table_neighbours_race(float *out)
{
    int t = threadIdx.x;
    table[t] = t * 0.5f;  // <- racecheck table
    out[t] = table[(t + 1) % 64];  // <- racecheck table
}
