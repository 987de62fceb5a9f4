// Cooperative groups: blocks, tiles, coalesced threads.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
//: sumReduction grid=3 block=64 args={"out": unset(3, i4), "x": arange(192, i4)} gives={"out": x.reshape(3, 64).sum(1)}
__device__ int sumReduction_of(cg::thread_group g, int *x, int val)
{
    int lane = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        x[lane] = val;
        g.sync();
        if (lane < i)
            val += x[lane + i];
        g.sync();
    }
    return g.thread_rank() == 0 ? val : -1;
}
__global__ void sumReduction(int *out, const int *x)
{
    __shared__ int workspace[64];
    cg::thread_block block = cg::this_thread_block();
    int sum = sumReduction_of(block, workspace, x[blockIdx.x * blockDim.x + block.thread_rank()]);
    if (block.thread_rank() == 0)
        out[block.group_index().x] = sum;
}
//: tile32_shfl_down grid=2 block=128 args={"out": unset(8), "x": random(256, 1)} gives={"out": x.reshape(8, 32).sum(1)}
__global__ void tile32_shfl_down(float *out, const float *x)
{
    cg::thread_block cta = cg::this_thread_block();
    cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
    float mine = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = tile32.size() / 2; offset > 0; offset /= 2)
        mine += tile32.shfl_down(mine, offset);
    if (tile32.thread_rank() == 0)
        out[blockIdx.x * 4 + tile32.meta_group_rank()] = mine;
}
//: tile16_shfl_xor grid=2 block=64 args={"x": random(128, 2)} gives={"x": np.repeat(x.reshape(8, 16).max(1), 16)}
__global__ void tile16_shfl_xor(float *x)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int mask = tile.num_threads() / 2; mask > 0; mask >>= 1)
        v = fmaxf(v, tile.shfl_xor(v, mask));
    x[i] = v;
}
//: reduce_plus_and_max grid=2 block=96 args={"sums": unset(6), "most": unset(6), "x": random(192, 3)} gives={"sums": x.reshape(6, 32).sum(1), "most": x.reshape(6, 32).max(1)}
__global__ void reduce_plus_and_max(float *sums, float *most, const float *x)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float v = x[block.group_index().x * block.size() + block.thread_rank()];
    float sum = cg::reduce(warp, v, cg::plus<float>{});
    float greatest = cg::reduce(warp, v, cg::greater<float>());
    if (warp.thread_rank() == 0) {
        sums[blockIdx.x * warp.meta_group_size() + warp.meta_group_rank()] = sum;
        most[blockIdx.x * warp.meta_group_size() + warp.meta_group_rank()] = greatest;
    }
}
//: atomic_of_coalesced grid=3 block=64 args={"x": random(192, 4), "kept": zeros(192), "count": zeros(1, i4)} gives={"count": (x > 0).sum(), "kept": np.arange(192) < (x > 0).sum()}
__device__ int atomicAggInc(int *counter)
{
    cg::coalesced_group active = cg::coalesced_threads();
    int res;
    if (active.thread_rank() == 0)
        res = atomicAdd(counter, active.size());
    return active.shfl(res, 0) + active.thread_rank();
}
__global__ void atomic_of_coalesced(const float *x, float *kept, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] > 0)
        kept[atomicAggInc(count)] = 1;
}
//: tile_votes grid=2 block=32 args={"out": unset(64, i4), "x": random(64, 5)}
//+ gives={"out": np.repeat([(p > 0).any() * 100 + (p > -0.9).all() * 1000 + (p > 0).sum() for p in x.reshape(8, 8)], 8)}
__global__ void tile_votes(int *out, const float *x)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (tile.any(x[i] > 0) ? 100 : 0) + (tile.all(x[i] > -0.9f) ? 1000 : 0) + __popc(tile.ballot(x[i] > 0));
}
//: tile_sync_in_shared grid=2 block=128 args={"x": arange(256)} gives={"x": x.reshape(8, 32)[:, ::-1].ravel()}
__global__ void tile_sync_in_shared(float *x)
{
    __shared__ float s[128];
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int first = warp.meta_group_rank() * 32;
    s[first + warp.thread_rank()] = x[blockIdx.x * 128 + block.thread_rank()];
    warp.sync();
    x[blockIdx.x * 128 + block.thread_rank()] = s[first + 31 - warp.thread_rank()];
}
//: softmax_of_groups grid=4 block=64 args={"out": unset((7, 50)), "inp": random((7, 50), 6), "N": i4(7), "C": i4(50)} gives={"out": np.exp(inp) / np.exp(inp).sum(1, keepdims=True)}
__global__ void softmax_of_groups(float *out, const float *inp, int N, int C)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int idx = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
    if (idx >= N)
        return;
    const float *x = inp + idx * C;
    float maxval = -INFINITY, sum = 0;
    for (int i = warp.thread_rank(); i < C; i += warp.size())
        maxval = fmaxf(maxval, x[i]);
    maxval = cg::reduce(warp, maxval, cg::greater<float>{});
    for (int i = warp.thread_rank(); i < C; i += warp.size())
        sum += expf(x[i] - maxval);
    sum = cg::reduce(warp, sum, cg::plus<float>{});
    for (int i = warp.thread_rank(); i < C; i += warp.size())
        out[idx * C + i] = expf(x[i] - maxval) / sum;
}
//: block_sync_free_function grid=2 block=64 args={"x": random(128, 7)} gives={"x": x.reshape(2, 64)[:, ::-1].ravel()}
__global__ void block_sync_free_function(float *x)
{
    using namespace cooperative_groups;
    __shared__ float s[64];
    thread_block block = this_thread_block();
    int t = block.thread_index().x;
    s[t] = x[block.group_index().x * 64 + t];
    cg::sync(block);
    x[block.group_index().x * 64 + t] = s[63 - t];
}
//: scans_of_tiles block=64 args={"x": np.random.default_rng(8).integers(1, 9, 64).astype(i4), "out": unset((4, 64), i4)}
//+ gives={"out": [t.reshape(64) for r in [x.reshape(8, 8)] for z in [np.zeros((8, 1), i4)] for t in [r.cumsum(1), r.cumsum(1) - r, np.maximum.accumulate(r, 1), np.hstack([z, np.cumprod(r, 1)[:, :-1]])]]}
__global__ void scans_of_tiles(const int *x, int *out)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = threadIdx.x, v = x[i];
    out[i] = cg::inclusive_scan(tile, v);
    out[64 + i] = cg::exclusive_scan(tile, v, cg::plus<int>());
    out[128 + i] = cg::inclusive_scan(tile, v, cg::greater<int>());
    out[192 + i] = cg::exclusive_scan(tile, v, [](int a, int b) { return a * b; });
}
//: places_of_coalesced block=64 args={"x": random(64, 9), "out": zeros(64, i4)}
//+ gives={"out": np.where(x > 0, np.concatenate([np.cumsum(h > 0) - (h > 0) for h in x.reshape(2, 32)]), 0)}
__global__ void places_of_coalesced(const float *x, int *out)
{
    if (x[threadIdx.x] > 0)
        out[threadIdx.x] = cg::exclusive_scan(cg::coalesced_threads(), 1);
}
//: sums_by_label block=64 args={"x": arange(64), "label": np.arange(64, dtype=i4) * 7 % 5, "sum": unset(64), "count": unset(64, i4)}
//+ gives={"sum": [x[32 * (i // 32):32 * (i // 32) + 32][label[32 * (i // 32):32 * (i // 32) + 32] == label[i]].sum() for i in range(64)], "count": [(label[32 * (i // 32):32 * (i // 32) + 32] == label[i]).sum() for i in range(64)]}
__global__ void sums_by_label(const float *x, const int *label, float *sum, int *count)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    cg::coalesced_group same = cg::labeled_partition(warp, label[threadIdx.x]);
    sum[threadIdx.x] = cg::reduce(same, x[threadIdx.x], cg::plus<float>());
    count[threadIdx.x] = same.size();
}
//: odd_and_even block=32 args={"x": arange(32, i4) * 5 // 3, "rank": unset(32, i4)}
//+ gives={"rank": [sum(x[:i] % 2 == x[i] % 2) + 100 * (x % 2 == x[i] % 2).sum() for i in range(32)]}
__global__ void odd_and_even(const int *x, int *rank)
{
    auto tile32 = cg::tiled_partition<32>(cg::this_thread_block());
    auto subtile = cg::binary_partition(tile32, x[threadIdx.x] & 1);
    subtile.sync();
    rank[threadIdx.x] = subtile.thread_rank() + 100 * subtile.num_threads();
}
//: compacted_by_tiles block=32 args={"x": random(32, 10), "kept": zeros(32), "count": zeros(1, i4)} gives={"count": (x > 0.25).sum(), "kept": np.append(x[x > 0.25], zeros((x <= 0.25).sum()))}
__global__ void compacted_by_tiles(const float *x, float *kept, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int wanted = x[i] > 0.25f, place = cg::exclusive_scan(tile, wanted), first = 0;
    if (tile.thread_rank() == 31)
        first = atomicAdd(count, place + wanted);
    place += tile.shfl(first, 31);
    if (wanted)
        kept[place] = x[i];
}
