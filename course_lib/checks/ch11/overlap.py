"""The check of an overlapped reduction: sums, buffers, and the model's clock."""

import math

import numpy as np

from course_lib.checks.kit.core import normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.checks.kit.ranks.limits import at_most_seconds
from course_lib.machines.rehearsal import compute
from course_lib.machines.rehearsal.model import Links

ALPHA, BETA = (
    10e-6,
    1e-6,
)  # bytes cost far more than messages: one packed sum at the end is no way out


class Backward:
    """gradient(comm, layer) of one rank: layer L - 1 first, each once; takes its time on the model's clock."""

    def __init__(self, arrays, seconds):
        self.arrays, self.seconds, self.next = arrays, seconds, len(arrays) - 1

    def __call__(self, comm, layer):
        if layer != self.next:
            what = (
                f"layer {self.next} comes first"
                if self.next >= 0
                else "each layer's gradient is computed once"
            )
            raise ValueError(
                f"gradient(comm, {layer}): backpropagation goes from the last layer to layer 0; {what}"
            )
        self.next -= 1
        compute(comm, self.seconds[layer])
        return self.arrays[layer].copy()


def _passes(rng, n):
    some = [int(size) for size in rng.integers(30, 60, 4)]
    equal = [int(rng.integers(30, 60))] * 3
    return [_pass(rng, n, some, "4 layers"), _pass(rng, n, equal, "3 layers of one size")]


def _pass(rng, n, sizes, label):
    links = Links(n, ALPHA, BETA)
    share = (
        0.5,
        1.5,
        0.5,
        1.5,
    )  # of the time of its sum, layer 0 first: computing now takes longer, now sending
    seconds = [
        links.collective("Allreduce", n, 4 * size) * s if n > 1 else 1e-5
        for size, s in zip(sizes, share, strict=False)
    ]

    def backward():
        return Backward([normal(rng, size) for size in sizes], seconds)

    return RankCase([(len(sizes), backward()) for _ in range(n)], label, K=n)


def _sums(ranks):
    totals = [sum(gradient.arrays[layer] for _, gradient in ranks) for layer in range(ranks[0][0])]
    return [totals] * len(ranks)


def model_seconds(n, sizes, seconds):
    """The model: end_l = max(ready_l, end_(l+1)) + t(n_l), the last layer first. sizes: numbers of float32."""
    links, ready, end = Links(n, ALPHA, BETA), 0.0, 0.0
    for size, work in zip(sizes[::-1], seconds[::-1], strict=True):
        ready += work
        end = max(ready, end) + links.collective("Allreduce", n, 4 * size)
    return end


def one_at_a_time(n, sizes, seconds):
    """The same where each sum is waited for before the next is started; gradients are computed meanwhile."""
    links, start, end = Links(n, ALPHA, BETA), 0.0, 0.0
    for size, work in zip(sizes[::-1], seconds[::-1], strict=True):
        start = max(start + work, end)
        end = start + links.collective("Allreduce", n, 4 * size)
    return end


def one_after_the_other(n, sizes, seconds):
    """The same where nothing is computed while numbers are sent, in one message at the end."""
    return sum(seconds) + Links(n, ALPHA, BETA).collective("Allreduce", n, 4 * sum(sizes))


def _by(model, n, case):
    _, gradient = case.args[0]
    return model(n, [len(array) for array in gradient.arrays], gradient.seconds)


def _most(n, case):
    return _by(model_seconds, n, case) * (1 + 1e-9) + 1e-9


def _more_than_due(report, case):
    """The calls and bytes of rank 0 beyond one sum of float32 for each layer, in words; None: there are none."""
    arrays = case.args[0][1].arrays
    calls, due = sum(report.collectives[0].values()), sum(array.nbytes for array in arrays)
    if calls > len(arrays):
        return f"rank 0 makes {calls} collective calls: one for each layer, {len(arrays)} in all, is enough"
    sent = sum(e["bytes"] for e in report.events if e["rank"] == 0 and "educe" in e["op"])
    if sent > due:
        return f"rank 0 puts {sent:,} bytes into its sums, {due:,} in float32 are enough"
    return None


def _why_so_long(report, n, case):
    if math.isclose(report.seconds, _by(one_at_a_time, n, case), rel_tol=1e-9):
        return (
            "each sum is waited for before the next is started, which holds up the gradients, too: at most one is "
            "under way. Start each layer's Iallreduce as soon as its gradient is ready, and Wait after the last one"
        )
    if more := _more_than_due(report, case):
        return more
    enough = " enough" * (report.seconds < _by(one_after_the_other, n, case) * (1 - 1e-9))
    return (
        f"computing and sending do not overlap{enough}: start each layer's Iallreduce as soon as its gradient is "
        "ready, before the next one is computed, and Wait after the last one"
    )


check_overlapped_sum = RankCheck(
    "overlapped_sum",
    _passes,
    _sums,
    dtype=np.float32,
    limits=[
        at_most_seconds(
            _most,
            ALPHA,
            BETA,
            _why_so_long,
        )
    ],
    causes=[
        (
            lambda error: (
                error["tool"] == "exception" and "): backpropagation goes" in error["message"]
            ),
            "gradient computes: call it once for each layer, the last layer first, and keep what it returns. Do you "
            "call it in another order, or once more, for its shape or length?",
        )
    ],
)
