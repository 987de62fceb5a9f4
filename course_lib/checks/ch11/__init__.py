"""The checks of chapter 11: weights of uneven shards, one message, the step, replicas, overlap, bytes, efficiency."""

from course_lib.checks.ch11.costs import check_predict_efficiency, check_step_bytes
from course_lib.checks.ch11.overlap import check_overlapped_sum
from course_lib.checks.ch11.replicas import check_replicas_agree
from course_lib.checks.ch11.step import check_mended_training, check_parallel_step
from course_lib.checks.ch11.sums import check_mean_of_means, check_sum_gradients

__all__ = [
    "check_mean_of_means",
    "check_mended_training",
    "check_overlapped_sum",
    "check_parallel_step",
    "check_predict_efficiency",
    "check_replicas_agree",
    "check_step_bytes",
    "check_sum_gradients",
]
