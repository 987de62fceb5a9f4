"""The checks of chapter 04: schedules and their coverage, threads that walk, queues, costs, makespans."""

from course_lib.checks.ch04.chain import check_deferred_backward
from course_lib.checks.ch04.costs import check_makespan, check_smallest_k, check_step_costs
from course_lib.checks.ch04.fork import check_leapfrog_backward
from course_lib.checks.ch04.schedules import (
    check_coverage,
    check_leapfrog_schedule,
    check_thread_levels,
)
from course_lib.checks.ch04.walk import check_walk

__all__ = [
    "check_coverage",
    "check_deferred_backward",
    "check_leapfrog_backward",
    "check_leapfrog_schedule",
    "check_makespan",
    "check_smallest_k",
    "check_step_costs",
    "check_thread_levels",
    "check_walk",
]
