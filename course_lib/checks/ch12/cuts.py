"""The checks of chapter 12 on cuts: what crosses for each cut of the box, and the parts of a two-layer network."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, property_check, ragged, require
from course_lib.checks.kit.freeform import function_check
from course_lib.mpi.flat import shard

# crossing -------------------------------------------------------------------------------------------------------------

INDICES = {"X": "ik", "dX": "ik", "W": "kj", "dW": "kj", "Z": "ij", "dZ": "ij"}
PRODUCTS = {"Z": ("X", "W"), "dX": ("dZ", "W"), "dW": ("X", "dZ")}
PAPERS = {"i": ("X", "dX"), "k": ("dZ", "Z"), "j": ("W", "dW")}
SWAPPED = {"i": ("W", "dW"), "k": ("X", "dX"), "j": ("dZ", "Z")}


@function_check("crossing")
def check_crossing(crossing, *, rng):
    """`crossing(axis)` -> (read whole, summand); the truth is what slabs do when they compute."""
    given = {axis: crossing(axis) for axis in "ikj"}
    for axis, pair in given.items():
        fits = (
            isinstance(pair, tuple | list)
            and len(pair) == 2
            and all(isinstance(name, str) and name in INDICES for name in pair)
        )
        require(
            fits,
            f"two names of {', '.join(INDICES)} are wanted",
            got=pair,
            where=f'axis "{axis}"',
            cause="one text: give a pair of two texts" if isinstance(pair, str) else None,
        )
    if {axis: tuple(pair) for axis, pair in given.items()} == PAPERS:
        require(
            False,
            "i and j are swapped",
            cause="these are Darve 2019's letters: here i is an example, j an output",
        )
    swapped = {axis: tuple(pair) for axis, pair in given.items()} == SWAPPED
    more = " k and j are swapped: k is an input neuron, j an output neuron" if swapped else ""
    for axis, (read, summed) in given.items():
        _right(axis, read, summed, more)
    return "the six answers, as slabs of the box have them"


def _right(axis, read, summed, more):
    for name in (read, summed):
        require(
            axis not in INDICES[name],
            f"{name} is not the matrix",
            where=f'axis "{axis}"',
            cause=f"{name} has the indices {' and '.join(INDICES[name])}: it is cut with {axis}"
            + (f", so {name} is complete where it is made" if name in PRODUCTS else "")
            + f". Which matrix has no {axis}?{more}",
        )
    require(
        summed in PRODUCTS and read not in PRODUCTS,
        "what is read and what is summed are swapped"
        if read != summed
        else "the two names are the same",
        where=f'axis "{axis}"',
        cause="of "
        + next(
            name for name, factors in PRODUCTS.items() if all(axis in INDICES[f] for f in factors)
        )
        + f" each rank has a summand, because it is a sum over {axis}; the other matrix of that face is only read",
    )


# split_two ------------------------------------------------------------------------------------------------------------


def _params(rng, n0, n1, n2, dtype=np.float32):
    shapes = ((n0, n1), (n1,)), ((n1, n2), (n2,))
    return [tuple(normal(rng, *shape, dtype=dtype) for shape in layer) for layer in shapes]


def _split_cases(rng):
    cases = []
    for p in (1, 2, 3, 4):
        n0, n1, n2 = ragged(rng, 3, 6, 15)
        n1 += n1 % p == 0 and p > 1  # a remainder
        for r in range(p):
            dtype = (np.float32, np.float64)[r % 2]
            cases.append(Case((_params(rng, n0 + 3, n1, n2, dtype), p, r), f"rank {r} of {p}"))
    return [*cases, Case((_params(rng, 4, 2, 5), 3, 2), "rank 2 of 3, two hidden neurons")]


def _parts(params, p, r):
    (W1, b1), (W2, b2) = params
    mine = shard(len(b1), p, r)
    return [(W1[:, mine], b1[mine]), (W2[mine], b2)]


_split = Check(
    "split_two",
    _split_cases,
    _parts,
    each=("W", "b"),
)


def check_split_two(split_two, seed=None):
    """`split_two(params, p, r)` -> the part of rank r: copies."""
    _split(split_two, seed)
    _copies(split_two, seed=seed)


@property_check("split_two")
def _copies(split_two, *, rng):
    for p in (2, 1):  # of one rank the part is all there is, and still a copy
        params = _params(rng, 7, 9, 5)
        _require_copies(split_two(params, p, p - 1), params)
    return "copies, which a rank may change"


def _require_copies(local, params):
    for layer, (part, whole) in enumerate(zip(local, params, strict=True)):
        for name, mine, theirs in zip("Wb", part, whole, strict=True):
            require(
                mine is not theirs,
                f"{name}{layer + 1} is the caller's array itself",
                cause="updating the part changes the caller's array: use .copy()",
            )
            require(
                not np.shares_memory(mine, theirs),
                f"{name}{layer + 1} is a view into the whole array",
                cause=(
                    "a slice keeps the whole array alive, and updating the part changes the caller's array: "
                    "use .copy()"
                ),
            )
