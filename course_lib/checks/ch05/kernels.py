"""The checks of chapter 05's kernels: SAXPY, a layer in columns, sums of columns, a grid-stride loop, atomics."""

import numpy as np

from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    at_most_sectors,
    limit,
    x_across,
)
from course_lib.checks.kit.kernels.running import traced, triple
from course_lib.checks.kit.kernels.source import without_comments

SIZES = {"n": np.int32, "M": np.int32, "N": np.int32, "ld": np.int32}


def _floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32)


def _args(**given):
    """The arguments of a launch, the sizes among them as int32."""
    return {name: SIZES.get(name, lambda value: value)(value) for name, value in given.items()}


def pieces(n, size):
    """How many pieces of that size cover n."""
    return -(-n // size)


def _warps(launch):
    """The requests that n elements take, a warp of neighbours each; twice that is allowed."""
    return 2 * pieces(int(launch.args["n"]), min(32, int(np.prod(triple(launch.block)))))


def _elements(launch):
    return int(launch.args["n"])


def _columns(launch):
    return int(launch.args["N"])


def _all_threads(launch):
    """All where there are fewer threads than elements, else none is asked for: a float4 takes four elements."""
    threads = int(np.prod(triple(launch.grid)) * np.prod(triple(launch.block)))
    return threads if threads < int(launch.args["n"]) else 0


def _rows(launch):
    """The same as _warps for M rows of N elements."""
    return 2 * int(launch.args["M"]) * pieces(int(launch.args["N"]), 32)


def _pieces_of_columns(launch):
    """The same for N columns of M elements."""
    return 2 * int(launch.args["N"]) * pieces(int(launch.args["M"]), 32)


ALONE = (
    "one thread makes many requests where the whole warp needs one: give neighbouring elements to "
    "neighbouring threads"
)
AGAIN = (
    "elements are read more than once, or most lanes of a warp have nothing to do: read each element once, by "
    "neighbouring threads, and keep it in a variable if you need it again"
)


def _often(row):
    """Why there are so many requests: a warp in which one lane works, or elements that are read again."""
    return ALONE if row["threads"] < 2 * row["requests"] else AGAIN


def _together(array, op, cause=None):
    """At most 5 sectors per request, or, where lanes ask for more than a float each (float4), one above the ideal."""
    narrow = at_most_sectors(array, op, 5, cause)  # 5: backwards from n is all right

    @limit(narrow.says)
    def check(report, launch):
        rows = [
            row
            for row in report.accesses
            if (row["space"], row["op"], row["array"]) == ("global", op, array)
        ]
        wide = all(row["sectors"] <= row["ideal_sectors"] + row["requests"] for row in rows)
        return None if wide else narrow(report, launch)

    return check


def shared_work(kernel, array, workers):
    """Most of the threads that could read the array do: told by a launch in which it is NULL, where each that tries
    is found. workers: function of the launch."""

    @limit("threads that work")
    def check(report, launch):
        args = {**launch.prepared(), array: None}
        found = traced(report.source, kernel, launch.grid, launch.block, list(args.values()))
        working = sum(error["count"] for error in found.errors if error["tool"] == "memcheck")
        if working >= 0.75 * workers(launch):
            return None
        return (
            f"{working} threads read {array}, where {workers(launch)} could have work",
            (
                "some threads do the work of several, and others have none: each thread must start at blockIdx.x * "
                "blockDim.x + threadIdx.x"
            ),
        )

    return check


def _volatile(report, launch):
    """volatile orders nothing, but hides a race from racecheck, which takes it for an atomic. In an atomicCAS loop
    it has its place."""
    bare = without_comments(report.source)
    if "volatile" not in bare or "atomicCAS" in bare:
        return None
    return "the source contains volatile, but the task does not need it", (
        "volatile makes every read and every write happen, but other threads can still interfere "
        "in between: it fixes no race"
    )


def _own(array):
    """A cause for KernelCheck: two threads at one element, where each has an element of its own."""
    return lambda error: (error["tool"], error["array"]) == ("racecheck", array), (
        f"several threads access one element of {array}: each element belongs to one thread, and a thread "
        "without an element must do nothing"
    )


# SAXPY ----------------------------------------------------------------------------------------------------------


def _saxpy_cases(rng):
    plan = [
        (1000, 4, 256, 1000, "a ragged end"),
        (1024, 4, 256, 1024, "no thread to spare"),
        (5, 1, 64, 5, "5 elements, 64 threads"),
        (700, 6, 128, 1000, "x and y go on behind n"),
    ]
    return [
        Launch(
            grid,
            block,
            _args(
                n=n, a=np.float32(rng.uniform(2.2, 3.8)), x=_floats(rng, size), y=_floats(rng, size)
            ),
            inout=("y",),
            label=label,
            owner=x_across,
        )
        for n, grid, block, size, label in plan
    ]


check_saxpy = KernelCheck(
    "SAXPY",
    "saxpy",
    _saxpy_cases,
    lambda n, a, x, y: (a * x + y)[:n],
    c=8.0,
    causes=[_own("y")],
    limits=[
        _together("x", "load"),
        _together("y", "store"),
        at_most("requests", _warps, _often, array="x", op="load"),
        _volatile,
        shared_work("saxpy", "x", _elements),
    ],
)


# A layer in columns ---------------------------------------------------------------------------------------------


LAYER_PLAN = [
    (50, 40, 50, 1, "a ragged matrix, ld = M"),
    (70, 37, 80, 1, "padded columns, ld > M"),
    (64, 32, 64, 1, "a matrix that fits the blocks"),
    (5, 3, 8, 100, "large positive and negative z"),
]


def _layer_cases(rng):
    """A matrix by columns is, for NumPy, its transpose by rows: Z and A have the shape (N, ld)."""
    launches = []
    for M, N, ld, size, label in LAYER_PLAN:
        args = _args(M=M, N=N, ld=ld, Z=size * _floats(rng, N, ld), b=2 * _floats(rng, M))
        args |= {"A": np.empty((N, ld), np.float32)}
        args["Z"][0, :2] = 90 * size, -90 * size
        side = max(M, N)  # threads to spare in both directions
        grid = pieces(side, 32), pieces(side, 8)
        launches.append(Launch(grid, (32, 8), args, out=("A",), label=label, K=4, owner=x_across))
    return launches


def _layer(M, N, ld, Z, b, A):
    return 0.5 + 0.5 * np.tanh(0.5 * (Z[:N, :M] + b))


check_column_layer = KernelCheck(
    "COLUMN_LAYER",
    "column_layer",
    _layer_cases,
    _layer,
    c=8.0,
    axes=("column", "row"),
    limits=[
        at_most_sectors("Z", "load", 5),
        at_most_sectors("A", "store", 5),
        at_most("requests", _pieces_of_columns, _often, array="Z", op="load"),
        _volatile,
    ],
)


# Sums of columns ------------------------------------------------------------------------------------------------


COLUMN_PLAN = [
    (20, 500, "20 x 500"),
    (33, 130, "33 x 130, rows that do not begin on a sector"),
    (7, 64, "7 x 64"),
    (1, 40, "one row"),
]


def _column_cases(rng):
    return [
        Launch(
            pieces(N, 64),
            64,
            _args(M=M, N=N, dZ=_floats(rng, M, N), db=np.empty(N, np.float32)),
            out=("db",),
            label=label,
            K=M,
            scale=float(M),
            owner=x_across,
        )
        for M, N, label in COLUMN_PLAN
    ]


check_bias_gradient = KernelCheck(
    "BIAS_GRADIENT",
    "bias_gradient",
    _column_cases,
    lambda M, N, dZ, db: dZ.sum(axis=0),
    axes=("column",),
    causes=[_own("db")],
    limits=[
        at_most_sectors("dZ", "load", 5),
        at_most_sectors("db", "store", 5),
        at_most("requests", _rows, _often, array="dZ", op="load"),
        _volatile,
        shared_work("bias_gradient", "dZ", _columns),
    ],
)


# A grid-stride loop ---------------------------------------------------------------------------------------------


ROUND = (
    "let all threads of the grid take one element each, then advance all of them by gridDim.x * "
    "blockDim.x"
)


def _dealt_out(row):
    """A thread's own piece has 5 elements or more where this is asked; blocks, which may take turns, are 4 at most."""
    lanes = [offset for offset in row["lanes"] if offset is not None]
    if abs(lanes[1] - lanes[0]) <= 16:
        return f"neighbouring threads do not take neighbouring elements: {ROUND}"
    return f"each thread takes adjacent elements, so neighbouring threads are far apart: {ROUND}"


RELU_PLAN = [
    (1000, 3, 64, "1,000 elements, 192 threads"),
    (100, 1, 32, "100 elements, one warp"),
    (90, 4, 64, "more threads than elements"),
    (256, 2, 128, "as many threads as elements"),
    (1, 2, 32, "one element"),
]


def _relu_cases(rng):
    """Stores are not counted in this task: an if with a store on either side is right, and in a loop the engine matches
    the n-th store of one lane with the n-th of another, whichever turn they were made in."""
    return [
        Launch(
            grid,
            block,
            _args(n=n, x=_floats(rng, n), y=np.empty(n, np.float32)),
            out=("y",),
            label=label,
        )
        for n, grid, block, label in RELU_PLAN
    ]


check_relu = KernelCheck(
    "RELU",
    "relu",
    _relu_cases,
    lambda n, x, y: np.maximum(x, 0),
    causes=[_own("y")],
    limits=[
        _together(
            "x",
            "load",
            _dealt_out,
        ),
        at_most("requests", _warps, _often, array="x", op="load"),
        _volatile,
        shared_work("relu", "x", _all_threads),
    ],  # none on stores: see `_relu_cases`
)


# The best of each class -----------------------------------------------------------------------------------------


LEAST = -(10**9)  # less than a stand-in for "nothing yet"


def _best_cases(rng):
    """Scores of both signs, and far below 0; some classes hold more than any score."""
    plan = [
        (1000, 4, 256, 10, 900, "1,000 scores"),
        (700, 6, 128, 1, 900, "700 scores of one class"),
        (256, 1, 256, 10, LEAST, "scores of minus a billion"),
        (31, 1, 64, 10, 900, "31 scores"),
        (90, 12, 8, 10, 0, "blocks of 8 threads"),
    ]
    return [
        Launch(
            grid,
            block,
            _args(
                n=n,
                label=rng.integers(9 - 9 * (kinds > 1), 10, n).astype(np.int32),
                score=rng.integers(min(top, 0) - 900, top, n).astype(np.int32),
                best=np.array([*rng.integers(-1000, -950, 9), 990], np.int32)[
                    rng.permutation(10) if kinds > 1 else slice(None, None, -1)
                ]
                + min(top, 0),
            ),
            inout=("best",),
            label=label,
        )
        for n, grid, block, kinds, top, label in plan
    ]


def _class_best(n, label, score, best):
    want = np.array(best)
    np.maximum.at(want, label, score)
    return want


ATOMIC = (
    lambda error: error["tool"] == "racecheck" and error["array"] == "best",
    "a plain read or write of best races with the stores of other threads: let one atomic operation compare "
    "and store, and let nothing else touch best. Its old value counts too",
)
# Another thread comes first. Before a swap it raises an even number by 1, which changes no comparison, since all scores
# are even here: a swap that gives up loses its score. Before an exchange it stores a score above all others, and before
# that one is put back a still higher one. The highest that it stored for a class stands in a second table behind best.
THEIRS = 5000
OTHERS = """
template <class T> __device__ T _swap_later(T *at, T old, T wanted)
{
    if (old != wanted && *at % 2 == 0) atomicAdd(at, 1);
    return atomicCAS(at, old, wanted);
}
template <class T> __device__ T _exchange_later(T *at, T wanted)
{
    int higher = wanted < 5000 ? 5000 : min(wanted + 1000, 9000);
    atomicMax(at, higher);
    atomicMax(at + 10, higher);
    return atomicExch(at, wanted);
}
"""


def _interrupted(report, launch, name, by):
    """(what is wanted, best after, what others stored) of a launch in which they come before each atomic `name`."""
    args = launch.prepared()
    args |= {key: 2 * args[key] for key in ("score", "best")}
    want = _class_best(**args)
    args["best"] = np.append(args["best"], np.zeros_like(args["best"]))
    source = f"{OTHERS}#define {name} {by}\n{report.source}"
    traced(source, "class_best", launch.grid, launch.block, [*args.values()])
    return want, *np.split(args["best"], 2)


@limit("")
def _retried(report, launch):
    """A swap that fails is tried again."""
    if "atomicCAS" not in without_comments(report.source):
        return None
    want, got, _ = _interrupted(report, launch, "atomicCAS", "_swap_later")
    if np.array_equal(got // 2 * 2, want):
        return None
    return "a score is lost where another thread changes best first", (
        "atomicCAS stores nothing if best no longer holds the old value: try again until it does"
    )


@limit("")
def _put_back(report, launch):
    """An exchange that takes a larger score away puts it back. (In a block's own table it may set the first value.)"""
    bare = without_comments(report.source)
    if "atomicExch" not in bare or "__shared__" in bare:
        return None
    _, got, theirs = _interrupted(report, launch, "atomicExch", "_exchange_later")
    lost = (theirs > 0) & (got != theirs)
    if not lost.any():
        return None
    if (got[lost] >= THEIRS).all():
        return (
            "a score is lost where another thread stores a larger one before the old one is put back",
            "an exchange that puts the larger score back overwrites what came between: atomicMax compares and stores "
            "in one operation",
        )
    return (
        "a score is lost where another thread stores a larger one between the comparison and the exchange",
        ("atomicExch stores whatever was there: atomicMax compares and stores in one operation"),
    )


check_class_best = KernelCheck(
    "CLASS_BEST",
    "class_best",
    _best_cases,
    _class_best,
    causes=[ATOMIC],
    limits=[
        _retried,
        _put_back,
        at_most_sectors("label", "load", 5),
        at_most("requests", _warps, _often, array="label", op="load"),
        _volatile,
        shared_work("class_best", "label", _elements),
    ],
)
