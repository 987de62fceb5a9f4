"""The checks of chapter 14: a skewed set judged, an honest speed-up, Amdahl, predictions, choices, bounds."""

from course_lib.checks.ch14.models import (
    check_amdahl_fit,
    check_choose,
    check_crossover,
    check_predict_step,
)
from course_lib.checks.ch14.results import check_against_bound, check_honest_speedup, check_judge

__all__ = [
    "check_against_bound",
    "check_amdahl_fit",
    "check_choose",
    "check_crossover",
    "check_honest_speedup",
    "check_judge",
    "check_predict_step",
]
