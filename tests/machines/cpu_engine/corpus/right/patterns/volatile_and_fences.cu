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

//: progress_told_step_by_step grid=2 block=1 args={"data": zeros(4), "progress": zeros(1, i4), "y": zeros(4)} gives={"y": [1, 2, 3, 4]}
__global__ void progress_told_step_by_step(float *data, int *progress, float *y) {
    for (int k = 0; k < 4; k++)
        if (blockIdx.x == 0) {
            data[k] = k + 1;
            __threadfence();
            atomicAdd(progress, 1);
        } else {
            while (atomicAdd(progress, 0) <= k) {}
            __threadfence();
            y[k] = data[k];
        }
}

//: handed_on_by_a_block_between grid=3 block=1 args={"data": zeros(2), "f": zeros(1, i4), "g": zeros(1, i4), "y": zeros(2)}
//+ gives={"y": [1, 2]}
__global__ void handed_on_by_a_block_between(float *data, int *f, int *g, float *y) {
    for (int k = 1; k <= 2; k++) {
        if (blockIdx.x == 0) data[k - 1] = k;
        if (blockIdx.x == 1)
            while (atomicAdd(f, 0) < k) {}
        if (blockIdx.x == 2)
            while (atomicAdd(g, 0) < k) {}
        __threadfence();
        if (blockIdx.x == 0) atomicExch(f, k);
        if (blockIdx.x == 1) atomicExch(g, k);
        if (blockIdx.x == 2) y[k - 1] = data[k - 1];
    }
}

//: taken_again_while_others_read grid=2 block=64 args={"data": zeros(64), "flag": zeros(1, i4), "y": zeros(64)}
//+ gives={"y": np.arange(64)[::-1]}
__global__ void taken_again_while_others_read(float *data, int *flag, float *y) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        for (int k = 0; k < 2 && t == 0; k++) {
            __threadfence();
            atomicAdd(flag, 1);
        }
    } else {
        while (t == 0 && atomicAdd(flag, 0) < 1) {}
        __threadfence();
        __syncthreads();
        if (t == 0) atomicAdd(flag, 1);
        y[t] = data[63 - t];
    }
}

//: atomic_sum_read_behind_the_counter grid=4 block=32 args={"sum": zeros(1, i4), "done": zeros(1, i4), "y": zeros(1, i4)}
//+ gives={"y": [128]}
__global__ void atomic_sum_read_behind_the_counter(int *sum, int *done, int *y) {
    atomicAdd(sum, 1);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(done, 1) == gridDim.x - 1) {
        __threadfence();
        *y = *sum;
    }
}

//: retirement_count_reset grid=4 block=32 args={"x": arange(128), "part": unset(4), "y": zeros(1)} gives={"y": [8128]}
__device__ unsigned retired;
__global__ void retirement_count_reset(const float *x, volatile float *part, float *y) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = v;
        __threadfence();
        if (atomicInc(&retired, gridDim.x) == gridDim.x - 1) {
            float sum = 0;
            for (int i = 0; i < 4; i++) sum += part[i];
            y[0] = sum;
            retired = 0;
        }
    }
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

//: handed_on_in_the_block grid=3 block=64 args={"x": arange(3), "part": unset(3), "done": zeros(1, i4), "sum": unset(1)} gives={"sum": [3]}
__global__ void handed_on_in_the_block(const float *x, float *part, int *done, float *sum)
{
    __shared__ int arrived, turn;
    if (threadIdx.x == 0)
        arrived = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x];
        __threadfence();
        turn = atomicAdd(done, 1);
    }
    __threadfence();
    if (atomicAdd(&arrived, 1) < 63 || turn < gridDim.x - 1)
        return;
    __threadfence();
    *sum = part[0] + part[1] + part[2];
}

//: released_by_an_atomic_of_the_block grid=2 block=64 args={"x": arange(128), "arrived": zeros(2, i4), "sum": unset(2)}
//+ gives={"sum": x.reshape(2, 64).sum(1)}
__global__ void released_by_an_atomic_of_the_block(const float *x, int *arrived, float *sum)
{
    __shared__ float part[64];
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __threadfence_block();
    if (atomicAdd_block(&arrived[blockIdx.x], 1) < 63)
        return;
    __threadfence_block();
    float all = 0;
    for (int i = 0; i < 64; i++)
        all += part[i];
    sum[blockIdx.x] = all;
}
