"""The check on a backward pass in two halves, on two ranks: the gradients, and the time on the model's clock."""

import numpy as np

from course_lib.checks.kit.core import normal
from course_lib.checks.kit.kernels.limits import limit
from course_lib.checks.kit.ranks.check import (
    RankCase,
    RankCheck,
    at_most_messages,
    no_collectives,
)
from course_lib.mpi.pipeline import schedule, simulate


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def softmax(z):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def _cases(rng, n):
    found = []
    for m in (5, 1, 2):
        n0, n1 = (int(x) for x in rng.choice(np.arange(3, 8), 2, replace=False))
        n2 = int(rng.integers(8, 12))  # wider than n1: a dZ2 that is sent for dA1 does not fit
        B = 3 * m + int(rng.integers(1, m)) if m > 1 else 4  # uneven micro-batches
        X, Y = normal(rng, B, n0), np.eye(n2, dtype=np.float32)[rng.integers(0, n2, B)]
        local = [(normal(rng, n0, n1), normal(rng, n1)), (normal(rng, n1, n2), normal(rng, n2))]
        args = [(local[r], X, Y, m) for r in range(2)]
        found.append(RankCase(args, f"B = {B}, m = {m}", K=B + n0 + n1))
    return found


def _gradients(ranks):
    (W1, b1), X, Y, _ = ranks[0]
    W2, b2 = ranks[1][0]
    A1 = sigmoid(X @ W1 + b1)
    dZ2 = (softmax(A1 @ W2 + b2) - Y) / len(X)
    dZ1 = dZ2 @ W2.T * A1 * (1 - A1)
    return [(X.T @ dZ1, dZ1.sum(axis=0)), (A1.T @ dZ2, dZ2.sum(axis=0))]


@limit("three seconds of work a micro-batch")
def _works(report, n, case):
    """On rank 1's clock stand forward, delta and grad of each micro-batch."""
    m = case.args[1][3]
    mine = [e for e in report.events if e["rank"] == 1]
    spent = _works_in(mine)
    if abs(spent - 3 * m) < 1e-9:
        return _sent_early(mine)
    return (
        f"rank 1 works {spent:g} s on the model's clock, with m = {m}",
        "mpi.compute(comm, 1) stands for each forward, delta and grad: 3 m in all",
    )


def _sent_early(mine):
    """Before the dA1 of micro-batch i stand i + 1 forwards and deltas, of a second each."""
    sends = [at for at, e in enumerate(mine) if e["op"].lower().endswith("send")]
    for i, at in enumerate(sends):
        if (worked := _works_in(mine[:at])) < 2 * (i + 1) - 1e-9:
            return (
                f"rank 1 sends the dA1 of micro-batch {i} after {worked:g} s of work",
                f"{2 * (i + 1)} s come before it: call mpi.compute(comm, 1) before each forward and each delta",
            )
    return None


@limit("time of the model")
def _no_longer(report, n, case):
    """No longer than ZB-H1."""
    m = case.args[0][3]
    least = simulate(schedule("zb-h1", 2, m)).makespan
    if report.seconds <= least + 1e-9:
        return None
    what = f"a step takes {report.seconds:g} s on the model's clock, with m = {m}; {least:g} s are enough"
    return what, _why_late(report, m)


def _why_late(report, m):
    """From rank 1's calls: what stands between its deltas and the messages that rank 0 waits for."""
    mine = [e for e in report.events if e["rank"] == 1]
    sends = [i for i, e in enumerate(mine) if e["op"].lower().endswith("send")]
    if not sends:
        return None
    waits = sum(mine[i]["wait"] for i in sends)
    before, left = _works_in(mine[: sends[0]]), _works_in(mine[sends[-1] :])
    if before > 2:
        came = sum("recv" in e["op"].lower() for e in mine[: sends[0]])
        why = GRAD_FIRST if came == 1 else FORWARD_FIRST
        return f"rank 1 works {before:g} s before its first dA1 leaves: {why}"
    if waits > 1e-9:
        return f"rank 1 waits {waits:g} s in its sends: {IN_SENDS}"
    if (waits := _waits_for_sends(mine)) > 1e-9:
        return f"rank 1 waits {waits:g} s for its sends while there is work left: {AT_THE_END}"
    if left > 2:
        return f"{left:g} grads are left at the end, and {ALL_LATE}"
    own = " but its own" if left > 0 else ""
    return f"the last dA1 leaves after all grads{own}: {NONE_LATE}" if left <= 1 else None


GRAD_FIRST = "a forward and a delta take two, and rank 0 needs no grad. Send dA1 before the grad"
FORWARD_FIRST = "a forward and a delta take two. Send dA1 before another forward, and before a grad"
IN_SENDS = "rank 0 receives later, after a forward of its own. Isend lets rank 1 go on"
AT_THE_END = (
    "rank 0 receives later, after a forward of its own. Wait for all of them after the last grad"
)
ALL_LATE = "rank 1 has waited before, with nothing to do: a grad put off fills such a wait. Put off one, not all"
NONE_LATE = "put the grads off by one micro-batch, F1 D1 send G0, and it leaves earlier"


def _waits_for_sends(mine):
    """Seconds in Wait before the last task is done; 0 where some of them may belong to receives."""
    if any(e["op"].lower() == "irecv" for e in mine):
        return 0.0
    last = max((i for i, e in enumerate(mine) if e["op"] == "compute"), default=0)
    return sum(e["wait"] for e in mine[:last] if e["op"].lower().startswith("wait"))


def _works_in(events):
    """Seconds of work in these events."""
    return sum(e["end"] - e["begin"] for e in events if e["op"] == "compute")


check_two_halves = RankCheck(
    "two_halves",
    _cases,
    _gradients,
    ranks=(2,),
    limits=[
        _works,
        no_collectives("A1 comes by Recv, dA1 goes by Send or Isend"),
        at_most_messages(lambda n, case: case.args[0][3], "one message a micro-batch"),
        _no_longer,
    ],
)
