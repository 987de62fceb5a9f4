"""The checks of chapter 00: the notation, the data's layout, a first task."""

from course_lib.checks.ch00.tasks import (
    check_affine,
    check_brightness,
    check_one_hot,
    check_to_rows,
)

__all__ = [
    "check_affine",
    "check_brightness",
    "check_one_hot",
    "check_to_rows",
]
