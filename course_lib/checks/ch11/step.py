"""Checks of the data-parallel step, and of a training that was mended."""

import numpy as np

from course_lib.checks.kit.core import normal, ragged
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import same_bits_on_all_ranks
from course_lib.checks.kit.words import count
from course_lib.mpi.flat import pack, shard, unpack
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
    return [
        case(B, f"a batch of {B} rows"),
        case(B, "X with NaN in all rows but those of shard(B, size, rank)", others=True),
        *([case(n - 1, f"a batch of {count(n - 1, 'row')} for {n} ranks")] if n > 1 else []),
    ]


def _nan_but(X, rows):
    """X with NaN in all rows but these."""
    hidden = np.full_like(X, np.nan)
    hidden[rows] = X[rows]
    return hidden


def _batch(ranks):
    """(net, params, X, Y, eta, cuts), X put together from the shards of all ranks."""
    net, params, X, Y, eta = ranks[0]
    cuts = [shard(len(X), len(ranks), r) for r in range(len(ranks))]
    return (
        net,
        params,
        np.concatenate([given[2][rows] for given, rows in zip(ranks, cuts, strict=True)]),
        Y,
        eta,
        cuts,
    )


def _stepped(total, eta=1.0):
    """A reference: params after a step with total(net, params, X, Y, cuts), the same on all ranks."""

    def reference(ranks):
        net, params, X, Y, rate, cuts = _batch(ranks)
        return [sgd_step(_copied(params), total(net, params, X, Y, cuts), eta * rate)] * len(ranks)

    return reference


def _weighed(weight):
    """total: the sum of weight(n, B, p) times the mean gradient of each shard that has rows."""

    def total(net, params, X, Y, cuts):
        B, p, flat = len(X), len(cuts), 0 * pack(params)
        for rows in cuts:
            n = len(X[rows])
            if n:
                flat = flat + weight(n, B, p) * pack(gradients(net, params, X[rows], Y[rows]))
        return unpack(flat, params)

    return total


def _right(net, params, X, Y, cuts):
    return pack(gradients(net, params, X, Y))


def _own(weight, summed=0):
    """A reference: each rank steps with weight(n, B) times its own gradient, but for the last `summed` layers.

    What a rank without rows does is not looked at.
    """

    def reference(ranks):
        net, params, X, Y, eta, cuts = _batch(ranks)
        grads = [
            gradients(net, params, X[rows], Y[rows]) if rows.stop > rows.start else None
            for rows in cuts
        ]
        whole = unpack(_right(net, params, X, Y, cuts), params)
        results: list = []
        for rows, mine in zip(cuts, grads, strict=True):
            factor = weight(rows.stop - rows.start, len(X))
            own = [(factor * dW, factor * db) for dW, db in (mine or [])[: len(whole) - summed]]
            results.append(
                sgd_step(_copied(params), [*own, *whole[len(own) :]], eta) if mine else ...
            )
        return results

    return reference


def _weighed_after(ranks):
    """Each rank weighs the sum of all means with its own n / B."""
    net, params, X, Y, eta, cuts = _batch(ranks)
    total = pack(_weighed(lambda n, B, p: 1)(net, params, X, Y, cuts))
    weights = [(rows.stop - rows.start) / len(X) for rows in cuts]
    return [sgd_step(_copied(params), unpack(w * total, params), eta) for w in weights]


DIVISIONS = [
    (
        lambda n, B, p: 1 / p,
        "the plain average of the shards' means: right for equal shards only. Weigh each with "
        "rows / B",
    ),
    (
        lambda n, B, p: n / B / p,
        "the average taken twice: the weights rows / B add up to 1, and dividing by the number "
        "of ranks makes the step p times too small",
    ),
    (
        lambda n, B, p: n,
        "not divided by B: serial.gradients gives the mean over the shard, which counts rows / B",
    ),
    (lambda n, B, p: 1, "the shards' means are added up as they are: weigh each with rows / B"),
]

check_parallel_step = RankCheck(
    "parallel_step",
    _steps,
    _stepped(_weighed(lambda n, B, p: n / B)),
    inplace=1,
    causes=[
        (
            lambda error: error["tool"] == "deadlock",
            "every rank must come to the sum, also one whose shard has no rows: it adds zeros",
        )
    ],
    diagnoses=[
        *((_stepped(_weighed(weight)), text) for weight, text in DIVISIONS),
        (
            _weighed_after,
            "the weight rows / B belongs to each shard's mean, so before the sum: after it every rank "
            "weighs the sum of all means with its own share",
        ),
        (
            _stepped(_weighed(lambda n, B, p: n / B), 2.0),
            "the step is twice as long as it should be",
        ),
        (
            _own(lambda n, B: 1),
            "each rank made the step of its own shard: update with the sum over the ranks",
        ),
        (
            _own(lambda n, B: n / B),
            "each rank made the step of its own shard: update with the sum over the ranks",
        ),
        (
            _own(lambda n, B: n / B, summed=1),
            "only the last layer is summed; the other layers are of this rank alone",
        ),
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


def _trained(
    weight=lambda n, B, p: n / B, start=False, draw=False, own_sum=False, anew=False, whole=False
):
    """The training as asked for, in float64; or with a bug: ranks that start, draw, or add up on their own."""

    def reference(ranks):
        net, X, Y, B, steps, eta, seed = ranks[0]
        p = len(ranks)
        all_params = [net.init_params(seed + r * start, X.dtype.type) for r in range(p)]
        rngs = [np.random.default_rng([seed, r * draw]) for r in range(p)]
        for _ in range(steps):
            rngs = [np.random.default_rng([seed, 0]) for r in range(p)] if anew else rngs
            parts = []
            for r, params in enumerate(all_params):
                rows = rngs[r].choice(len(X), B, replace=False)[
                    slice(0, B) if whole else shard(B, p, r)
                ]
                parts.append(
                    weight(len(rows), B, p) * pack(gradients(net, params, X[rows], Y[rows]))
                )
            for r, params in enumerate(all_params):
                sgd_step(params, unpack(parts[r] if own_sum else sum(parts), params), eta)
        return all_params

    return reference


def _nobody_asks(report, n, case):
    """Right numbers without a word between ranks: everybody computes everything."""
    if n > 1 and not any(dict(calls) for calls in report.collectives) and not any(report.messages):
        return (
            f"with {n} ranks, no rank sends or asks the others anything: each one trains on whole batches",
            "that is serial training, n times over. Each rank takes its shard, and an Allreduce adds up the parts",
        )
    return None


check_mended_training = RankCheck(
    "mended_training",
    _trainings,
    _trained(),
    limits=[
        _nobody_asks,
        same_bits_on_all_ranks(
            "every rank adds the same numbers in an order of its own, and rounding depends on "
            "the order: let one sum be made for all, by Allreduce"
        ),
    ],
    diagnoses=[
        *((_trained(weight), text) for weight, text in DIVISIONS),
        (
            _trained(start=True, draw=True),
            "each rank still starts from parameters and draws batches of its own",
        ),
        (
            _trained(lambda n, B, p: 1 / p, start=True),
            "each rank still starts from parameters of its own, and shards "
            "weigh 1 / p in place of rows / B",
        ),
        (
            _trained(lambda n, B, p: 1 / p, draw=True),
            "each rank still draws batches of its own, and shards weigh 1 / p in place of rows / B",
        ),
    ],
)
