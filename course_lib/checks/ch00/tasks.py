"""Checks of chapter 00, and the one that its lecture fails on purpose."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged

# The lecture's demonstration: pixels are eighths, so that every machine prints the same digits -------------------


def _images(rng):
    sizes = [(*ragged(rng, 2, low=3), "a few images"), (1, 6, "one image")]
    return [
        Case((rng.integers(0, 9, (B, n)).astype(np.float32) / np.float32(8),), label)
        for B, n, label in sizes
    ]


check_brightness = Check(
    "brightness",
    _images,
    lambda X: X.mean(axis=1),
    K=lambda case: case.args[0].shape[1],
    axes=("example",),
    diagnoses=[
        (
            lambda X: X.mean(axis=0),
            "the mean runs over the images: axis 0. The pixels of one image lie along axis 1",
        ),
        (lambda X: X.max(axis=1), "this is the brightest pixel of each image, not the mean"),
    ],
)


# The exercise ----------------------------------------------------------------------------------------------------


def _layers(rng):
    B, n_in, n_out = ragged(rng, 3, low=3)
    sizes = [
        (B, n_in, n_out, "a ragged batch"),
        (1, n_out, n_in, "one example"),
        (n_in, B, 1, "one neuron"),
    ]
    return [
        Case((normal(rng, b, i), normal(rng, i, o), normal(rng, o)), label)
        for b, i, o, label in sizes
    ]


check_affine = Check(
    "affine",
    _layers,
    lambda X, W, b: X @ W + b,
    K=lambda case: case.args[0].shape[1] + 1,
    axes=("example", "neuron"),
)


def _labels(rng):
    B, C = ragged(rng, 2, low=4)
    # class C - 1 occurs in none of the first batch's labels: the classes cannot be counted from y
    absent, digits = (
        rng.integers(0, C - 1, B),
        rng.permutation(np.append(rng.integers(0, 10, 10), [0, 9])),
    )
    absent[rng.integers(B)] = 0
    batches = [
        (absent, C, "a class that does not occur"),
        (digits, 10, "twelve digits"),
        (np.array([2]), 5, "one label"),
    ]
    return [Case((y, classes), label) for y, classes, label in batches]


def _one_hot(y, n_classes):
    return (y[:, None] == np.arange(n_classes)).astype(np.float32)


check_one_hot = Check("one_hot", _labels, _one_hot, dtype=np.float32, axes=("example", "class"))


def _papers(rng):
    B, n_in, n_out = ragged(rng, 3, low=3)
    sizes = [
        (B, n_in, n_out, "a ragged batch"),
        (1, n_out, n_in, "one example"),
        (3, 3, 3, "square"),
        (n_out, B, 1, "one neuron"),
    ]
    return [
        Case((normal(rng, o, i), normal(rng, o, 1), normal(rng, i, b)), label)
        for b, i, o, label in sizes
    ]


def _to_rows(W_paper, b_paper, X_paper):
    return X_paper.T, W_paper.T, b_paper[:, 0]


check_to_rows = Check(
    "to_rows",
    _papers,
    _to_rows,
    parts=("X", "W", "b"),
    axes={"X": ("example", "input"), "W": ("input", "neuron"), "b": ("neuron",)},
)
