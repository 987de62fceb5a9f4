"""The check of a backward pass with a loss scale: half precision in between, gradients in float32 at the end."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged

# steps of float32 in a step of float16
HALF = float(np.finfo(np.float16).eps / np.finfo(np.float32).eps)
EXACT = "numbers whose sums are exact"


def _probabilities(rng, B, n, apart):
    """Labels and outputs (B, n): softmax of small numbers, or `apart` from the labels where the network is sure."""
    Y = np.eye(n, dtype=np.float32)[rng.integers(0, n, B)]
    if apart:
        off = apart * rng.uniform(0.5, 2, (B, n))
        return (np.where(Y > 0, 1 - (off * (1 - Y)).sum(axis=1, keepdims=True), off), Y)
    P = np.exp(rng.standard_normal((B, n)))
    return P / P.sum(axis=1, keepdims=True), Y


def _case(rng, sizes, label, scale, lam, apart=None):
    B, n0, n1, n2 = sizes
    P, Y = _probabilities(rng, B, n2, apart)
    masters = [normal(rng, n0, n1), normal(rng, n1, n2)]
    X = rng.uniform(0.3, 2, (B, n0)).astype(np.float16)
    H = np.maximum(rng.uniform(-1, 2, (B, n1)), 0).astype(np.float16)
    size = _size(X, H, P - Y, masters, lam)
    return Case((X, H, P.astype(np.float32), Y, masters, lam, scale), label, scale=size)


def _size(X, H, D, masters, lam):
    """The size of the numbers that are summed, the larger one of the two layers."""
    D2 = abs(D) / len(D)
    D1 = D2 @ abs(masters[1]).T
    sums = [(X.T @ D1).max(), (H.T @ D2).max()]
    return float(max(sums) + lam * max(abs(M).max() for M in masters))


def _tiny(*drawn):
    """A case in which gradients divided by 2^15 in float16 are wrong by more than twice what is forgiven.

    That grows with the sums, and the rounding does not: of small sizes one is found after some twenty draws.
    """
    while True:
        case = _case(*drawn)
        X, H, P, Y, masters, _, scale = case.args
        X, H, P, Y, *masters = (one.astype(np.float64) for one in (X, H, P, Y, *masters))
        grads = _scaled_backward(X, H, P, Y, masters, 0.0, scale)
        forgiven = 0.5 * _steps(case) * np.finfo(np.float32).eps * case.scale
        rest = scale / 2**15
        if all(abs(_half(g * rest) - g * rest).max() > 2 * rest * forgiven for g in grads):
            return case


def _too_large(rng, *sizes):
    """A case in which some scaled gradients overflow, none by so little that rounding decides, and no delta does."""
    while True:
        scale, lam = 2.0 ** int(rng.integers(14, 19)), float(rng.uniform(0.05, 0.1))
        case = _case(rng, sizes, "a scale that is too large", scale, lam)
        near = [_together(case.args, scale * by) for by in (0.99, 1.01)]
        infinite = [np.isinf(grads) for grads in near]
        off = scale * (case.args[2] - case.args[3])
        deltas = off / sizes[0] @ _half(case.args[4][1]).T
        if (
            np.array_equal(*infinite)
            and 0 < infinite[0].sum() < infinite[0].size
            and max(abs(off).max(), abs(deltas).max()) < 60_000
        ):
            return case


def _together(args, scale):
    """The gradients of these arguments but with this scale, one after the other."""
    X, H, P, Y, masters, lam, _ = args
    with np.errstate(over="ignore", invalid="ignore"):
        grads = _scaled_backward(X, H, P, Y, masters, lam, scale)
    return np.concatenate([each.ravel() for each in grads])


def _fine(rng, *shape, bits=14):
    """Numbers from 1 to 2 with so many bits behind the point; float16 keeps 10."""
    return (1 + rng.integers(1, 2**bits, shape) / 2**bits).astype(np.float32)


def _exact_case(rng):
    """Numbers whose products and sums float32 holds exactly, in any order: what differs is a rounding."""
    B, n0, n1, n2, scale = 3, 16, 24, 3, 2.0**10  # so many that some rounding always shows
    Y = np.eye(n2, dtype=np.float32)[rng.integers(0, n2, B)]
    off = (3 * rng.integers(5462, 10922, (B, n2)) + 1) / 2**22  # a third is never halfway
    P = (Y + np.where(Y > 0, -1, 1) * off).astype(np.float32)
    masters = [_fine(rng, *shape) * rng.choice([-1, 1], shape) for shape in ((n0, n1), (n1, n2))]
    masters = [W.astype(np.float32) for W in masters]
    dZ1 = _half(scale * (P - Y) / B) @ _half(masters[1]).T
    on = (rng.random((B, n1)) < 0.8) & (abs(dZ1) >= 1)  # all within a factor of 16
    X, H = _fine(rng, B, n0, bits=6), _fine(rng, B, n1, bits=10) * on
    return Case((X.astype(np.float16), H.astype(np.float16), P, Y, masters, 2.0**-4, scale), EXACT)


def _cases(rng):
    B, n0, n1, n2 = ragged(rng, 4, low=3, high=9)
    few, outputs, wide, wider = sorted(ragged(rng, 4, low=3, high=7))
    some = float(rng.uniform(0.05, 0.1))
    return [
        _case(rng, (B, n0, n1, n2), "a new network", 64.0, some),
        _tiny(
            rng,
            (few, wide, wider, outputs),
            "a network that is sure, tiny gradients",
            2.0**17,
            2e-8,
            1e-7,
        ),
        _tiny(rng, (few, wider, wide, outputs), "tiny gradients, without L2", 2.0**18, 0.0, 6e-8),
        _case(rng, (1, n0, n1, n2), "one example", 256.0, some),
        _case(
            rng, (B, n0, n1, n2), "a scale beyond float16, tinier gradients", 2.0**34, 0.0, 1e-12
        ),
        _too_large(rng, few, wide, wider, outputs),
        _exact_case(rng),
    ]


def _half(x):
    return x.astype(np.float16).astype(np.float64)


def _steps(case):
    """dZ2, W2, dZ1 and the gradient may each be half a step of float16 off, where sums decide how they are rounded."""
    return 4 if case.label == EXACT else 4 * HALF


def _scaled_backward(X, H, P, Y, masters, lam, scale):
    W1, W2 = masters
    dZ2 = _half(scale * (P - Y) / len(X))
    dZ1 = _half(dZ2 @ _half(W2).T * (H > 0))
    return _half(X.T @ dZ1) / scale + lam * W1, _half(H.T @ dZ2) / scale + lam * W2


def _quietly(fn, *args):
    """A scale that is too large overflows in a right answer: no warning."""
    with np.errstate(over="ignore", invalid="ignore"):
        return fn(*args)


check_scaled_backward = Check(
    "scaled_backward",
    _cases,
    _scaled_backward,
    K=_steps,
    c=0.5,
    dtype="float32",
    parts=("dW1", "dW2"),
    call=_quietly,
)
