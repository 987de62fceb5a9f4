"""Products D = A B as `bench gpu` times them: random inputs, held against float64 before anything is timed."""

import time
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

ROUNDINGS = 8  # how many times 2^-24 K a result may be off; see `check`

# A GPU is kept busy while launches are queued, or short kernels would be timed at the pace at which Python launches.
SPIN = "__global__ void spin(long long cycles) { const long long end = clock64() + cycles; while (clock64() < end); }"
CYCLES = 120_000  # of a GPU's clock for each launch to come: 60 us and more


class Problem:
    """A (M, K) and B (K, N), float32, standard normal numbers; the same in every process."""

    roundings: float = ROUNDINGS  # that `check` allows

    def __init__(self, shape):
        M, N, K = self.shape = tuple(shape)
        rng = np.random.default_rng([M, N, K])
        self.A, self.B = (rng.standard_normal(size, dtype=np.float32) for size in ((M, K), (K, N)))

    @cached_property
    def wanted(self):
        """The product in float64, computed once."""
        return self.A.astype(np.float64) @ self.B.astype(np.float64)


class HalfProblem(Problem):
    """A and B in half precision. `wanted` is the product of the rounded ones, so only the sums' roundings count.

    A tensor core may round them towards zero: all errors of a sum of about sqrt(k) have one sign, on average half of
    2^-23 of it. K of them add up to 2/3 sqrt(K) in units of 2^-24 K, and to six times that for the largest of millions
    of sums. One that adds in half, 2^-11, does not pass.
    """

    def __init__(self, shape):
        super().__init__(shape)
        self.A, self.B = self.A.astype(np.float16), self.B.astype(np.float16)
        self.roundings = ROUNDINGS + 4 * self.shape[2] ** 0.5


def check(D, problem):
    """The largest error of D, or of its upper left part, in units of 2^-24 K. Raises ArithmeticError if too large.

    The k-th addition rounds a partial sum of about sqrt(k), by 2^-24 of it at most; K such errors of either sign add up
    to about 2^-24 K / sqrt(6), and the largest of millions of sums is five or six times that. A product in TF32, whose
    factors are rounded to 2^-11, is off by some 2^-12 sqrt(K), and does not pass.
    """
    wanted = problem.wanted[: D.shape[0], : D.shape[1]]
    error = float(np.abs(D - wanted).max() / (2.0**-24 * problem.shape[2]))
    if not error <= problem.roundings:
        words = f"off by {error:.3g} units of 2^-24 K; {problem.roundings:.3g} are allowed"
        raise ArithmeticError(f"wrong result: {words}")
    return error


class Product(NamedTuple):
    """One way to compute a product. call() computes it, or the share of it that is timed, and returns that part."""

    call: Any
    share: float = 1.0
    note: str = ""


class ProductDesk:
    """The commands of a worker. Subclasses say how a Product is made, and may say how calls are timed."""

    def __init__(self):
        self.problem, self.products = Problem((1, 1, 1)), {}

    def hello(self):
        """Versions of what works here."""
        return {"numpy": np.__version__}

    def make(self, key, problem):
        raise NotImplementedError

    def posed(self, key):
        """The problem that this way is to solve."""
        return self.problem

    def build(self, key, shape, seconds):
        """Make a way to compute a product, hold its result against float64, find how many calls last that long."""
        if self.problem.shape != tuple(shape):
            self.problem, self.products = Problem(shape), {}
        problem = self.posed(key)
        product = self.make(key, problem)
        start = time.perf_counter()
        error = check(np.asarray(product.call()), problem)
        first = time.perf_counter() - start
        # one that takes seconds runs no second time
        once = first if first > 1 else max(self.timed(product.call, 1), 1e-7)
        repeats = int(np.clip(round(seconds / once), 1, 1000))
        self.products[key] = product, repeats
        told = {"share": product.share, "note": product.note}
        return {"error_units": error, "repeats": repeats, **told}

    def time(self, key, seed):
        """Seconds of one product: of several calls in a row, and scaled where only a share is computed."""
        product, repeats = self.products[key]
        return self.timed(product.call, repeats) / (repeats * product.share)

    def timed(self, call, repeats):
        """Seconds of that many calls."""
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        return time.perf_counter() - start


class GpuCall:
    """A product on a GPU. Subclasses launch it, fetch D, spin for so many cycles, and know their library's events."""

    launch: Any  # ()
    fetch: Any  # () -> D as a NumPy array
    spin: Any  # (cycles)
    event: Any  # () -> an event with record() and synchronize()
    milliseconds: Any  # (start, end)

    def __call__(self):
        self.launch()
        return self.fetch()

    def between_events(self, repeats):
        """Seconds between two events on the GPU around that many launches, which are queued while it spins."""
        start, end = self.event(), self.event()
        self.spin(CYCLES * repeats)
        start.record()
        for _ in range(repeats):
            self.launch()
        end.record()
        end.synchronize()
        return self.milliseconds(start, end) / 1e3


class GpuProductDesk(ProductDesk):
    """Calls timed by events."""

    def timed(self, call, repeats):
        return call.between_events(repeats)
