"""The check of chapter 12 on the grid of ranks: two communicators by Split, and what is summed over which."""

from course_lib.checks.ch12.layers import waiting
from course_lib.checks.ch12.traffic import beyond_the_sums, hand_made
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck


def _cases(rng, n):
    shapes = (13, 25), (408,)  # more than pickling adds
    return [
        RankCase(
            [(m, *(normal(rng, *shape) for shape in shapes)) for _ in range(n)],
            f"{n // m} x {m}",
            K=n,
        )
        for m in range(1, n + 1)
        if n % m == 0
    ]


def _sums(ranks):
    """Z over the ranks of a group, dW over those at one place."""
    m, every = ranks[0][0], range(len(ranks))
    return [
        (
            sum(ranks[q][1] for q in every if q // m == r // m),
            sum(ranks[q][2] for q in every if q % m == r % m),
        )
        for r in every
    ]


def _two_sums(report, n, case):
    """Z over the group, dW over the place."""
    model, Z, dW = case.args[0]
    data = n // model
    by_hand = data * hand_made(model) * Z.nbytes + model * hand_made(data) * dW.nbytes
    what = beyond_the_sums(report, [Z.nbytes, dW.nbytes], by_hand)
    return what and (
        what,
        "a rank needs nothing from those outside its group and its place: two communicators by "
        "Split, and an allreduce over each",
    )


_two_sums.says = "two sums"  # type: ignore[attr-defined]

check_grid_sums = RankCheck(
    "grid_sums",
    _cases,
    _sums,
    limits=[_two_sums],
    causes=[
        (
            lambda error: waiting(error) and "Split" in error["message"],
            "Split is collective: every rank must call it every time, including those in another group",
        )
    ],
)
