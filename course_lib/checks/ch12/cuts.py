"""The checks of chapter 12 on cuts: what crosses for each cut of the box, and the parts of a two-layer network."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, property_check, ragged, require
from course_lib.checks.kit.freeform import function_check
from course_lib.mpi.flat import shard

# crossing -------------------------------------------------------------------------------------------------------------

INDICES = {"X": "ik", "dX": "ik", "W": "kj", "dW": "kj", "Z": "ij", "dZ": "ij"}
PRODUCTS = {"Z": ("X", "W"), "dX": ("dZ", "W"), "dW": ("X", "dZ")}
PAPERS = {"i": ("X", "dX"), "k": ("dZ", "Z"), "j": ("W", "dW")}


@function_check("crossing")
def check_crossing(crossing, *, rng):
    """`crossing(axis)` -> (read whole, summand); the truth is what slabs do when they compute."""
    given = {axis: crossing(axis) for axis in "ikj"}
    for axis, pair in given.items():
        fits = (
            isinstance(pair, tuple | list)
            and len(pair) == 2
            and all(name in INDICES for name in pair)
        )
        require(
            fits, f"two names of {', '.join(INDICES)} are wanted", got=pair, where=f'axis "{axis}"'
        )
    if {axis: tuple(pair) for axis, pair in given.items()} == PAPERS:
        require(
            False,
            "i and j are exchanged",
            cause="these are [003]'s letters: here i is an example, j an output",
        )
    for axis, (read, summed) in given.items():
        _right(axis, read, summed)
    return "the six answers, as slabs of the box have them"


def _right(axis, read, summed):
    for name in (read, summed):
        require(
            axis not in INDICES[name],
            f"{name} is not the matrix",
            where=f'axis "{axis}"',
            cause=f"{name} has the indices {' and '.join(INDICES[name])}: it is cut with {axis}"
            + (f", so {name} is complete where it is made" if name in PRODUCTS else "")
            + f". Which matrix has no {axis}?",
        )
    require(
        summed in PRODUCTS and read not in PRODUCTS,
        "what is read and what is summed are exchanged"
        if read != summed
        else "the two names are the same",
        where=f'axis "{axis}"',
        cause="of "
        + next(
            name for name, factors in PRODUCTS.items() if all(axis in INDICES[f] for f in factors)
        )
        + f" each rank has a summand, for it is made by a sum over {axis}; the other matrix of that face is only read",
    )


# split_two ------------------------------------------------------------------------------------------------------------


def _params(rng, n0, n1, n2):
    return [(normal(rng, n0, n1), normal(rng, n1)), (normal(rng, n1, n2), normal(rng, n2))]


def _split_cases(rng):
    cases = []
    for p in (1, 2, 3, 4):
        n0, n1, n2 = ragged(rng, 3, 6, 15)
        n1 += n1 % p == 0 and p > 1  # a remainder
        for r in range(p):
            cases.append(Case((_params(rng, n0 + 3, n1, n2), p, r), f"rank {r} of {p}"))
    return cases


def _parts(
    W1=lambda W, p, r, mine: W[:, mine],
    b1=lambda b, p, r, mine: b[mine],
    W2=lambda W, p, r, mine: W[mine],
    b2=lambda b, p, r, mine: b,
    mine=None,
):
    def split_two(params, p, r):
        (one, b_one), (two, b_two) = params
        own = (mine or shard)(len(b_one), p, r)
        return [
            (W1(one, p, r, own), b1(b_one, p, r, own)),
            (W2(two, p, r, own), b2(b_two, p, r, own)),
        ]

    return split_two


def _rows(W, p, r, mine):
    return W[shard(len(W), p, r)]


def _columns(W, p, r, mine):
    return W[:, shard(W.shape[1], p, r)]


def _whole(x, p, r, mine):
    return x


_split = Check(
    "split_two",
    _split_cases,
    _parts(),
    each=("W", "b"),
    diagnoses=[
        (
            _parts(W1=_rows, b1=_whole, W2=_columns, b2=_rows),
            "these are [003]'s rows and columns, but its W is our W transposed",
        ),
        (
            _parts(W1=_rows, b1=_whole, W2=_columns, b2=_whole),
            "these are [003]'s rows and columns, but its W is our W transposed",
        ),
        (
            _parts(W2=_columns, b2=_rows),
            "both layers are cut by columns: then A1 must be stacked on every rank before "
            "layer 2. Cut W2 by rows, the hidden neurons that this rank has",
        ),
        (
            _parts(W1=_rows),
            "W1 is cut along the wrong axis: its rows are the inputs, its columns the hidden neurons",
        ),
        (
            _parts(W1=_rows, b1=_whole),
            "W1 is cut along the wrong axis: its rows are the inputs, its columns the hidden "
            "neurons",
        ),
        (_parts(W2=_columns), "W2 is cut along the wrong axis: its rows are the hidden neurons"),
        (_parts(_whole, _whole, _whole), "nothing is cut: every rank has all of the network"),
        (_parts(b1=_whole), "b1 belongs to the hidden neurons, and these are cut"),
        (
            _parts(b2=_rows),
            "b2 belongs to the outputs, and these are not cut: it is whole on every rank",
        ),
        (
            _parts(b2=lambda b, p, r, mine: b / p),
            "b2 is whole on every rank, not a p-th of it: forward adds it once, after the sum",
        ),
        (
            _parts(mine=lambda n, p, r: slice(r * (n // p), (r + 1) * (n // p))),
            "the remainder: n1 // p neurons each "
            "leave n1 % p with nobody. shard(n1, p, r) gives them out",
        ),
        (
            _parts(
                mine=lambda n, p, r: slice(r * (n // p), (r + 1) * (n // p) if r < p - 1 else n)
            ),
            "the remainder went "
            "to the last rank: shard(n1, p, r) gives one neuron more to each of the first",
        ),
        (
            _parts(mine=lambda n, p, r: slice(r, n, p)),
            "every p-th neuron is a fair share, too, but the others count on shard(n1, p, r)",
        ),
    ],
)


def check_split_two(split_two, seed=None):
    """`split_two(params, p, r)` -> the part of rank r: copies."""
    _split(split_two, seed)
    _copies(split_two, seed=seed)


@property_check("split_two")
def _copies(split_two, *, rng):
    params = _params(rng, 7, 9, 5)
    local = split_two(params, 2, 1)
    for layer, (part, whole) in enumerate(zip(local, params, strict=True)):
        for name, mine, theirs in zip("Wb", part, whole, strict=True):
            require(
                not np.shares_memory(mine, theirs),
                f"{name}{layer + 1} is a view into the whole array",
                cause="a slice keeps all of the array alive, and an update of the part changes the caller's: .copy()",
            )
    return "copies, which a rank may change"
