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
        (lambda X: X.max(axis=1), "that is the brightest pixel of each image, not the mean"),
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
    diagnoses=[
        (lambda X, W, b: X @ W, "the bias b is missing"),
        (lambda X, W, b: X @ W - b, "the bias is subtracted: add it"),
        (
            lambda X, W, b: X @ (W + b),
            "the brackets add b to W first: @ binds tighter than +, so leave them out",
        ),
        (
            lambda X, W, b: X @ W + b.sum(),
            "the sum of all biases is added to each neuron: add b itself",
        ),
        (
            lambda X, W, b: X @ W + b[0],
            "the bias of neuron 0 is added to all neurons: add b itself",
        ),
        (
            lambda X, W, b: 1 / (1 + np.exp(-(X @ W + b))),
            "a sigmoid is applied: Z is what comes before the activation",
        ),
        (lambda X, W, b: X[:1] @ W + b, "only the first example is computed: use all rows of X"),
        (lambda X, W, b: X * W + b, "* multiplies entry by entry: the product of matrices is @"),
        (lambda X, W, b: W @ X + b, "the order is swapped: with examples in rows it is X @ W"),
        (
            lambda X, W, b: (X @ W).T + b,
            "the product is transposed: with examples in rows it is X @ W",
        ),
    ],
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


def _counted_classes(y, n_classes):
    return _one_hot(y, y.max() + 1)


def _rolled(y, n_classes):
    return np.roll(_one_hot(y, n_classes), -1, axis=1)


def _label_for_row(y, n_classes):
    Y = np.zeros((len(y), n_classes))
    for i in y:
        Y[i, y[i]] = 1
    return Y


def _first_only(y, n_classes):
    Y = _one_hot(y, n_classes)
    Y[1:] = 0
    return Y


def _one_row(y, n_classes):
    Y = np.zeros((len(y), n_classes), np.float32)
    Y[:, y] = 1
    return Y


check_one_hot = Check(
    "one_hot",
    _labels,
    _one_hot,
    dtype=np.float32,
    axes=("example", "class"),
    diagnoses=[
        (
            _counted_classes,
            "the number of classes is taken from the labels: a class may be absent; use n_classes",
        ),
        (_rolled, "off by one: class 0 belongs in column 0"),
        (
            _one_row,
            "Y[:, y] = 1 fills whole columns: pair each row with its own column, Y[np.arange(B), y] = 1",
        ),
        (
            _label_for_row,
            "`for i in y` gives the labels, not the examples: loop over range(len(y))",
        ),
        (_first_only, "only the first example gets its 1: is `return` inside the loop?"),
        (lambda y, n_classes: 1 - _one_hot(y, n_classes), "zeros and ones are swapped"),
        (
            lambda y, n_classes: _one_hot(y, n_classes) * y[:, None],
            "the label itself is written where a 1 belongs",
        ),
        (
            lambda y, n_classes: _one_hot(y, n_classes).T,
            "one column an example: examples lie in rows, (B, n_classes)",
        ),
    ],
)


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


def _reshaped(W_paper, b_paper, X_paper):
    return X_paper.reshape(X_paper.shape[::-1]), W_paper.reshape(W_paper.shape[::-1]), b_paper[:, 0]


check_to_rows = Check(
    "to_rows",
    _papers,
    _to_rows,
    parts=("X", "W", "b"),
    axes={"X": ("example", "input"), "W": ("input", "neuron"), "b": ("neuron",)},
    diagnoses=[
        (
            lambda W, b, X: (X, W.T, b[:, 0]),
            "X is as the paper has it, one example a column: transpose it",
        ),
        (
            lambda W, b, X: (X.T, W, b[:, 0]),
            "W is as the paper has it, (n_out, n_in): transpose it",
        ),
        (
            lambda W, b, X: (X.T, W.T, b),
            "b is still a column (n_out, 1): X @ W + b would not add it to the neurons",
        ),
        (
            lambda W, b, X: (X.T, W.T, b.T),
            "b is a row (1, n_out) with two axes: ours has one, (n_out,)",
        ),
        (
            lambda W, b, X: (X.T, W.T, b.squeeze()),
            "squeeze drops every axis of length 1: a layer of one neuron loses both; take the column, b[:, 0]",
        ),
        (
            _reshaped,
            "reshape gives the right shape and scrambles the numbers: rows become columns with .T",
        ),
        (
            lambda W, b, X: (W.T, b[:, 0], X.T),
            "the order of the three is not the one asked for: X, W, b",
        ),
        (
            lambda W, b, X: (X.T, W.T, b[0]),
            "b[0] is the first row of the column, one number: take the column, b[:, 0]",
        ),
    ],
)
