"""The checks of the two kernels to mend: a race with right numbers; an early return, an unset halo, an overrun."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    limit,
    loads_each_once,
    no_bank_conflicts,
    uses_shared,
    x_across,
)

ALONE = "one thread, or a few, load what a warp can load with one request: let each thread copy its own element"

# differences ----------------------------------------------------------------------------------------------------


def _differences(x, y):
    rows = x.reshape(-1, 96)
    return (rows - np.pad(rows[:, :-1], ((0, 0), (1, 0)))).ravel()


def _differences_cases(rng):
    def launch(chunks, label):
        args = {"x": normal(rng, 96 * chunks), "y": np.empty(96 * chunks, np.float32)}
        return Launch(chunks, 96, args, out=("y",), label=label, K=2, scale=3.0, owner=x_across)

    return [launch(int(rng.integers(3, 9)), "several chunks"), launch(1, "one chunk")]


def _on_table(error):
    """A race in shared memory."""
    return error["tool"] == "racecheck" and error["array"] not in ("x", "y")


check_differences = KernelCheck(
    "DIFFERENCES",
    "differences",
    _differences_cases,
    _differences,
    limits=[
        uses_shared(),
        loads_each_once(
            "x",
            cause="load each number from global memory once, into shared memory; read the neighbour's number from "
            "there, and a thread's own, where it is wanted again, from there or from a variable",
        ),
        at_most(
            "requests", lambda launch: 6 * launch.grid, ALONE, space="global", array="x", op="load"
        ),
    ],
    causes=[
        (
            lambda e: _on_table(e) and e["op"] == e["other"]["op"],
            "two threads write the same word of shared memory: each must have its own",
        ),
        (
            lambda e: _on_table(e) and e["line"] == e["other"]["line"],
            "a thread stores to a word of the table in the line in which another thread reads this word: "
            "keep the two apart, with a barrier for the whole block between them",
        ),
        (
            _on_table,
            "there is no barrier for the whole block between a thread's store to the table and another thread's load "
            "of the same word",
        ),
        (
            lambda e: e["tool"] == "synccheck",
            "the barrier is for the whole block: keep it outside any `if`, and let no thread return before it",
        ),
    ],
)


# smooth ---------------------------------------------------------------------------------------------------------


def _smooth(n, x, y):
    p = np.pad(x[: int(n)], 1)
    return (p[:-2] + p[1:-1] + p[2:]) / 3


def _smooth_cases(rng):
    def launch(n, label, room=9):
        args = {"n": np.int32(n), "x": normal(rng, n), "y": np.empty(n + room, np.float32)}
        return Launch(-(-n // 64), 64, args, out=("y",), label=label, K=3, owner=x_across)

    ragged = 64 * 3 + int(rng.integers(5, 60))
    few = int(rng.integers(3, 30))
    return [
        launch(ragged, "a ragged last block"),
        launch(128, "two whole blocks"),
        launch(few, "a part of one block"),
        launch(65, "one element in the last block"),
        launch(1, "one element"),
    ]


@limit("bytes loaded of x")
def _x_about_once(report, launch):
    most = launch.args["x"].nbytes + 8 * launch.grid  # and two neighbours for each block
    loaded = report.total("bytes", space="global", op="load", array="x")
    if loaded <= most:
        return None
    return (
        f"{loaded:,} bytes of x are loaded, but {most:,} are enough",
        "a block needs its 64 elements and two neighbours, each once: thread 0 and thread 63 load one more",
    )


check_smooth = KernelCheck(
    "SMOOTH",
    "smooth",
    _smooth_cases,
    _smooth,
    limits=[
        uses_shared(),
        _x_about_once,
        no_bank_conflicts(),
        at_most(
            "requests", lambda launch: 8 * launch.grid, ALONE, space="global", array="x", op="load"
        ),
    ],
    causes=[
        (
            lambda e: e["tool"] == "initcheck" and e["array"] not in ("x", "y"),
            "an element of shared memory was never filled: either a neighbour of the block's 64 elements is not "
            "copied, or a thread with nothing to copy, at the ends of x and beyond n, stores no 0",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] not in ("x", "y"),
            "shared memory must hold 64 elements and one neighbour on each side: 66, with indices from 0 to 65",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] == "x",
            "outside 0 to n - 1 there is no x: load nothing there, and store a 0 in those places",
        ),
        (
            lambda e: e["tool"] == "synccheck",
            "no thread may return before the barrier, nor skip an `if` that contains it: put the guard around the "
            "work, and the barrier after it, for all",
        ),
    ],
)
