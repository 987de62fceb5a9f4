"""The check of the tiled GEMM: alpha A^T B + beta C by rows, tiles of 32 x 32 with ragged edges."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    at_most_sectors,
    loads_each_once,
    no_bank_conflicts,
    no_promise,
    uses_shared,
    x_across,
)


def _launch(rng, shape, scales, label, C="given"):
    M, N, K = shape
    D = normal(rng, M, N) if C == "D" else np.empty((M, N), np.float32)
    given = {
        "given": normal(rng, M, N),
        "unset": np.full((M, N), np.nan, np.float32),
        "null": None,
        "D": D,
    }[C]
    args = {
        "M": np.int32(M),
        "N": np.int32(N),
        "K": np.int32(K),
        "alpha": np.float32(scales[0]),
        "A": None,
        "B": None,
        "beta": np.float32(scales[1]),
        "C": given,
        "D": D,
    }
    args |= {"A": normal(rng, K, M), "B": normal(rng, K, N)}
    size = float(
        abs(scales[0]) * 3 * K + abs(scales[1]) * 3
    )  # of the sum of the sizes of normal numbers
    out, inout = ((), ("D",)) if C == "D" else (("D",), ())
    kept = {
        "out": out,
        "inout": inout,
        "label": label,
        "K": K + 3,
        "scale": size,
        "owner": x_across,
    }
    return Launch((_up(N), _up(M)), (32, 32), args, **kept)


def _up(n):
    return -(-int(n) // 32)


def _cases(rng):
    M, N, K = (int(rng.integers(low, low + 12)) for low in (34, 40, 66))
    alpha, beta = (float(x) for x in rng.uniform(0.3, 1.9, 2) * (1, -1))
    return [
        _launch(rng, (M, N, K), (alpha, beta), "ragged, three steps"),
        _launch(
            rng,
            (32, 64, 32 * int(rng.integers(4, 8))),
            (1.0, 0.0),
            "whole tiles, beta = 0, C a null pointer",
            C="null",
        ),
        _launch(
            rng,
            (M - 20, N - 15, 20),
            (alpha, 0.0),
            "K below 32, beta = 0, nothing written in C",
            C="unset",
        ),
        _launch(rng, (7, N, 33), (alpha, beta), "C is D", C="D"),
        _launch(rng, (1, 1, 1), (0.0, -beta), "one element, alpha = 0, beta above 0"),
    ]


def _gemm(M, N, K, alpha, A, B, beta, C, D):
    return {"D": alpha * (A.T @ B) + (beta * C if beta else 0)}


def _stores(launch):
    """Twice one request for each warp: an answer that takes the edges apart may need two."""
    return 2 * 32 * launch.grid[0] * launch.grid[1]


def _loads(launch):
    """Twice one request for each warp and step."""
    return _stores(launch) * _up(launch.args["K"])


ALONE = (
    "one thread, or a few, do what a warp can do at once: each of the 1,024 threads must copy its own "
    "elements and compute its own sum"
)
TILES = "a block loads each element of its rows of A and its columns of B once; the threads share them in shared memory"
WAR_OR_RAW = (
    "two barriers per step: after filling, before any thread reads (read after write), and after the inner "
    "loop, before any thread fills again (write after read); both for all threads, so outside any `if`"
)


def _often(row):
    """Why shared memory is accessed so often: by threads one at a time, or by all, more often than they need."""
    if row["threads"] < 16 * row["requests"]:
        return ALONE
    return "in a step a warp stores two numbers a thread and loads 64: what is used again is kept in a variable"


def _on_tile(error):
    """A race in shared memory."""
    return error["tool"] == "racecheck" and error["array"] not in ("A", "B", "C", "D")


check_gemm_tiled = KernelCheck(
    "GEMM_TILED",
    "gemm_tiled",
    _cases,
    _gemm,
    axes=("row", "column"),
    limits=[
        uses_shared(),
        no_promise("gemm_tiled", "C", "D"),
        loads_each_once("A", times=lambda launch: _up(launch.args["N"]), cause=TILES),
        loads_each_once("B", times=lambda launch: _up(launch.args["M"]), cause=TILES),
        at_most(
            "bytes",
            lambda launch: launch.args["D"].nbytes,
            "each element of D is stored once, at the end: keep "
            "the sum in "
            "a variable of the thread",
            space="global",
            array="D",
            op="store",
        ),
        at_most_sectors("A", "load", 5),
        at_most_sectors("B", "load", 5),
        at_most_sectors("C", "load", 5),
        at_most_sectors("D", "store", 5),
        no_bank_conflicts(),
        *(
            at_most("requests", _loads, ALONE, space="global", array=array, op="load")
            for array in "AB"
        ),
        at_most("requests", _stores, ALONE, space="global", array="D", op="store"),
        at_most("wavefronts", lambda launch: 66 * _loads(launch), _often, space="shared"),
    ],
    causes=[
        (
            lambda e: e["tool"] == "synccheck",
            "threads whose element lies beyond the edge must still copy for the others, and still reach both "
            "barriers: guard the loads and the store, not the loop; keep both barriers outside any `if`",
        ),
        (
            lambda e: _on_tile(e) and e["op"] == e["other"]["op"] == "store",
            "several threads store to one element of a tile: each fills its own, [y][x]",
        ),
        (_on_tile, WAR_OR_RAW),
        (
            lambda e: e["tool"] == "initcheck" and e["array"] not in ("A", "B", "C", "D"),
            "a part of a tile that was never filled is multiplied: either no 0 is stored where the matrix ends (in "
            "both tiles), or the index goes beyond what the threads fill",
        ),
        (
            lambda e: e["tool"] == "initcheck" and e["array"] == "D",
            "beta multiplies C; D may still be uninitialised, so write it, but do not read it",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("C", "D"),
            (
                "C and D have M rows of N numbers: either a thread beyond the edge, which has no element there, is not "
                "stopped, or the index is not i * N + j: check the row and the column"
            ),
        ),
        (
            lambda e: (
                e["kind"] == "null"
                or (e["array"] == "C" and e["tool"] == "initcheck" and e["args"]["beta"] == 0)
            ),
            (
                "C is read even though beta = 0: it may then be uninitialised or missing, so the load "
                "must be inside a branch"
            ),
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("A", "B"),
            "a load beyond the edge: A and B have K rows, A has M columns and B has N: check the row and the "
            "column that this line loads. Where x runs along a row of A, the column is i0 + x, not i. Row k of A "
            "begins at k * M",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] not in ("A", "B", "C", "D", ""),
            "an index of a tile runs from 0 to 31: is it k, not k0 + k, and < 32, not <= 32? Or is the tile smaller?",
        ),
    ],
)
