"""The kernels of kernels/mlp_*.cu, one function each, after the lines of NumPy that specify it.

Matrices are `Matrix` objects of one `OnDevice` or `Traced`; examples in rows, as everywhere; M, N, K as in the kernel.
A kernel takes an `Activation`, its specification the same as NumPy functions f(z) and df(z, a).
"""

import numpy as np

from .launching import Matrix


def forward_numpy(A, W, b, f):
    Z = A @ W + b
    return Z, f(Z)


def forward(A, W, b, Z, F, activation):
    """Z = A W + b, F = f(Z).   A: (M, K), W: (K, N), b: (N,), Z and F: (M, N); either may be None. [000] eq. 7."""
    out = Z or F
    pointers = (X and X.memory for X in (Z, F))
    A.on.product("forward", activation, *out.shape, A.shape[1], A, W, b, *pointers, *out.strides)


def output_delta_numpy(Z, A, Y, s, slope, df):
    return s * (A - Y) * (df(Z, A) if slope else 1)


def output_delta(Z, A, Y, dZ, s, slope, activation):
    """dZ = s (A - Y), times f'(Z) with slope.   All (M, N), stored alike; Z may be None. [000] eq. 8, [003] eq. 3."""
    _elements("output_delta", activation, dZ, s, int(slope), Z, A, Y, dZ)


def transposed_numpy(dZ, W):
    return dZ @ W.T


def transposed(dZ, W, dA, activation, fused=False, Z=None, A=None):
    """dA = dZ W^T; fused: times f'(Z).   dZ: (M, K), W: (N, K), dA, Z, A: (M, N), stored alike. [000] eq. 9."""
    pointers = (X and X.memory for X in (Z, A))
    dZ.on.product("transposed", activation, *dA.shape, dZ.shape[1], dZ, W, int(fused), *pointers, dA)


def hadamard_numpy(Z, A, dA, df):
    return dA * df(Z, A)


def hadamard(Z, A, dA, dZ, activation):
    """dZ = dA f'(Z).   All (M, N), stored alike; dZ may be dA; Z or A may be None where df does not use it."""
    _elements("hadamard", activation, dZ, Z, A, dA, dZ)


def update_numpy(A, dZ, W, alpha, beta):
    return alpha * (A.T @ dZ) + (beta * W if beta else 0)


def update(A, dZ, W, V, alpha, beta):
    """V = alpha A^T dZ + beta W.   A: (K, M), dZ: (K, N), W and V: (M, N); V may be W. [000] eq. 10."""
    if V.strides[1] != 1:  # stored by columns: V^T = alpha dZ^T A + beta W^T lets neighbouring threads have neighbours
        A, dZ, W, V = dZ, A, W.T, V.T
    A.on.product("update", None, *V.shape, A.shape[0], float(alpha), A, dZ, float(beta), W, V)


def column_sums_numpy(dZ, b, alpha, beta):
    return alpha * dZ.sum(axis=0) + (beta * b if beta else 0)


def column_sums(dZ, b, v, alpha, beta):
    """v = alpha (sums of dZ's columns) + beta b.   dZ: (M, N), b and v: (N,); v may be b."""
    (M, N), grid = dZ.shape, (-(-dZ.shape[1] // 32), 1)
    dZ.on.launch("column_sums", None, grid, (32, 8, 1), M, N, float(alpha), dZ, float(beta), b, v)


def row_max_numpy(Z):
    return Z.max(axis=1)


def row_max(Z, m):
    """m = the largest number of each row.   Z: (M, N), m: (M,)."""
    _rows("row_max", Z, Z, m.memory)


def softmax_numpy(Z, m):
    E = np.exp(Z - m[:, None])
    return E / E.sum(axis=1, keepdims=True), np.log(E.sum(axis=1))


def softmax(Z, m, A, s):
    """A = softmax(Z), s = log of each row's sum of exp(Z - m).   Z, A: (M, N), stored alike, m, s: (M,). [003] 3.3."""
    _rows("softmax", Z, m.memory, Z.memory, A, s.memory)


def row_loss_numpy(P, Y, m=None, s=None):
    return ((P - Y) ** 2).sum(axis=1) if m is None else (Y * (s[:, None] - (P - m[:, None]))).sum(axis=1)


def row_loss(P, Y, loss, m=None, s=None):
    """Each example's loss: squared error of P = A, or with m and s the cross-entropy of P = Z.   P, Y: (M, N)."""
    _rows("row_loss", P, int(m is not None), m and m.memory, s and s.memory, P.memory, Y, loss.memory)


def total_numpy(X, scale, squared):
    return scale * (X**2 if squared else X).sum()


def total(X, part, out, scale, squared=False):
    """out[0] = scale times the sum of X, or of its squares.   X: (M, N) or (M,); part: (64,), for the blocks' sums."""
    X = X if len(X.shape) == 2 else Matrix(X.on, X.memory, (1, *X.shape), (0, *X.strides))
    X = X if X.strides[1] == 1 else X.T
    blocks = min(64, -(-X.shape[0] * X.shape[1] // 1024))
    X.on.launch("sum", None, (blocks, 1), (256, 1, 1), *X.shape, float(scale), int(squared), X, part.memory)
    X.on.launch("sum", None, (1, 1), (256, 1, 1), 1, blocks, 1.0, 0, part.memory, 0, 1, out.memory)


def _elements(kernel, activation, out, *args):
    n = out.shape[0] * out.shape[1]
    out.on.launch(kernel, activation, (-(-n // 256), 1), (256, 1, 1), n, *(getattr(arg, "memory", arg) for arg in args))


def _rows(kernel, Z, *args):
    """A launch with a warp for each row of Z, four to a block."""
    Z.on.launch(kernel, None, (-(-Z.shape[0] // 4), 1), (32, 4, 1), *Z.shape, *args)
