"""Floating-point formats that training uses, and rounding to each of them in NumPy.

A number is  sign * 1.fraction * 2^e.  The exponent's bits set the range, the fraction's bits the spacing. Sources:
IEEE 754-2019, section 3.6 (float32 and float16, there binary32 and binary16); Kalamkar et al. 2019 (bfloat16); NVIDIA,
A100 Tensor Core GPU Architecture, 2020 (TF32: what a tensor core reads of a float32).
"""

from dataclasses import dataclass

import numpy as np

from course_lib.errors import BadInput, check_choice

# Where a number has its exponent: (integer of the same size, mask). The other bits are its sign and its fraction.
EXPONENT_BITS = {
    np.float32: (np.uint32, np.uint32(0x7F80_0000)),
    np.float64: (np.uint64, np.uint64(0x7FF0_0000_0000_0000)),
}


@dataclass(frozen=True)
class Format:
    """A format of 1 sign bit, `exponent` and `fraction` bits; an array of it takes `bytes` a number in memory."""

    name: str
    exponent: int
    fraction: int
    bytes: int

    @property
    def digits(self) -> int:
        """Binary digits of a significand: the fraction and the 1 before it, which is not stored."""
        return self.fraction + 1

    @property
    def largest_power(self) -> int:
        """The exponent of the largest binade: numbers from 2^this on, below 2^(this + 1)."""
        return 2 ** (self.exponent - 1) - 1

    @property
    def largest(self) -> float:
        """The largest finite number: all fraction bits are 1."""
        return (2 - 2.0**-self.fraction) * 2.0**self.largest_power

    @property
    def smallest_normal(self) -> float:
        """The smallest number with all its digits. Below it the spacing stays the same."""
        return 2.0 ** (1 - self.largest_power)

    @property
    def smallest(self) -> float:
        """The smallest number above 0, a subnormal; half of it and less becomes 0."""
        return self.smallest_normal * 2.0**-self.fraction

    @property
    def epsilon(self) -> float:
        """From 1 to the next larger number."""
        return 2.0**-self.fraction

    @property
    def unit(self) -> float:
        """u: the largest relative error of rounding a number of the normal range, half of epsilon."""
        return self.epsilon / 2


FORMATS = {
    "float32": Format("float32", 8, 23, 4),
    "TF32": Format("TF32", 8, 10, 4),  # in memory it is a float32
    "bfloat16": Format("bfloat16", 8, 7, 2),
    "float16": Format("float16", 5, 10, 2),
}


def rounded(x, name):
    """x, a number or an array of any shape, rounded to the format of that name; returns a float32 array.

    To the nearest number; of two equally near ones, to that whose last digit is 0. Too large: infinite. Subnormals are
    kept, signs of zeros and NaN too. A float64 is rounded once, not by way of float32. BadInput for other names and x.
    """
    return _nearest(x, FORMATS[check_choice("name", name, FORMATS)])


def spacing(x, name):
    """The distance of neighbouring numbers of a format where |x| lies, a float64 array of x's shape."""
    return _spacing(np.asarray(x, np.float64), FORMATS[check_choice("name", name, FORMATS)])


def _nearest(x, form):
    x = _numbers(x)
    step = _spacing(x, form)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # what overflows is infinite, as it should be
        nearest = np.rint(x / step) * step  # exact but for rint: step is a power of two
    too_large = abs(nearest) > form.largest
    if too_large.any():
        nearest = np.where(too_large, np.copysign(np.inf, x), nearest)
    return np.asarray(nearest, np.float32)


def _spacing(x, form):
    whole, exponent = EXPONENT_BITS[x.dtype.type]
    power = (x.view(whole) & exponent).view(x.dtype)  # 2^e: |x| without its fraction
    lowest, highest = x.dtype.type(form.smallest_normal), x.dtype.type(2.0**form.largest_power)
    step = np.clip(power, lowest, highest)
    step *= form.epsilon
    return step


def _numbers(x):
    """x as an array of float32, if it is one, and else of float64."""
    x = np.asarray(x)
    if x.dtype.kind not in "fiu":
        raise BadInput(f"x must be real numbers, not {x.dtype}")
    return x if x.dtype == np.float32 else x.astype(np.float64)
