"""The checks of chapter 10 on sums: a tree that adds, and a ring allreduce."""

import numpy as np

from course_lib.checks.ch10.collectives import ALONE_LAST
from course_lib.checks.ch10.messages import FROM_NOBODY, from_nobody
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import (
    at_most_bytes,
    at_most_messages,
    at_most_seconds,
    at_most_total_messages,
    no_collectives,
)
from course_lib.checks.kit.words import count

# tree_reduce ----------------------------------------------------------------------------------------------------------


def _arrays(rng, n):
    sizes = (int(rng.integers(5, 30)), 1)
    return [
        RankCase([(normal(rng, size) + 2,) for _ in range(n)], label=f"{size} numbers", K=n)
        for size in sizes
    ]


def _at_root(total):
    return lambda ranks: [total([x for (x,) in ranks]), *[None] * (len(ranks) - 1)]


def _tree(xs, add=True, partial=True, stop=1):
    """What rank 0 has after a tree over xs; with slips: not added, own x sent, the last round left out."""
    have, bit = list(xs), 1
    while stop * bit < len(xs):
        for r in range(0, len(xs) - bit, 2 * bit):
            sent = have[r + bit] if partial else xs[r + bit]
            have[r] = have[r] + sent if add else sent
        bit *= 2
    return have


def _every_partial(ranks):
    """Each rank returns what it had when it sent."""
    return _tree([x for (x,) in ranks])


check_tree_reduce = RankCheck(
    "tree_reduce",
    _arrays,
    _at_root(sum),
    ranks=ALONE_LAST,
    limits=[
        no_collectives("a collective of MPI does the work: write it with Send and Recv"),
        at_most_total_messages(
            lambda n, case: n - 1, "each rank but 0 sends once: its partial sum, and is done"
        ),
        at_most_bytes(
            lambda n, case: case.args[0][0].nbytes,
            "a rank sends its partial sum, n float32, as a buffer: send with a small s makes a pickle of it",
        ),
        at_most_seconds(
            lambda n, case: (n - 1).bit_length(),
            1.0,
            0.0,
            "more than ceil(log2 size) rounds: one rank receives, or passes on, one after the "
            "other, while others "
            "could add at the same time",
        ),
    ],
    diagnoses=[
        (_at_root(lambda xs: xs[0]), "this is rank 0's own x: nothing was added"),
        (_every_partial, "rank 0 alone returns the sum: all others return None"),
        (
            lambda ranks: [sum(x for (x,) in ranks)] * len(ranks),
            "rank 0 alone returns the sum: all others return None",
        ),
    ],
)

# ring -----------------------------------------------------------------------------------------------------------------


def _lengths(rng, n):
    sizes = (7 * n + (n + 1) // 2, 5 * n, max(n - 1, 1), 0)
    labels = ("ragged parts", "parts of equal length", "fewer numbers than ranks", "an empty array")
    return [
        RankCase([(normal(rng, size),) for _ in range(n)], label=label, K=n, scale=float(n))
        for size, label in zip(sizes, labels, strict=True)
    ]


def _whole(ranks):
    return [sum(x for (x,) in ranks)] * len(ranks)


def _ring(add=1.0, target=-1, first=None, half=None, second=None, cut=np.array_split, steps=(0, 0)):
    """A reference: the ring, step by step, with slips. first(old, got): instead of adding; half: no second half."""

    def run(ranks):
        p = len(ranks)
        xs = [x.copy() for (x,) in ranks]
        parts = [cut(x, p) for x in xs]
        for s in range(p - 1 + steps[0]):
            sent = [parts[r][(r - s) % p].copy() for r in range(p)]
            for r in range(p):
                part, got = parts[r][(r - s + target) % p], sent[(r - 1) % p]
                k = min(len(part), len(got))
                part[:k] = first(part[:k], got[:k]) if first else part[:k] + add * got[:k]
        _second(parts, p, half, second)
        return xs

    return run


def _second(parts, p, half, second):
    shift = 0 if second else 1
    for s in range(0 if half else p - 1):
        sent = [parts[r][(r - s + shift) % p].copy() for r in range(p)]
        for r in range(p):
            part, got = parts[r][(r - s + shift - 1) % p], sent[(r - 1) % p]
            k = min(len(part), len(got))
            part[:k] = part[:k] + got[:k] if second == "add" else got[:k]


def _rebound(ranks):
    """parts[i] = parts[i] + got: x keeps its own numbers, but for part r, which arrives in the second half."""
    p, total = len(ranks), sum(x for (x,) in ranks)
    xs = [x.copy() for (x,) in ranks]
    for r, x in enumerate(xs):
        np.array_split(x, p)[r][:] = np.array_split(total, p)[r]
    return xs


def _mean(ranks):
    return [sum(x for (x,) in ranks) / len(ranks)] * len(ranks)


@limit("the right neighbour")
def _to_the_right(report, n, case):
    """Every message goes one rank to the right."""
    for event in report.events:
        rank, peers = event["rank"], event["peer"]
        if (
            not event["op"].lower().startswith(("send", "isend", "ssend", "issend"))
            or peers is None
        ):
            continue
        allowed = {(rank + 1) % n, (rank - 1) % n} if isinstance(peers, list) else {(rank + 1) % n}
        strange = sorted({*(peers if isinstance(peers, list) else [peers])} - allowed)
        if strange:
            return (
                f"with {count(n, 'rank')}, rank {rank} sends to rank {strange[0]}, or receives from it",
                "in a ring a rank sends to its right neighbour alone, and receives from its left one",
            )
    return None


def _longest(n, case):
    return 2 * (n - 1) * -(-len(case.args[0][0]) // n) * 4


check_ring = RankCheck(
    "ring",
    _lengths,
    _whole,
    inplace=0,
    ranks=ALONE_LAST,
    limits=[
        no_collectives("Allreduce is what you are writing: with Sendrecv"),
        at_most_messages(
            lambda n, case: 2 * (n - 1), "more messages than 2 (p - 1): p - 1 steps in each half"
        ),
        at_most_bytes(
            _longest,
            "more bytes than 2 (p - 1) ceil(n / p) numbers: a step sends one part, never "
            "the whole array",
        ),
        _to_the_right,
    ],
    diagnoses=[
        (
            _rebound,
            "parts[i] = parts[i] + got makes a new array, and x does not see it: parts[i] += got adds into x",
        ),
        (_mean, "the sum is asked for, not the mean"),
    ],
    causes=[
        (
            lambda error: error["tool"] == "buffer" and set(error["ranks"] or {0}) == {0},
            "one rank alone sends nothing: each half has p - 1 steps",
        ),
        (from_nobody, FROM_NOBODY),
    ],
)
