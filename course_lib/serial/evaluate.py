"""How good are these parameters? Loss, predicted labels, accuracy, confusion: all in chunks of rows."""

import numpy as np

from course_lib.errors import BadInput, check_array
from course_lib.serial.losses import LOSSES
from course_lib.serial.minibatch import penalty
from course_lib.serial.network import forward

CHUNK = 1000  # rows at a time: the hidden layers of 50,000 examples at once would fill 200 MB


def loss_value(net, params, X, Y):
    """The loss over all rows: the mean, plus lam/2 sum ||W||^2. X (N, n0), Y (N, nL); returns a float."""
    check_array("Y", Y, ("N", net.sizes[-1]), getattr(X, "dtype", None))
    _check_one_label_each(X, "Y", Y)
    total = 0.0
    for rows, cache in _chunks(net, params, X):
        total += LOSSES[net.loss].value(cache.Z[-1], cache.A[-1], Y[rows]) * len(cache.A[-1])
    return total / len(X) + penalty(net, params)


def outputs(net, params, X):
    """What the last layer puts out for each row, (N, nL), in the dtype of the parameters."""
    return np.concatenate([cache.A[-1] for _, cache in _chunks(net, params, X)])


def predict(net, params, X):
    """The label of each row, int64 (N,): the largest output; with a single output, whether it exceeds 1/2."""
    return labels_of(outputs(net, params, X))


def accuracy(net, params, X, y):
    """The fraction of rows whose predicted label is y; y is integers (N,). Returns a float from 0 to 1."""
    _check_labels(net, X, y)
    return float(np.mean(predict(net, params, X) == y))


def confusion(net, params, X, y):
    """counts[t, p], int64 (C, C): how many examples of true class t were predicted to be p."""
    _check_labels(net, X, y)
    n = n_classes(net)
    counts = np.bincount(n * y.astype(np.int64) + predict(net, params, X), minlength=n * n)
    return counts.reshape(n, n).astype(np.int64)


def n_classes(net):
    """As many as outputs; a single output tells two classes apart (Kamra 2016's network for KDD Cup 1999)."""
    return max(2, net.sizes[-1])


def check_labels(net, y, name="y"):
    """BadInput unless y is (N,) integers from 0 to the number of classes - 1."""
    check_array(name, y, ("N",))
    if not np.issubdtype(y.dtype, np.integer):
        what = "whole numbers, one class label for each example"
        raise BadInput(f"{name} must hold {what}, not {y.dtype}")
    if len(y) and not (y.min() >= 0 and y.max() < n_classes(net)):
        bad, allowed = y.min() if y.min() < 0 else y.max(), f"labels from 0 to {n_classes(net) - 1}"
        raise BadInput(f"{name} holds the label {bad}: sizes {net.sizes} allow {allowed}")


def _check_labels(net, X, y):
    check_labels(net, y)
    _check_one_label_each(X, "y", y)


def _check_one_label_each(X, name, labels):
    if len(X) != len(labels):
        counts = f"X has {len(X)} rows and {name} has {len(labels)}"
        raise BadInput(f"{counts}: each example needs one label")


def _chunks(net, params, X):
    """(slice, Cache) for each chunk of rows; at least one forward pass, which checks X."""
    check_array("X", X, ("N", net.sizes[0]))
    for start in range(0, max(1, len(X)), CHUNK):
        rows = slice(start, start + CHUNK)
        yield rows, forward(params, X[rows], net)


def labels_of(A):
    """The label of each row of outputs A (N, nL), int64 (N,), as `predict` gives it."""
    return A.argmax(axis=1) if A.shape[1] > 1 else (A[:, 0] > 0.5).astype(np.int64)
