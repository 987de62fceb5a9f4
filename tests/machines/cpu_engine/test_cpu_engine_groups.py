"""Cooperative groups: kernels as their users write them, right and with a mistake."""

import numpy as np
import pytest
from engine_runs import line, needs_compiler, run

from course_lib.machines.cpu_engine import compiler, trace

pytestmark = needs_compiler

HEAD = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
"""
RIGHT = (
    HEAD
    + r"""
__device__ int sum_of(cg::thread_group g, int *temp, int v)
{
    int rank = g.thread_rank();
    for (int i = g.size() / 2; i > 0; i /= 2) {
        temp[rank] = v;
        g.sync();
        if (rank < i) v += temp[rank + i];
        g.sync();
    }
    return v;
}
__global__ void whole_block(const int *A, int *B)
{
    __shared__ int temp[64];
    auto g = cg::this_thread_block();
    int sum = sum_of(g, temp, A[g.thread_rank()]);
    if (g.thread_rank() == 0) B[0] = sum;
}
__global__ void by_tiles(const int *A, int *B)
{
    __shared__ int temp[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_group tile = cg::tiled_partition(block, 8);
    int at = threadIdx.x / 8;
    int sum = sum_of(tile, temp + 8 * at, A[threadIdx.x]);
    if (tile.thread_rank() == 0) B[at] = sum;
}
template <unsigned n> __device__ int tile_sum(cg::thread_block_tile<n> tile, int v)
{
    for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
    return tile.shfl(v, 0);
}
__global__ void tiles(const int *A, int *B)
{
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(cg::this_thread_block());
    B[threadIdx.x] = tile_sum(tile, A[threadIdx.x]) + 10000 * (tile.meta_group_rank() + 10 * tile.meta_group_size());
}
__global__ void tiles_of_tiles(const int *A, int *B)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto four = cg::tiled_partition<4>(warp);
    B[threadIdx.x] = cg::reduce(four, A[threadIdx.x], cg::plus<int>()) + 1000 * four.meta_group_rank();
}
__global__ void reductions(const int *A, int *B)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = A[threadIdx.x], rank = warp.thread_rank();
    int least = cg::reduce(warp, v, cg::less<int>()), most = cg::reduce(warp, v, cg::greater<int>());
    int all = cg::reduce(warp, v | 1, cg::bit_and<int>()), one = cg::reduce(warp, v & 1, cg::bit_or<int>());
    int mine = rank == 0 ? least : rank == 1 ? most : rank == 2 ? all & 1 : one;
    if (rank < 4) B[4 * warp.meta_group_rank() + rank] = mine;
}
__global__ void scans(const int *A, int *B)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = A[threadIdx.x];
    for (int d = 1; d < tile.size(); d *= 2) {
        int w = tile.shfl_up(v, d);
        if (tile.thread_rank() >= d) v += w;
    }
    B[threadIdx.x] = v + tile.shfl_xor(v, 1) - tile.shfl_xor(v, 1);
}
__global__ void one_atomic_for_all(const int *A, int *B)
{
    if (A[threadIdx.x] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int first = 0;
        if (active.thread_rank() == 0) first = atomicAdd(&B[0], active.size());
        B[1 + active.shfl(first, 0) + active.thread_rank()] = A[threadIdx.x];
    }
}
__global__ void votes(const int *A, int *B)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = threadIdx.x, same;
    B[i] = tile.ballot(i % 2) + 100000 * tile.any(i == 5) + 1000000 * tile.all(i < 16);
    tile.match_all(i / 16, same);
    B[i] += 10000000 * same * (tile.match_any(i / 4) == 15u << i % 16 / 4 * 4);
    cg::sync(tile);
}
__global__ void grid_stride(const int *A, int *B)
{
    auto grid = cg::this_grid();
    for (unsigned i = grid.thread_rank(); i < 64; i += grid.size()) B[i] = A[i] + 1;
}
__global__ void block_shape(const int *A, int *B)
{
    cg::thread_block block = cg::this_thread_block();
    dim3 at = block.thread_index(), of = block.dim_threads();
    B[block.thread_rank()] = at.x + of.x * block.group_index().x + block.num_threads();
    block.sync();
}
"""
)
A = np.random.default_rng(5).permutation(64).astype(np.int32)
thirds = [int(a) for a in A if a % 3 == 0]
# kernel, blocks, threads, what B begins with
RESULTS = [
    ("whole_block", 1, 64, [A.sum()]),
    ("by_tiles", 1, 64, A.reshape(8, 8).sum(1)),
    ("tiles", 1, 64, np.repeat(A.reshape(4, 16).sum(1) + 10000 * (np.arange(4) + 40), 16)),
    (
        "tiles_of_tiles",
        1,
        64,
        np.repeat(A.reshape(16, 4).sum(1) + 1000 * (np.arange(16) % 8), 4),
    ),
    ("reductions", 1, 64, [v for half in (A[:32], A[32:]) for v in (half.min(), half.max(), 1, 1)]),
    ("scans", 1, 64, A.reshape(8, 8).cumsum(1).ravel()),
    ("one_atomic_for_all", 1, 64, [len(thirds), *thirds]),
    ("votes", 1, 32, np.where(np.arange(32) < 16, 11143690, 10043690)),
    ("grid_stride", 2, 10, A + 1),
    ("block_shape", 1, 24, np.arange(24) + 24),
]


@pytest.mark.parametrize("how", ["plain", "traced"])
@pytest.mark.parametrize("kernel, blocks, threads, expected", RESULTS, ids=[r[0] for r in RESULTS])
def test_right(how, kernel, blocks, threads, expected):
    B = np.zeros(128, np.int32)
    run(how, RIGHT, kernel, blocks, threads, [A, B], no_extern_c=True)
    assert B[: len(expected)].tolist() == [int(v) for v in expected]


WRONG = (
    HEAD
    + r"""
__global__ void no_sync(const int *A, int *B)
{
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    s[threadIdx.x] = A[threadIdx.x];
    B[threadIdx.x] = s[63 - threadIdx.x];  // no_sync
}
__global__ void sync_of_a_tile(const int *A, int *B)
{
    __shared__ int s[64];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    s[threadIdx.x] = A[threadIdx.x];
    tile.sync();
    B[threadIdx.x] = s[63 - threadIdx.x];  // sync_of_a_tile
}
__global__ void sync_in_a_branch(const int *A, int *B)
{
    auto block = cg::this_thread_block();
    if (threadIdx.x < 32)
        block.sync();  // sync_in_a_branch
    B[threadIdx.x] = 1;
}
__global__ void half_a_tile(const int *A, int *B)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int v = A[threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        v += tile.shfl_down(v, d);  // half_a_tile
    if (tile.thread_rank() == 0) B[tile.meta_group_rank()] = v;
}
"""
)


@pytest.mark.parametrize(
    "kernel, threads, tool",
    [
        ("no_sync", 64, "racecheck"),
        ("sync_of_a_tile", 64, "racecheck"),
        ("sync_in_a_branch", 64, "synccheck"),
        ("half_a_tile", 48, "synccheck"),
    ],
)
def test_wrong(kernel, threads, tool):
    report = trace(WRONG, kernel, 1, threads, [A, np.zeros(64, np.int32)])
    error = report.errors[0]
    assert error["tool"] == tool and line(WRONG, kernel) in (
        error["line"],
        (error["other"] or {}).get("line"),
    ), report


@pytest.mark.parametrize("call", ["grid.sync();", "cg::sync(grid);"])
def test_the_sync_of_a_grid_is_refused_with_its_line(call):
    source = HEAD + f"__global__ void k() {{\n    auto grid = cg::this_grid();\n    {call}\n}}"
    with pytest.raises(
        compiler.CompileError, match=r"kernel\.cu:6:.*a grid's sync\(\) is not supported"
    ):
        trace(source, "k", 1, 32, [])


def test_a_tile_has_at_most_32_threads():
    with pytest.raises(compiler.CompileError, match="a tile has 1, 2, 4, 8, 16 or 32 threads"):
        trace(
            HEAD
            + "__global__ void k() { cg::tiled_partition<64>(cg::this_thread_block()).sync(); }",
            "k",
            1,
            64,
            [],
        )
