"""The checks of chapter 12: which cut owes which sum, split layers forward and backward, bytes, the grid of ranks."""

from course_lib.checks.ch12.costs import check_pick_grid, check_step_bytes
from course_lib.checks.ch12.cuts import check_crossing, check_split_two
from course_lib.checks.ch12.deep import check_backward_deep
from course_lib.checks.ch12.grid import check_grid_sums
from course_lib.checks.ch12.layers import check_backward_two, check_forward_two
from course_lib.checks.ch12.train import check_train_two

__all__ = [
    "check_backward_deep",
    "check_backward_two",
    "check_crossing",
    "check_forward_two",
    "check_grid_sums",
    "check_pick_grid",
    "check_split_two",
    "check_step_bytes",
    "check_train_two",
]
