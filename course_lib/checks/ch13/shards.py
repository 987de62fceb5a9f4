"""The checks on shards: an update of which each rank does a part, and what ZeRO's stages keep and send."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck, at_most_bytes, no_collectives
from course_lib.mpi.flat import length

# sharded_step -------------------------------------------------------------------------------------


def _own(array, p, rank):
    """The part of an array that belongs to a rank: the one that a ring's reduce-scatter completes there."""
    return np.array_split(array, p)[(rank + 1) % p]


def _cases(rng, n):
    found = []
    for items, label in ((5 * n + 3, "uneven parts"), (max(n - 1, 1), "fewer numbers than ranks")):
        theta, v = normal(rng, items), normal(rng, items)
        eta, mu = (float(x) for x in rng.uniform(0.1, 0.9, 2))
        gs = [normal(rng, items) for _ in range(n)]
        args = [(theta, gs[r], _own(v, n, r).copy(), eta, mu) for r in range(n)]
        size = sum(float(abs(array).max()) for array in (theta, v, *gs))  # sums may cancel
        found.append(RankCase(args, label, K=n + 2, scale=size))
    return found


def _step(ranks):
    """Momentum on the whole, then cut."""
    n, (theta, _, _, eta, mu) = len(ranks), ranks[0]
    g = sum(each[1] for each in ranks)
    v = [mu * each[2] + _own(g, n, r) for r, each in enumerate(ranks)]
    new = theta.copy()
    for r in range(n):
        _own(new, n, r)[...] -= eta * v[r]
    return [(new, v[r]) for r in range(n)]


def _two_halves(n, case, rank):
    """Bytes of a reduce-scatter and of an allgather."""
    theta = case.args[rank][0]
    scattered, gathered = (theta.size - length(theta.size, n, (rank + k) % n) for k in (1, 2))
    return theta.itemsize * (scattered + gathered)


check_sharded_step = RankCheck(
    "sharded_step",
    _cases,
    _step,
    may_change=(0, 1, 2),
    limits=[
        no_collectives("ring_reduce_scatter and ring_allgather do it all"),
        at_most_bytes(
            _two_halves,
            "a reduce-scatter of the gradient and an allgather of the parameters are enough: this rank "
            "needs no other part of the summed gradient, and nobody needs its state",
        ),
    ],
)

# kept_and_sent ------------------------------------------------------------------------------------


def paper(n, p, stage, slots, micro):
    """(bytes kept, bytes sent) of a rank."""
    parameters, gradients, state = (n / p if stage >= least else n for least in (3, 2, 1))
    kept = 4 * (parameters + gradients + slots * state)
    scatters = micro if stage >= 2 else 1
    gathers = 2 * micro if stage == 3 else 1
    return float(kept), 4 * (p - 1) / p * n * (scatters + gathers)  # a whole number will do, too


def _paper_cases(rng):
    found = []
    for stage in range(4):
        p = int(rng.integers(3, 12))
        sizes = [(p, 2, 1), (p + 1, 2, 4), (p + 2, 1, 3), (2 * p, 0, 2)]
        for q, slots, micro in [*sizes, (1, 2, 2)]:
            n = q * int(rng.integers(10**7, 10**8))  # more digits than float32 has
            label = f"stage {stage}, p = {q}, micro = {micro}"
            found.append(Case((n, q, stage, slots, micro), label))
    return found


check_kept_and_sent = Check(
    "kept_and_sent", _paper_cases, paper, K=4, dtype=None, parts=("kept", "sent")
)
