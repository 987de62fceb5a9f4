"""What a step costs: flops of its products, their intensity, the lower roof."""

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


def _matmul_bound(B, n_in, n_out, peak, bandwidth):
    intensity = 2 * B * n_in * n_out / (4 * (B * n_in + n_in * n_out + B * n_out))
    return intensity, min(peak, intensity * bandwidth)


def _bound_cases(rng):
    """Small and large batches, so that each roof is the lower one somewhere, whatever is drawn."""
    cases = []
    for B, label in (
        (1, "a batch of one"),
        (int(rng.integers(2, 6)), "a small batch"),
        (4096, "a large batch"),
    ):
        n_in, n_out = (int(n) for n in rng.integers(300, 1500, size=2))
        cases.append(
            Case((B, n_in, n_out, float(rng.uniform(180, 300)), float(rng.uniform(8, 20))), label)
        )
    return cases


check_matmul_bound = Check(
    "matmul_bound",
    _bound_cases,
    _matmul_bound,
    K=4,
    dtype=None,
    parts=("intensity", "bound"),
)
