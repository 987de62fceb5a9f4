"""The checks of chapter 06: the grid, longest paths and gemm, a layer's products, what is moved, rounding."""

from course_lib.checks.ch06.grid import check_grid_for
from course_lib.checks.ch06.intensity import check_intensities, check_verdict
from course_lib.checks.ch06.kernels import check_gemm, check_max_plus
from course_lib.checks.ch06.layer import check_layer_products
from course_lib.checks.ch06.rounding import check_accepts
from course_lib.checks.ch06.traffic import check_best_width, check_wide_traffic

__all__ = [
    "check_accepts",
    "check_best_width",
    "check_gemm",
    "check_grid_for",
    "check_intensities",
    "check_layer_products",
    "check_max_plus",
    "check_verdict",
    "check_wide_traffic",
]
