"""The checks of chapter 08 on whole kernels: section 4.2's by columns, and a 4 x 4 register tile by rows."""

from types import SimpleNamespace

import numpy as np

from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    limit,
    no_bank_conflicts,
    uses_shared,
)

APART = "neighbouring threads of a warp must access neighbours in memory: which index is contiguous here?"
AGAIN = "threads load the same elements more than once: load them once, then keep or share them"


def up(n, size):
    """How many pieces of that size cover n."""
    return -(-n // size)


def sizes(launch):
    """M, N, K of a launch, as ints."""
    return tuple(int(launch.args[name]) for name in "MNK")


def normal(rng, *shape):
    """Standard normal float32."""
    return rng.standard_normal(shape, np.float32)


def ragged(rng, *tiles):
    """For each tile's size, one tile and a part of the next: no multiple of 4, so that no float4 fits every row."""
    return tuple(
        size + 4 * int(rng.integers(0, size // 4)) + int(rng.integers(1, 4)) for size in tiles
    )


def aligned(launch):
    """Does every row and column of this launch begin on a sector of 32 bytes?"""
    return all(size % 8 == 0 for size in sizes(launch))


def most_sectors(array, op, each, cause=APART, whole=aligned):
    """The limit: so many sectors per request of single numbers, where nothing straddles; four times as many of float4.

    whole: launch -> does every row (or column) begin on a sector? Where one does not, nothing is asked for.
    """

    @limit(f"sectors per request of {array}")
    def check(report, launch):
        rows = [
            row
            for row in report.accesses
            if (row["space"], row["array"], row["op"]) == ("global", array, op)
        ]
        for row in rows if whole(launch) else ():
            words = max(1, row["bytes"] // max(row["threads"], 1) // 4)
            line = at_most(
                "sectors per request", each * words, cause, space="global", array=array, op=op
            )
            if broken := line(SimpleNamespace(accesses=[row]), launch):
                return broken
        return None

    return check


def loads_tiles(array, most, cause=AGAIN):
    """The limit: bytes loaded of this input are at most those of so many numbers, whole tiles at the edges as well."""
    return at_most(
        "bytes",
        lambda launch: 4 * most(*sizes(launch)),
        cause,
        space="global",
        op="load",
        array=array,
    )


# Section 4.2: 16 x 4 threads, 64 x 16 of D, all by columns ------------------------------------------------------------


def _row_owner(launch, j, i):
    block = (i // 64, j // 16, 0)
    return block, (i % 64 % 16, i % 64 // 16, 0)


def _cases_16x4(rng):
    launches, edges = [], ragged(rng, 64, 16, 8)
    for (M, N, K), label in (
        ((128, 48, 24), "whole tiles"),
        (edges, "ragged in every direction"),
        ((3, 5, 2), "tiny"),
    ):
        args = {
            "M": np.int32(M),
            "N": np.int32(N),
            "K": np.int32(K),
            "A": normal(rng, K, M),
            "B": normal(rng, N, K),
            "D": np.empty((N, M), np.float32),
        }  # stored by columns: a row here is a column there
        launches.append(
            Launch(
                (up(M, 64), up(N, 16)),
                (16, 4),
                args,
                out=("D",),
                label=label,
                K=K,
                owner=_row_owner,
            )
        )
    return launches


def _wavefronts_16x4(launch):
    M, N, K = sizes(launch)
    return up(M, 64) * up(N, 16) * 2 * 64 * up(K, 4)


check_gemm_16x4 = KernelCheck(
    "GEMM_16X4",
    "gemm_16x4",
    _cases_16x4,
    lambda M, N, K, A, B, D: B @ A,
    limits=[
        uses_shared(),
        loads_tiles(
            "A",
            lambda M, N, K: up(M, 64) * 64 * up(N, 16) * up(K, 4) * 4,
            cause=(
                "a block needs each element of its 64 x 4 tile of A once: its thread loads four of them into a[4] and "
                "uses each for 16 columns"
            ),
        ),
        loads_tiles(
            "B",
            lambda M, N, K: up(M, 64) * up(N, 16) * 16 * up(K, 4) * 4,
            cause=(
                "a block loads each element of its 4 x 16 tile of B once, one a thread, and shares it"
            ),
        ),
        at_most(
            "bytes",
            lambda launch: launch.args["D"].nbytes,
            "D is written once, when the sums are complete: until then they stay in registers, d[16]",
            space="global",
            array="D",
        ),
        most_sectors(
            "A",
            "load",
            4,
            "consecutive threads of the warp must own consecutive rows: the warp's order is threadIdx.x "
            "first, then threadIdx.y",
        ),
        most_sectors("D", "store", 4),
        most_sectors(
            "B",
            "load",
            8,
            "B is column-major: neighbouring threads should take neighbours along k, four of them, then the "
            "next column",
        ),
        no_bank_conflicts(),
        at_most(
            "wavefronts",
            _wavefronts_16x4,
            "one load from shared memory per multiply-add is enough, that of B's number: A's numbers come from "
            "registers",
            space="shared",
            op="load",
        ),
    ],
    causes=[
        (
            lambda e: (
                e["tool"] == "racecheck"
                and e["array"] == "b_tile"
                and e["op"] == e["other"]["op"] == "store"
            ),
            "two threads copy the same element of the tile: with t = threadIdx.y * 16 + threadIdx.x they are "
            "numbered from 0 to 63, and each has its own element",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] == "B",
            "B(k, j) is B[k + j * K], and is there for k < K and j < N: elsewhere the tile gets a 0",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] in ("A", "D"),
            "A(i, k) is A[i + k * M], D(i, j) is D[i + j * M]: check the row and the column before the access",
        ),
    ],
    axes=("j", "i"),
)


# A register tile: 16 x 16 threads, 4 x 4 each, 64 x 64 of D, all by rows ----------------------------------------------


def by_rows(rng, shapes, tile):
    """Launches of 16 x 16 threads for D = A B by rows. shapes: ((M, N, K), label); tile: a block's, square."""
    launches = []
    for (M, N, K), label in shapes:
        args = {
            "M": np.int32(M),
            "N": np.int32(N),
            "K": np.int32(K),
            "A": normal(rng, M, K),
            "B": normal(rng, K, N),
            "D": np.empty((M, N), np.float32),
        }
        launches.append(
            Launch((up(N, tile), up(M, tile)), (16, 16), args, out=("D",), label=label, K=K)
        )
    return launches


def _cases_4x4(rng):
    edges = ragged(rng, 64, 64, 16)
    shapes = (
        ((64, 128, 80), "whole tiles"),
        (edges, "ragged in every direction"),
        ((5, 3, 7), "tiny"),
    )
    return by_rows(rng, shapes, 64)


def _wavefronts_4x4(launch):
    M, N, K = sizes(launch)
    return up(M, 64) * up(N, 64) * 8 * up(K, 16) * 16 * 8


check_gemm_4x4 = KernelCheck(
    "GEMM_4X4",
    "gemm_4x4",
    _cases_4x4,
    lambda M, N, K, A, B, D: A @ B,
    limits=[
        uses_shared(),
        loads_tiles("A", lambda M, N, K: up(M, 64) * 64 * up(N, 64) * up(K, 16) * 16),
        loads_tiles("B", lambda M, N, K: up(M, 64) * up(N, 64) * 64 * up(K, 16) * 16),
        at_most(
            "bytes",
            lambda launch: launch.args["D"].nbytes,
            "D is written once, when the sums are complete: until then they stay in registers",
            space="global",
            array="D",
        ),
        most_sectors(
            "D",
            "store",
            4,
            "threadIdx.x must run along a row of D, and neighbouring threads own neighbouring "
            "columns: columns 16 apart for one thread, or four side by side stored as one float4",
        ),
        most_sectors("A", "load", 4),
        most_sectors("B", "load", 4),
        no_bank_conflicts(
            cause="lay out which thread owns what: rows ty, ty + 16, ... and columns tx, tx + 16, ... let "
            "a warp read 16 neighbours of b_tile and two rows of a_tile that lie in different banks (and where it "
            "stores, 32 neighbours of a tile)"
        ),
        at_most(
            "wavefronts",
            _wavefronts_4x4,
            "for each k a thread loads 4 numbers of A and 4 of B into registers, once, and uses each four times",
            space="shared",
            op="load",
        ),
    ],
    axes=("i", "j"),
)
