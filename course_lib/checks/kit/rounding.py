"""How far float32 may take a network's gradients and parameters from the exact ones, entry by entry.

Each line of forward and backward is bounded with the bounds of the lines before it. With u = 2^-24, and S the sum of
the absolute values of K products, a sum of these computed in float32 is off by

    sure     (K + 3) u S at most: in any order, with FMA or without
    likely   6 sqrt(K + 3) u S, but for a chance of 2 K exp(-6^2 / 2), if roundings up and down come by chance
             (Higham and Mary 2019, A new approach to probabilistic rounding error analysis)

and it hands on the errors of what it adds: sure, all of the worst sign; likely, as the root of the sum of their
squares. So both grow with K, with depth and from step to step, the sure one soon beyond all use.
"""

import numpy as np

from course_lib.serial import backward, forward, sgd_step

U = 2.0**-24
OWN = (
    8 * U
)  # relative error of tanh, and of a sigmoid made of exp; CUDA's are within 2 units in the last place
STEEPEST = {"sigmoid": 0.25, "tanh": 1.0, "relu": 1.0, "identity": 1.0}


class Rounding:
    """gradients(...) and step(...) with bounds, sure ones or likely ones."""

    def __init__(self, net, sure=False):
        self.net, self.sure = net, sure

    def gradients(self, params, X, Y, errors=None):
        """(grads, bounds): the gradient in float64, and how far one computed in float32 may be: lists of (dW, db).

        params, X, Y: as for the serial library. errors: list of (eW, eb), how far the float32 run's parameters may be
        from these already; None: not at all.
        """
        params = [(W.astype(np.float64), b.astype(np.float64)) for W, b in params]
        errors = errors or [(0 * W, 0 * b) for W, b in params]
        cache = forward(params, X.astype(np.float64), self.net)
        grads = backward(params, cache, Y.astype(np.float64))
        return grads, self._backward(
            params, cache, Y, grads, errors, *self._forward(params, cache, errors)
        )

    def step(self, params, X, Y, eta, errors=None):
        """One step in float64: changes params (float64) in place, and returns how far the float32 run's may be now."""
        grads, bounds = self.gradients(params, X, Y, errors)
        errors, after = errors or [(0.0, 0.0)] * len(params), []
        for pair, error, grad, bound in zip(params, errors, grads, bounds, strict=True):
            parts = zip(pair, error, grad, bound, strict=True)
            after.append(
                tuple(
                    e + eta * d + 4 * U * (abs(p) + e + eta * (abs(g) + d)) for p, e, g, d in parts
                )
            )
        sgd_step(params, grads, eta)
        return after

    def _forward(self, params, cache, errors):
        """Bounds of A and Z, layer by layer."""
        eA, eZ = [np.zeros_like(cache.A[0])], []
        for l, ((W, b), (eW, eb)) in enumerate(zip(params, errors, strict=True)):
            A, Z, last = cache.A[l + 1], cache.Z[l], l == self.net.n_layers - 1
            eZ.append(
                self.product(cache.A[l], eA[l], W, eW) + eb + self.roundings(len(W)) * (abs(b) + eb)
            )
            if last and self.net.loss == "cross_entropy":
                eA.append(self.softmax(A, Z, eZ[-1]))
            else:
                eA.append(self.activation("sigmoid" if last else self.net.activation, Z, A, eZ[-1]))
        return eA, eZ

    def _backward(self, params, cache, Y, grads, errors, eA, eZ):
        dZ, e = self._output(cache.A[-1], Y, eA[-1])
        bounds = []
        for l in reversed(range(self.net.n_layers)):
            (W, _), eW, lam, ones = params[l], errors[l][0], self.net.lam, np.ones((1, len(Y)))
            own = lam * eW + 4 * U * (lam * abs(W) + abs(grads[l][0]))
            bounds.append(
                (
                    self.product(cache.A[l].T, eA[l].T, dZ, e) + own,
                    self.product(ones, 0 * ones, dZ, e)[0],
                )
            )
            if l:
                dA, e_dA = dZ @ W.T, self.product(dZ, e, W.T, eW.T)
                slope, e_slope = self.slope(
                    self.net.activation, cache.Z[l - 1], cache.A[l], eZ[l - 1], eA[l]
                )
                dZ, e = dA * slope, self.times(dA, e_dA, slope, e_slope)
        return bounds[::-1]

    def _output(self, A, Y, eA):
        """The output delta and its bound."""
        D, B = A - Y, len(Y)
        if self.net.loss == "cross_entropy":
            return D / B, (eA + 4 * U * abs(D)) / B
        slope, e_slope = self.slope("sigmoid", None, A, None, eA)
        return 2 / B * D * slope, 2 / B * self.times(D, eA + 2 * U * abs(D), slope, e_slope)

    def roundings(self, K):
        return (K + 3) * U if self.sure else 6 * np.sqrt(K + 3) * U

    def product(self, A, eA, W, eW):
        """Of A @ W, where A and W are off by eA and eW themselves."""
        most = (abs(A) + eA) @ (abs(W) + eW)
        handed_on = (
            most - abs(A) @ abs(W)
            if self.sure
            else np.sqrt((A * A) @ (eW * eW) + (eA * eA) @ (W * W))
        )
        return handed_on + self.roundings(A.shape[1]) * most

    def times(self, a, ea, b, eb):
        """The same of a number times a number."""
        return abs(a) * eb + ea * abs(b) + ea * eb + 3 * U * (abs(a) + ea) * (abs(b) + eb)

    def softmax(self, A, Z, eZ):
        worst = eZ.max(axis=1, keepdims=True)
        off = 2 * worst if self.sure else np.sqrt(eZ**2 + (A**2 * eZ**2).sum(axis=1, keepdims=True))
        return A * (
            np.expm1(off + 2 * U * np.ptp(Z, axis=1, keepdims=True)) + (A.shape[1] + 12) * U
        )

    def activation(self, f, Z, A, eZ):
        steep = STEEPEST[f] if self.sure else self.slope(f, Z, A, eZ, 0 * A)[0] + eZ
        steep = 1.0 if f == "relu" else steep  # on which side of the kink z lies may be open
        return steep * eZ + (OWN * abs(A) if f in ("sigmoid", "tanh") else 0)

    def slope(self, f, Z, A, eZ, eA):
        """f' and its bound. Where z may have either sign, relu's may be 0 or 1."""
        if f == "sigmoid":
            return A * (1 - A), eA * (abs(1 - 2 * A) + eA) + 4 * U * A
        if f == "tanh":
            return 1 - A * A, eA * (2 * abs(A) + eA) + 4 * U
        if f == "relu":
            return (Z > 0).astype(np.float64), (abs(Z) <= eZ).astype(np.float64)
        return np.ones_like(A), np.zeros_like(A)
