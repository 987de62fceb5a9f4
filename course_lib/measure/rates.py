"""What this machine can do at most: floating-point operations a second, bytes a second, and the roof they make."""

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.measure.blas import blas_threads
from course_lib.measure.this_machine import machine
from course_lib.measure.timing import Timing, time_it


class Rate(float):
    """A measured rate: a float (the best run) that remembers its median, its runs, unit and conditions.

    The best run is the nearest to a roof: whatever else ran on the machine can only have slowed a run down. A kernel
    may still come out a little above it, since a roof is measured with one kernel (sgemm, copy) of many.
    """

    timing: Timing
    median: float
    unit: str
    note: str

    def __new__(cls, work: float, timing: Timing, unit: str, note: str) -> "Rate":
        rate = super().__new__(cls, work / timing.best)
        rate.timing, rate.unit, rate.note = timing, unit, note
        rate.median = work / timing.median
        return rate

    @property
    def best(self) -> float:
        return float(self)

    def __str__(self) -> str:
        return f"{float(self):.1f} {self.unit} (best of {self.timing.n}; median {self.median:.1f}; {self.note})"

    __repr__ = __str__


def sgemm_rate(n: int = 1024, threads: int | None = None, repeats: int = 9) -> Rate:
    """GFLOP/s of NumPy's float32 product of two n x n matrices: the flat roof of this machine, as NumPy reaches it.

    n: large enough that arithmetic hides the memory (1024: 12 MB in three matrices, 2.1 GFLOP).
    threads: BLAS threads for this measurement; None leaves them as they are.
    2 n^3 operations in each product; into an output made beforehand, so that no page is allocated in a run.

    >>> sgemm_rate()                                         # doctest: +SKIP
    118.2 GFLOP/s (best of 9; median 117.4; float32 1024 x 1024, 2 BLAS threads)

    Raises BadInput for n, threads or repeats below 1.
    """
    n = check_count("n", n)
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((n, n), dtype=np.float32) for _ in range(2))
    D = np.empty((n, n), dtype=np.float32)
    with blas_threads(threads) if threads is not None else nullcontext():
        timing = time_it(np.matmul, A, B, out=D, repeats=repeats, warmup=2, min_seconds=0.02)
    return Rate(2 * n**3 / 1e9, timing, "GFLOP/s", f"float32 {n} x {n}, {_threads_text(timing)}")


def copy_rate(megabytes: int = 256, threads: int | None = None, repeats: int = 7) -> Rate:
    """GB/s (1e9 bytes) at which memory is copied: the sloping roof of this machine.

    megabytes: size of the source, in 1e6 bytes; the target has as much again. It must be well beyond the caches.
    threads: parts copied side by side; None for every hardware thread this process may use (one alone often
    cannot use up the memory's rate).
    A copy of s bytes counts 2 s: s read and s written. Where a cache first fetches the line that it is to write
    (write-allocate), 3 s move; that is not counted, since the C library's large copies mostly avoid it.

    >>> copy_rate()                                          # doctest: +SKIP
    21.3 GB/s (best of 7; median 20.9; 256 MB copied by 2 threads, read + write)

    Raises BadInput for megabytes, threads or repeats below 1.
    """
    size = check_count("megabytes", megabytes) * 1_000_000
    threads = check_count("threads", threads if threads is not None else machine().usable or 1)
    # ones, not zeros: untouched zero pages may all be one page
    source = np.ones(size // 4, dtype=np.float32)
    target = np.zeros_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        copy = lambda: list(pool.map(lambda p: np.copyto(*p), parts))  # noqa: E731
        timing = time_it(copy, repeats=repeats, warmup=2)
    note = f"{megabytes} MB copied by {threads} thread{'s' if threads > 1 else ''}, read + write"
    cache = last_level_cache()
    if cache and size < 2 * cache:
        note += f"; CAUTION: the cache holds {cache / 1e6:.0f} MB, so some of this never left it"
    return Rate(2 * size / 1e9, timing, "GB/s", note)


def roofline(intensity: Any, peak_gflops: float, bandwidth_gbs: float) -> Any:
    """The most GFLOP/s that a kernel of that intensity (flops per byte) can reach: min(peak, intensity * bandwidth).

    intensity: a number or an array of any shape; the answer has the same shape.
    Source: S. Williams, A. Waterman, D. Patterson, "Roofline", Communications of the ACM 52(4), 2009.
    Raises BadInput where anything is not above 0 and finite.
    """
    for name, value in (("peak_gflops", peak_gflops), ("bandwidth_gbs", bandwidth_gbs)):
        if not (0 < value < math.inf):
            raise BadInput(f"{name} must be more than 0 and finite, not {value!r}")
    x = np.asarray(intensity, dtype=np.float64)
    if not (np.isfinite(x) & (x > 0)).all():
        wanted = "more than 0 and finite (flops per byte)"
        raise BadInput(f"intensity must be {wanted}, not {intensity!r}")
    roof = np.minimum(peak_gflops, x * bandwidth_gbs)
    return float(roof) if x.ndim == 0 else roof


def last_level_cache() -> int | None:
    """Bytes of the largest cache that a core sees, where Linux tells; None elsewhere."""
    try:
        caches = Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
        sizes = [path.read_text().strip() for path in caches]
        counted = [int(s.rstrip("KM")) * (2**20 if s.endswith("M") else 2**10) for s in sizes]
        return max(counted, default=None)
    except (OSError, ValueError):
        return None


def _threads_text(timing: Timing) -> str:
    threads = timing.machine.blas_threads
    if not threads:
        return "BLAS threads unknown"
    return f"{threads} BLAS thread{'s' if threads > 1 else ''}"
