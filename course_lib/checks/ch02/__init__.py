"""The checks of chapter 02: the matrix form, losses of a batch, flops and bytes, mini-batches, a grid search."""

from course_lib.checks.ch02.backward import check_backward_batch
from course_lib.checks.ch02.counts import check_count_flops, check_smallest_batch
from course_lib.checks.ch02.forward import check_forward_batch
from course_lib.checks.ch02.grid_search import check_grid_search
from course_lib.checks.ch02.losses import check_weighted_cross_entropy
from course_lib.checks.ch02.minibatches import check_minibatches
from course_lib.checks.ch02.sgd_epoch import check_sgd_epoch

__all__ = [
    "check_backward_batch",
    "check_count_flops",
    "check_forward_batch",
    "check_grid_search",
    "check_minibatches",
    "check_sgd_epoch",
    "check_smallest_batch",
    "check_weighted_cross_entropy",
]
