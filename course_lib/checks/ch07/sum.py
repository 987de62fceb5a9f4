"""The check of the row sum: one block for each row, a tree on the table, barriers where all threads come by."""

import numpy as np

from course_lib.checks.kit.inputs import normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_most,
    at_most_sectors,
    limit,
    loads_each_once,
    no_bank_conflicts,
    uses_shared,
)


def _launch(rng, rows, n, label):
    args = {"n": np.int32(n), "x": normal(rng, rows, n), "y": np.empty(rows, np.float32)}
    size, additions = (
        float(np.abs(args["x"]).sum(axis=1).max()),
        -(-n // 256) + 8,
    )  # that a number goes through
    return Launch(rows, 256, args, out=("y",), label=label, K=additions, scale=size, owner=_owner)


def _owner(launch, row):
    return (row,), (0,)


def _cases(rng):
    return [
        _launch(rng, 3, 256, "one element a thread"),
        _launch(
            rng,
            2,
            256 * int(rng.integers(2, 9)) + int(rng.integers(1, 250)),
            "several elements a thread, ragged",
        ),
        _launch(rng, 4, int(rng.integers(5, 120)), "fewer elements than threads"),
        _launch(rng, 1, 1, "one element"),
    ]


@limit("wavefronts of shared memory")
def _tree(report, launch):
    """A tree of 256 takes 45 wavefronts for filling and adding; one thread that adds alone takes over 256."""
    waves = report.total("wavefronts", space="shared") / launch.grid
    adding = 16 * -(
        -int(launch.args["n"]) // 256
    )  # where threads add up on the table, not in a register
    if waves <= 80 + adding:
        return None
    rows = [row for row in report.accesses if row["space"] == "shared"]
    row = max(rows, key=lambda row: row["wavefronts"])
    alone = "one thread adds up the parts of all, or of many: let 128 threads add, then 64, then 32, ..."
    wide = (
        "more warps than needed access shared memory in a round: only the threads below half may add, s[t] += "
        "s[t + half] if t < half"
    )
    return (
        f"{waves:.0f} wavefronts of shared memory per row, but 46 are enough",
        alone if row["threads"] < 2 * row["requests"] else wide,
    )


check_row_sum = KernelCheck(
    "ROW_SUM",
    "row_sum",
    _cases,
    lambda n, x, y: x.sum(axis=1),
    axes=("row",),
    limits=[
        uses_shared(),
        at_most(
            "requests",
            0,
            "the sum needs no atomic: the threads share their parts in shared memory",
            op="atomic",
        ),
        loads_each_once("x"),
        at_most_sectors(
            "x",
            "load",
            5,
            "neighbouring threads do not access neighbouring elements: let thread t take t, t + 256, t + 512, ..., so "
            "that in each round neighbours load neighbours",
        ),
        at_most(
            "requests",
            lambda launch: 16 * launch.grid * -(-int(launch.args["n"]) // 256),
            "only some threads load the row: all 256 must take part, thread t with t, t + 256, ...",
            space="global",
            array="x",
            op="load",
        ),
        no_bank_conflicts(
            cause="threads of a warp add words that are 2, 4, 8, ... apart, or share a bank in another "
            "way. Add the upper half onto the lower, s[t] += s[t + half]: neighbours read neighbours"
        ),
        _tree,
        at_most(
            "bytes",
            lambda launch: launch.args["y"].nbytes,
            "one thread stores the sum of a row, once",
            array="y",
            op="store",
        ),
    ],
    causes=[
        (
            lambda e: e["tool"] == "synccheck",
            "the barrier is where only some threads reach it: the `if` is for the adding, the barrier after "
            "it is for all",
        ),
        (
            lambda e: e["tool"] == "initcheck" and e["array"] == "y",
            "y does not start at 0: thread 0 must store the sum there, and nothing may add to it",
        ),
        (
            lambda e: e["tool"] == "initcheck" and e["array"] != "x",
            "a part of shared memory was never filled: either a thread without an element stores no 0, or an index "
            "goes beyond what the threads fill",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] == "x",
            "a row has n elements and begins at x[blockIdx.x * n]: either it does not begin there, or the load is not "
            "kept to the n elements",
        ),
        (
            lambda e: e["tool"] == "memcheck" and e["array"] not in ("x", "y"),
            "either the array is too small (256 partial sums need 256 elements), or the index is too large: only "
            "threads below half may add s[t + half]",
        ),
        (
            lambda e: e["tool"] == "racecheck" and e["array"] == "y" and e["kind"] == "blocks",
            "each block stores the sum of its own row: y[blockIdx.x]",
        ),
        (
            lambda e: e["tool"] == "racecheck" and e["array"] == "y",
            "several threads store the sum of a row: one is enough",
        ),
        (
            lambda e: e["tool"] == "racecheck" and e["array"] == "x",
            "x is an input: add in shared memory, not in x",
        ),
        (
            lambda e: e["tool"] == "racecheck" and e["op"] == e["other"]["op"] == "store",
            "several threads store to one word of shared memory: each needs a word of its own",
        ),
        (
            lambda e: e["tool"] == "racecheck",
            "a round reads what the round before has written: put a barrier after filling, and one after each "
            "round, also for the last 32 threads; and in a round no thread may change what another one reads",
        ),
    ],
)
