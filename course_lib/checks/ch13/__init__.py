"""The checks of the pipelines' chapter: bubbles, 1F1B, a deadlock, backward in two, shards, the choice of a plan."""

from course_lib.checks.ch13.bubbles import check_bubble_of, check_micro_batches
from course_lib.checks.ch13.choice import check_pick_plan
from course_lib.checks.ch13.flow import check_repaired, check_stands
from course_lib.checks.ch13.halves import check_two_halves
from course_lib.checks.ch13.schedules import check_one_f_one_b
from course_lib.checks.ch13.shards import check_kept_and_sent, check_sharded_step
from course_lib.checks.ch13.stages import check_cut

__all__ = [
    "check_bubble_of",
    "check_cut",
    "check_kept_and_sent",
    "check_micro_batches",
    "check_one_f_one_b",
    "check_pick_plan",
    "check_repaired",
    "check_sharded_step",
    "check_stands",
    "check_two_halves",
]
