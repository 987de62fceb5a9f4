"""One function timed: warmed up, repeated, reported as a median with its quartiles."""

import gc
import math
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.measure.this_machine import Machine, machine

_clock = time.perf_counter  # monotonic, the finest clock Python has; tests put a fake one here

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True)
class Timing:
    """The seconds a call took, once for each run. `str()` gives "12.3 ms (11.9 to 12.9, 7 runs)".

    seconds: seconds per call, in the order of the runs. calls: calls in each run (more than one for short functions).
    median, q25, q75: half of the runs lie between the quartiles q25 and q75. best: the quickest run.
    machine: what it was measured on; print it beneath every time you show.
    """

    seconds: list[float]
    calls: int = 1
    machine: Machine = field(default_factory=machine, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.seconds or not all(math.isfinite(s) and s >= 0 for s in self.seconds):
            wanted = "one or more finite times of 0 s or longer"
            raise BadInput(f"a Timing needs {wanted}, not {self.seconds!r}")

    @property
    def n(self) -> int:
        return len(self.seconds)

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    @property
    def q25(self) -> float:
        return float(np.quantile(self.seconds, 0.25))

    @property
    def q75(self) -> float:
        return float(np.quantile(self.seconds, 0.75))

    @property
    def best(self) -> float:
        return min(self.seconds)

    def __str__(self) -> str:
        scale, unit = unit_of(self.median)
        middle, low, high = (three_digits(s / scale) for s in (self.median, self.q25, self.q75))
        return f"{middle} {unit} ({low} to {high}, {self.n} run{'s' if self.n > 1 else ''})"


def time_it(fn, *args, repeats=7, warmup=1, min_seconds=0.0, **kwargs) -> Timing:
    """Time fn(*args, **kwargs): `warmup` calls unmeasured, then `repeats` runs with the garbage collector off.

    The warm-up pays for what only the first call pays: compilation, page faults, cold caches, sleeping threads.
    min_seconds: each run calls fn as often as it takes to last that long, so that short functions are not lost
    in the clock's own cost; the times reported are still for one call.
    Report the median with its quartiles: a mean is pulled up by a single interruption, a minimum hides the spread.

    >>> print(time_it(np.dot, A, B))        # doctest: +SKIP
    12.3 ms (11.9 to 12.9, 7 runs)

    Raises BadInput for a fn that cannot be called, repeats < 1, warmup < 0 or min_seconds < 0.
    """
    check_timing(fn, repeats, warmup, min_seconds)

    def call() -> Any:
        return fn(*args, **kwargs)

    for _ in range(warmup):
        call()
    with collector_off():
        calls = calls_to_last(call, min_seconds)
        seconds = [time_calls(call, calls) for _ in range(repeats)]
    return Timing(seconds, calls)


def check_timing(fn: Any, repeats: int, warmup: int, min_seconds: float) -> None:
    """Raise BadInput for what cannot be timed."""
    if not callable(fn):
        what = f"there is nothing to call in a {type(fn).__name__}"
        advice = "pass the function and its arguments apart, time_it(f, x), not time_it(f(x))"
        raise BadInput(f"{what}: {advice}")
    check_count("repeats", repeats)
    check_count("warmup", warmup, low=0)
    if not (isinstance(min_seconds, int | float) and 0 <= min_seconds < math.inf):
        raise BadInput(f"min_seconds must be a time of 0 s or longer, not {min_seconds!r}")


def time_calls(call: Callable[[], Any], calls: int) -> float:
    """Seconds per call over `calls` calls in a row."""
    start = _clock()
    for _ in range(calls):
        call()
    return (_clock() - start) / calls


def calls_to_last(call: Callable[[], Any], min_seconds: float) -> int:
    """How many calls in a row last `min_seconds` (1 where that is 0): doubled until they do."""
    calls = 1
    while min_seconds > 0 and time_calls(call, calls) * calls < min_seconds:
        calls *= 2
    return calls


@contextmanager
def collector_off():
    """Collect garbage now and not again until the end: a collection inside a run is not fn's time."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def format_seconds(seconds: float) -> str:
    """A time with three digits and its unit: 0.0123 -> "12.3 ms"."""
    scale, unit = unit_of(seconds)
    return f"{three_digits(seconds / scale)} {unit}"


def unit_of(seconds: float) -> tuple[float, str]:
    """The unit in which a time is 1 or more (ns at the least): its length in seconds and its name."""
    return next(((scale, unit) for scale, unit in _UNITS if seconds >= 0.9995 * scale), _UNITS[-1])


def three_digits(value: float) -> str:
    """1234.5 -> "1234", 123.45 -> "123", 12.345 -> "12.3", 1.2345 -> "1.23"."""
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}"
