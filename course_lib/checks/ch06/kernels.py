"""The checks of the two kernels: longest paths, a product of maxima, by rows, and alpha A B + beta C with strides."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    at_most_sectors,
    limit,
    no_promise,
    x_across,
)
from course_lib.checks.kit.kernels.running import traced
from course_lib.checks.kit.kernels.source import without_comments

FIRST = (
    "ragged",
    "by rows, without gaps",
)  # the launches after which a kernel is looked at once more
APART = (
    "the lanes of a warp (neighbours in threadIdx.x) do not have neighbouring columns j here: let x run along j, the "
    "direction in which rows lie in memory"
)
ALONG = (
    "the lanes of a warp (neighbours in threadIdx.x) have different rows i here: let x run along j, the direction "
    "in which rows lie in memory"
)


# The largest of A(i, k) + B(k, j) ------------------------------------------------------------------------------


def _ways_launch(rng, M, N, K, block, label, least=0.0):
    """A grid that covers D either way, whichever index runs along x. least: added to A, and most of it to B."""
    most = max(M, N)
    args = {
        "M": np.int32(M),
        "N": np.int32(N),
        "K": np.int32(K),
        "A": normal(rng, M, K) + np.float32(least),
        "B": normal(rng, K, N) + np.float32(0.7 * least),
        "D": np.empty((M, N), np.float32),
    }
    grid = tuple(-(-most // n) for n in block)
    return Launch(grid, block, args, out=("D",), label=label, K=2, owner=x_across)


def _ways_cases(rng):
    M, N, K = (int(rng.integers(low, low + 12)) for low in (51, 37, 17))
    return [
        _ways_launch(rng, M, N, K, (32, 8), "ragged"),
        _ways_launch(rng, N - 4, M + 14, 5, (16, 16), "blocks of 16 x 16"),
        _ways_launch(rng, 1, 1, 1, (32, 8), "one element"),
        _ways_launch(rng, 3, 70, 8, (32, 4), "three rows"),
        _ways_launch(rng, 35, 6, 13, (8, 16), "more steps than columns"),
        _ways_launch(rng, 64, 32, 1, (32, 8), "one step, no edge"),
        _ways_launch(rng, 40, 33, 9, (32, 8), "negative sums alone", least=-1e6),
    ]


def _large(check):
    """The limit, for launches in which whole warps have work."""

    @limit(getattr(check, "says", ""))
    def wrapped(report, launch):
        args = launch.args
        return (
            check(report, launch)
            if min(args["M"], args["N"]) >= 30 and args.get("b_col", 1) == 1
            else None
        )

    return wrapped


def _in_place_of(X, kernel, source):
    """Errors of a launch for two elements of D, side by side (X is A) or one below the other (X is B), that writes D
    over X. As section 6 of the lecture says, that is a race: each of the two threads reads what the other writes."""
    M, N, K = map(np.int32, (1, 2, 2) if X == "A" else (2, 1, 2))
    A, B, one, zero = (
        np.ones((M, K), np.float32),
        np.ones((K, N), np.float32),
        np.float32(1),
        np.float32(0),
    )
    D, step = A if X == "A" else B, np.int32(1)
    plain, strided = (
        [M, N, K, A, B, D],
        [M, N, K, one, A, K, step, B, N, step, zero, None, D, N, step],
    )
    return traced(
        source, kernel, 1, (16, 8), plain if kernel == "max_plus" else strided, timeout=5.0
    ).errors


def _shared_out(kernel):
    """The limit: one thread for each element. Counts do not tell a thread that does a whole row or column by itself;
    written over A (over B) such a kernel has no race, and a right one has."""

    @limit("")
    def check(report, launch):
        source = report.source if launch.label.startswith(FIRST) else None
        alone = [X for X in "AB" if source and not _in_place_of(X, kernel, source)]
        if not alone or "__syncthreads" in without_comments(
            report.source
        ):  # a barrier hides the race
            return None
        where = {"A": "a row of ", "B": "a column of "}[alone[0]] if len(alone) == 1 else ""
        return (
            f"one thread computes several elements of {where}D, while others have nothing to do",
            "each thread computes one element, with one loop, over k; i and j follow from its position in the grid",
        )

    return check


def _elements(launch):
    return int(launch.args["M"]) * int(launch.args["N"])


def _loaded(launch):
    return 4 * _elements(launch) * int(launch.args["K"])


LOADS = "a thread needs K numbers of A and K of B, each once: is something loaded that is not used, or twice?"
STORES = (
    "D is stored to in every step of k, or in several: keep the result in a variable of the thread (a register) and "
    "store it once, at the end"
)
UNSET = (
    lambda e: e["tool"] == "initcheck" and e["array"] == "D",
    "D is uninitialised: write it, but do not read it",
)
ATOMIC = "an element of D belongs to one thread, so nothing must be atomic: keep the result in a variable of the thread"

SHARED = (
    lambda e: e["tool"] == "racecheck" and e["array"] == "D",
    "several threads access one element of D: it belongs to one thread, which goes through all k, and a "
    "thread without an element leaves",
)

check_max_plus = KernelCheck(
    "MAX_PLUS",
    "max_plus",
    _ways_cases,
    lambda M, N, K, A, B, D: (A[:, :, None] + B).max(axis=1),
    axes=("row", "column"),
    limits=[
        at_most("requests", 0, ATOMIC, op="atomic"),
        at_most(
            "bytes",
            lambda launch: 4 * _elements(launch),
            STORES,
            space="global",
            array="D",
            op="store",
        ),
        at_most("bytes", _loaded, LOADS, space="global", array="A", op="load"),
        at_most("bytes", _loaded, LOADS, space="global", array="B", op="load"),
        _large(at_most_sectors("A", "load", 4, ALONG)),
        _large(at_most_sectors("D", "store", 8, APART)),
        _shared_out("max_plus"),
    ],
    causes=[
        UNSET,
        SHARED,
        (
            lambda e: e["tool"] == "memcheck" and e["kind"] == "row",
            "an index runs past the end of its row: either a loop's bound or an offset is wrong, or the array was made "
            "for one shape of block, and they differ from launch to launch",
        ),
    ],
)


# D = alpha A B + beta C, with strides --------------------------------------------------------------------------


def seen(memory, rows, columns, row, column):
    """The matrix that lies in this memory with these strides (in elements)."""
    flat = np.ascontiguousarray(memory).ravel()
    return flat[np.arange(rows)[:, None] * int(row) + np.arange(columns) * int(column)]


def by_strides(M, N, K, alpha, A, a_row, a_col, B, b_row, b_col, beta, C, D, c_row, c_col):
    """The reference: what D's memory must hold, its gaps apart."""
    M, N, K = int(M), int(N), int(K)
    D = alpha * seen(A, M, K, a_row, a_col) @ seen(B, K, N, b_row, b_col)
    if beta and C is not None:
        D = D + beta * seen(C, M, N, c_row, c_col)
    return {"D": D if c_col == 1 else D.T}


def _stored(X, gap, by_columns=False, step=1):
    """(memory with gaps between its rows or columns, stride of rows, stride of columns); step: the smaller of them."""
    lines = X.T if by_columns else X
    memory = np.full((lines.shape[0], lines.shape[1] * step + gap), np.nan, np.float32)
    memory[:, : lines.shape[1] * step : step] = lines
    return (memory, step, memory.shape[1]) if by_columns else (memory, memory.shape[1], step)


def _gemm_launch(
    rng, shape, scales, label, gaps=(0, 0, 0), columns="", C="given", block=(32, 8), apart=""
):
    """columns: which of A, B, D are stored by columns. C: given, unset, null, or D (in place). apart: which of A and B
    have neither stride 1."""
    M, N, K = shape
    shapes = {"A": (M, K), "B": (K, N), "D": (M, N)}
    kept = {
        X: _stored(normal(rng, *shapes[X]), gap, X in columns, 1 + (X in apart))
        for X, gap in zip(shapes, gaps, strict=True)
    }
    D, c_row, c_col = kept["D"]
    given = {
        "given": normal(rng, *D.shape),
        "unset": np.full(D.shape, np.nan, np.float32),
        "null": None,
        "D": D,
    }
    D[np.isnan(D)] = -1  # in place the gaps must hold numbers that a test can find again
    args = {"M": np.int32(M), "N": np.int32(N), "K": np.int32(K), "alpha": np.float32(scales[0])}
    for X in "AB":
        memory, row, column = kept[X]
        args |= {X: memory, f"{X.lower()}_row": np.int32(row), f"{X.lower()}_col": np.int32(column)}
    args |= {
        "beta": np.float32(scales[1]),
        "C": given[C],
        "D": D,
        "c_row": np.int32(c_row),
        "c_col": np.int32(c_col),
    }
    across, down = (-(-n // b) for n, b in zip((N, M), block, strict=True))
    size = 3 * float(abs(scales[0]) * K + abs(scales[1]))  # of the sizes of normal numbers
    out, inout = ((), ("D",)) if C == "D" else (("D",), ())
    owner = x_across if "D" not in columns else None
    return Launch(
        (across, down),
        block,
        args,
        out=out,
        inout=inout,
        label=label,
        K=K + 3,
        scale=size,
        owner=owner,
    )


def _gemm_cases(rng):
    M, N, K = (int(rng.integers(low, low + 9)) for low in (41, 53, 15))
    alpha, beta = (float(x) for x in rng.uniform(0.3, 1.9, 2))
    both = (alpha, -beta / 4)  # between -1 and 1, as beta or -1 - beta is not always
    return [
        _gemm_launch(rng, (M, N, K), (alpha, beta), "by rows, without gaps"),
        _gemm_launch(rng, (M, N, K), both, "gaps between the rows", gaps=(3, 5, 7)),
        _gemm_launch(rng, (M, N, K), (alpha, -1 - beta), "C is D", gaps=(0, 0, 2), C="D"),
        _gemm_launch(
            rng, (M - 10, N + 5, 9), (alpha, 0.0), "beta = 0, nothing written in C", C="unset"
        ),
        _gemm_launch(
            rng, (9, N, M), (0.0, 0.0), "alpha = beta = 0, C null", C="null", block=(16, 16)
        ),
        _gemm_launch(rng, (K, M, 7), both, "A and B transposed", columns="AB", gaps=(2, 0, 1)),
        _gemm_launch(rng, (M, K, N), both, "all by columns", columns="ABD", gaps=(1, 2, 3)),
        _gemm_launch(rng, (33, 20, 6), both, "A and B: no stride is 1", columns="B", apart="AB"),
        _gemm_launch(rng, (9, 40, 5), (0.0, -(2.0**-40)), "alpha = 0, beta small"),
    ]


def _at_most_once(array):
    def most(launch):
        return 4 * _elements(launch)

    cause = (
        "each thread stores one element, once"
        if array == "D"
        else "each thread needs one element of C, once"
    )
    return at_most(
        "bytes", most, cause, space="global", array=array, op="store" if array == "D" else "load"
    )


check_gemm = KernelCheck(
    "GEMM",
    "gemm",
    _gemm_cases,
    by_strides,
    axes=("row", "column"),
    limits=[
        at_most("requests", 0, ATOMIC, op="atomic"),
        _at_most_once("D"),
        _at_most_once("C"),
        at_most("bytes", _loaded, LOADS, space="global", array="A", op="load"),
        at_most("bytes", _loaded, LOADS, space="global", array="B", op="load"),
        _large(at_most_sectors("B", "load", 8, APART)),
        _large(at_most_sectors("A", "load", 4, ALONG)),
        no_promise("gemm", "C", "D"),
        _shared_out("gemm"),
    ],
    causes=[
        UNSET,
        (
            lambda e: (
                e["kind"] == "null"
                or (e["array"] == "C" and e["tool"] != "racecheck" and e["args"]["beta"] == 0)
            ),
            (
                "C is read even though beta = 0: it may then be uninitialised or missing, so the load "
                "must be inside a branch"
            ),
        ),
        (
            lambda e: e["array"] == "C" and e["tool"] == "memcheck",
            "C(i, j) is C[i * c_row + j * c_col], and is there for i < M and j < N: is that the index, and do threads "
            "beyond the edge leave?",
        ),
    ],
)
