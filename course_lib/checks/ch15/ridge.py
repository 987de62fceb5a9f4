"""The check of what bounds a product on tensor cores, and of the tile that the L2 cache can feed."""

import math

from course_lib.checks.kit.core import Case, Check


def _case(rng, label, M, N, K, T, tensor, l2, dram):
    some = float(rng.uniform(0.97, 1.03))  # no answer's bound hangs on it
    return Case(
        (M, N, K, T, {"tensor": tensor * some, "l2": l2 * some, "dram": dram * some}), label
    )


def _cases(rng):
    def many(low, high, of=16):
        return of * int(rng.integers(low, high))

    wide = many(10, 15, 256), many(16, 20, 256), many(41, 50, 128)
    T = {"tensor": 300e12, "l2": 6e12, "dram": 2e12}
    even = {"tensor": 300e12, "l2": 4e12, "dram": 3e12}
    # 16.3 operations a byte: rounded to 16, T = 32 would do
    slow = {"tensor": 60e12, "l2": 3.68e12, "dram": 1e12}
    return [
        _case(rng, "large tiles, a large product", *wide, 256, **T),
        _case(rng, "the next multiple is the nearest", *wide, 128, 250e12, 6e12, 2e12),
        _case(rng, "small tiles", *wide, 32, **T),
        _case(rng, "a much slower L2", *wide, 128, 900e12, 1.49e12, 2e12),
        _case(rng, "a slower device", *wide, 64, **slow),
        _case(rng, "a short K", many(60, 70, 128), many(71, 80, 128), 32, 128, **T),
        _case(rng, "what D costs", many(60, 70, 128), many(71, 80, 128), 64, 64, **even),
        _case(rng, "D, which is not loaded", *wide[:2], 128, 128, 183e12, 4e12, 20e12),
        _case(rng, "few rows", 64, many(60, 70, 64), many(71, 80), 64, **T),
        _case(rng, "T = 80", many(40, 50, 80), many(51, 60, 80), many(41, 50), 80, **T),
        Case(
            (512, 1024, 256, 128, {"tensor": 128e12, "l2": 4e12, "dram": 9e12}),
            "T = 64 just suffices",  # a power of two: both times are equal to the last bit
        ),
    ]


def _ridge(M, N, K, T, rates):
    seconds = {
        "tensor": 2 * M * N * K / rates["tensor"],
        "l2": 2 * (M * N // T) * K * 2 / rates["l2"],
        "dram": (2 * (M * K + K * N) + 4 * M * N) / rates["dram"],
    }
    smallest = 16 * math.ceil(2 * rates["tensor"] / rates["l2"] / 16)
    return max(seconds, key=seconds.__getitem__), smallest


check_ridge = Check("ridge", _cases, _ridge, dtype=None, parts=("bound", "smallest"))
