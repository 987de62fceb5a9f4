"""The checks of chapter 05's kernels: SAXPY, sigmoid, sums of columns, ReLU in a grid-stride loop, a histogram."""

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


ALONE = (
    "one thread does what the whole warp could do in one request: give neighbouring elements to neighbouring "
    "threads"
)
AGAIN = (
    "elements are read more often than once, or most lanes of a warp have nothing to do: each element once, by "
    "neighbouring threads, and what is needed again goes into a variable"
)


def _often(row):
    """Why there are so many requests: a warp in which one lane works, or elements that are read again."""
    return ALONE if row["threads"] < 2 * row["requests"] else AGAIN


def _together(array, op, cause=None):
    """At most 5 sectors a request, or, where lanes ask for more than a float each (float4), one above the ideal."""
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
            "some threads, or one block, do it all: each thread begins at blockIdx.x * blockDim.x + threadIdx.x",
        )

    return check


def _volatile(report, launch):
    """volatile orders nothing, but hides a race from racecheck, which takes it for an atomic. In an atomicCAS loop
    it has its place."""
    bare = without_comments(report.source)
    if "volatile" not in bare or "atomicCAS" in bare:
        return None
    return "the source holds volatile, and the task does without", (
        "volatile makes every read and every write happen, and keeps nobody out in between: no race is mended by it"
    )


def _own(array):
    """A cause for KernelCheck: two threads at one element, where each has an element of its own."""
    return lambda error: (error["tool"], error["array"]) == ("racecheck", array), (
        f"several threads come to one element of {array}: each element belongs to one thread, and a thread without "
        "one does nothing"
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


# Sigmoid --------------------------------------------------------------------------------------------------------


SIGMOID_PLAN = [
    (40, 50, 50, 1, "a ragged matrix, ld = N"),
    (37, 70, 80, 1, "padded rows, ld > N"),
    (32, 64, 64, 1, "a matrix that fits the blocks"),
    (3, 5, 8, 100, "large positive and negative z"),
]


def _sigmoid_cases(rng):
    launches = []
    for M, N, ld, size, label in SIGMOID_PLAN:
        args = _args(M=M, N=N, ld=ld, Z=size * _floats(rng, M, ld), A=np.empty((M, ld), np.float32))
        args["Z"][0, :2] = 90 * size, -90 * size
        side = max(M, N)  # threads to spare in both directions
        grid = pieces(side, 32), pieces(side, 8)
        launches.append(Launch(grid, (32, 8), args, out=("A",), label=label, K=4, owner=x_across))
    return launches


def _sigmoid(M, N, ld, Z, A):
    return 0.5 + 0.5 * np.tanh(0.5 * Z[:M, :N])


check_sigmoid = KernelCheck(
    "SIGMOID",
    "sigmoid",
    _sigmoid_cases,
    _sigmoid,
    c=8.0,
    axes=("row", "column"),
    limits=[
        at_most_sectors("Z", "load", 5),
        at_most_sectors("A", "store", 5),
        at_most("requests", _rows, _often, array="Z", op="load"),
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
            "each thread takes elements that lie side by side, so that neighbouring threads are "
            "far apart: let all threads of the grid take one element each, then all step on by gridDim.x * "
            "blockDim.x",
        ),
        at_most("requests", _warps, _often, array="x", op="load"),
        _volatile,
        shared_work("relu", "x", _all_threads),
    ],  # none on stores: see `_relu_cases`
)


# A histogram ----------------------------------------------------------------------------------------------------


def _histogram_cases(rng):
    plan = [
        (1000, 4, 256, 10, "1,000 labels"),
        (700, 6, 128, 1, "700 equal labels"),
        (256, 1, 256, 10, "as many threads as labels"),
        (31, 1, 64, 10, "31 labels"),
        (90, 12, 8, 10, "blocks of 8 threads"),
    ]
    return [
        Launch(
            grid,
            block,
            _args(
                n=n,
                label=rng.integers(9 - 9 * (kinds > 1), 10, n).astype(np.int32),
                count=rng.integers(1, 50, 10).astype(np.int32),
            ),
            inout=("count",),
            label=label,
        )
        for n, grid, block, kinds, label in plan
    ]


def _histogram(n, label, count):
    return count + np.bincount(label, minlength=10)


ATOMIC = (
    lambda error: error["tool"] == "racecheck" and error["array"] == "count",
    "several threads add to one counter, and between the read and the write of one the others come: let one "
    "atomicAdd(&count[...], 1) do it all, and nothing else touch it",
)
# Another thread comes first at every counter, once, and adds 1,000: a compare-and-swap that gives up loses its count.
INTERRUPTED = """
template <class T> __device__ T _first_another(T *at, T old, T wanted)
{
    if (*at < 1000) atomicAdd(at, 1000);
    return atomicCAS(at, old, wanted);
}
#define atomicCAS _first_another
"""


@limit("")
def _retried(report, launch):
    """A swap that fails is tried again."""
    if "atomicCAS" not in without_comments(report.source):
        return None
    args = launch.prepared()
    want = _histogram(**args)
    traced(INTERRUPTED + report.source, "histogram", launch.grid, launch.block, list(args.values()))
    if np.array_equal(args["count"] % 1000, want):
        return None
    return "a count is lost where another thread changes the counter first", (
        "atomicCAS stores nothing if the counter no longer holds the old value: try again until it does"
    )


check_histogram = KernelCheck(
    "HISTOGRAM",
    "histogram",
    _histogram_cases,
    _histogram,
    causes=[ATOMIC],
    limits=[
        _retried,
        at_most_sectors("label", "load", 5),
        at_most("requests", _warps, _often, array="label", op="load"),
        _volatile,
        shared_work("histogram", "label", _elements),
    ],
)
