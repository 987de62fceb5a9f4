// Atomics, locks and queues, used wrongly.
//: queue_overflows block=40 args={"A": arange(40, i4), "queue": zeros(16, i4), "tail": zeros(1, i4)}
__global__ void queue_overflows(const int *A, int *queue, int *tail)
{
    if (A[threadIdx.x] % 2 == 0) {
        int place = atomicAdd(tail, 1);
        queue[place] = A[threadIdx.x];  // <- memcheck queue
    }
}

//: lock_released_by_a_store grid=4 block=1 args={"lock": zeros(1, i4), "sum": zeros(1)}
__global__ void lock_released_by_a_store(int *lock, float *sum)
{
    while (atomicCAS(lock, 0, 1) != 0) { }  // <- racecheck lock
    sum[0] += 1.0f;  // <- racecheck sum
    lock[0] = 0;  // <- racecheck lock
}

//: lock_without_a_fence grid=4 block=32 args={"lock": zeros(1, i4), "sum": zeros(1)}
__global__ void lock_without_a_fence(int *lock, float *sum)
{
    if (threadIdx.x == 0) {
        while (atomicExch(lock, 1) != 0) { }
        *sum = *sum + 2.0f;  // <- racecheck sum
        atomicExch(lock, 0);
    }
}

//: each_lane_another_lock block=32 args={"locks": zeros(32, i4), "sum": zeros(1)}
__global__ void each_lane_another_lock(int *locks, float *sum)
{
    int *mine = locks + threadIdx.x;
    if (atomicCAS(mine, 0, 1) == 0) {
        *sum += 1.0f;  // <- racecheck sum
        __threadfence();
        atomicExch(mine, 0);
    }
}

//: shared_atomic_and_plain_read block=64 args={"A": arange(64, i4), "out": zeros(64, i4)}
__global__ void shared_atomic_and_plain_read(const int *A, int *out)
{
    __shared__ int most;
    if (threadIdx.x == 0) most = -1;
    __syncthreads();
    atomicMax(&most, A[threadIdx.x] * 5 % 64);  // <- racecheck most
    out[threadIdx.x] = most - A[threadIdx.x];  // <- racecheck most
}

//: zeroed_by_everyone_then_added grid=2 block=32 args={"A": random(64), "total": zeros(1)}
__global__ void zeroed_by_everyone_then_added(const float *A, float *total)
{
    if (threadIdx.x == 0) *total = 0.0f;  // <- racecheck total
    __syncthreads();
    atomicAdd(total, A[blockIdx.x * 32 + threadIdx.x]);  // <- racecheck total
}

//: cas_maximum_stored_plainly grid=2 block=32 args={"A": arange(64, i4), "most": zeros(1, i4)}
__global__ void cas_maximum_stored_plainly(const int *A, int *most)
{
    int x = A[blockIdx.x * 32 + threadIdx.x], seen = atomicAdd(most, 0);  // <- racecheck most
    if (x > seen) *most = x;  // <- racecheck most
}

//: exchange_past_the_end block=32 args={"slots": zeros(31, i4)}
__global__ void exchange_past_the_end(int *slots)
{
    atomicExch(slots + threadIdx.x, 7);  // <- memcheck slots
}

//: cas_before_the_start block=8 args={"slots": zeros(64, i4), "out": zeros(8, i4)}
__device__ int claim(int *slots, int i)
{
    return atomicCAS(&slots[i], 0, i);  // <- memcheck slots
}

__global__ void cas_before_the_start(int *slots, int *out)
{
    out[threadIdx.x] = claim(slots, (int)threadIdx.x * 8 - 8);  // <- memcheck slots
}

//: hash_table_without_a_modulus block=32 args={"key": arange(32, i4) * 37, "table": np.full(64, -1, i4)}
__global__ void hash_table_without_a_modulus(const int *key, int *table)
{
    int k = key[threadIdx.x], slot = k;
    while (atomicCAS(&table[slot], -1, k) != -1)  // <- memcheck table
        slot = (slot + 1) % 64;
}

//: ticket_read_by_the_wrong_warp block=64 args={"next": zeros(1, i4), "out": zeros(64, i4)}
__global__ void ticket_read_by_the_wrong_warp(int *next, int *out)
{
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(next, 64);  // <- racecheck ticket
    __syncwarp();
    out[threadIdx.x] = ticket + threadIdx.x;  // <- racecheck ticket
}

//: visited_flags_by_bfs block=16 args={"first": arange(17, i4) * 2, "edge": (arange(32, i4) * 5) % 16, "level": np.where(arange(16) < 8, 0, -1).astype(i4), "now": i4(0)}
__global__ void visited_flags_by_bfs(const int *first, const int *edge, int *level, int now)
{
    int v = threadIdx.x;
    if (level[v] == now)  // <- racecheck level
        for (int e = first[v]; e < first[v + 1]; e++)
            if (level[edge[e]] < 0)  // <- racecheck level
                level[edge[e]] = now + 1;  // <- racecheck level
}

//: block_scope_between_blocks grid=4 block=32 args={"count": zeros(1, i4)}
__global__ void block_scope_between_blocks(int *count) {
    atomicAdd_block(count, 1);  // <- racecheck count
}

//: last_block_reads_the_global_sum grid=4 block=32 args={"x": arange(128), "total": zeros(1), "y": zeros(1)}
__global__ void last_block_reads_the_global_sum(const float *x, float *total, float *y) {
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x == 0) {
        atomicAdd(total, v);  // <- racecheck total
        if (blockIdx.x == gridDim.x - 1) y[0] = total[0] / 128;  // <- racecheck total
    }
}

//: last_thread_reads_the_atomic_sum block=64 args={"x": arange(64), "y": zeros(1)}
__global__ void last_thread_reads_the_atomic_sum(const float *x, float *y) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[threadIdx.x]);  // <- racecheck sum
    if (threadIdx.x == 63) y[0] = sum;  // <- racecheck sum
}

//: one_flag_set_before_the_data grid=2 block=1 args={"data": zeros(1), "flag": zeros(1, i4), "y": zeros(1)}
__global__ void one_flag_set_before_the_data(float *data, int *flag, float *y) {
    if (blockIdx.x == 0) {
        __threadfence();
        atomicExch(flag, 1);
        data[0] = 42;  // <- racecheck data
    } else if (atomicAdd(flag, 0)) {
        y[0] = data[0];  // <- racecheck data
    }
}

//: block_fence_between_blocks grid=2 block=1 args={"data": zeros(1), "flag": zeros(1, i4), "y": zeros(1)}
__global__ void block_fence_between_blocks(float *data, int *flag, float *y) {
    if (blockIdx.x == 0) {
        data[0] = 42;  // <- racecheck data
        __threadfence_block();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        y[0] = data[0];  // <- racecheck data
    }
}

//: fence_by_one_thread_only grid=2 block=64 args={"x": arange(128), "part": zeros(128), "count": zeros(1, i4), "y": zeros(1)}
__global__ void fence_by_one_thread_only(const float *x, float *part, int *count, float *y) {
    __shared__ bool last;
    int i = blockIdx.x * 64 + threadIdx.x;
    part[i] = 2 * x[i];  // <- racecheck part
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float v = part[threadIdx.x] + part[64 + threadIdx.x];  // <- racecheck part
        atomicAdd(y, v);
    }
}

//: first_block_resets_the_counter grid=4 block=32 args={"count": zeros(1, i4)}
__global__ void first_block_resets_the_counter(int *count) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *count = 0;  // <- racecheck count
    atomicAdd(count, 1);  // <- racecheck count
}

//: plain_store_under_a_relaxed_ticket grid=3 block=32 args={"slots": zeros(64, i4), "n": zeros(1, i4)}
__global__ void plain_store_under_a_relaxed_ticket(int *slots, int *n) {
    int at = *n;  // <- racecheck n
    slots[(at + threadIdx.x) % 64] = blockIdx.x;
    if (threadIdx.x == 0) atomicAdd(n, 32);  // <- racecheck n
}

//: fence_of_the_block_for_all_blocks grid=4 block=32 args={"x": random(128), "part": unset(4), "done": zeros(1, u4), "out": unset(1)}
__global__ void fence_of_the_block_for_all_blocks(const float *x, float *part, unsigned *done, float *out)
{
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x > 0) return;
    part[blockIdx.x] = v;  // <- racecheck part
    __threadfence_block();
    if (atomicAdd(done, 1u) < gridDim.x - 1) return;
    float all = 0;
    for (unsigned b = 0; b < gridDim.x; b++) all += part[b];  // <- racecheck part
    *out = all;
}

//: shared_counter_orders_no_other_block grid=2 block=32 args={"x": random(64), "sum": zeros(1)}
__global__ void shared_counter_orders_no_other_block(const float *x, float *sum)
{
    __shared__ int turns;
    if (threadIdx.x == 0) turns = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&turns, 1);
        *sum += x[blockIdx.x];  // <- racecheck sum
        __threadfence();
        atomicAdd(&turns, 1);
    }
}

//: block_atomic_hands_over_to_no_other_block grid=2 block=1 args={"data": zeros(1), "flag": zeros(1, i4), "y": zeros(1)}
__device__ float handed_by_another_block(const float *data)
{
    return data[0];  // <- racecheck data
}
__global__ void block_atomic_hands_over_to_no_other_block(float *data, int *flag, float *y)
{
    if (blockIdx.x == 0) {
        data[0] = 42;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicAdd_block(flag, 0) == 0) {
        }
        y[0] = handed_by_another_block(data);
    }
}
