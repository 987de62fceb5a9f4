"""The checks of chapter 12 on two split layers: forward with one sum, backward with none."""

import numpy as np

from course_lib.checks.ch12.traffic import beyond_the_sums, hand_made
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.slips import left_out
from course_lib.mpi.flat import shard


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def network(rng, n0, n1, n2):
    """Whole parameters, with biases that are not zero."""
    return [
        (normal(rng, n0, n1, scale=0.4), normal(rng, n1)),
        (normal(rng, n1, n2, scale=0.4), normal(rng, n2)),
    ]


def parts(params, n):
    """The parts of n ranks."""
    (W1, b1), (W2, b2) = params
    own = [shard(len(b1), n, r) for r in range(n)]
    return [[(W1[:, s].copy(), b1[s].copy()), (W2[s].copy(), b2.copy())] for s in own]


def one_hot(rng, B, n):
    return np.eye(n, dtype=np.float32)[rng.integers(0, n, B)]


def sizes(rng, n, few=False):
    """(B, n0, n1, n2), all odd, so that two ranks already have uneven parts; n1 so large that A1 costs more than Z2,
    or, for few, so small that the last rank has no neuron.
    """
    B, n0, n2 = (int(x) * 2 + 1 for x in rng.choice(np.arange(2, 8), 3, replace=False))
    return B, n0, n - 1 if few else 2 * int(rng.integers(12, 18)) + 1, n2


SAME_CALLS = "a collective needs all of its ranks: every rank must call it, in the same order, with the same shape"


def waiting(error):
    return error["tool"] == "mismatch" or left_out(error)


def summing(error):
    """The same where it is a sum that they wait in."""
    return waiting(error) and all("educe" in place["op"] for place in error["ranks"].values())


# forward_two ----------------------------------------------------------------------------------------------------------


def _forward_cases(rng, n):
    cases = []
    for few, dtype in ((False, np.float32), (False, np.float64), (n > 1, np.float32)):
        B, n0, n1, n2 = sizes(rng, n, few)
        X, params = normal(rng, B, n0, dtype=dtype), network(rng, n0, n1, n2)
        locals_ = parts([(W.astype(dtype), b.astype(dtype)) for W, b in params], n)
        label = f"{n1} neurons, {np.dtype(dtype).name}"
        cases.append(RankCase([(local, X) for local in locals_], label, K=n0 + n1))
    return cases


def _forward(ranks):
    A1 = [sigmoid(X @ W1 + b1) for ((W1, b1), _), X in ranks]
    summands = [a @ local[1][0] for a, (local, _) in zip(A1, ranks, strict=True)]
    Z2 = sum(summands) + ranks[0][0][1][1]
    return [(a, Z2) for a in A1]


def _one_sum(report, n, case):
    """The sum of Z2, as one allreduce or made of messages."""
    local, X = case.args[0]
    Z2 = len(X) * len(local[1][1]) * X.itemsize
    what = beyond_the_sums(report, [Z2], hand_made(n) * Z2)
    return what and (
        what,
        "each rank keeps its part of A1 and W2: one sum is enough, an allreduce of Z2",
    )


_one_sum.says = "one sum"  # type: ignore[attr-defined]

check_forward_two = RankCheck(
    "forward_two",
    _forward_cases,
    _forward,
    limits=[_one_sum],
    causes=[(waiting, SAME_CALLS)],
)


# backward_two ---------------------------------------------------------------------------------------------------------


def _backward_cases(rng, n):
    cases = []
    for _ in range(2):
        B, n0, n1, n2 = sizes(rng, n)
        X, Y, locals_ = normal(rng, B, n0), one_hot(rng, B, n2), parts(network(rng, n0, n1, n2), n)
        found = _forward([(local, X) for local in locals_])
        args = [(local, X, A1, Z2, Y) for local, (A1, Z2) in zip(locals_, found, strict=True)]
        cases.append(RankCase(args, f"{n1} neurons", K=B + n1))
    return cases


def _backward(ranks):
    found = []
    for (_, (W2, _)), X, A1, Z2, Y in ranks:
        dZ2 = (softmax(Z2) - Y) / len(X)
        dZ1 = (dZ2 @ W2.T) * A1 * (1 - A1)
        found.append([(X.T @ dZ1, dZ1.sum(axis=0)), (A1.T @ dZ2, dZ2.sum(axis=0))])
    return found


NOTHING = "nothing must be sent: each rank has all images and all of dZ2, and its own neurons' dA1 is whole"


def _silent(report, n, case):
    calls = sum(sum(c.values()) for c in report.collectives)
    if calls or sum(report.messages):
        return (
            f"the ranks make {calls} collective calls and send {sum(report.messages)} messages",
            f"{NOTHING}, and the gradient of the images is not needed",
        )
    return None


_silent.says = "nothing sent"  # type: ignore[attr-defined]

check_backward_two = RankCheck(
    "backward_two",
    _backward_cases,
    _backward,
    limits=[_silent],
    causes=[(waiting, f"{NOTHING}; a sum would need all ranks, with the same shape")],
)
