"""The checks of chapter 02: the matrix form, losses of a batch, flops and bytes, mini-batches, a grid search."""

from course_lib.checks.ch02.tasks import (
    check_backward_batch,
    check_count_flops,
    check_forward_batch,
    check_grid_search,
    check_matmul_bound,
    check_minibatches,
    check_sgd_epoch,
    check_softmax_cross_entropy,
)

__all__ = [
    "check_backward_batch",
    "check_count_flops",
    "check_forward_batch",
    "check_grid_search",
    "check_matmul_bound",
    "check_minibatches",
    "check_sgd_epoch",
    "check_softmax_cross_entropy",
]
