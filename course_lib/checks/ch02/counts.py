"""What a step costs: flops of its products, and the batch at which memory no longer holds them back."""

from itertools import pairwise

from course_lib.checks.kit.core import Case, Check, ragged


def _count_flops(sizes, B):
    products = [3 if layer else 2 for layer in range(len(sizes) - 1)]
    return sum(2 * B * n * m * k for k, (n, m) in zip(products, pairwise(sizes), strict=True))


def _count_cases(rng):
    plan = [(tuple(ragged(rng, n, 3, 40)), f"{n - 1} layer{'s' * (n > 2)}") for n in (3, 2, 4, 5)]
    plan += [
        ((8, 8, 8, 5), "equal widths"),
        ((64, 64, 10), "two equal widths"),
        ((3072, 4096, 4096, 1000), "a large net"),
    ]
    return [
        Case((sizes, int(rng.integers(2, 99)) * (256 if sizes[0] > 1000 else 1)), label)
        for sizes, label in plan
    ]


check_count_flops = Check("count_flops", _count_cases, _count_flops, dtype=None)


def _smallest_batch(n_in, n_out, peak, bandwidth):
    gap = n_in * n_out * bandwidth - 2 * peak * (n_in + n_out)
    return -(-2 * peak * n_in * n_out // gap) if gap > 0 else 0


def _plans(rng):
    """(n_in, n_out, peak, bandwidth, label) of every kind: from one example to thousands, and none that will do."""
    wide, slow = (int(n) for n in rng.integers(600, 1500, size=2))
    tall, narrow = int(rng.integers(600, 1500)), int(rng.integers(8, 14))
    bandwidth = int(rng.integers(11, 24))
    ratio = int(rng.integers(7, 12))  # more than a layer with 13 outputs can reach
    yield wide, tall, ratio * bandwidth + 3, bandwidth, "a wide layer"
    yield wide, narrow, ratio * bandwidth + 5, bandwidth, "few outputs"
    yield wide, narrow, 2 * bandwidth + 5, bandwidth, "few outputs, fast memory"
    yield narrow, wide, 2 * bandwidth + 7, bandwidth, "few inputs, fast memory"
    yield wide, slow, bandwidth // 3, bandwidth, "memory faster than arithmetic"
    yield wide, slow, 25 * bandwidth + 1, bandwidth, "slow memory"
    yield _nearly_never(rng)
    yield _beyond_a_million(rng)


def _nearly_never(rng):
    """The peak a little below what this layer can reach at all: some thousands of examples."""
    n_in, n_out = (int(n) for n in rng.integers(300, 500, size=2))
    bandwidth = int(rng.integers(100, 140))
    peak = int(n_in * n_out * bandwidth / (2 * (n_in + n_out)) * rng.uniform(0.90, 0.93))
    return n_in, n_out, peak, bandwidth, "a peak that is nearly out of reach"


def _beyond_a_million(rng):
    """The largest whole peak that this layer can reach: more examples than a search with an end of its own tries."""
    while True:
        n_in, n_out, bandwidth = (int(n) for n in rng.integers(100, 200, size=3))
        peak = n_in * n_out * bandwidth // (2 * (n_in + n_out))
        gap = n_in * n_out * bandwidth - 2 * peak * (n_in + n_out)
        B = 2 * peak * n_in * n_out / max(gap, 1)
        if 1_000_000 < B < 1_400_000 and 0.1 < B % 1 < 0.9:
            return n_in, n_out, peak, bandwidth, "a peak that is barely in reach"


def _batch_cases(rng):
    """But for the last two no B whose bound is the peak exactly: there rounding would decide for a right answer."""
    cases = []
    for n_in, n_out, peak, bandwidth, label in _plans(rng):
        while _on_the_edge(n_in, n_out, peak, bandwidth):
            n_in += 1
        cases.append(Case((n_in, n_out, peak, bandwidth), label))
    return [
        *cases,
        Case(_in_powers(rng, 8), "a bound that meets the peak exactly"),
        Case(_in_powers(rng, 4), "a peak that the bound only tends to"),
    ]


def _in_powers(rng, part):
    """All numbers are powers of two, also what one computes on the way: no order of the operations rounds.

    The bound tends to n bandwidth / 4; the peak is n bandwidth / part.
    """
    n, bandwidth = (2 ** int(exponent) for exponent in rng.integers((7, 3), (10, 6)))
    return n, n, n // part * bandwidth, bandwidth


def _on_the_edge(n_in, n_out, peak, bandwidth):
    gap = n_in * n_out * bandwidth - 2 * peak * (n_in + n_out)
    return gap == 0 or 2 * peak * n_in * n_out % gap == 0


check_smallest_batch = Check("smallest_batch", _batch_cases, _smallest_batch, dtype=None)
