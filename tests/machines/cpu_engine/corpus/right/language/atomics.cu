// Atomic functions of all kinds.
//: add_of_types grid=3 block=64 args={"f": zeros(1), "i": zeros(1, i4), "u": zeros(1, np.uint64), "d": zeros(1, f8)} gives={"f": 96, "i": 18336, "u": 192 << 33, "d": 48}
__global__ void add_of_types(float *f, int *i, unsigned long long *u, double *d)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(f, 0.5f);
    atomicAdd(i, t);
    atomicAdd(u, 1ull << 33);
    atomicAdd(d, 0.25);
}
//: min_max_and_or_xor grid=2 block=96 args={"x": np.random.default_rng(1).integers(-5000, 5000, 192).astype(i4), "out": np.array([10**6, -10**6, -1, 0, 0], i4)}
//+ gives={"out": [x.min(), x.max(), np.bitwise_and.reduce(x), np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]}
__global__ void min_max_and_or_xor(const int *x, int *out)
{
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    atomicMin(&out[0], v);
    atomicMax(&out[1], v);
    atomicAnd(&out[2], v);
    atomicOr(&out[3], v);
    atomicXor(&out[4], v);
}
//: inc_and_dec_wrap grid=2 block=50 args={"up": zeros(1, u4), "down": zeros(1, u4)} gives={"up": 100 % 8, "down": (-100) % 8}
__global__ void inc_and_dec_wrap(unsigned int *up, unsigned int *down)
{
    atomicInc(up, 7);
    atomicDec(down, 7);
}
//: exch_passes_on grid=2 block=32 args={"cell": -ones(1, i4), "total": zeros(1, i4)} gives={"cell": 7, "total": 63 * 7 - 1}
__global__ void exch_passes_on(int *cell, int *total)
{
    int before = atomicExch(cell, 7);
    atomicAdd(total, before);
}
//: double_by_cas grid=2 block=64 args={"x": random(128, 2, f8), "sum": zeros(1, f8)} gives={"sum": x.sum()}
__device__ double atomicAdd_by_hand(double *address, double val)
{
    unsigned long long int *address_as_ull = (unsigned long long int *)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void double_by_cas(const double *x, double *sum) { atomicAdd_by_hand(sum, x[blockIdx.x * blockDim.x + threadIdx.x]); }
//: product_by_cas_in_shared grid=2 block=32 args={"x": 1 + random(64, 3) / 10, "out": unset(2)} rtol=1e-4 gives={"out": x.reshape(2, 32).prod(1)}
__global__ void product_by_cas_in_shared(const float *x, float *out)
{
    __shared__ float product;
    if (threadIdx.x == 0)
        product = 1;
    __syncthreads();
    int *bits = (int *)&product, old = __float_as_int(1.0f), assumed;
    float v = x[blockIdx.x * 32 + threadIdx.x];
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(__int_as_float(assumed) * v));
    } while (old != assumed);
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = product;
}
//: lock_of_a_block grid=6 block=32 args={"mutex": zeros(1, i4), "sum": zeros(1), "x": random(192, 4)} rtol=1e-4 gives={"sum": x.sum(), "mutex": 0}
__global__ void lock_of_a_block(int *mutex, volatile float *sum, const float *x)
{
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) {
        while (atomicCAS(mutex, 0, 1) != 0)
            ;
        __threadfence();
        *sum = *sum + v;
        __threadfence();
        atomicExch(mutex, 0);
    }
}
//: hash_table_insert grid=2 block=32 args={"x": np.random.default_rng(5).permutation(1000)[:64].astype(i4) + 1, "table": zeros(128, i4), "found": zeros(64, i4)} gives={"found": np.ones(64)}
__global__ void hash_table_insert(const int *x, int *table, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    for (unsigned slot = v * 2654435761u % 128;; slot = (slot + 1) % 128) {
        int old = atomicCAS(&table[slot], 0, v);
        if (old == 0 || old == v) {
            found[i] = 1;
            break;
        }
    }
}
//: warp_aggregated grid=2 block=64 args={"x": random(128, 6), "count": zeros(1, i4), "slots": zeros(128, i4)} gives={"count": (x > 0).sum(), "slots": np.arange(128) < (x > 0).sum()}
__global__ void warp_aggregated(const float *x, int *count, int *slots)
{
    bool keep = x[blockIdx.x * blockDim.x + threadIdx.x] > 0;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    int lane = threadIdx.x & 31, leader = __ffs(mask) - 1, first = 0;
    if (lane == leader)
        first = atomicAdd(count, __popc(mask));
    first = __shfl_sync(0xffffffff, first, leader < 0 ? 0 : leader);
    if (keep)
        slots[first + __popc(mask & ((1u << lane) - 1))] = 1;
}
