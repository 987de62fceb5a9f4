"""The checks of two loss scales: the largest that a gradient allows, and one that adapts itself."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal

LARGEST = 65504.0  # of float16

# largest_scale ------------------------------------------------------------------------------------------


def _gradient(rng, largest, low, n=60):
    """n numbers, a few of them 0, from `low` to below a half of `largest`, which is one of them, negative."""
    g = largest * 2.0 ** rng.uniform(low, -1.5, n) * rng.choice([-1, 1], n)
    g[rng.choice(n, 8, replace=False)] = 0
    g[int(rng.integers(n))] = -largest
    return g.astype(np.float32)


def _at_the_edge(rng, k):
    """Numbers that are 2^-25, a little more or less, or 2^-24 once 65,504 * 2^-k is scaled to 65,504."""
    edge = 2.0**-25 * np.array([1, 1 + 2**-20, 1 - 2**-20, 1.5, 2, 3, 2**10, 2**11, 2**12])
    return np.r_[edge, 0, LARGEST, -edge].astype(np.float32) * np.float32(2.0**-k)


def _largest_cases(rng):
    k = int(rng.integers(6, 20))
    m, n = float(rng.uniform(1.05, 1.35)), float(rng.uniform(1.5, 1.9))
    return [
        Case((_gradient(rng, m * 2.0**-k, -60),), "a wide gradient"),
        Case((_gradient(rng, n * 2.0**-k, -10),), "a narrow one: nothing is lost"),
        Case((_gradient(rng, LARGEST * 2.0**-k, -30),), "65,504 is reached exactly"),
        Case((_gradient(rng, 65512.0 * 2.0**-k, -30),), "a little more than that"),
        Case((_gradient(rng, 65530.0 * 2.0**-k, -30),), "still a little more"),
        Case(
            (_gradient(rng, np.nextafter(np.float32(LARGEST), np.inf) * 2.0**-k, -30),),
            "a hair more",
        ),
        Case((_gradient(rng, m * 2.0**20, -50),), "larger than float16 itself"),
        Case((_gradient(rng, m * 2.0**80, -60),), "far larger"),
        Case((_gradient(rng, m * 2.0**-60, -30),), "far smaller"),
        Case((_at_the_edge(rng, k),), "at the edge of the smallest number"),
        Case((normal(rng, 1),), "one number"),
    ]


def _largest_scale(g):
    largest, scale = abs(g).max(), 2.0**-120
    while 2 * scale * largest <= LARGEST:
        scale *= 2
    half = (scale * g).astype(np.float16)
    return float(scale), float((half[g != 0] == 0).mean())


check_largest_scale = Check(
    "largest_scale", _largest_cases, _largest_scale, dtype=None, parts=("scale", "lost")
)

# scale_step ------------------------------------------------------------------------------------------


def _step_cases(rng):
    n = int(rng.integers(5, 10))
    scale = 2.0 ** int(rng.integers(8, 14))

    def case(label, spoil=(), scale=scale, good=2, n=n):
        grads = [normal(rng, 3, 5), normal(rng, 5)]
        for which, at, value in spoil:
            grads[which].flat[at] = value
        return Case((scale, good, grads, n), label)

    inf, nan, huge = np.float32(np.inf), np.float32(np.nan), np.float32(3e38)
    all_of_it = [(w, i, inf) for w, size in ((0, 15), (1, 5)) for i in range(size)]
    return [
        case("a good step"),
        case("the last good step of n, a scale beyond float16", good=n - 1, scale=2.0**30),
        case("the last but one", good=n - 2),
        case("n = 1", good=0, n=1),
        case("a large, but finite number", [(0, 3, np.float32(1e5))]),
        case(
            "finite numbers with a sum beyond float32", [(0, 3, huge), (0, 4, huge), (1, 1, huge)]
        ),
        case("inf in the last array", [(1, 4, inf)]),
        case("-inf in the first array", [(0, 7, -inf)], good=3),
        case("one NaN", [(0, 2, nan)]),
        case("one NaN in the last array", [(1, 3, nan)]),
        case("inf, -inf and NaN", [(0, 0, inf), (0, 1, -inf), (1, 1, nan)]),
        case("inf everywhere", all_of_it),
        case("inf where the scale would have doubled", [(1, 0, inf)], good=n - 1),
        case("inf with a scale of 1", [(0, 3, inf)], scale=1.0),
        case("inf with a scale of 2", [(0, 3, inf)], scale=2.0),
    ]


def _scale_step(scale, good, grads, n):
    if not all(np.isfinite(g).all() for g in grads):
        return False, max(scale / 2, 1.0), 0
    return (True, 2 * scale, 0) if good + 1 == n else (True, scale, good + 1)


check_scale_step = Check(
    "scale_step", _step_cases, _scale_step, dtype=None, parts=("take", "scale", "good")
)
