"""The checks of chapter 08 on pieces of a kernel: a tile copied with float4, and two buffers with one barrier."""

import numpy as np

from course_lib.checks.ch08.kernels import (
    by_rows,
    loads_tiles,
    most_sectors,
    normal,
    ragged,
    sizes,
    up,
)
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    limit,
    no_bank_conflicts,
)
from course_lib.checks.kit.kernels.running import traced

# copy_tile ------------------------------------------------------------------------------------------------------------

HARNESS = """
__global__ void copied(const float *X, int rows, int columns, int width, float *out)
{
    __shared__ __align__(16) float tile[1024];
    const int block = blockIdx.y * gridDim.x + blockIdx.x, t = threadIdx.y * 16 + threadIdx.x;
    copy_tile(X, rows, columns, blockIdx.y * (1024 / width), blockIdx.x * width, tile, width);
    __syncthreads();
    for (int n = t; n < 1024; n += 256) out[block * 1024 + n] = tile[n];
}
"""


def _cases_copy(rng):
    launches = []
    for rows, columns, width, label in (
        (64, 32, 16, "tiles of 64 x 16"),
        (
            64 + int(rng.integers(1, 64)),
            16 + 4 * int(rng.integers(1, 4)),
            16,
            "ragged tiles of 64 x 16",
        ),
        (16, 128, 64, "tiles of 16 x 64"),
        (
            16 + int(rng.integers(1, 16)),
            64 + 4 * int(rng.integers(1, 16)),
            64,
            "ragged tiles of 16 x 64",
        ),
    ):
        grid = (up(columns, width), up(rows, 1024 // width))
        args = {
            "X": normal(rng, rows, columns),
            "rows": np.int32(rows),
            "columns": np.int32(columns),
            "width": np.int32(width),
            "out": np.empty((grid[0] * grid[1], 1024), np.float32),
        }
        launches.append(Launch(grid, (16, 16), args, out=("out",), label=label))
    return launches


def _copied(X, rows, columns, width, out):
    """Every tile of X."""
    width, high = int(width), 1024 // int(width)
    down, across = up(X.shape[0], high), up(X.shape[1], width)
    padded = np.zeros((down * high, across * width))
    padded[: X.shape[0], : X.shape[1]] = X
    return padded.reshape(down, high, across, width).swapaxes(1, 2).reshape(down * across, 1024)


def _requests(launch):
    """One float4 a thread: 8 warps of a block."""
    return 8 * len(launch.args["out"])


IN_ORDER = (
    "consecutive threads of the warp (threadIdx.x first) should take consecutive float4 of the tile: thread t "
    "the numbers 4 t to 4 t + 3"
)


class _CopyCheck(KernelCheck):
    """The student's function, and a kernel of ours behind it that calls it."""

    def whole(self, source):
        return source + HARNESS


check_copy_tile = _CopyCheck(
    "COPY_TILE",
    "copied",
    _cases_copy,
    _copied,
    limits=[
        at_most(
            "requests",
            _requests,
            "256 threads copy 1,024 numbers: one float4 load per thread is enough",
            space="global",
            array="X",
            op="load",
        ),
        at_most(
            "requests",
            lambda launch: (
                2 * _requests(launch)
            ),  # where a warp stands inside and outside, it may store twice
            "store the float4 in one piece as well, zeros or not: *(float4 *)(tile + ...) = ...",
            space="shared",
            array="tile",
            op="store",
        ),
        most_sectors(
            "X", "load", 4, IN_ORDER, whole=lambda launch: launch.args["columns"] % 8 == 0
        ),
        no_bank_conflicts("tile", IN_ORDER),
    ],
    causes=[
        (
            lambda error: error["kind"] == "misaligned",
            "a float4 must be aligned to 16 bytes: take elements 4 t to 4 t + 3 of the tile, which begin at a "
            "multiple of 4 in X, too",
        ),
        (
            lambda error: error["tool"] == "memcheck" and error["array"] == "tile",
            "tile holds 1,024 numbers, 4 of each thread; and ((float4 *)tile)[n] counts in float4, so take the address "
            "of a float, *(float4 *)(tile + n)",
        ),
        (
            lambda error: error["tool"] == "memcheck" and error["array"] == "X",
            "a load only where i < rows and j < columns; and ((float4 *)X)[n] counts in float4, so take the address "
            "of a float, *(const float4 *)(X + n)",
        ),
    ],
    axes=("tile", "element"),
)


# two buffers ----------------------------------------------------------------------------------------------------------

TOLD = "barrier passed\n"
COUNTING = r"""
#define TELL_BARRIER \
    ((threadIdx.x | threadIdx.y | blockIdx.x | blockIdx.y) == 0 ? (void)printf("barrier passed\n") : (void)0)
#define __syncthreads() (TELL_BARRIER, __syncthreads())
#define __syncthreads_count(p) (TELL_BARRIER, __syncthreads_count(p))
#define __syncthreads_and(p) (TELL_BARRIER, __syncthreads_and(p))
#define __syncthreads_or(p) (TELL_BARRIER, __syncthreads_or(p))
"""


def _cases_buffers(rng):
    edges = ragged(rng, 16, 32, 32)
    shapes = (
        ((32, 32, 64), "whole tiles"),
        (edges, "ragged in every direction"),
        ((3, 5, 2), "tiny"),
    )
    return by_rows(rng, shapes, 16)


def barriers(source, kernel, launch):
    """How many barriers thread (0, 0) of block (0, 0) passes: the source is run once more, with a counter in it."""
    args = launch.prepared()
    return traced(
        COUNTING + source, kernel, launch.grid, launch.block, list(args.values())
    ).printed.count(TOLD)


@limit("barriers")
def _one_a_step(report, launch):
    steps = up(sizes(launch)[2], 16)
    passed = barriers(report.source, "gemm_two_buffers", launch)
    if passed <= steps + 1:
        return None
    return f"{passed} barriers for {steps} steps along K, but {steps} are enough", (
        "with two buffers one barrier per step is enough: a thread that writes a buffer again has passed the "
        "barrier of the step in between, and no thread passes that one before all have read"
    )


check_two_buffers = KernelCheck(
    "TWO_BUFFERS",
    "gemm_two_buffers",
    _cases_buffers,
    lambda M, N, K, A, B, D: A @ B,
    limits=[
        loads_tiles("A", lambda M, N, K: up(M, 16) * 16 * up(N, 16) * up(K, 16) * 16),
        loads_tiles("B", lambda M, N, K: up(M, 16) * up(N, 16) * 16 * up(K, 16) * 16),
        most_sectors("A", "load", 4),
        most_sectors("B", "load", 4),
        no_bank_conflicts(),
        _one_a_step,
    ],
    causes=[
        (
            lambda error: error["tool"] == "racecheck",
            "check the two lines over time: is there a barrier between writing a tile and reading it? And "
            "between reading it and writing the SAME buffer again, two steps on?",
        ),
        (
            lambda error: error["tool"] == "memcheck" and error["array"] in ("a_tile", "b_tile"),
            "an index of a tile: the buffer is 0 or 1, now ^= 1, and k, x and y run from 0 to 15",
        ),
    ],
    axes=("i", "j"),
)
