"""The check of the transpose through shared memory: coalesced both ways, without bank conflicts."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    at_most_sectors,
    loads_each_once,
    no_bank_conflicts,
    uses_shared,
)

ACROSS = (
    "threads along x {do} elements of {X} that are a row apart. Let x run along the rows of {X}; the tile "
    "transposes the matrix, so {other} has x along its rows too"
)


ALONE = (
    "one thread, or a few, {do} what a warp can do with one request: let each of the 32 threads along x have its own "
    "element"
)


def _twice_the_warps(launch):
    """Requests: a warp needs one; an answer that takes the edges apart may need two."""
    return 2 * 32 * launch.grid[0] * launch.grid[1]


def _launch(rng, M, N, label):
    args = {
        "M": np.int32(M),
        "N": np.int32(N),
        "A": normal(rng, M, N),
        "D": np.empty((N, M), np.float32),
    }
    return Launch((-(-N // 32), -(-M // 32)), (32, 32), args, out=("D",), label=label, owner=_owner)


def _owner(launch, row, column):
    """D[j][i] is written by the thread with x along i, in the block of A's tile."""
    return (row // 32, column // 32), (column % 32, row % 32)


def _cases(rng):
    M, N = (int(rng.integers(low, low + 20)) for low in (66, 37))
    return [
        _launch(rng, 64, 96, "whole tiles"),
        _launch(rng, M, N, "ragged"),
        _launch(rng, 5, 70, "five rows"),
        _launch(rng, 1, 1, "one element"),
    ]


def _on_tile(error):
    """A race in shared memory."""
    return error["tool"] == "racecheck" and error["array"] not in ("A", "D")


check_transpose = KernelCheck(
    "TRANSPOSE",
    "transpose",
    _cases,
    lambda M, N, A, D: A.T,
    axes=("row of D", "column of D"),
    limits=[
        uses_shared(),
        loads_each_once("A"),
        at_most(
            "bytes",
            lambda launch: launch.args["D"].nbytes,
            "each element of D is stored once",
            array="D",
            op="store",
        ),
        at_most_sectors("A", "load", 5, ACROSS.format(do="read", X="A", other="D")),
        at_most_sectors("D", "store", 5, ACROSS.format(do="write", X="D", other="A")),
        at_most(
            "requests",
            _twice_the_warps,
            ALONE.format(do="load"),
            space="global",
            array="A",
            op="load",
        ),
        at_most(
            "requests",
            _twice_the_warps,
            ALONE.format(do="store"),
            space="global",
            array="D",
            op="store",
        ),
        no_bank_conflicts(
            cause="a warp walks down a column of the tile: with rows of 32 words, all of it is in one bank, and with "
            "rows of any even length two words or more are. Make the rows 33 wide: float tile[32][33]"
        ),
    ],
    causes=[
        (
            lambda e: e["tool"] == "initcheck" and e["array"] != "D",
            "a part of the tile that was never filled is read. Is it tile[x][y] that goes to D at (j0 + y, i0 "
            "+ x), and is the guard of the store that of D: row j0 + y < N, column i0 + x < M?",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] == "D",
            "D is N x M, so its rows are M long: (j0 + y, i0 + x) lies at (j0 + y) * M + "
            "i0 + x. The guard of the store: "
            "row j0 + y < N, column i0 + x < M",
        ),
        (
            lambda e: _on_tile(e) and e["op"] == e["other"]["op"] == "store",
            "several threads store to one word of the tile: each has its own, tile[y][x]",
        ),
        (
            _on_tile,
            "other threads read the tile than those that filled it: put a barrier for the block in between",
        ),
        (
            lambda e: e["tool"] == "synccheck",
            (
                "a thread without an element of A may still have one of D to write: it must skip the "
                "load but reach the barrier"
            ),
        ),
    ],
)
