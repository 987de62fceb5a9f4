"""The checks of chapter 08 on Darve 2019's question and on D^T = B^T A^T: numbers, held against the engine."""

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import at, function_check
from course_lib.checks.kit.trees import a_thing
from course_lib.gpu import trace_gemm

# turned ---------------------------------------------------------------------------------------------------------------


MOVED = "nothing must be copied or moved: a row-major matrix is its transpose in column-major order"


def _by_columns(M, N, K, left, right):
    """What a kernel computes that takes every matrix by columns: D, flat, by columns."""
    A = np.ravel(left, order="K")[: M * K].reshape(K, M).T
    B = np.ravel(right, order="K")[: K * N].reshape(N, K).T
    return (A.astype(np.float64) @ B).T.reshape(-1)


@function_check("turned")
def check_turned(turned, *, rng):
    """`turned(A, B)` -> (M, N, K, left, right) for a kernel that sees all matrices by columns."""
    for M, N, K in ((3, 5, 7), (8, 2, 4), (6, 6, 5)):
        A, B = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N)))
        got = turned(A, B)
        require(
            isinstance(got, tuple | list) and len(got) == 5,
            "return five things: (M, N, K, left, right)",
            got=a_thing(got),
            cause="no `return` was reached" if got is None else None,
        )
        with at(f"A {A.shape}, B {B.shape}"):
            _check_given(got, A, B)
    return "the kernel's columns are your rows: D comes out row-major, without a copy"


def _check_given(got, A, B):
    *given, left, right = got
    arrays = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
    require(arrays, "left and right must be NumPy arrays")
    _check_order(given, left, A, B)
    for name, X, whole in (("left", left, B), ("right", right, A)):
        require(
            np.shares_memory(X, whole),
            f"{name} is a copy, or the wrong matrix",
            cause=None if np.shares_memory(X, A) or np.shares_memory(X, B) else MOVED,
        )
        require(X.flags.c_contiguous or X.flags.f_contiguous, f"{name} has gaps")
    for name, X, whole in (("left", left, B), ("right", right, A)):
        begins = X.__array_interface__["data"][0] == whole.__array_interface__["data"][0]
        require(begins and X.size == whole.size, f"{name} is only a part of the matrix")
    M, N, K = map(int, given)
    D = _by_columns(M, N, K, left, right)
    same = np.allclose(D, (A.astype(np.float64) @ B).reshape(-1), atol=1e-5)
    require(same, "the kernel computes a different product")


def _check_order(given, left, A, B):
    """B on the left, and the sizes of D^T."""
    (M, K), N = A.shape, B.shape[1]
    cause = "left must be B itself, not a copy: the kernel reads it column-major, and sees B^T"
    if np.shares_memory(left, A):
        cause = "the kernel sees each matrix transposed: D^T = B^T A^T. Which matrix is on the left now?"
    require(np.shares_memory(left, B), "left is not B", cause=cause)
    unswapped = "the kernel computes D^T, which has N rows and M columns: swap the two sizes too"
    require(
        tuple(given) == (N, M, K),
        "the sizes are not those of D^T = B^T A^T",
        got=str(tuple(given)),
        wanted=str((N, M, K)),
        cause=unswapped if tuple(given) == (M, N, K) else None,
        likely=_named(given, {M: "M", N: "N", K: "K"}),
    )


def _named(given, names):
    """Which sizes were handed over, in the task's letters; None if others were."""
    told = [names.get(size, "") for size in given]
    said = f"these are ({', '.join(told)}) of A (M x K) and B (K x N)"
    return f"{said}: D^T has N rows and M columns, and its sums K terms" if all(told) else None


# advantage ------------------------------------------------------------------------------------------------------------

KEYS = ("flops", "loads_1", "loads_42", "sectors_1", "sectors_42", "wavefronts_2", "wavefronts_42")


def advantage(M, N, K):
    """The truth: M a multiple of 64, N and K of 32; algorithms 1 and 2 by rows, section 4.2 by columns."""
    fma = M * N * K // 32
    return {
        "flops": 2 * M * N * K,
        "loads_1": 2 * fma,
        "loads_42": fma * 5 // 64,
        "sectors_1": 5 * fma,
        "sectors_42": fma * 24 // 64,
        "wavefronts_2": fma * 66 // 32,
        "wavefronts_42": fma * 65 // 64,
    }


def counted(rng, M, N, K):
    """The same from the engine; flops are not counted by it."""
    A, B = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N)))
    one, two = (trace_gemm(A, B, kernel=name)[1] for name in ("naive", "shared"))
    columns = np.zeros((M, N), np.float32, order="F")  # D comes stored as C is
    best = trace_gemm(np.asfortranarray(A), np.asfortranarray(B), columns)[1]
    loads = {"space": "global", "op": "load"}
    return {
        "loads_1": one.total("requests", **loads),
        "loads_42": best.total("requests", **loads),
        "sectors_1": one.total("sectors", **loads),
        "sectors_42": best.total("sectors", **loads),
        "wavefronts_2": two.total("wavefronts"),
        "wavefronts_42": best.total("wavefronts"),
    }


CAUSES = {
    "flops": "a multiply-add is two operations, and there are M N K of them",
    "loads_1": "in algorithm 1 a warp loads twice for an FMA, of A and of B; an FMA of a warp is 32 multiply-adds",
    "loads_42": "in a step a warp has 64 FMAs; for these it loads A four times, a[0] to a[3], and B once",
    "sectors_1": "A(i, k) is one word for the whole warp: one sector. B(k, j) is 128 bytes: four",
    "sectors_42": "in a step a warp loads A four times, 128 bytes down a column each, and of B 4 neighbours "
    "in each of 8 columns: half of a sector is a sector",
    "wavefronts_2": "for 32 FMAs a warp stores 2 numbers a thread into the tiles and loads 2 x 32; one word "
    "for all is a broadcast, 1 wavefront",
    "wavefronts_42": "for 64 FMAs a warp stores once and loads 64 times; one word for all is a broadcast, 1 wavefront",
}
SHARED = {  # by what the keys end with
    "1": ("algorithm 1", "the number of a warp's FMAs, M N K / 32"),
    "42": (
        "section 4.2",
        "the number of steps. A block has two warps and 64 x 16 of D, and a step is 4 of K",
    ),
}
FACTORS = (
    (2, "twice"),
    (0.5, "half of"),
    (32, "32 times"),
    (1 / 32, "one 32nd of"),
    (4, "4 times"),
    (0.25, "a quarter of"),
)


@function_check("advantage")
def check_advantage(advantage_of, *, rng):
    """`advantage(M, N, K)` -> dict of seven counts; fresh sizes, and once the engine's counts."""
    for _ in range(3):
        M, N, K = (
            int(rng.integers(1, 9)) * 64,
            int(rng.integers(1, 9)) * 32,
            int(rng.integers(1, 9)) * 32,
        )
        _held(
            advantage_of(M, N, K), advantage(M, N, K), f"M, N, K = {M}, {N}, {K}", "by the formulas"
        )
    M, N, K = 64, 32 * int(rng.integers(1, 3)), 32
    _held(
        advantage_of(M, N, K),
        counted(rng, M, N, K),
        f"M, N, K = {M}, {N}, {K}",
        "counted by the engine",
    )
    return "seven quantities, by formula and as the engine counts them"


def _held(got, truth, where, how):
    cause = "no `return` was reached" if got is None else None
    require(isinstance(got, dict), "return a dict", got=a_thing(got), cause=cause)
    missing = [key for key in KEYS if key not in got]
    require(not missing, f"{', '.join(missing)} missing from the dict", where=where)
    for key in KEYS:
        number = isinstance(got[key], int | float | np.number)
        require(number, f"{key} must be a number", got=a_thing(got[key]))
    for key, value in truth.items():
        given = got[key]
        ratio = next((text for factor, text in FACTORS if given == factor * value), None)
        require(
            given == value,
            f"{key} is not right" + (f": it is {ratio} what it should be" if ratio else ""),
            got=given,
            wanted=f"{value:,} ({how})",
            where=where,
            cause=_shared(got, truth, key, ratio) or CAUSES[key],
        )


def _shared(got, truth, key, ratio):
    """What all counts of one algorithm share, where all are off by the same factor; None otherwise."""
    ending = key.rpartition("_")[2]
    factor = next((factor for factor, text in FACTORS if text == ratio), None)
    keys = [k for k in KEYS if k.endswith(f"_{ending}")]
    if not factor or len(keys) < 2:
        return None
    if not all(k in truth and got[k] == factor * truth[k] for k in keys):
        return None
    name, what = SHARED[ending]
    return f"all counts of {name} are {ratio} what they should be: look at what they share, {what}"
