"""The check of the student's own test: may this D be a product in float32, whatever the order of its additions?"""

import numpy as np

from course_lib.checks.kit.core import ragged, require
from course_lib.checks.kit.freeform import function_check, require_returned

U = 2.0**-24
PASSES_NAN = "every comparison with NaN is false: ask whether every difference IS small enough"


def _by_steps(A, B, order, fused=False):
    """A B in float32, one product after the other in this order; fused: the product is not rounded by itself."""
    D = np.zeros((A.shape[0], B.shape[1]), np.float32)
    wide = np.float64 if fused else np.float32
    for k in order:
        D = (D + np.outer(A[:, k].astype(wide), B[k].astype(wide))).astype(np.float32)
    return D


def _in_blocks(A, B, size=8):
    blocks = [slice(k, min(k + size, len(B))) for k in range(0, len(B), size)]
    return np.sum(
        [_by_steps(A, B, range(b.start, b.stop)) for b in blocks], axis=0, dtype=np.float32
    )


def bound(A, B):
    """gamma_K times the sum of the sizes, element by element, float64."""
    K = A.shape[1]
    return K * U / (1 - K * U) * (abs(A.astype(np.float64)) @ abs(B.astype(np.float64)))


def _stagnating(K):
    """A first term of 1, then terms that are half of its last digit: added one by one in float32, all are lost."""
    A = np.full((3, K), 2.0**-12, np.float32)
    B = np.full((K, 2), 2.0**-13, np.float32)
    A[:, 0], B[0] = 1, 1
    return A, B


def _cancelling(rng, K):
    """The result is small in one column, and its terms are not."""
    A, B = (
        rng.standard_normal((5, K)).astype(np.float32),
        rng.standard_normal((K, 4)).astype(np.float32),
    )
    half = K // 2
    A[:, half : 2 * half], B[half : 2 * half, 1] = A[:, :half], -B[:half, 1]
    return A, B


def _right(rng):
    """(label, D, A, B): products that a right kernel may give."""
    M, N, K = ragged(rng, 3, 20, 60)
    A, B = rng.standard_normal((M, K)).astype(np.float32), rng.random((K, N)).astype(np.float32)
    order, Z = rng.permutation(K), A * (np.arange(M) != M // 2)[:, None].astype(np.float32)
    (S, T), (P, Q) = _cancelling(rng, 40), _stagnating(513)
    return [
        ("k upwards", _by_steps(A, B, range(K)), A, B),
        ("k downwards", _by_steps(A, B, range(K)[::-1]), A, B),
        ("k in a random order", _by_steps(A, B, order), A, B),
        ("in blocks of 8", _in_blocks(A, B), A, B),
        ("with fused multiply-adds", _by_steps(A, B, range(K), fused=True), A, B),
        ("one term", A[:, :1] * B[:1], A[:, :1], B[:1]),
        ("a column in which the terms cancel", _by_steps(S, T, rng.permutation(40)), S, T),
        ("all roundings in one direction", _by_steps(P, Q, range(513)), P, Q),
        ("a row of zeros, as behind a ReLU", _by_steps(Z, B, range(K)), Z, B),
        (
            "numbers of a millionth",
            _by_steps(A * np.float32(1e-6), B, range(K)),
            A * np.float32(1e-6),
            B,
        ),
    ]


def _between(rng, n=60):
    """Within the bound of a product in float32, and not of the exact one: K = 2, one element moved by a last digit."""
    A, B = (
        rng.uniform(0.5, 1, (n, 2)).astype(np.float32),
        rng.uniform(0.5, 1, (2, n)).astype(np.float32),
    )
    near, exact, limit = A @ B, A.astype(np.float64) @ B.astype(np.float64), bound(A, B)
    away = np.where(near > exact, np.float32(np.inf), np.float32(-np.inf))
    D = np.nextafter(near, away)
    found = (abs(D - exact) > 1.05 * limit) & (abs(D.astype(np.float64) - near) < 0.95 * limit)
    i, j = np.argwhere(found)[0]
    return _changed(near, lambda X: X.__setitem__((i, j), D[i, j])), A, B


def _changed(D, change):
    D = D.copy()
    change(D)
    return D


def _all_off(A, B, times):
    """Every element away from the exact one: a norm or a mean sees it, a bound for all that is too wide does not."""
    exact = A.astype(np.float64) @ B.astype(np.float64)
    return (exact + times * bound(A, B)).astype(np.float32)


def _wrong(rng):
    """(label, D, A, B): what no right kernel gives."""
    M, N, K = ragged(rng, 3, 20, 60)
    A, B = (
        rng.standard_normal((M, K)).astype(np.float32),
        rng.standard_normal((K, N)).astype(np.float32),
    )
    D, at = _by_steps(A, B, range(K)), (int(rng.integers(M)), int(rng.integers(N)))
    small, tiny = A * np.float32(1e-6), B * np.float32(1e-4)
    rows = A * (np.float32(10) ** -(np.arange(M) % 5).astype(np.float32))[:, None]
    E, least = _by_steps(rows, B, range(K)), (4 + 5 * int(rng.integers(M // 5)), at[1])
    dead = A * (np.arange(M) != at[0])[:, None].astype(np.float32)

    def with_one(matrix, value, at=at):
        return _changed(matrix, lambda X: X.__setitem__(at, value))

    def off(matrix, pair, times, at=at):
        exact = pair[0].astype(np.float64) @ pair[1].astype(np.float64)
        return with_one(matrix, exact[at] + times * bound(*pair)[at], at)

    one = A[:, :1], B[:1]
    first, most = one[0] * one[1], np.unravel_index(abs(D).argmax(), D.shape)
    return [
        ("one element is NaN", with_one(D, np.nan), A, B),
        ("a NaN in a row of zeros", with_one(_by_steps(dead, B, range(K)), np.nan), dead, B),
        ("the last product is missing", _by_steps(A, B, range(K - 1)), A, B),
        ("one element is off by 1.5 times its bound", off(D, (A, B), 1.5), A, B),
        ("one element is off by 1.5 times its bound, downwards", off(D, (A, B), -1.5), A, B),
        ("the largest element has the wrong sign", with_one(D, -D[most], most), A, B),
        (
            "an element of a small row is off by 1.5 times its bound",
            off(E, (rows, B), 1.5, least),
            rows,
            B,
        ),
        (
            "an element of a small row is off by 30 times its bound",
            off(E, (rows, B), 30, least),
            rows,
            B,
        ),
        ("one element is off by 8 times its bound", off(D, (A, B), 8), A, B),
        ("one element is off by 100 times its bound", off(D, (A, B), 100), A, B),
        ("every element is off by 3 times its bound", _all_off(A, B, 3), A, B),
        ("one term, off by 5 times its bound", off(first, one, 5), *one),
        ("one term, off by 12 times its bound", off(first, one, 12), *one),
        ("all numbers are tiny, and D is 0", np.zeros_like(D), small, tiny),
        ("K = 2, one element is off by little more than its bound", *_between(rng)),
        ("D was computed in half precision", D.astype(np.float16).astype(np.float32), A, B),
    ]


@function_check("accepts")
def check_accepts(fn, *, rng):
    """Every right product passes, in any order of its additions, and no wrong one."""
    right, wrong = _right(rng), _wrong(rng)
    for label, D, A, B in right:
        assert (abs(D - A.astype(np.float64) @ B.astype(np.float64)) <= bound(A, B)).all(), label
    refused = [label for label, D, A, B in right if not _answer(fn, D, A, B)]
    taken = [label for label, D, A, B in wrong if _answer(fn, D, A, B)]
    where = _said("refused, although right", refused) + _said("accepted, although wrong", taken)
    said = {"where": where, "likely": PASSES_NAN if "one element is NaN" in taken else None}
    require(not refused, f"a right product is refused: {''.join(refused[:1])}", **said)
    require(not taken, f"a wrong product is accepted: {''.join(taken[:1])}", **said)
    return f"{len(right)} right products accepted, {len(wrong)} wrong ones refused"


def _said(what, labels):
    return f"{what}: {'; '.join(labels)}. " if labels else ""


def _answer(fn, D, A, B):
    """What the student's function says of copies."""
    got = fn(D.copy(), A.copy(), B.copy())
    require_returned(got, "accepts", "`return` and True or False")
    require(
        isinstance(got, bool | np.bool_),
        "accepts must return True or False",
        got=type(got).__name__,
        cause="one answer for the whole matrix: .all()" if isinstance(got, np.ndarray) else None,
    )
    return got
