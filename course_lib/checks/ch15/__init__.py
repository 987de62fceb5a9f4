"""The checks of the chapter on half precision: rounding, loss scale, master weights, tensor cores, the ridge."""

from course_lib.checks.ch15.backward import check_scaled_backward
from course_lib.checks.ch15.master import check_master_step
from course_lib.checks.ch15.products import check_half_product
from course_lib.checks.ch15.ridge import check_ridge
from course_lib.checks.ch15.rounding import check_bfloat16_bits
from course_lib.checks.ch15.scales import check_largest_scale, check_scale_step
from course_lib.checks.ch15.wmma import check_repaired_wmma, check_weight_gradient

__all__ = [
    "check_bfloat16_bits",
    "check_half_product",
    "check_largest_scale",
    "check_master_step",
    "check_repaired_wmma",
    "check_ridge",
    "check_scale_step",
    "check_scaled_backward",
    "check_weight_gradient",
]
