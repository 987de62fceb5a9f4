"""The checks of chapter 08: sectors, section 4.2's kernel, why it is better, register tiles, float4, buffers, tiles."""

from course_lib.checks.ch08.answers import check_advantage, check_turned
from course_lib.checks.ch08.kernels import check_gemm_4x4, check_gemm_16x4
from course_lib.checks.ch08.limits import (
    check_blocks_per_sm,
    check_choose_tile,
    check_sectors_of_load,
)
from course_lib.checks.ch08.tiles import check_copy_tile, check_two_buffers

__all__ = [
    "check_advantage",
    "check_blocks_per_sm",
    "check_choose_tile",
    "check_copy_tile",
    "check_gemm_4x4",
    "check_gemm_16x4",
    "check_sectors_of_load",
    "check_turned",
    "check_two_buffers",
]
