"""The check of a product of float16 matrices whose sum is kept in float32."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, ragged


def _case(rng, shape, label, draw, spread=1.0):
    M, N, K = shape
    A, B = draw(M, K).astype(np.float16), draw(K, N).astype(np.float16)
    C = (spread * rng.standard_normal((M, N))).astype(np.float32)
    size = float((abs(A.astype(float)) @ abs(B.astype(float))).max() + abs(C).max())
    return Case((A, B, C), label, scale=size)


def _cases(rng):
    M, N, K = ragged(rng, 3)

    def signed(*shape):
        return rng.standard_normal(shape)

    def large(*shape):
        return rng.uniform(30, 60, shape)

    def huge(*shape):
        return rng.uniform(300, 400, shape) * rng.choice([-1, 1], shape)

    def small(*shape):
        return rng.uniform(0.5e-4, 2e-4, shape)

    return [
        _case(rng, (M, N, K), "a ragged product", signed),
        _case(rng, (N, M, 40), "sums beyond 65,504", large),
        _case(rng, (M, N, K), "products beyond 65,504", huge),
        _case(rng, (M, N, K), "products below 6e-8", small, 1e-8),
        _case(rng, (9, 1, 5), "one column, a C of hundreds", signed, 300.0),
        _case(rng, (1, 1, 300), "one long sum", lambda *shape: 0.5 + rng.random(shape)),
    ]


check_half_product = Check(
    "half_product",
    _cases,
    lambda A, B, C: A @ B + C,
    K=lambda case: case.args[0].shape[1] + 1,
    c=1.0,  # the scale is that of all terms' sizes: a bound on any order of additions
    dtype="float32",
    axes=("row", "column"),
)
