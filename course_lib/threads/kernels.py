"""The parts of a step that are not matrix products, fused and compiled: float32, in place, nothing allocated, nogil.

One pass over memory where NumPy takes one an operation. Arrays are C-contiguous; the columns lo to hi - 1 are worked on.
Needs Numba, so nothing imports this module until it is asked for.
"""

import numpy as np
from numba import njit

KINDS = {"sigmoid": 0, "tanh": 1, "relu": 2, "identity": 3}
F32 = np.float32
_OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}  # without these LLVM does not vectorise


def compiled(function):
    """njit with a cache on disk; without it where no folder can be written, as in a read-only install."""
    try:
        return njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        return njit(**_OPTIONS)(function)


@compiled
def exp(x):
    """e^x = 2^n e^r with |r| <= ln(2)/2: a Taylor polynomial for e^r, and n put into the exponent's bits.

    Relative error about 1e-7. Plain arithmetic, so that LLVM does 8 or 16 at once; a call of exp it would do singly.
    """
    x = F32(-87) if x < F32(-87) else F32(88) if x > F32(88) else x  # written so that NaN stays NaN
    n = np.floor(x * F32(1.4426950408889634) + F32(0.5))
    r = x - n * F32(0.693359375) + n * F32(2.12194440e-4)  # ln 2 in two parts: n times the first is exact
    p = F32(1 / 720) + r * F32(1 / 5040)
    p = F32(0.5) + r * (F32(1 / 6) + r * (F32(1 / 24) + r * (F32(1 / 120) + r * p)))
    bits = (np.int32(n) + np.int32(127)) << np.int32(23)
    return (F32(1) + r * (F32(1) + r * p)) * np.int32(bits).view(F32)


@compiled
def activate(Z, b, lo, hi, kind):
    """Z becomes A = f(Z + b)."""
    for i in range(Z.shape[0]):
        for j in range(lo, hi):
            z = Z[i, j] + b[j]
            if kind == 0:
                Z[i, j] = F32(1) / (F32(1) + exp(-z))
            elif kind == 1:
                Z[i, j] = F32(2) / (F32(1) + exp(F32(-2) * z)) - F32(1)
            elif kind == 2:
                Z[i, j] = F32(0) if z < F32(0) else z
            else:
                Z[i, j] = z


@compiled
def derive(dA, A, lo, hi, kind):
    """dA becomes dZ = dA f'(Z), with f'(Z) from A = f(Z) alone."""
    for i in range(A.shape[0]):
        for j in range(lo, hi):
            a = A[i, j]
            if kind == 0:
                dA[i, j] *= a * (F32(1) - a)
            elif kind == 1:
                dA[i, j] *= F32(1) - a * a
            elif kind == 2:
                dA[i, j] *= F32(1) if a > F32(0) else F32(0)


@compiled
def mse(Z, b, Y, B, losses, t):
    """Z becomes dZ = 2/B (A - Y) A (1 - A), A = sigmoid(Z + b); adds the rows' losses to losses[t]."""
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            a = F32(1) / (F32(1) + exp(-(Z[i, j] + b[j])))
            d = a - Y[i, j]
            losses[t] += d * d
            Z[i, j] = F32(2) / F32(B) * d * a * (F32(1) - a)


@compiled
def cross_entropy(Z, b, Y, B, losses, t):
    """Z becomes dZ = (A - Y)/B, A = softmax(Z + b); adds the rows' losses to losses[t]."""
    for i in range(Z.shape[0]):
        top = Z[i, 0] + b[0]
        for j in range(Z.shape[1]):
            Z[i, j] += b[j]
            top = top if Z[i, j] <= top else Z[i, j]
        total = F32(0)
        for j in range(Z.shape[1]):
            total += exp(Z[i, j] - top)
        log_total = np.log(total)
        for j in range(Z.shape[1]):
            losses[t] += Y[i, j] * (log_total - (Z[i, j] - top))
            Z[i, j] = (exp(Z[i, j] - top) / total - Y[i, j]) / F32(B)


@compiled
def bias_step(b, dZ, db, lo, hi, eta):
    """db = sum of the rows of dZ, b -= eta db."""
    for j in range(lo, hi):
        db[j] = 0
    for i in range(dZ.shape[0]):
        for j in range(lo, hi):
            db[j] += dZ[i, j]
    for j in range(lo, hi):
        b[j] -= eta * db[j]
