"""Checks of two sums over ranks: the mean of uneven shards, and all gradients in one message."""

import numpy as np

from course_lib.checks.kit.core import normal, ragged
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import exactly_collectives, same_bits_on_all_ranks

# mean_of_means ------------------------------------------------------------------------------------------------------


def _uneven(rng, n):
    def case(rows, label):
        k = int(rng.integers(3, 9))
        means = [
            normal(rng, k) if rows_here else np.full(k, np.nan, np.float32) for rows_here in rows
        ]
        return RankCase(
            [(mean, int(rows_here)) for mean, rows_here in zip(means, rows, strict=True)],
            label,
            K=n + 3,
        )

    rows = rng.permutation(n) * 3 + int(rng.integers(1, 5))
    some = rows.copy()
    some[rng.integers(0, n)] = 0 if n > 1 else some[0]
    return [case(rows, "uneven shards"), case(some, "a rank without rows" if n > 1 else "one rank")]


def _combined(ranks):
    """The sum of n / B times each mean, where there are rows."""
    B = sum(n for _, n in ranks)
    return sum(mean * n / B for mean, n in ranks if n)


OWN_ORDER = (
    "the ranks round differently, as where each adds the same numbers in a different order: one sum for all, "
    "by Allreduce, is the same on every rank"
)

check_mean_of_means = RankCheck(
    "mean_of_means",
    _uneven,
    _combined,
    limits=[same_bits_on_all_ranks(OWN_ORDER)],
)


# sum_gradients ------------------------------------------------------------------------------------------------------


def _gradients(rng, n):
    sizes = ragged(rng, 4, 2, 9)

    def grads(turned, sizes):
        pairs = [
            (normal(rng, a, b), normal(rng, b)) for a, b in zip(sizes, sizes[1:], strict=False)
        ]
        return [(np.asfortranarray(dW) if turned else dW, db) for dW, db in pairs]

    label, fewer = (f"layers of {'-'.join(map(str, some))}" for some in (sizes, sizes[:3]))
    return [
        RankCase([(grads(False, sizes),) for _ in range(n)], label, K=n),
        RankCase(
            [(grads(True, sizes[:3]),) for _ in range(n)], f"{fewer}, dW in Fortran's order", K=n
        ),
    ]


def _sum(ranks):
    lists = [grads for (grads,) in ranks]
    sums = [
        tuple(sum(parts) for parts in zip(*pairs, strict=True))
        for pairs in zip(*lists, strict=True)
    ]
    return [sums] * len(ranks)


def _capital(report, n, case):
    """The small-letter sister pickles: right for a number, a detour for arrays."""
    if any("allreduce" in dict(calls) for calls in report.collectives):
        return (
            "it calls allreduce with a small a, which pickles what it sends",
            "use a capital A to send arrays as they are: total = np.empty_like(flat); comm.Allreduce(flat, total)",
        )
    return None


def _bytes_reduced(report, n, case):
    """The Allreduce takes the gradients' own bytes, no more: float64 would be twice as many."""
    wanted = sum(part.nbytes for pair in case.args[0][0] for part in pair)
    got = max(
        (event["bytes"] for event in report.events if event["op"].startswith("Allreduce")),
        default=wanted,
    )
    if got > wanted:
        return (
            f"the Allreduce takes {got} bytes, but {wanted} hold all gradients in float32",
            "is the buffer float64? np.zeros(n) and np.empty(n) make that unless you give a dtype: use "
            "np.empty_like(flat)",
        )
    return None


check_sum_gradients = RankCheck(
    "sum_gradients",
    _gradients,
    _sum,
    limits=[
        _capital,
        exactly_collectives(
            {"Allreduce": 1},
            "one Allreduce of one flat array: each extra call costs latency, 2 (p - 1) alpha in a ring, "
            "whatever its size",
        ),
        _bytes_reduced,
    ],
)
