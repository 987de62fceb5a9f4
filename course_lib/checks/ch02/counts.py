"""What a step costs: flops of its products, their intensity, the lower roof."""

from itertools import pairwise

from course_lib.checks.kit.core import Case, Check, ragged


def _count_flops(sizes, B, each=2, products=(3, 2), bias=0):
    """each: operations per multiply-add; products: how many for an inner layer, and for the first one."""
    total = 0
    for layer, (n_in, n_out) in enumerate(pairwise(sizes)):
        total += (
            each * B * n_in * n_out * (products[0] if layer else products[1]) + bias * B * n_out
        )
    return total


def _count_true(sizes, B):
    return _count_flops(sizes, B)


def _count_with(**changes):
    return lambda sizes, B: _count_flops(sizes, B, **changes)


def _skips_last(sizes, B):
    return _count_flops(sizes[::-1], B)


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


check_count_flops = Check(
    "count_flops",
    _count_cases,
    _count_true,
    dtype=None,
    diagnoses=[
        (
            _count_with(each=1),
            "half of it: a multiply-add is two operations, the multiplication and the addition",
        ),
        (
            _count_with(products=(3, 3)),
            "three products in the first layer too: its dA would be the gradient of the pixels, and nobody needs it",
        ),
        (
            _count_with(products=(1, 1)),
            "the forward pass only: dW and dA are products of the same size",
        ),
        (
            _count_with(products=(2, 2)),
            "dA is missing: each layer but the first multiplies dZ by W.T as well",
        ),
        (
            _count_with(products=(2, 1)),
            "one of the products is missing: forward, dW, and dA in all layers but the first",
        ),
        (
            lambda sizes, B: _count_flops(sizes, 1),
            "B is missing: every example of the batch costs the same again",
        ),
        (_skips_last, "dA is left out in the last layer: it is the first layer that needs none"),
        (
            _count_with(bias=1),
            "the additions of b are counted too: the task counts the matrix products alone",
        ),
    ],
)


def _matmul_bound(B, n_in, n_out, peak, bandwidth, numbers=None, itemsize=4, each=2, pick=min):
    numbers = numbers or (B * n_in + n_in * n_out + B * n_out)
    intensity = each * B * n_in * n_out / (itemsize * numbers)
    return intensity, pick(peak, intensity * bandwidth)


def _bound_true(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth)


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


def _bound_with(**changes):
    return lambda B, n_in, n_out, peak, bandwidth: _matmul_bound(
        B, n_in, n_out, peak, bandwidth, **changes
    )


def _weights_per_example(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth, B * (n_in + n_in * n_out + n_out))


def _no_output(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth, B * n_in + n_in * n_out)


def _weights_only(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth, n_in * n_out)


def _upside_down(B, n_in, n_out, peak, bandwidth):
    intensity = 1 / _bound_true(B, n_in, n_out, peak, bandwidth)[0]
    return intensity, min(peak, intensity * bandwidth)


check_matmul_bound = Check(
    "matmul_bound",
    _bound_cases,
    _bound_true,
    K=4,
    dtype=None,
    parts=("intensity", "bound"),
    diagnoses=[
        (
            _bound_with(pick=max),
            "the higher of the two roofs: the lower one is the one you bump into, min(...)",
        ),
        (_bound_with(itemsize=1), "numbers counted for bytes: a float32 has 4 bytes"),
        (
            _bound_with(each=1),
            "half of ours: a multiply-add is two operations, and a float32 has 4 bytes (8 would be float64)",
        ),
        (_no_output, "Z is not counted: the result is written to memory too"),
        (_weights_only, "only the bytes of W are counted: X is read and Z is written as well"),
        (
            _weights_per_example,
            "W is counted B times: a mini-batch reads it once, and that is its whole advantage",
        ),
        (_upside_down, "bytes per flop: the intensity is flops per byte"),
        (
            _bound_with(pick=lambda peak, slope: slope),
            "the flat roof is missing: no batch is faster than the peak",
        ),
    ],
)
