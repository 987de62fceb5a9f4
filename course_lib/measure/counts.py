"""What one training step costs on paper: floating-point operations, and bytes between memory and processor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from course_lib.errors import BadInput, check_count


@dataclass(frozen=True)
class StepCount:
    """The cost of one training step of one mini-batch, term by term; `str()` prints it as a table.

    forward, dW, dA: one number for each layer, those of the three matrix products (dA[0] is 0: nobody needs the
    gradient of the pixels). elementwise: the same for bias, activation, dZ and db. update: the same for W -= eta dW.
    products = forward + dW + dA over all layers; total = products + elementwise + update.
    """

    sizes: tuple[int, ...]
    B: int
    unit: str
    forward: tuple[int, ...]
    dW: tuple[int, ...]
    dA: tuple[int, ...]
    elementwise: tuple[int, ...]
    update: tuple[int, ...]

    @property
    def products(self) -> int:
        return sum(self.forward) + sum(self.dW) + sum(self.dA)

    @property
    def total(self) -> int:
        return self.products + sum(self.elementwise) + sum(self.update)

    def __str__(self) -> str:
        names = ("forward", "dW", "dA", "elementwise", "update")
        lines = [f"{'layer':<14}" + "".join(f"{name:>16}" for name in names)]
        for i, (n_in, n_out) in enumerate(pairwise(self.sizes)):
            terms = "".join(f"{getattr(self, name)[i]:>16,}" for name in names)
            lines.append(f"{f'{n_in} -> {n_out}':<14}{terms}")
        ends = f"products {self.products:,} {self.unit}; total {self.total:,} {self.unit} (B = {self.B})"
        return "\n".join([*lines, ends])


def step_flops(sizes: Sequence[int], B: int) -> StepCount:
    """Floating-point operations of one mini-batch step (sigmoid layers, mean squared error, plain SGD).

    A product of (M, K) by (K, N) is M N sums of K products: 2 M N K operations (a multiplication and an addition
    each, as LAPACK's users count). So a layer of n_in inputs and n_out outputs costs, for B examples,

        forward  Z  = A_prev @ W        (B, n_in) (n_in, n_out)      2 B n_in n_out
        dW       dW = A_prev.T @ dZ     (n_in, B) (B, n_out)         2 B n_in n_out
        dA       dA = dZ @ W.T          (B, n_out) (n_out, n_in)     2 B n_in n_out, and 0 for the first layer

    and, so that nobody need wonder whether they matter, with exp counted as one operation,

        elementwise   Z + b: B n_out;  1 / (1 + exp(-Z)): 4 B n_out;  db = sum of the rows of dZ: (B - 1) n_out;
                      dZ = dA A (1 - A): 3 B n_out, in the last layer dZ = 2/B (A - Y) A (1 - A): 5 B n_out
        update        W - eta dW and b - eta db: 2 n_in n_out + 2 n_out

    Net-1h (784, 1024, 10) for each example: 2 * 2 (784 * 1024 + 1024 * 10) + 2 * 1024 * 10 = 3,272,704 in products.
    GFLOP/s in this course are counted from `.products`: an epoch has as many for any B, so twice the GFLOP/s is half
    the time. `.total` adds the rest.

    >>> step_flops((784, 1024, 10), B=1).products
    3272704

    Raises BadInput for fewer than two sizes, or a size or B below 1.
    """
    sizes, B = _check(sizes, B)
    pairs = list(pairwise(sizes))
    product = tuple(2 * B * n_in * n_out for n_in, n_out in pairs)
    last = len(pairs) - 1
    elementwise = tuple(
        (1 + 4 + (5 if i == last else 3)) * B * n_out + (B - 1) * n_out
        for i, (_, n_out) in enumerate(pairs)
    )
    update = tuple(2 * n_in * n_out + 2 * n_out for n_in, n_out in pairs)
    return StepCount(sizes, B, "flops", product, product, (0, *product[1:]), elementwise, update)


def step_bytes(sizes: Sequence[int], B: int, itemsize: int = 4) -> StepCount:
    """Bytes that one mini-batch step moves between memory and processor, in a model with these assumptions:

    1. each operand of a product is read once and its result written once: inside a product the caches are perfect;
    2. each elementwise formula is one pass: its arrays read once, its result written once (NumPy without a fused
       kernel makes more passes, one for each operator, so it moves more than this);
    3. nothing stays in cache from one pass to the next (small arrays do, so they move less than this);
    4. a write costs its own bytes and no more (a cache that first fetches the line it writes to moves more).

    For a layer of n_in inputs and n_out outputs, B examples, in numbers of `itemsize` bytes each:

        forward       read A_prev, W, write Z         B n_in + n_in n_out + B n_out
        dW            read A_prev, dZ, write dW       B n_in + B n_out + n_in n_out
        dA            read dZ, W, write dA            B n_out + n_in n_out + B n_in, and 0 for the first layer
        elementwise   Z + b                           2 B n_out + n_out
                      A = f(Z)                        2 B n_out
                      dZ from dA and A (A and Y)      3 B n_out
                      db                              B n_out + n_out
        update        read W, dW, write W; b too      3 n_in n_out + 3 n_out

    The weights are read and written whatever B is: that is why a large batch does more flops for each byte.

    >>> step_bytes((784, 1024, 10), B=1).products
    6572280

    Raises BadInput for fewer than two sizes, or a size, B or itemsize below 1.
    """
    sizes, B = _check(sizes, B)
    itemsize = check_count("itemsize", itemsize)
    pairs = list(pairwise(sizes))
    product = tuple(itemsize * (B * n_in + n_in * n_out + B * n_out) for n_in, n_out in pairs)
    elementwise = tuple(itemsize * (8 * B * n_out + 2 * n_out) for _, n_out in pairs)
    update = tuple(itemsize * 3 * (n_in * n_out + n_out) for n_in, n_out in pairs)
    return StepCount(sizes, B, "bytes", product, product, (0, *product[1:]), elementwise, update)


def gflops(flops: float, seconds: float) -> float:
    """Billions of floating-point operations a second. Raises BadInput for seconds of 0, below 0 or NaN."""
    if not (0 < seconds < math.inf):
        raise BadInput(f"seconds must be more than 0, not {seconds!r}")
    if not (0 <= flops < math.inf):
        raise BadInput(f"flops must be a count of 0 or more, not {flops!r}")
    return flops / seconds / 1e9


def _check(sizes: Sequence[int], B: int) -> tuple[tuple[int, ...], int]:
    if isinstance(sizes, str) or not isinstance(sizes, Sequence) or len(sizes) < 2:
        wanted = "two layers or more, such as (784, 1024, 10)"
        raise BadInput(f"sizes must name {wanted}, not {sizes!r}")
    return tuple(check_count(f"sizes[{i}]", n) for i, n in enumerate(sizes)), check_count("B", B)
