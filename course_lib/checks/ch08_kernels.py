"""The checks of chapter 08 on whole kernels: section 4.2's by columns, and a 4 x 4 register tile by rows."""

import numpy as np

from .kernels import KernelCheck, Launch, at_most, loads_each_once, no_bank_conflicts, uses_shared


def up(n, size):
    """How many pieces of that size cover n."""
    return -(-n // size)


def sizes(launch):
    """M, N, K of a launch, as ints."""
    return tuple(int(launch.args[name]) for name in "MNK")


def normal(rng, *shape):
    """Standard normal float32."""
    return rng.standard_normal(shape, np.float32)


def aligned(launch):
    """Does every row and column of this launch begin on a sector of 32 bytes?"""
    return all(size % 8 == 0 for size in sizes(launch))


def most_sectors(array, op, each, cause=None):
    """The limit: so many sectors a request, in the launches where nothing straddles."""
    return at_most(
        "sectors a request",
        lambda launch: each if aligned(launch) else 32,
        cause
        or ("neighbouring threads of a warp must go to neighbours in memory: which index lies side by side here?"),
        space="global",
        array=array,
        op=op,
    )


# Section 4.2: 16 x 4 threads, 64 x 16 of D, all by columns ------------------------------------------------------------


def _row_owner(launch, j, i):
    block = (i // 64, j // 16, 0)
    return block, (i % 64 % 16, i % 64 // 16, 0)


def _cases_16x4(rng):
    launches = []
    for M, N, K, label in ((128, 48, 24, "whole tiles"), (70, 37, 10, "ragged in every direction"), (3, 5, 2, "tiny")):
        args = {
            "M": np.int32(M),
            "N": np.int32(N),
            "K": np.int32(K),
            "A": normal(rng, K, M),
            "B": normal(rng, N, K),
            "D": np.empty((N, M), np.float32),
        }  # stored by columns: a row here is a column there
        launches.append(Launch((up(M, 64), up(N, 16)), (16, 4), args, out=("D",), label=label, K=K, owner=_row_owner))
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
        loads_each_once(
            "A",
            times=lambda launch: up(sizes(launch)[1], 16),
            cause=(
                "a block needs each element of its 64 x 4 tile of A once: its thread loads four of them into a[4] and "
                "uses each for 16 columns"
            ),
        ),
        loads_each_once(
            "B",
            times=lambda launch: up(sizes(launch)[0], 64),
            cause=("a block loads each element of its 4 x 16 tile of B once, one a thread, and shares it"),
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
            "threads that follow each other in the warp must own rows that follow each other: the "
            "warp's order is threadIdx.x first, then threadIdx.y",
        ),
        most_sectors("D", "store", 4),
        most_sectors(
            "B",
            "load",
            8,
            "B lies by columns: neighbouring threads should take "
            "neighbours along k, four of them, then the next column",
        ),
        no_bank_conflicts(),
        at_most(
            "wavefronts",
            _wavefronts_16x4,
            "one load from shared memory for each multiply-add, and A's numbers "
            "come from registers, not from shared memory",
            space="shared",
            op="load",
        ),
    ],
    diagnoses=[
        (lambda M, N, K, A, B, D: B.reshape(K, N).T @ A, "B is read as if it lay by rows: B(k, j) is B[k + j * K]"),
    ],
    axes=("j", "i"),
)


# A register tile: 16 x 16 threads, 4 x 4 each, 64 x 64 of D, all by rows ----------------------------------------------


def _cases_4x4(rng):
    launches = []
    for M, N, K, label in ((64, 128, 32, "whole tiles"), (70, 90, 21, "ragged in every direction"), (5, 3, 7, "tiny")):
        args = {
            "M": np.int32(M),
            "N": np.int32(N),
            "K": np.int32(K),
            "A": normal(rng, M, K),
            "B": normal(rng, K, N),
            "D": np.empty((M, N), np.float32),
        }
        launches.append(Launch((up(N, 64), up(M, 64)), (16, 16), args, out=("D",), label=label, K=K))
    return launches


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
        loads_each_once("A", times=lambda launch: up(sizes(launch)[1], 64)),
        loads_each_once("B", times=lambda launch: up(sizes(launch)[0], 64)),
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
            "columns: columns 16 apart for one thread, not side by side",
        ),
        no_bank_conflicts(
            cause="lay out which thread owns what: rows ty, ty + 16, ... and columns tx, tx + 16, ... let "
            "a warp read 16 neighbours of b_tile and two rows of a_tile that lie in different banks"
        ),
        at_most(
            "wavefronts",
            _wavefronts_4x4,
            "for each k a thread loads 4 numbers of A and 4 of B into registers, once, and uses each four times",
            space="shared",
            op="load",
        ),
    ],
    diagnoses=[
        (
            lambda M, N, K, A, B, D: A[:, : K // 16 * 16] @ B[: K // 16 * 16],
            "the last values of k are missing: the loop ends before a tile that is not whole",
        ),
    ],
    axes=("i", "j"),
)
