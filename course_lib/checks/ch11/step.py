"""Checks of the data-parallel step, and of a training that was mended."""

import numpy as np

from course_lib.checks.kit.core import normal, ragged
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import same_bits_on_all_ranks
from course_lib.checks.kit.ranks.slips import left_out_of_sum
from course_lib.checks.kit.words import count
from course_lib.mpi.flat import shard
from course_lib.serial import Network, gradients, sgd_step


def _net(rng):
    return Network(tuple(ragged(rng, 3, 4, 9)), "tanh", "cross_entropy", 0.05)


def _rows(rng, net, B):
    """X (B, n0), Y (B, nL) one-hot, float32."""
    return normal(rng, B, net.sizes[0]), np.eye(net.sizes[-1], dtype=np.float32)[
        rng.integers(0, net.sizes[-1], B)
    ]


def _copied(params):
    return [(W.copy(), b.copy()) for W, b in params]


# parallel_step ------------------------------------------------------------------------------------------------------


def _steps(rng, n):
    net = _net(rng)

    def case(B, label, others=False):
        X, Y = _rows(rng, net, B)
        params = net.init_params(int(rng.integers(1, 99)))
        args = [
            (net, params, _nan_but(X, shard(B, n, r)) if others else X, Y, 0.7) for r in range(n)
        ]
        return RankCase(args, label, K=B + 20)

    B = 3 * n + max(n // 2, 1) if n > 1 else 5
    few, hidden = count(n - 1, "row"), "X with NaN in all rows but those of shard(B, size, rank)"
    return [
        case(B, f"a batch of {B} rows"),
        case(B, hidden, others=True),
        *([case(n - 1, f"a batch of {few} for {n} ranks")] if n > 1 else []),
        *([case(n - 1, f"{few} for {n} ranks, {hidden}", others=True)] if n > 1 else []),
    ]


def _nan_but(X, rows):
    """X with NaN in all rows but these."""
    hidden = np.full_like(X, np.nan)
    hidden[rows] = X[rows]
    return hidden


def _batch(ranks):
    """X put together from the shards of all ranks, and Y."""
    cuts = [shard(len(ranks[0][2]), len(ranks), r) for r in range(len(ranks))]
    X = [given[2][rows] for given, rows in zip(ranks, cuts, strict=True)]
    return np.concatenate(X), ranks[0][3]


def _stepped(ranks):
    """params after a step with the gradient of the whole batch, the same on all ranks."""
    net, params, _, _, eta = ranks[0]
    X, Y = _batch(ranks)
    return [sgd_step(_copied(params), gradients(net, params, X, Y), eta)] * len(ranks)


OWN_ORDER = (
    "the ranks round differently, as where each adds the same numbers in a different order: "
    "compute one sum for all, with Allreduce"
)

check_parallel_step = RankCheck(
    "parallel_step",
    _steps,
    _stepped,
    inplace=1,
    limits=[same_bits_on_all_ranks(OWN_ORDER)],
    causes=[
        (
            left_out_of_sum,
            "every rank must take part in the sum, even one whose shard has no rows: it adds zeros",
        )
    ],
)

# mended_training ----------------------------------------------------------------------------------------------------


def _trainings(rng, n):
    net = _net(rng)
    B, steps = 2 * n + max(n // 2, 1), 4
    X, Y = _rows(rng, net, 3 * B)
    args = (net, X, Y, B, steps, 0.4, int(rng.integers(1, 99)))
    return [
        RankCase(args, f"{steps} steps with batches of {B} of {3 * B} rows", K=steps * (B + 20))
    ]


def _trained(ranks):
    """The training on one rank, in float64."""
    net, X, Y, B, steps, eta, seed = ranks[0]
    params, rng = net.init_params(seed, X.dtype.type), np.random.default_rng([seed, 0])
    for _ in range(steps):
        rows = rng.choice(len(X), B, replace=False)
        sgd_step(params, gradients(net, params, X[rows], Y[rows]), eta)
    return [params] * len(ranks)


def _nobody_asks(report, n, case):
    """Right numbers without a word between ranks: everybody computes everything."""
    if n > 1 and not any(dict(calls) for calls in report.collectives) and not any(report.messages):
        return (
            f"with {n} ranks, no rank communicates with the others: each one trains on whole batches",
            (
                "this is serial training, p times over. Each rank must take its shard, and an Allreduce "
                "must add up the parts"
            ),
        )
    return None


check_mended_training = RankCheck(
    "mended_training",
    _trainings,
    _trained,
    limits=[
        _nobody_asks,
        same_bits_on_all_ranks(OWN_ORDER),
    ],
)
