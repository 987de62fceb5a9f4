"""The checks of chapter 10 on sums: a tree that adds, and a ring allreduce."""

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
    if_pickled,
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


def _at_root(ranks):
    return [sum(x for (x,) in ranks), *[None] * (len(ranks) - 1)]


check_tree_reduce = RankCheck(
    "tree_reduce",
    _arrays,
    _at_root,
    ranks=(*ALONE_LAST, 9),  # a fourth round
    limits=[
        no_collectives("a collective of MPI does the work: write it with Send and Recv"),
        at_most_total_messages(
            lambda n, case: n - 1, "each rank but 0 sends once: its partial sum, and is done"
        ),
        at_most_bytes(
            lambda n, case: case.args[0][0].nbytes,
            "a rank sends its partial sum, n float32, as a buffer: send with a small s pickles it",
        ),
        at_most_seconds(
            lambda n, case: (n - 1).bit_length(),
            1.0,
            0.0,
            "more than ceil(log2 size) rounds: messages go one after the other that could go at the same time, "
            "between other pairs of ranks",
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
        strange = strange or [to for to in [event["dest"]] if to not in (None, (rank + 1) % n)]
        if strange:
            return (
                f"with {count(n, 'rank')}, rank {rank} sends to rank {strange[0]}, or receives from it",
                "in a ring a rank sends only to its right neighbour, and receives only from its left one",
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
        no_collectives("you are writing Allreduce yourself: use Sendrecv"),
        at_most_messages(
            lambda n, case: 2 * (n - 1), "more messages than 2 (p - 1): p - 1 steps in each half"
        ),
        at_most_bytes(
            _longest,
            if_pickled(
                "a lower-case call sends a pickle, which has its own header: use Sendrecv, with a capital S",
                "more bytes than 2 (p - 1) ceil(n / p) numbers: a step sends one part, in float32, never "
                "the whole array",
            ),
        ),
        _to_the_right,
    ],
    causes=[(from_nobody, FROM_NOBODY)],
)
