"""The checks of chapter 10 on collectives: a scatter with a remainder, and a mean over uneven shards."""

import numpy as np

from course_lib.checks.kit.core import normal
from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import exactly_collectives, no_messages
from course_lib.checks.kit.ranks.slips import left_out_of_sum
from course_lib.checks.kit.words import count

ALONE_LAST = (2, 3, 4, 5, 6, 1)  # a mistake is shown with two ranks or more, if it shows there

# scatter_rows ---------------------------------------------------------------------------------------------------------


def _tables(rng, n):
    def case(rows, label):
        X = normal(rng, rows, int(rng.integers(2, 6)), dtype=np.float64)
        return RankCase([(X if r == 0 else None,) for r in range(n)], label=label)

    return [
        case(3 * n + n // 2, f"{3 * n + n // 2} rows"),
        case(20 * n, "an even number"),
        case(max(n - 1, 1), "few rows"),
        case(0, "no rows"),
    ]


def _shares(ranks):
    """Consecutive rows, one more for the first n mod p."""
    return np.array_split(ranks[0][0], len(ranks))


def _by_scatterv(report, n, case):
    """X travels once, by Scatterv; only its shape goes to all."""
    counts = report.collectives[0]
    if counts["Scatterv"] == 1:
        return None
    if counts["Scatterv"]:
        return "X should travel once, by one Scatterv", "one call, with the counts of all ranks"
    if counts["Scatter"]:
        return (
            "Scatterv was not called",
            "Scatter gives each rank as many rows: Scatterv has counts",
        )
    if any(
        e["op"].lower().endswith("bcast") and e["bytes"] >= case.args[0][0].nbytes > 0
        for e in report.events
    ):
        return "Scatterv was not called", _ALL
    if sum(report.messages):
        return "X was sent with your own messages", _ONE
    if counts["scatter"]:
        return "X went through scatter", (
            "a lower-case call sends pickles: Scatterv, with a capital S, sends the rows as they are in memory"
        )
    return "Scatterv was not called", _ONE


_ALL = "all of X to all ranks is p times the bytes: give each only its own rows"
_ONE = "one Scatterv does it: at the root [X, counts], the counts of all ranks"
_SHAPE = 400  # bytes that a shape may take, in one bcast or two, as a tuple or as an array; X of 40 rows has 640


@limit("bytes beside it")
def _shape_alone(report, n, case):
    """Beside the Scatterv, a rank sends no more than a shape to each of the others."""
    for rank in range(n):
        given = report.bytes[rank] + sum(
            e["bytes"]
            for e in report.events
            if e["rank"] == rank and e["op"] in report.collectives[rank] and e["op"] != "Scatterv"
        )
        if given > _SHAPE:
            return (
                f"with {count(n, 'rank')}, rank {rank} sends {given:,} bytes beside the Scatterv",
                "the others need the shape of X, two numbers; X itself travels by Scatterv, each row to one rank",
            )
    return None


_by_scatterv.says = "one Scatterv"  # type: ignore[attr-defined]


def _in_scatterv(error):
    other_length = error["tool"] == "mismatch" and "another size" in error["message"]
    return other_length and "Scatterv" in error["message"]


check_scatter_rows = RankCheck(
    "scatter_rows",
    _tables,
    _shares,
    limits=[_by_scatterv, _shape_alone],
    ranks=ALONE_LAST,
    causes=[
        (
            _in_scatterv,
            "the root's count for a rank is not the length of that rank's array: Scatterv wants counts in elements, "
            "d times the rank's whole rows, and each rank an array of as many",
        ),
    ],
    axes=("row", "column"),
)

# global_mean ----------------------------------------------------------------------------------------------------------


def _shards(rng, n):
    def case(rows, label):
        d = int(rng.integers(2, 6))
        return RankCase(
            [(normal(rng, k, d, dtype=np.float64) + 1,) for k in rows], label=label, K=sum(rows)
        )

    uneven = [int(k) for k in rng.integers(2, 9, n)]
    uneven[0] += n
    some, last = [r % 3 + 1 if r % 2 == 0 else 0 for r in range(n)], [*[0] * (n - 1), 5]
    return [
        case(uneven, "uneven shards"),
        case([4] * n, "even shards"),
        case(last, "ranks with no rows, all on the last"),
        case(some, "some ranks with no rows"),
    ]


def _mean(ranks):
    return np.concatenate([X for (X,) in ranks]).mean(axis=0)


check_global_mean = RankCheck(
    "global_mean",
    _shards,
    _mean,
    ranks=ALONE_LAST,
    limits=[
        no_messages("use Allreduce for the sum over all ranks"),
        exactly_collectives(
            {"Allreduce": 1},
            "the task wants one Allreduce: put the number of rows after the sums, in one array; a lower-case "
            "call would send a pickle",
        ),
    ],
    causes=[
        (left_out_of_sum, "every rank must call Allreduce, even one without rows: it adds zeros"),
    ],
    axes=("column",),
)
