"""The cause that a finding of the engine shows by itself: for a check, which knows whose element is whose.

The engine's own sentences are for any kernel. Those that would send a student of a task the wrong way are told here.
"""

import numpy as np

from course_lib.checks.kit.kernels.compiling import source_line
from course_lib.checks.kit.kernels.running import owner_of, triple, x_across
from course_lib.checks.kit.kernels.values import wanted
from course_lib.checks.kit.known.guess import guess

MOST = 20_000  # elements whose owner is looked up
EACH_ITS_OWN = (
    "access the same element: compare them, and check how the index is computed: its stride, how it uses the "
    "block, and which threads the guard stops"
)
ORDER = (
    "nothing orders these two accesses: either a barrier for the whole block is missing between them, or one "
    "of the two indices is wrong"
)
WHOSE_ELSE = (
    "a guard such as `if (i < n)` is missing or off by one, or the index is wrong: check what it is made of, its "
    "stride, and the bound of the loop around it"
)
IN_A_TABLE = "the index runs past the end of the array: check the loop's bound, the offset, and the array's size"
BEFORE_A_TABLE = (
    "the index lies before the first element: check what the guard before this access asks (the thread, its place in "
    "the block or among all?), and the offset"
)
INSIDE = "{what} is not: the last one is {last}. Does the guard before this access ask for both, row and column?"
OF_A_FRAGMENT = (
    "the 16 x 16 numbers of the fragment reach beyond the array: check the first one's address, and the leading "
    "dimension, which is the length of the array's rows, padding included"
)


@guess
def cause_of_fault(check, run, error, said):
    """The likely cause of a finding in a launch of a KernelCheck; `said`: what the engine says of it."""
    if error["tool"] == "racecheck":
        return _race(run, error, said)
    if error["tool"] == "memcheck" and error["kind"] == "outside":
        return _outside(check, run, error) or said
    return said


def _race(run, error, said):
    other = error["other"]
    if not other or "atomic" in (error["op"], other["op"]):
        return said
    if error["op"] == other["op"] == "store" or error["kind"] == "blocks":
        who = "two blocks" if error["kind"] == "blocks" else "two threads"
        return f"{who} {EACH_ITS_OWN}" if error["array"] in run.launch.outs else said
    return ORDER if error["kind"] == "block" and "one element" not in said else said


def _outside(check, run, error):
    """Has this thread an element of the output? Then its guard is not what is missing."""
    if "_matrix_sync" in source_line(run.report.source, error["line"] or 0):
        return OF_A_FRAGMENT
    if error["array"] not in run.launch.args:
        return BEFORE_A_TABLE if error["index"] < 0 else IN_A_TABLE
    mine = _element_of(check, run, error)
    if mine is None or _may_be_turned(run.launch, error):
        return _past_one_edge(run, error) or WHOSE_ELSE
    if not mine:
        where = "lies beyond the edge and " if run.launch.owner is x_across else ""
        others = error["op"] == "load" and _shares(run)
        loads = ", or the index of what it loads for others is wrong" if others else ""
        return (
            f"this thread {where}has no element of the output: the guard before this access is missing or does not "
            f"stop it{loads}"
        )
    return (
        f"this thread has an element of the output, {mine}, so the thread should run, but the index of this "
        "access goes too far. Check its stride, its offset, the bound of the loop around it, and the guard before it"
    )


def _may_be_turned(launch, error):
    """May x run down as well, by the grid, and has the thread there an element the one way, and none the other?"""
    name = launch.outs[0]
    if launch.owner is not x_across or launch.args[name].ndim != 2 or not error["block"]:
        return False
    rows, columns = launch.args[name].shape
    sides = [g * b for g, b in zip(triple(launch.grid), triple(launch.block), strict=True)]
    x, y = _place(launch, error)
    both = min(sides[:2]) >= max(rows, columns)
    return both and (y < rows and x < columns) != (x < rows and y < columns)


def _place(launch, error):
    """x and y of the thread among all."""
    size = triple(launch.block)
    return tuple(error["block"][i] * size[i] + error["thread"][i] for i in (0, 1))


def _shares(run):
    """Does the kernel use shared memory, so that a thread may load for others?"""
    return any(row["space"] == "shared" for row in run.report.accesses)


def _past_one_edge(run, error):
    """The thread's own row (y) or column (x) is inside a matrix; the other index of its access is just beyond."""
    array, launch = error["array"], run.launch
    if launch.args[array].ndim != 2 or not error["block"]:
        return None
    rows, columns = launch.args[array].shape
    size, (x, y) = triple(launch.block), _place(launch, error)
    column = error["index"] - y * columns
    if y < rows and columns <= column < columns + size[0]:
        return INSIDE.format(
            what=f"row {y} is inside {array}, but column {column}", last=columns - 1
        )
    row, rest = divmod(error["index"] - x, columns)
    if x < columns and not rest and rows <= row < rows + size[1]:
        return INSIDE.format(what=f"column {x} is inside {array}, but row {row}", last=rows - 1)
    return None


def _element_of(check, run, error):
    """The first element of an output that the thread owns, as C writes it; "" for none; None: nobody knows."""
    me, launch = (tuple(error["block"] or ()), tuple(error["thread"] or ())), run.launch
    filled = wanted(check.reference, launch, run.before)  # without the gaps between rows
    for name, array in filled.items():
        shape = array.shape
        if launch.owner is None or np.prod(shape) > MOST:
            continue
        owners = ((index, owner_of(launch, index)) for index in np.ndindex(*shape))
        own = next((index for index, owner in owners if owner == me), None)
        return name + "".join(f"[{i}]" for i in own) if own else ""
    return None
