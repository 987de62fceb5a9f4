"""The kernels of kernels/mlp_*.cu: a line of NumPy that specifies each, and a method of `Kernels` that launches it.

Matrices are device arrays of float32, examples in rows; whether they are stored by rows or by columns is only a number
to most kernels. A kernel takes an `Activation`, its specification the functions f(z) and df(z, a) of NumPy arrays.
"""

import numpy as np

from course_lib.gpu.costs import up
from course_lib.gpu.mlp.activations import ACTIVATIONS
from course_lib.gpu.mlp.products import Products, at

# What a kernel computes, of NumPy arrays in the order of its method's parameters; results are returned.
SPECIFICATIONS = {
    "forward": lambda A, W, b, f: (A @ W + b, f(A @ W + b)),
    "output_delta": lambda Z, A, Y, s, slope, df: s * (A - Y) * (df(Z, A) if slope else 1),
    "transposed": lambda dZ, W: dZ @ W.T,
    "hadamard": lambda Z, A, dA, df: dA * df(Z, A),
    "update": lambda A, dZ, W, alpha, beta: alpha * (A.T @ dZ) + (beta * W if beta else 0),
    "gather": lambda part, b, f: (part.sum(axis=0) + b, f(part.sum(axis=0) + b)),
    "column_sums": lambda dZ, b, alpha, beta: alpha * dZ.sum(axis=0) + (beta * b if beta else 0),
    "row_max": lambda Z: Z.max(axis=1),
    "softmax": lambda Z, m: (
        np.exp(Z - m[:, None]) / np.exp(Z - m[:, None]).sum(axis=1, keepdims=True),
        np.log(np.exp(Z - m[:, None]).sum(axis=1)),
    ),
    "row_loss": lambda P, Y, m=None, s=None: (
        (P - Y) ** 2 if m is None else Y * (s[:, None] - (P - m[:, None]))
    ).sum(axis=1),
    "total": lambda X, scale, squared: scale * (X**2 if squared else X).sum(),
}


class Kernels(Products):
    """Each kernel as a method, launched as `Products` says."""

    def forward(self, A, W, b, Z, F, activation):
        """Z = A W + b, F = f(Z).   A: (M, K), W: (K, N), b: (N,), Z and F: (M, N); either may be None.

        Kamra 2016, eq. 7.
        """
        out = F if Z is None else Z
        chosen = self.choice(out.shape, A.shape[1])
        if chosen.kernel == "fused":
            args = (A.shape[1], *at(A), *at(W), *at(b), Z, F, *at(out)[1:])
            self._tiles("forward", activation, chosen, out.shape, *args)
        else:
            part = self._partial(chosen, A, W, out)
            self._gather(chosen, activation, part, Z, F, b=b)

    def output_delta(self, Z, A, Y, dZ, s, slope, activation):
        """dZ = s (A - Y), times f'(Z) with slope.   All (M, N), by rows; Z may be None.

        Kamra 2016, eq. 8, Darve 2019, eq. 3.
        """
        self._elements("output_delta", activation, dZ, float(s), int(slope), Z, A, Y, dZ)

    def transposed(self, dZ, W, dA, activation, fused=False, Z=None, A=None):
        """dA = dZ W^T; fused: times f'(Z).   dZ: (M, K), W: (N, K), dA, Z, A: (M, N), stored alike.

        Kamra 2016, eq. 9.
        """
        chosen = self.choice(dA.shape, dZ.shape[1])
        if chosen.kernel == "fused":
            args = (dZ.shape[1], *at(dZ), *at(W), int(fused), Z, A, *at(dA))
            self._tiles("transposed", activation, chosen, dA.shape, *args)
            return
        part = self._partial(chosen, dZ, W.T, dA)
        if chosen.slices > 1:
            self._gather(chosen, ACTIVATIONS["identity"], part, dA, None)
        if fused:  # with what was asked for, if not in one kernel
            self.hadamard(Z, A, dA, dA, activation)

    def hadamard(self, Z, A, dA, dZ, activation):
        """dZ = dA f'(Z).   All (M, N), stored alike; dZ may be dA; Z or A may be None where df does not use it."""
        self._elements("hadamard", activation, dZ, Z, A, dA, dZ)

    def update(self, A, dZ, W, V, alpha, beta):
        """V = alpha A^T dZ + beta W.   A: (K, M), dZ: (K, N), W and V: (M, N); V may be W.

        Kamra 2016, eq. 10.
        """
        # stored by columns: V^T = alpha dZ^T A + beta W^T lets neighbouring threads have neighbours
        if at(V)[2] != 1:
            A, dZ, W, V = dZ, A, W.T, V.T
        chosen = self.choice(V.shape, A.shape[0])
        if chosen.kernel == "fused":
            args = (A.shape[0], float(alpha), *at(A), *at(dZ), float(beta), *at(W), *at(V))
            self._tiles("update", None, chosen, V.shape, *args)
        elif chosen.slices == 1 and W.strides == V.strides:
            self._rung(chosen, A.T, dZ, alpha, beta, W, at(V))
        else:
            part = self._partial(chosen, A.T, dZ, V, own=True)
            self._gather(chosen, ACTIVATIONS["identity"], part, V, None, alpha, beta, W)

    def column_sums(self, dZ, b, v, alpha, beta):
        """v = alpha (sums of dZ's columns) + beta b.   dZ: (M, N), b and v: (N,); v may be b."""
        args = (*dZ.shape, float(alpha), *at(dZ), float(beta), *at(b), *at(v))
        self._launch("column_sums", None, (up(dZ.shape[1], 32), 1), (32, 8, 1), *args)

    def row_max(self, Z, m):
        """m = the largest number of each row.   Z: (M, N), m: (M,)."""
        self._rows("row_max", Z, *at(Z), m)

    def softmax(self, Z, m, A, s):
        """A = softmax(Z), s = log of each row's sum of exp(Z - m).   Z, A: (M, N), alike, m, s: (M,).

        Darve 2019, section 3.3.
        """
        self._rows("softmax", Z, m, Z, *at(A), s)

    def row_loss(self, P, Y, loss, m=None, s=None):
        """Each example's loss: squared error of P = A; with m, s the cross-entropy of P = Z.   P, Y: (M, N), alike."""
        self._rows("row_loss", P, int(m is not None), m, s, P, *at(Y), loss)

    def total(self, X, part, out, index, scale, squared=False):
        """out[index] = scale times the sum of X, or of its squares.   X: (M, N); part: (64,), for the blocks' sums."""
        X, blocks = X if at(X)[2] == 1 else X.T, min(64, up(X.size, 1024))
        args = (*X.shape, float(scale), int(squared), *at(X), part, 0)
        self._launch("sum", None, (blocks, 1), (256, 1, 1), *args)
        self._launch("sum", None, (1, 1), (256, 1, 1), 1, blocks, 1.0, 0, part, 0, 1, out, index)

    def _elements(self, kernel, activation, out, *args):
        """A thread for each element of the result."""
        self._launch(kernel, activation, (up(out.size, 256), 1), (256, 1, 1), out.size, *args)

    def _rows(self, kernel, X, *args):
        """A warp for each row, four to a block."""
        self._launch(kernel, None, (up(X.shape[0], 4), 1), (32, 4, 1), *X.shape, *args)
