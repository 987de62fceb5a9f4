"""Checks of two calculations on paper: the bytes of a step, and the efficiency of data parallelism."""

from course_lib.checks.kit.case import Case
from course_lib.checks.kit.check import Check

# step_bytes ---------------------------------------------------------------------------------------------------------


def _batches(rng):
    """p, n, B, s with p dividing n, and B not divisible by p in most cases."""
    found = [
        (
            p,
            4 * p * int(rng.integers(50, 90)),
            p * int(rng.integers(3, 9)) + extra,
            int(rng.integers(5, 40)) * 4,
        )
        for p, extra in ((2, 1), (4, 3), (5, 2), (6, 0))
    ]
    return [
        Case(args, "p = {}, n = {}, B = {}, s = {}".format(*args))
        for args in [*found, (1, 400, 7, 12)]
    ]


def _moved(
    sent=lambda p, n: (p - 1) * n,
    rows=lambda p, B: B - -(-B // p),
    received=lambda p, n: (p - 1) * n,
    ring=lambda p, n: 2 * (p - 1) * n / p,
):
    """A reference, with one of its four terms replaced. (n and B stay whole numbers.)"""

    def step_bytes(p, n, B, s):
        return float(sent(p, n) + rows(p, B) * s), float(received(p, n)), float(ring(p, n))

    return step_bytes


check_step_bytes = Check(
    "step_bytes",
    _batches,
    _moved(),
    dtype=None,
    parts=("sent by the master", "received by the master", "ring"),
    diagnoses=[
        (
            _moved(sent=lambda p, n: p * n, received=lambda p, n: p * n),
            "there are p - 1 workers: the master sends itself nothing",
        ),
        (
            _moved(sent=lambda p, n: p * n),
            "there are p - 1 workers: the master sends itself nothing",
        ),
        (
            _moved(received=lambda p, n: p * n),
            "there are p - 1 workers: the master receives nothing from itself",
        ),
        (
            _moved(rows=lambda p, B: B * (p - 1) / p),
            "shards have whole rows: the master's is B / p rounded up",
        ),
        (_moved(sent=lambda p, n: n), "the weights go to each worker: n bytes p - 1 times"),
        (
            _moved(sent=lambda p, n: n * (p > 1)),
            "the weights go to each worker: n bytes p - 1 times",
        ),
        (_moved(received=lambda p, n: n * (p > 1)), "a gradient of n bytes comes from each worker"),
    ],
)


# predict_efficiency -------------------------------------------------------------------------------------------------


def _runs(rng):
    def case(p, B):
        row, update, alpha, beta = (
            float(x) for x in rng.uniform(1, 9, 4) * (1e-5, 1e-4, 1e-5, 1e-10)
        )
        args = p, B, int(rng.integers(1, 9)) * 100_000, row, update, alpha, beta
        return Case(args, f"p = {p}, B = {B}", scale="entry")

    some = [int(k) for k in rng.integers(5, 20, 2)]
    return [case(4, 4 * some[0] + 3), case(3, 3 * some[1] + 1), case(1, 17), case(8, 8)]


def _timed(
    compute=lambda p, B, row, update: -(-B // p) * row + update,
    ring=lambda p, n, alpha, beta: 2 * (p - 1) * (alpha + beta * n / p),
    give=lambda one, t, p: (t, one / t, one / t / p),
):
    """A reference, with one of its three parts replaced."""

    def predict_efficiency(p, B, n, row, update, alpha, beta):
        one, t = (compute(q, B, row, update) + ring(q, n, alpha, beta) for q in (1, p))
        return give(one, t, p)

    return predict_efficiency


def _without_update(p, B, n, row, update, alpha, beta):
    """t(1) as if one rank had no update to make."""
    t = _timed()(p, B, n, row, update, alpha, beta)[0]
    return t, B * row / t, B * row / t / p


check_predict_efficiency = Check(
    "predict_efficiency",
    _runs,
    _timed(),
    K=10,
    parts=("seconds", "speed-up", "efficiency"),
    dtype=None,
    diagnoses=[
        (
            _timed(compute=lambda p, B, row, update: B // p * row + update),
            "the step waits for the largest shard: B / p rounded up, not down",
        ),
        (_timed(compute=lambda p, B, row, update: -(-B // p) * row), "the update is missing"),
        (
            _timed(ring=lambda p, n, alpha, beta: alpha + 2 * (p - 1) * beta * n / p),
            "each message costs alpha, and there are 2 (p - 1) of them; one rank sends none",
        ),
        (_without_update, "one rank has an update to make as well: t(1) = B row + update"),
        (
            _timed(give=lambda one, t, p: (t, one / t, 100 * one / t / p)),
            "the efficiency as a fraction, not per cent",
        ),
    ],
)
