"""The check of rounding float32 to bfloat16 by bits."""

from unittest import mock

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal
from course_lib.errors import BadInput
from course_lib.serial import formats

INFINITY, QUIET = 0x7F80, 0x7FC0  # bits of bfloat16


def _joined(uppers, lowers):
    """Bits of float32 numbers from their halves."""
    uppers, lowers = np.broadcast_arrays(np.atleast_1d(uppers), np.atleast_1d(lowers))
    return uppers.astype(np.uint32) << 16 | lowers.astype(np.uint32)


def _cases(rng):
    """The numbers come as bits: float64, which a reference gets, does not keep those of every NaN."""
    n = int(rng.integers(20, 30))
    signs = rng.integers(0, 2, n) << 15
    uppers = rng.integers(0x3000, 0x4F00, n) // 2 * 2 | signs  # even; plus 1 they are odd
    tiny = np.r_[0, rng.integers(0, 128, n - 1)] // 2 * 2 | signs  # 0: below all that are not 0
    ones = (rng.integers(0x60, 0x90, n) << 7 | 0x7F) | signs  # a mantissa of ones
    spread = normal(rng, n) * np.float32(10) ** rng.integers(-30, 30, n).astype(np.float32)
    zeros_and_infinities = [0, 0x8000, INFINITY, INFINITY | 0x8000]
    largest = _joined([0x7F7F, 0xFF7F], 0x7FFF), _joined([0x7F7F, 0xFF7F], 0x8000)
    nans = _joined([0x7FC0, 0x7F80, 0x7FFF, 0xFFFF, 0xFF80], [0, 1, 0xFFFF, 0xFFFF, 0x7FFF])
    return [
        Case((spread.view(np.uint32),), "numbers of all sizes"),
        Case((_joined(np.r_[uppers, uppers + 1, tiny, tiny + 1], 0x8000),), "halfway between two"),
        Case((_joined(uppers, 0x7FFF),), "just below halfway"),
        Case((_joined(uppers, 0x8001),), "just above halfway"),
        Case((_joined(ones, 0xC000),), "a mantissa of ones that is rounded up"),
        Case((np.r_[_joined([0x7F7F, 0xFF7F], 0xFFFF), *largest],), "beyond the largest bfloat16"),
        Case((_joined(zeros_and_infinities, 0),), "zeros and infinities"),
        Case((_joined(np.r_[tiny, tiny + 1], 0x9000),), "below the smallest normal one"),
        Case((np.r_[nans, spread[:3].view(np.uint32)],), "NaN, of several bit patterns"),
    ]


def _bfloat16_bits(x):
    """x: the bits."""
    odd = x >> np.uint32(16) & np.uint32(1)
    upper = (x + np.uint32(0x7FFF) + odd) >> np.uint32(16)
    is_nan = (x & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(is_nan, QUIET, upper).astype(np.int64)


def _any_nan(bits):
    """Bits with every NaN made the same one: any will do."""
    is_nan = (bits & 0x7FFF) > INFINITY
    return np.where(is_nan, QUIET, bits)


def _given(*_):
    raise BadInput("the library's own rounding does this task: round by the bits")


def _called(fn, x):
    """The answer to the bits x, without the library's: a grader has it not either."""
    with mock.patch.object(formats, "_nearest", _given):
        return fn(x.view(np.float32))


check_bfloat16_bits = Check(
    "bfloat16_bits",
    _cases,
    _bfloat16_bits,
    axes=("number",),
    post=_any_nan,
    call=_called,
)
