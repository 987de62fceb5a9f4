// Graphs, sparse matrices and tables, all of them right.

//: one_level_of_a_search args={"offsets": arange(65, i4) * 2, "edges": np.stack([(arange(64, i4) + 1) % 64,
//+ (arange(64, i4) + 9) % 64], 1).ravel(), "level": np.where(arange(64, i4) == 0, 0, -1).astype(i4), "frontier":
//+ zeros(64, i4), "next": zeros(64, i4)} gives={"level": arange(64, i4) // 9 + arange(64, i4) % 9}
__global__ void one_level_of_a_search(const int *offsets, const int *edges, int *level, int *frontier, int *next) {
    __shared__ int size, grown;
    int t = threadIdx.x;
    if (t == 0) size = 1, frontier[0] = 0;
    for (int depth = 1;; depth++) {
        if (t == 0) grown = 0;
        __syncthreads();
        if (size == 0) break;
        for (int i = t; i < size; i += blockDim.x) {
            int v = frontier[i];
            for (int e = offsets[v]; e < offsets[v + 1]; e++)
                if (atomicCAS(&level[edges[e]], -1, depth) == -1) next[atomicAdd(&grown, 1)] = edges[e];
        }
        __syncthreads();
        int *swap = frontier;
        frontier = next, next = swap;
        if (t == 0) size = grown;
        __syncthreads();
    }
}

//: rows_of_warps grid=3 block=(32,2) args={"row": (arange(7, i4) * (arange(7, i4) + 1) // 2), "column": arange(21,
//+ i4) % 6, "value": random(21), "x": random(6, 2), "y": zeros(6)} gives={"y": [sum(value[row[r]:row[r + 1]] *
//+ x[column[row[r]:row[r + 1]]]) for r in range(6)]}
__global__ void rows_of_warps(const int *row, const int *column, const float *value, const float *x, float *y) {
    int r = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0.f;
    for (int i = row[r] + threadIdx.x; i < row[r + 1]; i += warpSize) sum += value[i] * __ldg(&x[column[i]]);
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) y[r] = sum;
}

//: components args={"from_": arange(64, i4), "to": np.where(arange(64, i4) % 8 == 7, arange(64, i4), (arange(64,
//+ i4) + 1) % 64).astype(i4), "label": arange(64, i4)} gives={"label": arange(64, i4) // 8 * 8}
__global__ void components(const int *from, const int *to, int *label) {
    int t = threadIdx.x, changed;
    do {
        int a = atomicAdd(&label[from[t]], 0), b = atomicAdd(&label[to[t]], 0);
        changed = a != b;
        if (a < b) atomicMin(&label[to[t]], a);
        if (b < a) atomicMin(&label[from[t]], b);
    } while (__syncthreads_or(changed));
}

//: table_of_keys args={"keys": (arange(64, i4) * 37) % 29, "table": np.full(128, -1, i4), "counts": zeros(128, i4),
//+ "found": zeros(64, i4)} gives={"found": [sum(keys == k) for k in keys]}
__device__ unsigned mixed(unsigned h) {
    h ^= h >> 16, h *= 0x85ebca6b, h ^= h >> 13, h *= 0xc2b2ae35, h ^= h >> 16;
    return h;
}
__global__ void table_of_keys(const int *keys, int *table, int *counts, int *found) {
    int key = keys[threadIdx.x];
    unsigned slot = mixed(key) & 127;
    for (;;) {
        int before = atomicCAS(&table[slot], -1, key);
        if (before == -1 || before == key) break;
        slot = (slot + 1) & 127;
    }
    atomicAdd(&counts[slot], 1);
    __syncthreads();
    for (slot = mixed(key) & 127; table[slot] != key;) slot = (slot + 1) & 127;
    found[threadIdx.x] = counts[slot];
}

//: all_pairs block=(8,8) args={"d": (np.minimum(abs(np.arange(8)[:, None] - np.arange(8)), 1) * (1 + 99 *
//+ (abs(np.arange(8)[:, None] - np.arange(8)) > 1))).astype(i4)} gives={"d": abs(np.arange(8)[:, None] -
//+ np.arange(8))}
__global__ void all_pairs(int *d) {
    int i = threadIdx.y, j = threadIdx.x;
    for (int k = 0; k < 8; k++) {
        int through = d[i * 8 + k] + d[k * 8 + j], mine = d[i * 8 + j];
        __syncthreads();
        if (through < mine) d[i * 8 + j] = through;
        __syncthreads();
    }
}

//: relaxed_with_atomic grid=2 block=32 args={"d": np.full(16, 1000, i4), "target": arange(64, i4) % 16, "length":
//+ (arange(64, i4) * 7) % 64} gives={"d": [min(length[target == v]) for v in range(16)]}
__global__ void relaxed_with_atomic(int *d, const int *target, const int *length) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicMin(d + target[e], length[e]) > length[e]) return;
}

//: nearest_centre grid=2 args={"x": arange(128) / 128, "centres": np.float32([0.1, 0.4, 0.8]), "sums": zeros(3),
//+ "sizes": zeros(3, i4)} gives={"sizes": [33, 44, 51], "sums": [sum(x[:33]), sum(x[33:77]), sum(x[77:])]}
//+ rtol=1e-4
__global__ void nearest_centre(const float *x, const float *centres, float *sums, int *sizes) {
    __shared__ struct { float sum; int size; } local[3];
    if (threadIdx.x < 3) local[threadIdx.x] = {0.0f, 0};
    __syncthreads();
    float v = x[blockIdx.x * blockDim.x + threadIdx.x], best = INFINITY;
    int which = 0;
    for (int c = 0; c < 3; c++) {
        float distance = (v - centres[c]) * (v - centres[c]);
        if (distance < best) best = distance, which = c;
    }
    atomicAdd(&local[which].sum, v);
    atomicAdd(&local[which].size, 1);
    __syncthreads();
    if (threadIdx.x < 3) {
        atomicAdd(&sums[threadIdx.x], local[threadIdx.x].sum);
        atomicAdd(&sizes[threadIdx.x], local[threadIdx.x].size);
    }
}

//: filter_of_bits args={"keys": arange(64, u4), "bits": zeros(32, u4), "hits": zeros(1, i4)} gives={"hits": [64]}
__device__ constexpr unsigned seeds[] = {0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du};
__global__ void filter_of_bits(const unsigned *keys, unsigned *bits, int *hits) {
    unsigned key = keys[threadIdx.x];
    for (unsigned seed : seeds) {
        unsigned bit = (key * seed) >> 22;
        atomicOr(&bits[bit / 32], 1u << bit % 32);
    }
    __syncthreads();
    bool all = true;
    for (unsigned seed : seeds) {
        unsigned bit = (key * seed) >> 22;
        all &= bits[bit / 32] >> bit % 32 & 1;
    }
    if (all) atomicAdd(hits, 1);
}

//: work_from_a_counter grid=3 block=32 args={"next": zeros(1, i4), "y": zeros(200, i4)} gives={"y": arange(200, i4)
//+ ** 2}
__global__ void work_from_a_counter(int *next, int *y) {
    __shared__ int base;
    while (true) {
        if (threadIdx.x == 0) base = atomicAdd(next, blockDim.x);
        __syncthreads();
        int i = base + threadIdx.x;
        bool over = base >= 200;
        __syncthreads();
        if (over) return;
        if (i < 200) y[i] = i * i;
    }
}
