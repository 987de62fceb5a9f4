"""The check of a function for MPI ranks: rehearsed with 1 to 6 ranks; results, manners, and limits on messages.

An author writes, in ch10.py for instance:

    def _cases(rng, n):
        B = 3 * n + 2
        return [RankCase([(normal(rng, B, 4),) for _ in range(n)], label="uneven", K=n)]

    check_total = RankCheck("total", _cases, lambda ranks: [sum(x for x, in ranks)] * len(ranks),
                            limits=[at_most_messages(lambda n, case: 2 * (n - 1)), no_collectives()])

and the check cell calls `ch10.check_total(total)`, where the student has written `def total(comm, x): ...`.

- RankCase.args: a tuple, the same for every rank (each gets a copy), or a list of n tuples, rank r's own.
- The reference gets the list of n tuples, all floats in float64, and gives the list of n results (a tuple where a
  rank returns
  several), or one NumPy array, number or tuple that all ranks return; `...` in a rank's place: not looked at.
- inplace=0: the first argument after comm takes the result (it is what is compared); out=(1,): that argument
  arrives full of NaN.
- What is looked at, in this order: blank; exceptions, deadlock, mismatch, truncation, timeout; wrong results,
  with rank and index;
  type, buffer, leftover ("the numbers are right, but ..."); changed arguments; limits. With n = 1 .. 6 ranks, see
  `ranks=`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

RANKS = (1, 2, 3, 4, 5, 6)


@dataclass(frozen=True)
class RankCase:
    """One program run: args, a tuple that every rank gets a copy of, or a list of n tuples; a label for messages.

    K: additions in the longest sum; scale: as in `Case`.
    """

    args: tuple | list
    label: str = ""
    K: int = 1
    scale: float | str | None = None


@dataclass(frozen=True)
class RankCheck:
    """A check of a function `f(comm, ...)` against a reference. Call it with the student's function.

    name: of the student's function. cases: (rng, n) -> list of RankCase for n ranks. reference: list of n
    argument tuples ->
    list of n results, or one for all. limits: functions (report, n, case) -> None or (what, cause), looked at last
    (ranks_limits.py). diagnoses: (wrong reference, "likely cause"), told when the results are those in all cases.
    causes: (function of an entry of Report.errors -> bool, "likely cause"), told in the place of the rehearsal's own.
    ranks: numbers of ranks to try. eager: as in rehearse: None (every send waits for its receiver). schedules:
    seeds of other
    orders, tried as well. inplace: position (after comm, from 0) of the argument that takes the result.
    out: positions of arguments that arrive full of NaN. may_change: positions of arguments that may change.
    dtype: of float arrays in the result: "input", a NumPy dtype or None. c: rounding steps per term. axes: names
    for the axes.
    """

    name: str
    cases: Callable
    reference: Callable
    limits: Sequence = ()
    diagnoses: Sequence = ()
    causes: Sequence = ()
    ranks: tuple = RANKS
    eager: int | None = None
    schedules: tuple = ()
    inplace: int | None = None
    out: tuple = ()
    may_change: tuple = ()
    dtype: object = "input"
    c: float = 4.0
    axes: tuple = ()
