"""How far a right answer may be from ours: derived from the length of the sums (K) and the dtype."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """|got - wanted| <= c * K * eps(dtype) * scale: a sum of K rounded terms of that scale is off by no more."""

    c: float
    K: int
    dtype: str
    scale: float | np.ndarray  # one for all entries, or each entry's own
    digits: int | None = None  # of a number worked out by hand: right to so many decimals
    of: str = "largest |wanted|"  # what the scale is, in words

    @property
    def eps(self):
        """The distance from 1 to the next number of the dtype."""
        return float(np.finfo(self.dtype).eps)

    @property
    def value(self):
        """The largest difference that counts as rounding."""
        if self.digits is not None:
            return 0.5 * 10.0**-self.digits * (1 + 1e-9)
        return self.c * self.K * self.eps * self.scale

    def at(self, index):
        """The tolerance of one entry."""
        return (
            replace(self, scale=float(np.asarray(self.scale)[index]))
            if np.ndim(self.scale)
            else self
        )

    def __str__(self):
        if self.digits is not None:
            return f"{self.value:.2g}, half a unit of decimal {self.digits}"
        return (
            f"{self.value:.2g} = {self.c:g} * K * eps({self.dtype}) * {self.of}"
            f" = {self.c:g} * {self.K} * {self.eps:.2g} * {self.scale:.3g}"
        )


def is_wrong(got, want, tolerance):
    """A boolean array: where got is not within the tolerance of want. Written so that a NaN is wrong."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(np.asarray(got, np.float64) - want)
    return ~((difference <= tolerance) | (np.asarray(got) == want))
