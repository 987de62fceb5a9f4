"""The check of chapter 12 on the grid of ranks: two communicators by Split, and what is summed over which."""

from course_lib.checks.ch12.layers import waiting
from course_lib.checks.ch12.traffic import beyond_the_sums, hand_made
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck


def _cases(rng, n):
    shapes = (13, 25), (24, 17)  # more than pickling adds
    return [
        RankCase(
            [(m, *(normal(rng, *shape) for shape in shapes)) for _ in range(n)],
            f"{n // m} x {m}",
            K=n,
        )
        for m in range(1, n + 1)
        if n % m == 0
    ]


def _sums(group=lambda r, m, n: r // m, place=lambda r, m, n: r % m, swap=False, mean=0, both=0):
    """The references: mean: dW over its ranks; both=1: both are summed over the group, both=2: over the place."""

    def reference(ranks):
        n, m = len(ranks), ranks[0][0]
        groups, places = ([f(r, m, n) for r in range(n)] for f in (group, place))
        over = [places, groups] if swap else [groups, places]
        over = [over[both - 1]] * 2 if both else over
        found = []
        for r in range(n):
            with_me = [
                [ranks[q][1 + k] for q in range(n) if over[k][q] == over[k][r]] for k in (0, 1)
            ]
            found.append((sum(with_me[0]), sum(with_me[1]) / (len(with_me[1]) if mean else 1)))
        return found

    return reference


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
    _sums(),
    limits=[_two_sums],
    diagnoses=[
        (_sums(lambda r, m, n: 0), "Z is added up over all ranks, also those with other examples"),
        (
            _sums(place=lambda r, m, n: 0),
            "dW is added up over all ranks, also those with other weights",
        ),
        (
            _sums(lambda r, m, n: r // (n // m), lambda r, m, n: r % (n // m)),
            "model and data are exchanged: a group "
            "has `model` ranks, and there are comm.size // model groups",
        ),
        (
            _sums(both=2),
            "Z is added up over the ranks at one place: but these have different examples",
        ),
    ],
    causes=[
        (
            waiting,
            "Split is collective: every rank must call it, every time, also those whose part is elsewhere",
        )
    ],
)
