"""The checks of two kernels with fragments: a weight gradient to write, and a product with shared tiles to repair."""

import re

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    limit,
    loads_each_once,
    mentions,
    uses_shared,
)
from course_lib.checks.kit.kernels.source import without_comments

TENSOR_CORES = "the task is to use the tensor cores: fragments, and wmma::mma_sync"


def _sizes(**sizes) -> dict:
    return {name: np.int32(n) for name, n in sizes.items()}


def _halves(rng, *shape):
    return normal(rng, *shape, dtype=np.float16)


# weight_gradient ------------------------------------------------------------------------------------------


def _gradient_launch(rng, tiles, scale, label):
    B, n_in, n_out = (16 * n for n in tiles)
    args = _sizes(B=B, n_in=n_in, n_out=n_out)
    args |= {"inverse": np.float32(1 / scale), "X": _halves(rng, B, n_in)}
    args |= {"dZ": _halves(rng, B, n_out), "dW": np.empty((n_in, n_out), np.float32)}
    grid = -(-tiles[1] * tiles[2] // 4)
    return Launch(grid, 128, args, out=("dW",), label=label, K=B + 1, scale=3.0 * B / scale)


def _gradient_cases(rng):
    scale = 2.0 ** int(rng.integers(2, 5))
    return [
        _gradient_launch(rng, (3, 3, 5), scale, "15 tiles for 16 warps, three steps"),
        _gradient_launch(rng, (2, 4, 2), scale, "8 tiles, two steps"),
        _gradient_launch(rng, (4, 1, 3), scale, "3 tiles side by side, four steps"),
        _gradient_launch(rng, (1, 2, 1), 1.0, "2 tiles, one above the other, a scale of 1"),
        _gradient_launch(rng, (16, 1, 1), scale, "one tile, 256 examples"),
        _gradient_launch(rng, (1, 2, 2), 2.0**20, "a large scale"),  # dZ / scale is 0 in half
    ]


def _weight_gradient(B, n_in, n_out, inverse, X, dZ, dW):
    return inverse * (X.T @ dZ)


@limit("")
def _asks_how_many(report, launch):
    """How many elements of a fragment a thread has differs from GPU to GPU: no run on one of them shows a number by
    heart. A loop over `f.x` itself has no index."""
    bare = without_comments(report.source)
    if not re.search(r"\.x\s*\[", bare) or re.search(r"num_elements|sizeof", bare):
        return None
    return (
        "the source counts the elements of a fragment by heart",
        "CUDA does not say how many of them a thread has: the loop runs to sum.num_elements",
    )


check_weight_gradient = KernelCheck(
    "WEIGHT_GRADIENT",
    "weight_gradient",
    _gradient_cases,
    _weight_gradient,
    c=1.0,
    axes=("input", "neuron"),
    limits=[mentions("mma_sync", TENSOR_CORES, least=1), _asks_how_many],
)

# repaired_wmma ------------------------------------------------------------------------------------------


def _staged_launch(rng, blocks, steps, label):
    M, N, K = 32 * blocks[0], 32 * blocks[1], 16 * steps
    args = _sizes(M=M, N=N, K=K)
    args |= {"A": _halves(rng, M, K), "B": _halves(rng, K, N), "D": np.empty((M, N), np.float32)}
    grid = blocks[1], blocks[0]
    return Launch(grid, 128, args, out=("D",), label=label, K=K, scale=3.0 * K)


def _staged_cases(rng):
    return [
        _staged_launch(rng, (2, 3), int(rng.integers(4, 7)), "2 x 3 blocks, several steps"),
        _staged_launch(rng, (1, 1), 2, "one block, two steps"),
        _staged_launch(rng, (3, 1), 1, "one step"),
    ]


FORM = {"a_tile": (32, 24), "b_tile": (16, 40)}
KEPT = "the shared tiles keep their form: the 8 numbers at the end of each row are there against bank conflicts"


@limit("")
def _keeps_their_form(report, launch):
    """Other sizes give the same numbers; so do other arrays."""
    bare = re.sub(r"\s", "", without_comments(report.source))
    for name, (rows, width) in FORM.items():
        if f"{name}[{rows}][{width}]" not in bare:
            return f"{name}[{rows}][{width}] is not in the source", KEPT
    return None


ONCE = "a block loads each element that it needs once, into the shared tiles; its four warps share them"

check_repaired_wmma = KernelCheck(
    "GEMM_STAGED",
    "gemm_staged",
    _staged_cases,
    lambda M, N, K, A, B, D: A @ B,
    c=1.0,
    axes=("row", "column"),
    limits=[
        uses_shared(),
        *(uses_shared(name, KEPT) for name in FORM),
        _keeps_their_form,
        mentions("mma_sync", TENSOR_CORES, least=1),
        loads_each_once("A", times=lambda launch: launch.grid[0], cause=ONCE),
        loads_each_once("B", times=lambda launch: launch.grid[1], cause=ONCE),
    ],
    causes=[
        (
            lambda e: (
                e["tool"] == "racecheck"
                and e["array"] not in ("A", "B", "D")
                and e["op"] == e["other"]["op"]
                and e["warp"] != e["other"]["warp"]
            ),
            "several warps copy the same elements: share them out among all 128 threads, each element to one",
        ),
        (
            lambda e: (
                e["tool"] == "racecheck"
                and e["array"] not in ("A", "B", "D")
                and e["op"] == e["other"]["op"]
            ),
            "several threads copy the same elements: share them out among all 128 threads, each element to one",
        ),
    ],
)
