"""The check of the grid for a matrix of any shape."""

from course_lib.checks.kit.core import (
    Case,
    Check,
    CheckFailed,
    choose_seed,
    property_check,
    ragged,
    require,
)
from course_lib.checks.kit.probe import short_error
from course_lib.checks.kit.words import not_a_function

LIMIT = (
    65_535  # blocks of a grid along y: CUDA C++ programming guide, table of compute capabilities
)


def grid_by(
    across=lambda M, N, b: -(-N // b[0]),
    down=lambda M, N, b: -(-M // b[1]),
    idle=lambda x, y, M, N, b: x * y * b[0] * b[1] - M * N,
):
    """The right answer, or a known wrong one with a part replaced."""

    def grid_for(M, N, block):
        x, y = across(M, N, block), down(M, N, block)
        return (x, y), idle(x, y, M, N, block)

    return grid_for


def _cases(rng):
    M, N = ragged(rng, 2, 40, 400)
    return [
        Case((M, N, (32, 8)), "ragged"),
        Case((N, M, (16, 16)), "square blocks"),
        Case((64, 32, (32, 8)), "no edge"),
        Case((1, 1, (32, 8)), "one element"),
        Case((3, 1000, (8, 32)), "a few long rows"),
        Case((M, 3, (1, 256)), "blocks one thread wide"),
        Case((N, 2048, (256, 1)), "one row a block"),
    ]


GRID = Check(
    "grid_for",
    _cases,
    lambda M, N, block: grid_by()(M, N, block),
    dtype=None,
    parts=("grid", "idle threads"),
    diagnoses=[
        (
            grid_by(lambda M, N, b: N // b[0], lambda M, N, b: M // b[1]),
            "rounded down: the last rows and columns have no thread. -(-a // b) rounds up",
        ),
        (
            grid_by(lambda M, N, b: N // b[0] + 1, lambda M, N, b: M // b[1] + 1),
            "a block too many where the size is a multiple of the block: a // b + 1 is not rounding up",
        ),
        (
            grid_by(lambda M, N, b: -(-M // b[0]), lambda M, N, b: -(-N // b[1])),
            "x and y are swapped: x runs along the N columns, y down the M rows",
        ),
        (
            grid_by(lambda M, N, b: -(-N // b[1]), lambda M, N, b: -(-M // b[0])),
            "the block is (threads along x, threads along y), in this order",
        ),
        (
            lambda M, N, b: (grid_by()(M, N, b)[0][::-1], grid_by()(M, N, b)[1]),
            "the two are in the wrong order: blocks along x (columns of D) come first",
        ),
        (
            grid_by(idle=lambda x, y, M, N, b: x * b[0] - N + y * b[1] - M),
            "rows and columns beyond the edge are counted: each of them has many threads",
        ),
        (
            grid_by(idle=lambda x, y, M, N, b: x * y - M * N),
            "blocks are counted, and threads are asked for",
        ),
        (
            grid_by(idle=lambda x, y, M, N, b: x * y * b[0] * b[1]),
            "all threads are counted: M N of them have work",
        ),
        (
            grid_by(idle=lambda x, y, M, N, b: (x * b[0] - N) * (y * b[1] - M)),
            "only the corner is counted: a thread is idle if its row or its column is beyond the edge",
        ),
    ],
)


def check_grid_for(fn, seed=None):
    """The grid and its idle threads; ValueError where the grid would be too tall."""
    seed = choose_seed(seed)
    if not callable(fn):
        raise CheckFailed(not_a_function("grid_for", fn))
    GRID.right_answers(fn, seed)
    _check_limits(fn, seed=seed)


@property_check("grid_for")
def _check_limits(fn, *, rng):
    for M, block in ((LIMIT * 8 + 1, (32, 8)), (LIMIT + 1, (256, 1))):
        _refused(fn, M, block)
    for M, block in ((LIMIT * 8, (32, 8)), (LIMIT, (256, 1))):
        _served(fn, M, block)
    return "every grid right, and too tall ones refused"


def _served(fn, M, block):
    try:
        got = fn(M, 5, block)
    except Exception as error:
        got = short_error(error)
    wanted = grid_by()(M, 5, block)
    served = (
        isinstance(got, tuple | list)
        and len(got) == 2
        and tuple(got[0]) == wanted[0]
        and got[1] == wanted[1]
    )
    require(
        served,
        f"{M:,} rows in blocks of {block} are just served: 65,535 blocks along y",
        got=repr(got),
        wanted=repr(wanted),
        cause="blocks are limited, not rows",
    )


def _refused(fn, M, block):
    what = f"{M:,} rows in blocks of {block}"
    try:
        got = fn(M, 5, block)
    except ValueError:
        return
    except Exception as error:
        require(False, f"{what}: it stopped with {short_error(error)}", wanted="ValueError")
    require(
        False,
        f"{what} need more than 65,535 blocks along y, and no grid has more",
        got=repr(got),
        wanted="raise ValueError(...)",
        cause="such a launch fails, and on a GPU only: say it here",
    )
