// Votes and shuffles within a warp.
//: shuffle_kinds block=32 args={"x": random(32, 1), "out": unset((4, 32))} gives={"out": [np.repeat(x[3::8], 8), np.where(np.arange(32) < 5, x, np.roll(x, 5)), np.where(np.arange(32) % 16 > 12, x, np.roll(x, -3)), x[np.arange(32) ^ 9]]}
__global__ void shuffle_kinds(const float *x, float *out)
{
    float v = x[threadIdx.x];
    out[threadIdx.x] = __shfl_sync(0xffffffff, v, 3, 8);
    out[32 + threadIdx.x] = __shfl_up_sync(0xffffffff, v, 5);
    out[64 + threadIdx.x] = __shfl_down_sync(0xffffffff, v, 3, 16);
    out[96 + threadIdx.x] = __shfl_xor_sync(0xffffffff, v, 9);
}
//: shuffle_types block=32 args={"d": random(32, 2, f8), "l": arange(32, np.int64) << 40} gives={"d": np.roll(d, -1), "l": np.full(32, 31 << 40)}
__global__ void shuffle_types(double *d, long long *l)
{
    int next = (threadIdx.x + 1) & 31;
    d[threadIdx.x] = __shfl_sync(0xffffffff, d[threadIdx.x], next);
    l[threadIdx.x] = __shfl_sync(0xffffffff, l[threadIdx.x], 31);
}
//: votes grid=2 block=64 args={"x": random(128, 3), "out": unset((3, 128), u4)}
//+ gives={"out": [np.repeat([sum(1 << int(k) for k in np.flatnonzero(p > 0)) for p in x.reshape(4, 32)], 32), np.repeat((x.reshape(4, 32) > 0.9).any(1), 32), np.repeat((x.reshape(4, 32) > -0.98).all(1), 32)]}
__global__ void votes(const float *x, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __ballot_sync(0xffffffff, x[i] > 0);
    out[128 + i] = __any_sync(0xffffffff, x[i] > 0.9f) ? 1 : 0;
    out[256 + i] = __all_sync(0xffffffff, x[i] > -0.98f) ? 1 : 0;
}
//: ballot_compaction grid=2 block=32 args={"x": random(64, 4), "kept": zeros(64), "counts": unset(2, i4)}
//+ gives={"kept": np.concatenate([np.pad(p[p > 0], (0, (p <= 0).sum())) for p in x.reshape(2, 32)]), "counts": (x.reshape(2, 32) > 0).sum(1)}
__global__ void ballot_compaction(const float *x, float *kept, int *counts)
{
    int lane = threadIdx.x;
    float v = x[blockIdx.x * 32 + lane];
    unsigned votes = __ballot_sync(0xffffffff, v > 0);
    int before = __popc(votes & ((1u << lane) - 1));
    if (v > 0)
        kept[blockIdx.x * 32 + before] = v;
    if (lane == 0)
        counts[blockIdx.x] = __popc(votes);
}
//: half_of_the_warp block=32 args={"x": arange(32, i4), "sums": unset(2, i4)} gives={"sums": [x[:16].sum(), x[16:].sum()]}
__global__ void half_of_the_warp(const int *x, int *sums)
{
    int lane = threadIdx.x, v = x[lane];
    if (lane < 16) {
        for (int d = 8; d; d /= 2)
            v += __shfl_xor_sync(0x0000ffff, v, d);
        if (lane == 0)
            sums[0] = v;
    } else {
        for (int d = 8; d; d /= 2)
            v += __shfl_xor_sync(0xffff0000, v, d);
        if (lane == 16)
            sums[1] = v;
    }
}
