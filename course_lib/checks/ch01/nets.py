"""Chapter 01's networks in float64, and random ones: what its checks have in common."""

import numpy as np

from course_lib.checks.kit.core import normal, ragged


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def slope(z):
    return sigmoid(z) * (1 - sigmoid(z))


def biases(rng, count):
    """`count` numbers between 0.5 and 1.5, their signs alternating: a lost sign shows, and so does a lost bias."""
    signs = rng.choice([-1.0, 1.0]) * (-1.0) ** np.arange(count)
    return [float(b) for b in signs * rng.uniform(0.5, 1.5, count)]


def layers(rng, sizes):
    pairs = zip(sizes[:-1], sizes[1:], strict=True)
    return [
        (normal(rng, n, m, dtype=np.float64), normal(rng, m, dtype=np.float64)) for n, m in pairs
    ]


def depths(rng):
    """Sizes of five networks: ragged, one layer, wide, one with equal widths, where W.T fits too, and a deep one."""
    n = int(rng.integers(3, 6))
    return [ragged(rng, 4), ragged(rng, 2), ragged(rng, 3), [n, n, n, n], ragged(rng, 6)]


def net_label(sizes):
    return "sizes " + "-".join(map(str, sizes))


def affine(a, W, b):
    return a @ W + b


def forward_pass(params, x):
    return walk(params, x, affine)


def walk(params, x, layer, f=sigmoid):
    Z, A = [], [x]
    for W, b in params:
        Z.append(layer(A[-1], W, b))
        A.append(f(Z[-1]))
    return Z, A


def skipping(params, x, skips):
    """The forward pass of a network in which some layers add their input to their output."""
    Z, A = [], [x]
    for (W, b), skip in zip(params, skips, strict=True):
        Z.append(affine(A[-1], W, b))
        A.append(sigmoid(Z[-1]) + A[-1] if skip else sigmoid(Z[-1]))
    return Z, A
