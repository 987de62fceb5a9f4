"""The parts of a step that are not matrix products, fused and compiled: float32, in place, nothing allocated, nogil.

One pass over memory where NumPy takes one an operation. Arrays are C-contiguous; columns lo to hi - 1 are worked on.
Needs Numba, so nothing imports this module until it is asked for.
"""

from functools import partial

import numpy as np

from course_lib.serial.per_example_numba import compiled

F32 = np.float32
# without the first LLVM does not vectorise: a division could raise; the second fuses a product and a sum
fused = partial(compiled, error_model="numpy", fastmath={"contract"})


@fused
def exp(x):
    """e^x = 2^n e^r with |r| <= ln(2)/2: a Taylor polynomial for e^r, and n put into the exponent's bits.

    Relative error about 1e-7. Plain arithmetic, so that LLVM does 4 to 16 at once; a call of exp it may do singly.
    """
    x = F32(-87) if x < F32(-87) else F32(88) if x > F32(88) else x  # written so that NaN stays NaN
    n = np.floor(x * F32(1.4426950408889634) + F32(0.5))
    # ln 2 in two parts: n times the first is exact
    r = x - n * F32(0.693359375) + n * F32(2.12194440e-4)
    p = F32(1 / 720) + r * F32(1 / 5040)
    p = F32(0.5) + r * (F32(1 / 6) + r * (F32(1 / 24) + r * (F32(1 / 120) + r * p)))
    bits = (np.int32(n) + np.int32(127)) << np.int32(23)
    return (F32(1) + r * (F32(1) + r * p)) * np.int32(bits).view(F32)


@fused
def logistic(Z, b, lo, hi, c):
    """Z becomes A = c sigmoid(c (Z + b)) - (c - 1): with c = 1 the sigmoid, with c = 2 tanh."""
    for i in range(Z.shape[0]):
        # of a slice Numba knows that j is not negative: only so LLVM vectorises
        z, bias = Z[i, lo:hi], b[lo:hi]
        for j in range(len(z)):
            z[j] = c / (F32(1) + exp(-c * (z[j] + bias[j]))) - (c - F32(1))


@fused
def d_logistic(dA, A, lo, hi, c):
    """dA becomes dZ = dA A' with A' = (A + c - 1) (1 - A)."""
    for i in range(A.shape[0]):
        d, a = dA[i, lo:hi], A[i, lo:hi]
        for j in range(len(d)):
            d[j] *= (a[j] + (c - F32(1))) * (F32(1) - a[j])


@fused
def ramp(Z, b, lo, hi, floor):
    """Z becomes A = max(Z + b, floor): with floor = 0 relu, with minus infinity the identity."""
    for i in range(Z.shape[0]):
        z, bias = Z[i, lo:hi], b[lo:hi]
        for j in range(len(z)):
            a = z[j] + bias[j]
            z[j] = floor if a < floor else a


@fused
def d_ramp(dA, A, lo, hi, floor):
    """dA becomes dZ: dA where A is above the floor, else 0."""
    for i in range(A.shape[0]):
        d, a = dA[i, lo:hi], A[i, lo:hi]
        for j in range(len(d)):
            d[j] = d[j] if a[j] > floor else F32(0)


# activation: (A from Z, dZ from dA, the last argument of both)
ACTIVATIONS = {
    "sigmoid": (logistic, d_logistic, F32(1)),
    "tanh": (logistic, d_logistic, F32(2)),
    "relu": (ramp, d_ramp, F32(0)),
    "identity": (ramp, d_ramp, F32(-np.inf)),
}


@fused
def mse(Z, b, Y, B, losses, t):
    """Z becomes dZ = 2/B (A - Y) A (1 - A), A = sigmoid(Z + b); adds the rows' losses to losses[t], in float64."""
    loss = 0.0  # not losses[t]: the threads' entries share a cache line, which would go to and fro
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            a = F32(1) / (F32(1) + exp(-(Z[i, j] + b[j])))
            d = a - Y[i, j]
            loss += d * d
            Z[i, j] = F32(2) / F32(B) * d * a * (F32(1) - a)
    losses[t] += loss


@fused
def cross_entropy(Z, b, Y, B, losses, t):
    """Z becomes dZ = (A - Y)/B, A = softmax(Z + b); adds the rows' losses to losses[t], in float64."""
    loss = 0.0
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
            loss += Y[i, j] * (log_total - (Z[i, j] - top))
            Z[i, j] = (exp(Z[i, j] - top) / total - Y[i, j]) / F32(B)
    losses[t] += loss


@fused
def weight_step(W, dW, eta, keep):
    """W = keep W - eta dW, keep = 1 - eta lam."""
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            W[i, j] = keep * W[i, j] - eta * dW[i, j]


@fused
def bias_step(b, dZ, db, lo, hi, eta):
    """db = sum of the rows of dZ, b -= eta db."""
    total = db[lo:hi]
    total[:] = 0
    for i in range(dZ.shape[0]):
        row = dZ[i, lo:hi]
        for j in range(len(total)):
            total[j] += row[j]
    for j in range(lo, hi):
        b[j] -= eta * db[j]


LOSSES = {"mse": mse, "cross_entropy": cross_entropy}
