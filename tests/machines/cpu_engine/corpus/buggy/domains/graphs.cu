// Graphs, sparse matrices and tables, each with one mistake.

//: frontier_counted_plainly args=[arange(64, i4), zeros(64, i4), zeros(1, i4)]
__global__ void frontier_counted_plainly(const int *nodes, int *frontier, int *tail) {
    int v = nodes[threadIdx.x];
    if (v % 3 == 0) {
        int at = tail[0];  // <- racecheck tail
        tail[0] = at + 1;  // <- racecheck tail
        frontier[at] = v;  // <- racecheck frontier
    }
}

//: one_offset_too_few args=[arange(64, i4) * 2, ones(128), zeros(64), np.int32(64)]
__global__ void one_offset_too_few(const int *offsets, const float *weights, float *degree, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) sum += weights[e];  // <- memcheck offsets
    degree[v] = sum;
}

//: warp_rows_in_lockstep args=[random(2 * 96), zeros(2)]
__global__ void warp_rows_in_lockstep(const float *values, float *y) {
    __shared__ float part[64];
    int lane = threadIdx.x % 32, row = threadIdx.x / 32;
    float sum = 0;
    for (int i = lane; i < 96; i += 32) sum += values[row * 96 + i];
    part[threadIdx.x] = sum;  // <- racecheck part
    if (lane < 16) part[threadIdx.x] += part[threadIdx.x + 16];  // <- racecheck part
    if (lane < 8) part[threadIdx.x] += part[threadIdx.x + 8];
    if (lane < 4) part[threadIdx.x] += part[threadIdx.x + 4];
    if (lane < 2) part[threadIdx.x] += part[threadIdx.x + 2];
    if (lane < 1) y[row] = part[threadIdx.x] + part[threadIdx.x + 1];
}

//: ell_padding_is_used args=[np.where(arange(256, i4) % 5 == 4, -1, arange(256, i4) % 64).astype(i4), random(64),
//+ zeros(64)]
__global__ void ell_padding_is_used(const int *columns, const float *x, float *y) {
    int row = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        int c = columns[k * 64 + row];
        sum += x[c];  // <- memcheck x
    }
    y[row] = sum;
}

//: hooks_overwrite_each_other args=[np.repeat(arange(8, i4) * 8, 8), arange(64, i4)]
__global__ void hooks_overwrite_each_other(const int *from, int *parent) {
    int u = from[threadIdx.x], v = threadIdx.x;
    if (u != v) parent[u] = v;  // <- racecheck parent
}

//: ranks_in_place grid=2 args=[ones(128), np.roll(arange(128, i4), 1)]
__global__ void ranks_in_place(float *rank, const int *source) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    rank[v] = 0.15f + 0.85f * rank[source[v]];  // <- racecheck rank
}

//: relaxed_without_atomic args=[np.full(16, 1000, i4), arange(64, i4) % 16, (arange(64, i4) * 7) % 64]
__global__ void relaxed_without_atomic(int *distance, const int *target, const int *length) {
    int e = threadIdx.x, v = target[e];
    if (length[e] < distance[v]) distance[v] = length[e];  // <- racecheck distance
}

//: slot_looked_at_then_taken args=[(arange(64, i4) * 37) % 101, np.full(128, -1, i4)]
__global__ void slot_looked_at_then_taken(const int *keys, int *table) {
    int key = keys[threadIdx.x], slot = key % 16;
    while (true) {
        int seen = table[slot];  // <- racecheck table
        if (seen == key) return;
        if (seen == -1) {
            table[slot] = key;  // <- racecheck table
            return;
        }
        slot = (slot + 1) % 128;
    }
}

//: degrees_in_bytes args=[arange(64, i4) % 8, zeros(8, np.uint8)]
__global__ void degrees_in_bytes(const int *target, unsigned char *degree) {
    degree[target[threadIdx.x]]++;  // <- racecheck degree
}

//: counter_of_the_block_unset args=[arange(64, i4), zeros(1, i4)]
__global__ void counter_of_the_block_unset(const int *x, int *triangles) {
    __shared__ int count;
    if (x[threadIdx.x] % 3 == 0) atomicAdd(&count, 1);  // <- initcheck count
    __syncthreads();
    if (threadIdx.x == 0) triangles[0] = count;
}

//: queue_end_read_while_it_grows args=[zeros(256, i4), ones(1, i4)]
__global__ void queue_end_read_while_it_grows(int *queue, int *end) {
    for (int i = threadIdx.x; i < end[0]; i += blockDim.x) {  // <- racecheck end
        int v = queue[i];  // <- racecheck queue
        if (v < 3) queue[atomicAdd(end, 1)] = v + 1;  // <- racecheck end
    }
}
