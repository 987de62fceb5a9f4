"""The check of the walk of one thread through its tasks."""

import numpy as np

from course_lib.checks.ch04.schedules import child, leapfrog
from course_lib.checks.kit.core import Case, Check, normal, ragged


def _walk(tasks, dZ, params, A, grads):
    deltas = [dZ]
    for kind, layer in tasks:
        if kind == "delta":
            deltas.append(deltas[-1] @ params[layer + 1][0].T * (1 - A[layer + 1] ** 2))
        else:
            grads[layer] = A[layer].T @ deltas[-1], deltas[-1].sum(axis=0)
    return grads, deltas


def _walk_cases(rng):
    cases = []
    same = int(rng.integers(4, 7))
    plan = [
        (8, 3, 0, None, 5),
        (8, 3, 2, None, 4),
        (7, 2, 1, same, 3),
        (6, 4, 0, None, 1),
        (5, 1, 0, same, same),
        (6, 5, 3, None, 3),
    ]
    for L, k, j, width, B in plan:
        sizes = (
            [width] * (L + 1) if width else [*ragged(rng, 5, 2, 9), *ragged(rng, 5, 2, 9)][: L + 1]
        )
        params = [
            (normal(rng, n, m, scale=n**-0.5), normal(rng, m))
            for n, m in zip(sizes, sizes[1:], strict=False)
        ]
        A = [np.tanh(normal(rng, B, n)) for n in sizes]
        grads = [
            (normal(rng, n, m), normal(rng, m)) for n, m in zip(sizes, sizes[1:], strict=False)
        ]
        tasks, label = (
            child(L, k, j),
            f"thread {j} of {k}, {L} layers" + (" of equal width" if width else ""),
        )
        cases.append(Case((tasks, normal(rng, B, sizes[L - j]), params, A, grads), label))
    *_, params, A, grads = cases[0].args
    cases.append(
        Case(
            (leapfrog(8, 3)[0][1:], normal(rng, 5, len(params[-1][1])), params, A, grads),
            "the parent",
        )
    )
    return cases


def _call_walk(fn, tasks, dZ, params, A, grads):
    """The list of gradients that the function fills, and the deltas that it returns."""
    deltas = fn(tasks, dZ, params, A, grads)
    return grads, deltas


check_walk = Check(
    "walk",
    _walk_cases,
    _walk,
    call=_call_walk,
    K=90,
    c=8.0,
    may_change=(4,),
    parts=("grads", "what is returned"),
)
