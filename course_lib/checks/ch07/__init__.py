"""The checks of chapter 07: banks, hazards, races and barriers to mend, transpose, traffic, tiled GEMM, row sums."""

from course_lib.checks.ch07.banks import check_ways
from course_lib.checks.ch07.gemm import check_gemm_tiled
from course_lib.checks.ch07.hazards import check_hazards
from course_lib.checks.ch07.mend import check_differences, check_smooth
from course_lib.checks.ch07.sum import check_row_sum
from course_lib.checks.ch07.traffic import check_tile_cost
from course_lib.checks.ch07.transpose import check_transpose

__all__ = [
    "check_differences",
    "check_gemm_tiled",
    "check_hazards",
    "check_row_sum",
    "check_smooth",
    "check_tile_cost",
    "check_transpose",
    "check_ways",
]
