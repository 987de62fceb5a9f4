"""The check of chapter 12 on deeper nets: the sum of dA that a column layer owes."""

import numpy as np

from course_lib.checks.ch12.layers import sigmoid, summing
from course_lib.checks.ch12.traffic import beyond_the_sums, hand_made
from course_lib.checks.kit.core import normal
from course_lib.checks.kit.ranks.check import RankCase, RankCheck
from course_lib.mpi.flat import shard


def _cases(rng, n):
    return [_settled(rng, n, layers) for layers in (2, 3, 4, 5, 6)]


def _settled(rng, n, layers):
    """Drawn anew while some db nearly cancels: of a part with one neuron only rounding would be left."""
    while True:
        case = _case(rng, n, layers)
        grads = _reference(case.args)
        sizes = [[np.abs(db).max() for _, db in mine] for mine in grads]  # by rank and layer
        if all(min(layer) >= 0.05 * max(layer) for layer in zip(*sizes, strict=True)):
            return case


def _case(rng, n, layers):
    widths = [
        int(w) * 2 + 1 for w in rng.choice(np.arange(3, 12), layers + 1, replace=False)
    ]  # odd: uneven parts
    B, kinds = 2 * int(rng.integers(2, 6)) + 1, (["column", "row"] * 3)[-layers:]
    whole = [normal(rng, a, b, scale=0.5) for a, b in zip(widths, widths[1:], strict=False)]
    A = [normal(rng, B, widths[0])] + [sigmoid(normal(rng, B, w)) for w in widths[1:-1]]
    dZ, args = normal(rng, B, widths[-1]), []
    for r in range(n):
        local, mine = [], []
        for layer, (W, kind) in enumerate(zip(whole, kinds, strict=True)):
            cut = shard(W.shape[kind == "column"], n, r)
            local.append(
                (W[:, cut].copy(), normal(rng, W.shape[1])[cut])
                if kind == "column"
                else (W[cut].copy(), normal(rng, W.shape[1]))
            )
            mine.append(A[layer] if kind == "column" else A[layer][:, cut].copy())
        args.append((local, kinds, mine, dZ))
    return RankCase(args, f"{layers} layers", K=sum(widths) + B)


def _reference(ranks):
    n, kinds = len(ranks), ranks[0][1]
    dZ = [dZ for *_, dZ in ranks]
    grads: list[list] = [[] for _ in ranks]
    for layer in reversed(range(len(kinds))):
        for r, (_local, _, A, _) in enumerate(ranks):
            grads[r].insert(0, (A[layer].T @ dZ[r], dZ[r].sum(axis=0)))
        if layer:
            dA = [dZ[r] @ ranks[r][0][layer][0].T for r in range(n)]
            dA = [sum(dA)] * n if kinds[layer] == "column" else dA
            slopes = [A[layer] * (1 - A[layer]) for _, _, A, _ in ranks]
            dZ = [dA[r] * slopes[r] for r in range(n)]
    return grads


def _sums_owed(report, n, case):
    """One sum for each column layer but the first."""
    local, kinds, _, dZ = case.args[0]
    owed = [
        len(dZ) * len(W) * dZ.itemsize
        for (W, _), kind in zip(local[1:], kinds[1:], strict=True)
        if kind == "column"
    ]
    what = beyond_the_sums(report, owed, hand_made(n) * sum(owed))
    cause = (
        "each column layer except layer 0 needs the sum of dA: below layer 0 there is nothing to update, so "
        "the gradient of the images is not needed; and no rank needs the others' weights"
    )
    return what and (f"{what}, with {case.label}", cause)


_sums_owed.says = "no more sums than owed"  # type: ignore[attr-defined]

check_backward_deep = RankCheck(
    "backward_deep",
    _cases,
    _reference,
    limits=[_sums_owed],
    causes=[
        (
            summing,
            "all ranks must add up the same thing, in the same shape. A row layer's dA belongs to this rank's "
            "own neurons and is complete, and dW to its own weights; a column layer's dA covers all of dA, "
            "but is only a summand",
        )
    ],
)
