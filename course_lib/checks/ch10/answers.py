"""The checks of chapter 10 that run nothing: who has what after five collectives, and bytes on paper."""

import numpy as np

from course_lib.checks.kit.core import require
from course_lib.checks.kit.freeform import function_check
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.trees import a_thing

# who has what ---------------------------------------------------------------------------------------------------------

HAVE: list = [[0, 20, 20, None, 63], [1, 20, 21, 6, 63], [2, 20, 22, None, 63]]
CALLS = ("comm.rank", "bcast", "scatter", "reduce", "allreduce")


def _why(place, rank, got):
    """What is wrong with entry `place` of a rank's list: the likely cause."""
    if place == 0:
        return "a rank's own number: 0, 1 or 2"
    if place == 1:
        return "in a broadcast the root's argument goes to all, here rank 2's; the arguments of the others are ignored"
    if place == 2:
        return (
            "scatter: each rank gets one item of the root's list, rank r the item r; here the root is rank 0, "
            "which has 20"
        )
    if place == 3 and got is not None and rank != 1:
        late = "root=1: it is rank 1 that gets the sum" if rank == 0 else "a reduce gives the sum"
        return f"{late}, only at its root; all others get None"
    if place == 3:
        return "the sum of comm.rank + 1 over the three ranks, at the root; root=1"
    return "allreduce adds up the arguments of all ranks, here what each got from scatter, and all get the sum"


BY_LINE = "make one list per rank, with an entry for each line of the puzzle, not one list per line"


def _length(x):
    return len(x) if isinstance(x, list | tuple) else None


@function_check("who_has_what")
def check_who_has_what(fn, *, rng):
    """`who_has_what()` -> three lists of five."""
    got: list = fn()
    by_line = isinstance(got, list | tuple) and [_length(x) for x in got] == [3] * 5
    require(
        isinstance(got, list | tuple) and len(got) == 3,
        "return three lists, one per rank",
        got=a_thing(got),
        cause=BY_LINE if by_line else None,
    )
    for rank, have in enumerate(got):
        require(
            isinstance(have, list | tuple) and len(have) == 5,
            f"rank {rank}: there must be five entries",
            got=a_thing(have),
        )
    for place, call in enumerate(CALLS):
        for rank, have in enumerate(got):
            want = HAVE[rank][place]
            number = have[place] is not None and np.ndim(have[place]) == 0
            right = have[place] is None if want is None else number and have[place] == want
            require(
                right,
                f"not what rank {rank} has after {call}",
                where=f"rank {rank}, entry {place}",
                got=repr(have[place]),
                cause=_because(got, place, rank),
            )
    return "all fifteen entries"


@guess
def _because(got, place, rank):
    """The cause for an entry, seen together with those of the other ranks."""
    column = [have[place] for have in got]
    if place == 1 and column == [0, 0, 0]:
        return "root=2: the data come from rank 2, not from rank 0"
    if place == 3 and column == [6, 6, 6]:
        return "reduce gives the sum only at its root; all others get None"
    if place == 3 and [c is None for c in column] == [False, True, True]:
        return "root=1: it is rank 1 that gets the sum"
    return _why(place, rank, column[rank])


# bytes on paper -------------------------------------------------------------------------------------------------------

WANTED = {
    "root": "rank 0 sends the sum to each of the others, n bytes each time; what it receives does not count here",
    "trees": "on the way up rank 0 sends nothing, on the way down it sends one array in each of the log2(p) rounds; "
    "rank 1 sends once up and log2(p) - 1 times down",
    "doubling": "log2(p) rounds, and in each of them every rank sends one message of n bytes",
    "ring": "two halves of p - 1 steps, and in each step one of the p parts: n / p bytes",
}


def _truth(p, n):
    rounds = p.bit_length() - 1
    ring = 2 * (p - 1) * n // p
    return {"root": (p - 1) * n, "trees": rounds * n, "doubling": rounds * n, "ring": ring}


def _floats(value):
    return "`/` and math.log2 give floats; `//` gives an int" if isinstance(value, float) else None


@function_check("paper")
def check_paper(fn, *, rng):
    """`paper(p, n)` -> dict of four numbers of bytes."""
    drawn = [(p, p * int(rng.integers(3, 90))) for p in (8, 4, 2, 64)]
    given: list = [fn(p, n) for p, n in drawn]
    for got in given:
        require(isinstance(got, dict), "return a dict", got=a_thing(got))
        missing = [key for key in WANTED if key not in got]
        require(not missing, f"{', '.join(missing)} missing from the dict")
    for key, rule in WANTED.items():
        for got in given:
            whole = isinstance(got[key], int | np.integer) and not isinstance(got[key], bool)
            require(whole, f"{key} must be an int", got=a_thing(got[key]), cause=_floats(got[key]))
        pairs = list(zip(given, drawn, strict=True))
        wrong = [(got, args) for got, args in pairs if got[key] != _truth(*args)[key]]
        require(
            not wrong,
            f"{key} is not right",
            got=", ".join(str(got[key]) for got, _ in wrong),
            wanted=rule,
            where="; ".join(f"p = {p}, n = {n:,}" for _, (p, n) in wrong)
            + ", and there alone" * (len(wrong) < len(drawn)),
        )
    return "four ways, four values of p"
