"""Standardising: subtract the mean and divide by the standard deviation, both of the training examples."""

import numpy as np

from course_lib.errors import BadInput, check_array


def column_statistics(x, weights=None):
    """(mean, std) of each column of x, float64 (n0,), to be handed to `standardise`.

    x: (N, n0) float32 or float64, finite: the TRAINING examples, for validation and test examples must not
    enter the statistics. weights: (N,) how often each row counts; None: once each.
    A column that is constant gets its value as mean and 1 as std: it becomes 0 and stays finite.
    """
    check_array("x", x, ("N", "n0"), (np.float32, np.float64), finite=True)
    weights = np.ones(len(x)) if weights is None else weights
    check_array("weights", weights, (len(x),), finite=True)
    used = x[weights > 0].astype(np.float64)
    if len(used) == 0:
        what = "there is no row to take statistics of"
        raise BadInput(f"{what}: give x at least one row with a positive weight")
    share = weights[weights > 0] / weights[weights > 0].sum()
    mean = share @ used
    std = np.sqrt(share @ (used - mean) ** 2)
    constant = (used == used[0]).all(axis=0)
    return np.where(constant, used[0], mean), np.where(constant, 1.0, std)


def standardise(x, mean, std):
    """(x - mean) / std as float32, column by column; mean and std from `column_statistics` of the training examples.

    x: (N, n0) float32 or float64; mean, std: (n0,). Raises BadInput where they do not fit or std is not positive.
    """
    check_array("x", x, ("N", "n0"), (np.float32, np.float64), finite=True)
    check_array("mean", mean, (x.shape[1],), finite=True)
    check_array("std", std, (x.shape[1],), finite=True)
    if not (std > 0).all():
        what = f"std[{int(np.argmin(std))}] is {std.min()}"
        raise BadInput(f"{what}: every standard deviation must be positive")
    return ((x - mean) / std).astype(np.float32)
