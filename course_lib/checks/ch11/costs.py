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


def _moved(p, n, B, s):
    sent = (p - 1) * n + (B - -(-B // p)) * s
    return float(sent), float((p - 1) * n), 2 * (p - 1) * n / p


check_step_bytes = Check(
    "step_bytes",
    _batches,
    _moved,
    dtype=None,
    parts=("sent by the master", "received by the master", "ring"),
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


def _timed(p, B, n, row, update, alpha, beta):
    def seconds(q):
        return -(-B // q) * row + update + 2 * (q - 1) * (alpha + beta * n / q)

    one, t = seconds(1), seconds(p)
    return t, one / t, one / t / p


check_predict_efficiency = Check(
    "predict_efficiency",
    _runs,
    _timed,
    K=10,
    parts=("seconds", "speed-up", "efficiency"),
    dtype=None,
)
