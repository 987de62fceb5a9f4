"""The check on the cut of layers into stages: any cut whose dearest stage is as cheap as can be."""

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.trees import a_thing
from course_lib.mpi.pipeline import split


def dearest(costs, lengths):
    """The cost of the dearest stage."""
    ends = np.cumsum(lengths)[:-1]
    return max(int(part.sum()) for part in np.split(np.array(costs), ends))


def _drawn(rng):
    found = [([9, 1, 1, 1, 1, 1], 2), ([1, 1, 1, 1, 9], 3), ([2, 3, 4], 3), ([5, 6], 1)]
    found += [([7, 2, 3, 8, 1, 9, 4, 6], 3), ([40, 30, 30, 10, 10, 40], 3)]
    found.append(([9, 2, 3, 5, 2, 6, 9], 3))  # the most even cut is not the best one
    found.append(([1, 9, 4, 3, 1, 6, 3], 4))  # nor the one with the smallest sum of squares
    for L, S in ((7, 2), (8, 3), (9, 4), (10, 5)):
        found.append((rng.integers(1, 30, L).tolist(), S))
    return found


@function_check("cut")
def check_cut(cut, *, rng):
    """`cut(costs, S)` -> S lengths."""
    drawn = _drawn(rng)
    for costs, S in drawn:
        where = f"costs {costs}, S = {S}"
        given = cut(list(costs), S)
        lengths = _lengths(given, len(costs), S, where)
        cost, least = dearest(costs, lengths), dearest(costs, split(costs, S))
        require(
            cost == least,
            "the dearest stage is not as cheap as it can be",
            got=f"{tuple(lengths)}, the dearest stage costs {cost}",
            wanted=f"{least}, as with {split(costs, S)}",
            where=where,
        )
    return f"{len(drawn)} nets, no dearest stage can be cheaper"


def _lengths(given, L, S, where):
    """The answer as a list of int."""
    listed = isinstance(given, tuple | list | np.ndarray) and all(
        isinstance(n, int | np.integer) for n in given
    )
    require(listed, "S whole numbers are wanted, the layers in each stage", got=a_thing(given))
    lengths = [int(n) for n in given]
    require(
        len(lengths) == S,
        f"there must be {S} stages",
        got=f"{len(lengths)}: {lengths}",
        where=where,
    )
    require(min(lengths) >= 1, "each stage needs a layer", got=lengths, where=where)
    require(
        sum(lengths) == L,
        f"the stages must have {L} layers in all",
        got=f"{lengths}, {sum(lengths)} in all",
        where=where,
    )
    return lengths
