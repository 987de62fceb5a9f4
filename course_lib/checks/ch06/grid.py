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


def _grid_for(M, N, block):
    across, down = -(-N // block[0]), -(-M // block[1])
    return (across, down), across * down * block[0] * block[1] - M * N


def _cases(rng):
    M, N = ragged(rng, 2, 40, 400)
    return [
        Case((M, N, (32, 8)), "ragged"),
        Case((N, M, (16, 16)), "square blocks"),
        Case((64, 32, (32, 8)), "no edge"),
        Case((8 * M, 32 * N + 3, (32, 8)), "an edge on the right alone"),
        Case((8 * N + 5, 32 * M, (32, 8)), "an edge below alone"),
        Case((1, 1, (32, 8)), "one element"),
        Case((3, 1000, (8, 32)), "a few long rows"),
        Case((M, 3, (1, 256)), "blocks one thread wide"),
        Case((N, 2048, (256, 1)), "one row a block"),
    ]


GRID = Check(
    "grid_for",
    _cases,
    lambda M, N, block: _grid_for(M, N, block),
    dtype=None,
    parts=("grid", "idle threads"),
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
    _served(fn, 64, 32, (32, 8), "no edge")
    _served(fn, LIMIT, 5, (256, 1), "65,535 blocks along y are the most, and allowed")
    _served(fn, LIMIT * 8, 5, (32, 8), "65,535 blocks along y are the most, and allowed")
    _served(fn, 5, LIMIT * 64, (32, 8), "along x a grid may have more than 65,535 blocks")
    _refused(fn, LIMIT * 16, (32, 8))
    _refused(fn, LIMIT + 1, (256, 1))
    _refused(fn, LIMIT * 8 + 1, (32, 8))
    return "every grid right, and too tall ones refused"


def _served(fn, M, N, block, why):
    got, wanted = _outcome(fn, M, N, block), _grid_for(M, N, block)
    served = (
        isinstance(got, tuple | list)
        and len(got) == 2
        and tuple(got[0]) == wanted[0]
        and got[1] == wanted[1]
    )
    require(
        served,
        f"{M:,} x {N:,} in blocks of {block}: {why}",
        got=repr(got),
        wanted=repr(wanted),
    )


def _refused(fn, M, block):
    got = _outcome(fn, M, 5, block)
    require(
        got == "ValueError",
        f"{M:,} rows in blocks of {block} need {-(-M // block[1]):,} blocks along y, and no grid has more "
        "than 65,535",
        got=repr(got),
        wanted="raise ValueError(...)",
    )


def _outcome(fn, M, N, block):
    """What comes back, or the name of what is raised."""
    try:
        return fn(M, N, block)
    except NotImplementedError:
        raise
    except Exception as error:
        return short_error(error).partition(":")[0]
