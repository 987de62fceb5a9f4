"""Several functions timed against each other, their runs interleaved."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from course_lib.errors import BadInput
from course_lib.measure.this_machine import Machine
from course_lib.measure.timing import (
    Timing,
    calls_to_last,
    check_timing,
    collector_off,
    format_seconds,
    time_calls,
)


@dataclass(frozen=True)
class Comparison:
    """Timings by name, in the order given; the first name is the one the others are held against.

    str() is a table: median, quartiles, and how many times as fast as the first, with the machine named beneath.
    """

    timings: dict[str, Timing]

    def __getitem__(self, name: str) -> Timing:
        return self.timings[name]

    @property
    def baseline(self) -> str:
        return next(iter(self.timings))

    @property
    def fastest(self) -> str:
        return min(self.timings, key=lambda name: self.timings[name].median)

    @property
    def machine(self) -> Machine:
        return self.timings[self.baseline].machine

    def ratios(self, name: str) -> np.ndarray:
        """Baseline's time over this one's, run by run (n,): above 1 is faster than the baseline.

        Run i of both stood side by side, so whatever slowed the machine down then slowed both.
        """
        return np.divide(self.timings[self.baseline].seconds, self.timings[name].seconds)

    def ratio(self, name: str) -> float:
        """How many times as fast as the baseline: the median of `ratios`."""
        return float(np.median(self.ratios(name)))

    def rows(self) -> list[tuple[str, float, float, float, float]]:
        """(name, median, q25, q75 in seconds, ratio), one for each variant."""
        timings = self.timings.items()
        return [(name, t.median, t.q25, t.q75, self.ratio(name)) for name, t in timings]

    def __str__(self) -> str:
        head = ("variant", "median", "q25", "q75", f"times as fast as {self.baseline}")
        body = [(r[0], *map(format_seconds, r[1:4]), f"{r[4]:.2f}") for r in self.rows()]
        widths = [max(len(row[c]) for row in [head, *body]) for c in range(len(head))]
        lines = []
        for name, *cells in [head, *body]:
            columns = zip(cells, widths[1:], strict=True)
            lines.append(name.ljust(widths[0]) + "".join(f"  {cell:>{w}}" for cell, w in columns))
        runs = f"{self.timings[self.baseline].n} runs of each, interleaved"
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], f"{runs}; {self.machine}"])

    __repr__ = __str__


def compare(variants, repeats: int = 7, warmup: int = 1, min_seconds: float = 0.0) -> Comparison:
    """Time each variant (name -> function without arguments), one run of each in turn, `repeats` times.

    Timing them one after the other would charge one of them for a clock that drops when the processor gets warm
    or for a neighbour that wakes up. Each round begins with another variant, so that none always runs first.

    >>> print(compare({"loops": lambda: slow(X), "BLAS": lambda: fast(X)}))     # doctest: +SKIP

    Raises BadInput for an empty mapping and whatever time_it refuses.
    """
    if not isinstance(variants, Mapping) or not variants:
        wanted = "a dict of name -> function without arguments"
        raise BadInput(f"compare needs {wanted}, with one or more of them")
    for fn in variants.values():
        check_timing(fn, repeats, warmup, min_seconds)
        for _ in range(warmup):
            fn()
    names = list(variants)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    with collector_off():
        calls = {name: calls_to_last(variants[name], min_seconds) for name in names}
        for i in range(repeats):
            first = i % len(names)
            for name in names[first:] + names[:first]:
                seconds[name].append(time_calls(variants[name], calls[name]))
    return Comparison({name: Timing(seconds[name], calls[name]) for name in names})
