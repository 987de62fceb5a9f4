// Volatile accesses, fences, and work that the last block finishes.
//: reduce_volatile_warp grid=3 block=64 args={"x": random(192, 1), "out": unset(3)} gives={"out": x.reshape(3, 64).sum(1)}
__device__ void warpReduce(volatile float *s, int t)
{
    float v = s[t];
    v += s[t + 32];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 16];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 8];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 4];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 2];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 1];
    __syncwarp();
    s[t] = v;
}
__global__ void reduce_volatile_warp(const float *x, float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 32)
        warpReduce(s, threadIdx.x);
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}
//: sum_by_last_block grid=4 block=32 args={"array": random(300, 2), "N": u4(300), "result": unset(4)} symbols={"count": zeros(1, u4)} rtol=1e-4 gives={"result": np.append(array.sum(), [sum(array[i] for i in range(300) if i // 32 % 4 == b) for b in (1, 2, 3)])}
__device__ unsigned int count = 0;
__device__ float calculatePartialSum(const float *array, unsigned int N)
{
    float sum = 0;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        sum += array[i];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    return sum;
}
__global__ void sum_by_last_block(const float *array, unsigned int N, volatile float *result)
{
    __shared__ bool isLastBlockDone;
    float partialSum = calculatePartialSum(array, N);
    if (threadIdx.x == 0) {
        result[blockIdx.x] = partialSum;
        __threadfence();
        unsigned int value = atomicInc(&count, gridDim.x);
        isLastBlockDone = (value == (gridDim.x - 1));
    }
    __syncthreads();
    if (isLastBlockDone) {
        if (threadIdx.x == 0) {
            float totalSum = 0;
            for (unsigned int b = 0; b < gridDim.x; ++b)
                totalSum += result[b];
            result[0] = totalSum;
            count = 0;
        }
    }
}
//: last_block_reads_in_parallel grid=5 block=64 args={"g_idata": random(320, 3), "partial": unset(5), "out": unset(1), "retirement": zeros(1, u4)} rtol=1e-4 gives={"out": g_idata.sum()}
__global__ void last_block_reads_in_parallel(const float *g_idata, float *partial, float *out, unsigned *retirement)
{
    __shared__ float s[64];
    __shared__ bool amLast;
    int t = threadIdx.x;
    s[t] = g_idata[blockIdx.x * 64 + t];
    for (int half = 32; half; half /= 2) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half];
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        unsigned int ticket = atomicInc(retirement, gridDim.x);
        amLast = (ticket == gridDim.x - 1);
    }
    __syncthreads();
    if (amLast) {
        float v = t < gridDim.x ? partial[t] : 0;
        s[t] = v;
        for (int half = 32; half; half /= 2) {
            __syncthreads();
            if (t < half)
                s[t] += s[t + half];
        }
        if (t == 0) {
            *out = s[0];
            *retirement = 0;
        }
    }
}
//: chained_scan grid=6 block=32 args={"x": arange(192, i4), "out": unset(192, i4), "carry": zeros(7, i4), "flag": zeros(7, i4), "ticket": zeros(1, i4)} gives={"out": np.cumsum(x)}
__global__ void chained_scan(const int *x, int *out, volatile int *carry, int *flag, int *ticket)
{
    __shared__ int my_block, before;
    if (threadIdx.x == 0)
        my_block = atomicAdd(ticket, 1);
    __syncthreads();
    int b = my_block, lane = threadIdx.x, v = x[b * 32 + lane];
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d)
            v += left;
    }
    if (lane == 31) {
        if (b > 0)
            while (atomicAdd(&flag[b], 0) == 0)
                ;
        __threadfence();
        before = b > 0 ? carry[b] : 0;
        carry[b + 1] = before + v;
        __threadfence();
        atomicExch(&flag[b + 1], 1);
    }
    __syncthreads();
    out[b * 32 + lane] = v + before;
}
//: volatile_of_one_thread block=32 args={"x": arange(32)} gives={"x": x + 3}
__global__ void volatile_of_one_thread(float *x)
{
    volatile float *v = &x[threadIdx.x];
    for (int k = 0; k < 3; ++k)
        *v = *v + 1;
    __threadfence_block();
}
//: warp_exchange_in_shared grid=2 block=128 args={"x": random(256, 4)} gives={"x": x.reshape(8, 32)[:, ::-1].ravel()}
__global__ void warp_exchange_in_shared(float *x)
{
    __shared__ float s[4][32];
    int w = threadIdx.x / 32, lane = threadIdx.x % 32, i = blockIdx.x * 128 + threadIdx.x;
    s[w][lane] = x[i];
    __syncwarp();
    x[i] = s[w][31 - lane];
}
//: producer_and_consumer_warps grid=2 block=64 args={"x": random(256, 5), "out": unset((2, 32))} gives={"out": x.reshape(2, 4, 32).sum(1)}
__global__ void producer_and_consumer_warps(const float *x, float *out)
{
    __shared__ float buffer[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    if (warp == 0)
        buffer[0][lane] = x[blockIdx.x * 128 + lane];
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        if (warp == 0 && k < 3)
            buffer[(k + 1) % 2][lane] = x[blockIdx.x * 128 + (k + 1) * 32 + lane];
        if (warp == 1)
            sum += buffer[k % 2][lane];
        __syncthreads();
    }
    if (warp == 1)
        out[blockIdx.x * 32 + lane] = sum;
}
//: mapped_flag_with_system_fence grid=3 block=32 args={"data": unset(96), "done": zeros(1, i4)} gives={"data": np.arange(96), "done": 3}
__global__ void mapped_flag_with_system_fence(float *data, int *done)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = i;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(done, 1);
}
//: last_thread_of_the_block grid=3 block=64 args={"x": random(192, 6), "sum": unset(3)} gives={"sum": x.reshape(3, 64).sum(1)} rtol=1e-4
__global__ void last_thread_of_the_block(const float *x, float *sum)
{
    __shared__ float part[64];
    __shared__ unsigned done;
    if (threadIdx.x == 0)
        done = 0;
    __syncthreads();
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __threadfence_block();
    if (atomicAdd(&done, 1u) < 63)
        return;
    __threadfence_block();
    float all = 0;
    for (int i = 0; i < 64; ++i)
        all += part[i];
    sum[blockIdx.x] = all;
}
//: lock_in_shared_memory grid=2 block=48 args={"x": arange(96, i4), "total": unset(2, i4)} gives={"total": x.reshape(2, 48).sum(1)}
__global__ void lock_in_shared_memory(const int *x, int *total)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0)
        lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            sum += x[blockIdx.x * 48 + threadIdx.x];
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    __syncthreads();
    if (threadIdx.x == 0)
        total[blockIdx.x] = sum;
}
