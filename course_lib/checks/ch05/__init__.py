"""The checks of chapter 05: kernels with guards, sectors, grid-stride loops, atomics, copies, the crossover."""

from course_lib.checks.ch05.host import check_repeat_saxpy
from course_lib.checks.ch05.kernels import (
    check_bias_gradient,
    check_class_best,
    check_column_layer,
    check_relu,
    check_saxpy,
)
from course_lib.checks.ch05.model import check_crossover, check_gpu_seconds
from course_lib.checks.ch05.sectors import check_sectors

__all__ = [
    "check_bias_gradient",
    "check_class_best",
    "check_column_layer",
    "check_crossover",
    "check_gpu_seconds",
    "check_relu",
    "check_repeat_saxpy",
    "check_saxpy",
    "check_sectors",
]
