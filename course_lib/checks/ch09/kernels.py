"""The checks of chapter 09's kernels: the hidden delta, the bias's step, softmax with its delta."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_least,
    at_most,
    at_most_sectors,
    loads_each_once,
    no_bank_conflicts,
    uses_shared,
    without,
    x_across,
)


def _up(n, size=32):
    return -(-int(n) // size)


def _ints(**sizes):
    return {name: np.int32(n) for name, n in sizes.items()}


# hidden_delta ---------------------------------------------------------------------------------------------------------


def _delta_launch(rng, M, N, K, label):
    args = _ints(M=M, N=N, K=K) | {"dZ": normal(rng, M, K), "W": normal(rng, N, K)}
    args |= {"A": np.tanh(normal(rng, M, N)), "D": np.empty((M, N), np.float32)}
    grid = (_up(N), _up(M))
    return Launch(
        grid, (32, 32), args, out=("D",), label=label, K=K + 3, scale=3.0 * K, owner=x_across
    )


def _delta_cases(rng):
    M, N, K = (int(rng.integers(low, low + 12)) for low in (34, 40, 66))
    return [
        _delta_launch(rng, M, N, K, "ragged, three steps"),
        _delta_launch(rng, 32, 64, 96, "whole tiles"),
        _delta_launch(rng, M, N, 10, "a layer with 10 outputs"),
        _delta_launch(rng, 1, N, 33, "one example"),
        _delta_launch(rng, 33, 33, 33, "a square layer"),
    ]


def _hidden_delta(M, N, K, dZ, W, A, D):
    return dZ @ W.T * (1 - A * A)


SHARE = "a block loads each element of its rows of dZ and of W once; its threads share them in shared memory"

check_hidden_delta = KernelCheck(
    "HIDDEN_DELTA",
    "hidden_delta",
    _delta_cases,
    _hidden_delta,
    axes=("example", "neuron"),
    limits=[
        loads_each_once("dZ", times=lambda launch: _up(launch.args["N"]), cause=SHARE),
        loads_each_once("W", times=lambda launch: _up(launch.args["M"]), cause=SHARE),
        loads_each_once("A", cause="each element of A is needed once, at the end"),
        at_most(
            "bytes",
            lambda launch: launch.args["D"].nbytes,
            "D is stored once: multiply by the slope while the sum is in a register: that is what fusing means",
            space="global",
            array="D",
            op="store",
        ),
        at_most(
            "bytes",
            0,
            "D is not read: multiply by the slope before you store",
            space="global",
            array="D",
            op="load",
        ),
        at_most_sectors("dZ", "load", 5),
        at_most_sectors(
            "W",
            "load",
            5,
            "W has rows of K numbers: a warp that loads its tile must run along k, and may store the numbers "
            "into a column of the tile",
        ),
        at_most_sectors("A", "load", 5),
        at_most_sectors("D", "store", 5),
        no_bank_conflicts(),
    ],
    causes=[
        (
            lambda e: e["tool"] == "synccheck",
            "threads beyond the edge must still copy for the others, and reach both barriers: guard the loads "
            "and the store, not the loop",
        ),
        (
            lambda e: e["tool"] == "initcheck" and e["array"] == "D",
            "D is read before it is written: add in a variable of the thread, and store the result, once",
        ),
        (
            lambda e: e["tool"] == "initcheck",
            "a part of a tile that was never filled is multiplied: either no 0 is stored where the matrix ends, or the "
            "index goes beyond what the threads fill",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("A", "D"),
            "A and D are M x N, in rows of N numbers: a thread beyond an edge must neither load nor store there, and "
            "the others at their own row and column",
        ),
    ],
)

# bias_step ------------------------------------------------------------------------------------------------------------


def _bias_launch(rng, M, N, label):
    args = _ints(M=M, N=N) | {
        "eta": np.float32(rng.uniform(0.2, 2)),
        "dZ": normal(rng, M, N),
        "b": normal(rng, N),
    }
    return Launch(
        _up(N), (32, 8), args, inout=("b",), label=label, K=M + 2, scale=6.0 * M, axes=("neuron",)
    )


def _bias_cases(rng):
    M, N = (
        int(rng.integers(67, 90)),
        int(rng.integers(33, 60)),
    )  # more rows than 8 warps have with 8 each
    return [
        _bias_launch(rng, M, N, "a ragged batch"),
        _bias_launch(rng, 64, 64, "whole blocks"),
        _bias_launch(rng, 1, 10, "one example, 10 outputs"),
        _bias_launch(rng, 5, 1, "one neuron"),
    ]


def _bias_step(M, N, eta, dZ, b):
    return b - eta * dZ.sum(axis=0)


check_bias_step = KernelCheck(
    "BIAS_STEP",
    "bias_step",
    _bias_cases,
    _bias_step,
    limits=[
        loads_each_once(
            "dZ",
            cause="each thread adds every eighth row, beginning with its threadIdx.y; no element twice",
        ),
        uses_shared(
            cause="eight warps add every eighth row each, and their sums meet in shared memory: one warp for all rows "
            "leaves seven idle, and atomicAdd on b adds in an order that changes from run to run"
        ),
        without(
            "atomicAdd",
            "the order of the additions is random, so the last bits of b change from run to run on a GPU: let "
            "each warp store its sum in its own place, and one thread adds the eight in order",
        ),
        at_least(
            "requests",
            lambda launch: launch.grid * min(7, int(launch.args["M"]) - 1),
            "each of the eight warps adds every eighth row, and seven of them store their sums in shared "
            "memory for the one that writes b",
            space="shared",
            op="store",
        ),
        at_most_sectors("dZ", "load", 5),
        no_bank_conflicts(),
        at_most(
            "bytes",
            lambda launch: launch.args["b"].nbytes,
            "one thread per neuron stores",
            space="global",
            array="b",
            op="store",
        ),
    ],
    causes=[
        (
            lambda e: e["tool"] == "synccheck",
            "all threads of the block must reach the barrier: none may return before it (not even those "
            "beyond the last neuron), and it must not be inside a condition that some of them fail",
        ),
    ],
)

# softmax_delta --------------------------------------------------------------------------------------------------------


def _softmax_launch(rng, Z, label, scale=None):
    (M, N), scale = Z.shape, np.float32(1 / len(Z) if scale is None else scale)
    Y = np.eye(N, dtype=np.float32)[rng.integers(0, N, M)]
    args = _ints(M=M, N=N) | {"scale": scale, "Z": Z, "Y": Y, "dZ": np.empty_like(Z)}
    return Launch(
        _up(M, 4),
        (32, 4),
        args,
        out=("dZ",),
        label=label,
        K=N + 8,
        scale=float(scale),
        owner=lambda launch, i, j: ((i // 4,), (j % 32, i % 4)),
    )


def _softmax_cases(rng):
    N = int(rng.integers(66, 90))
    shifts = 600 * np.linspace(-1, 1, 6, dtype=np.float32)[:, None]
    one_large = normal(rng, 5, N)
    one_large[np.arange(5), [N - 1, 0, 33, 40, 65]] += np.float32(500)
    huge = np.array([1e8, -1e8, -2e32, 3e38, -3e38], dtype=np.float32)[:, None]
    return [
        _softmax_launch(rng, 2 * normal(rng, 7, 10), "10 outputs"),
        _softmax_launch(rng, 2 * normal(rng, 9, N), f"{N} outputs"),
        _softmax_launch(rng, 2 * normal(rng, 6, 40) + shifts, "z of hundreds, of either sign"),
        _softmax_launch(rng, one_large, "one z of hundreds in each row"),
        _softmax_launch(rng, huge.repeat(40, axis=1), "rows of equal, huge z"),
        _softmax_launch(rng, 2 * normal(rng, 6, 33), "a scale that is not 1/M", rng.uniform(2, 3)),
        _softmax_launch(rng, 2 * normal(rng, 1, 33 * 32), "one example, more than 32 z for a lane"),
    ]


def _softmax_delta(M, N, scale, Z, Y, dZ):
    P = np.exp(Z - Z.max(axis=1, keepdims=True))
    return scale * (P / P.sum(axis=1, keepdims=True) - Y)


def _loads(launch):
    return 3 * int(launch.args["M"]) * _up(launch.args["N"])


ALL_LANES = (
    "all 32 lanes in the mask must reach the shuffle, including those without an output: they may skip only "
    "loads, additions and stores"
)


def _is_of_lanes(error):
    """Is the line of the finding one with a shuffle, or another function of a warp?"""
    return "__syncthreads" not in error["message"].rpartition("\n")[2]


check_softmax_delta = KernelCheck(
    "SOFTMAX_DELTA",
    "softmax_delta",
    _softmax_cases,
    _softmax_delta,
    axes=("example", "output"),
    c=8.0,
    limits=[
        at_most_sectors("Z", "load", 5),
        at_most_sectors("Y", "load", 5),
        at_most_sectors("dZ", "store", 5),
        at_most(
            "requests",
            _loads,
            "three passes over Z are enough, in which lane l takes the numbers l, l + 32, ...; get the values of the "
            "other lanes with __shfl_xor_sync, not from memory",
            space="global",
            array="Z",
            op="load",
        ),
        loads_each_once("Y"),
    ],
    causes=[
        (lambda e: e["tool"] == "synccheck" and _is_of_lanes(e), ALL_LANES),
        (
            lambda e: e["tool"] == "synccheck",
            "all threads of the block must reach the barrier, those without a row too",
        ),
    ],
)
