"""The checks of chapter 10: who has what, exchanges without a deadlock, Scatterv, a mean, a tree, a ring, bytes."""

from course_lib.checks.ch10.answers import check_paper, check_who_has_what
from course_lib.checks.ch10.collectives import check_global_mean, check_scatter_rows
from course_lib.checks.ch10.messages import check_pass_on, check_stream
from course_lib.checks.ch10.sums import check_ring, check_tree_reduce

__all__ = [
    "check_global_mean",
    "check_paper",
    "check_pass_on",
    "check_ring",
    "check_scatter_rows",
    "check_stream",
    "check_tree_reduce",
    "check_who_has_what",
]
