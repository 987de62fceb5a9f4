"""The checks of chapter 03: shards, partial sums, fork and join, reduction, races, cost models, BLAS threads."""

from course_lib.checks.ch03_choices import check_pick_threads, check_predict_speedup
from course_lib.checks.ch03_fork import check_fork_join_gradient
from course_lib.checks.ch03_pinned import check_run_pinned
from course_lib.checks.ch03_shared import check_shared_sum
from course_lib.checks.ch03_sums import check_combine, check_reduce_slice, check_shards
from course_lib.checks.ch03_train import check_train_parallel

__all__ = [
    "check_combine",
    "check_fork_join_gradient",
    "check_pick_threads",
    "check_predict_speedup",
    "check_reduce_slice",
    "check_run_pinned",
    "check_shards",
    "check_shared_sum",
    "check_train_parallel",
]
