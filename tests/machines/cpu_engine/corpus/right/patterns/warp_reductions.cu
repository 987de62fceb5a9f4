// Reductions and matches by one instruction of a warp.
//: reduce_sync_all grid=2 block=64 args={"x": np.random.default_rng(1).integers(0, 1000, 128).astype(u4), "out": unset((4, 6), u4)}
//+ gives={"out": [[p.sum(), p.min(), p.max(), np.bitwise_and.reduce(p), np.bitwise_or.reduce(p), np.bitwise_xor.reduce(p)] for p in x.reshape(4, 32)]}
__global__ void reduce_sync_all(const unsigned *x, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[i], all = 0xffffffff;
    unsigned r[6] = {__reduce_add_sync(all, v), __reduce_min_sync(all, v), __reduce_max_sync(all, v),
                     __reduce_and_sync(all, v), __reduce_or_sync(all, v),  __reduce_xor_sync(all, v)};
    if (i % 32 == 0)
        for (int k = 0; k < 6; ++k)
            out[i / 32 * 6 + k] = r[k];
}
//: match_any_peers block=64 args={"keys": arange(64, i4) * 5 % 7, "peers": unset(64, u4)}
//+ gives={"peers": [sum(1 << l for l in range(32) if keys[i // 32 * 32 + l] == keys[i]) for i in range(64)]}
__global__ void match_any_peers(const int *keys, unsigned *peers)
{
    peers[threadIdx.x] = __match_any_sync(0xffffffff, keys[threadIdx.x]);
}
//: match_any_histogram grid=2 block=96 args={"keys": arange(192, i4) * 11 % 13, "bins": zeros(13, i4)} gives={"bins": np.bincount(keys)}
__global__ void match_any_histogram(const int *keys, int *bins)
{
    int k = keys[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned peers = __match_any_sync(__activemask(), k);
    if (threadIdx.x % 32 == __ffs(peers) - 1)
        atomicAdd(&bins[k], __popc(peers));
}
//: match_all_flag block=64 args={"x": np.repeat([7, 3], 32).astype(i4), "same": unset((2, 64), i4)} gives={"same": [[1] * 64, [0] * 64]}
__global__ void match_all_flag(const int *x, int *same)
{
    int pred;
    __match_all_sync(0xffffffff, x[threadIdx.x], &pred);
    same[threadIdx.x] = pred != 0;
    __match_all_sync(0xffffffff, threadIdx.x, &pred);
    same[64 + threadIdx.x] = pred != 0;
}
//: ragged_last_warp grid=1 block=40 args={"x": arange(40, i4), "out": unset(2, i4)} gives={"out": [x[:32].sum(), x[32:].sum()]}
__global__ void ragged_last_warp(const int *x, int *out)
{
    int i = threadIdx.x, v = x[i];
    unsigned mask = __ballot_sync(__activemask(), 1);
    v = __reduce_add_sync(mask, v);
    if (i % 32 == 0)
        out[i / 32] = v;
}

//: many_warp_barriers block=32 args={"x": arange(32), "y": zeros(32)} gives={"y": np.arange(32)[::-1] + 40000}
__global__ void many_warp_barriers(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x, n = 0;
    s[t] = x[t];
    for (int i = 0; i < 40000; i++) { __syncwarp(); n++; }
    y[t] = s[31 - t] + n;
}

//: shuffles_between_a_write_and_its_syncwarp block=32 args={"x": arange(32), "y": zeros(32)} gives={"y": np.arange(32)[::-1] + 496}
__global__ void shuffles_between_a_write_and_its_syncwarp(const float *x, float *y) {
    __shared__ float s[32];
    int t = threadIdx.x;
    float v = s[t] = x[t];
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    __syncwarp();
    y[t] = s[31 - t] + v;
}
