"""The checks of chapter 03: shards, partial sums, fork and join, reduction, races, cost models, BLAS threads."""

from course_lib.checks.ch03.choices import check_pick_threads, check_predict_speedup
from course_lib.checks.ch03.fork import check_fork_join_gradient
from course_lib.checks.ch03.pinned import check_run_pinned
from course_lib.checks.ch03.shared import check_shared_sum
from course_lib.checks.ch03.sums import check_combine, check_reduce_slice, check_shards
from course_lib.checks.ch03.train import check_train_parallel

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
