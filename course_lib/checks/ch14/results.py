"""Checks of what a report says about its results: a skewed set, a speed-up, a difference against its bound."""

import numpy as np

from course_lib.checks.kit.case import Case
from course_lib.checks.kit.check import Check

# judge --------------------------------------------------------------------------------------------------------------


def _answers(rng):
    def case(n, attacks, hit, accused, label):
        """n examples: so many attacks, hit of them found, and so many others accused."""
        y, predicted = np.zeros(n, np.int64), np.zeros(n, np.int64)
        y[:attacks] = 1
        predicted[:hit], predicted[attacks : attacks + accused] = 1, 1
        order = rng.permutation(n)
        return Case((y[order], predicted[order]), label)

    a, b, c = (int(k) for k in rng.integers(3, 9, 3))
    return [
        case(101, 80 + a, 70 + b, 3 + c // 3, "four of five are attacks"),
        case(97, 5 + a, 2 + b // 4, 1 + c, "attacks are rare"),
        case(40 + a, 30, 30, 10 + a, "all are called attacks"),
        case(61, 9 + b, 0, 0, "none is called an attack"),
        case(1000, 700 + a, 300 + b, 200 + c, "a thousand connections"),
    ]


def _judge(y, predicted):
    tp, fp, fn, tn = (
        int(np.sum((y == t) & (predicted == p))) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0))
    )
    precision, recall = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn)
    balanced = (recall + tn / (tn + fp)) / 2
    return (tp + tn) / len(y), max(tp + fn, fp + tn) / len(y), precision, recall, balanced


check_judge = Check(
    "judge",
    _answers,
    _judge,
    dtype=None,
    parts=("accuracy", "majority", "precision", "recall", "balanced"),
)


# honest_speedup -----------------------------------------------------------------------------------------------------


def _runs(rng):
    def times(middle, n):
        """n runs, one of them disturbed; no mean, median or least is another program's."""
        runs = middle * (1 + 0.1 * rng.random(n))
        runs[int(rng.integers(n))] *= 6
        return [float(t) for t in runs]

    def case(p, middles, parallel, n, label):
        programs = {name: times(m, n) for name, m in middles.items()}
        return Case((programs, times(parallel, n), p), label)

    unit = float(rng.uniform(0.5, 2))
    # The least of all runs, and first, and yet not of the quickest program
    lucky = [unit * t for t in (0.2, 1.1, 1.2, 1.3, 1.4)]
    steady = [unit * t for t in (0.7, 0.8, 0.9, 0.75, 0.85)]
    late = [unit * t for t in (1.1, 0.4, 1.5, 1.2, 1.3)]
    kinds = {"loops": 90 * unit, "NumPy": 3 * unit, "NumPy float64": 5 * unit}
    slower = {"library": unit, "our own": 4 * unit}
    return [
        case(4, kinds, 1.1 * unit, 6, "four threads, six runs each"),
        case(2, slower, 1.5 * unit, 7, "slower than the best serial program"),
        case(2, slower, 0.2 * unit, 5, "more than p times as quick"),
        Case(({"lucky once": lucky, "steady": steady}, times(unit / 2, 7), 3), "one lucky run"),
        Case(({"lucky later": late, "steady": steady}, times(unit / 2, 7), 3), "lucky, but later"),
    ]


def _honest_speedup(programs, parallel, p):
    name = min(programs, key=lambda each: np.median(programs[each]))
    speedup = float(np.median(programs[name]) / np.median(parallel))
    return name, speedup, speedup / p


check_honest_speedup = Check(
    "honest_speedup",
    _runs,
    _honest_speedup,
    dtype=None,
    K=4,
    parts=("baseline", "speed-up", "efficiency"),
)


# against_bound ------------------------------------------------------------------------------------------------------


def _differences(rng):
    def fresh(*shape):
        exact = rng.standard_normal(shape)
        bound = rng.uniform(0.5, 2, shape) * 1e-7 * (1 + 100 * (rng.random(shape) < 0.2))
        return exact, bound, exact + bound * rng.uniform(-0.9, 0.9, shape)

    def case(label, *shape, change=lambda got, exact, bound: None):
        exact, bound, got = fresh(*shape)
        change(got, exact, bound)
        return Case((got, exact, bound), label)

    def far_below(got, exact, bound):
        at = tuple(int(rng.integers(n)) for n in got.shape)
        got[at] = exact[at] - 37.5 * bound[at]

    def not_a_number(got, exact, bound):
        got[2, 3] = got[4, 1] = np.nan

    def infinite(got, exact, bound):
        got[3, 2] = -np.inf

    def kept(got, exact, bound):
        got[1, 4], bound[1, 4] = exact[1, 4], 0

    def kept_once(got, exact, bound):
        got[1, 1], bound[1, 1], got[0, 5], bound[0, 5] = exact[1, 1], 0, exact[0, 5] + 1, 0

    def infinite_twice(got, exact, bound):
        got[0, 4], bound[0, 4], got[2, 1] = exact[0, 4] - 1e-9, 0, np.nan

    def equal(got, exact, bound):
        got[:] = exact

    return [
        case("all within", 5, 7),
        case("one entry off, the wrong way", 4, 3, 2, change=far_below),
        case("a vector", 11),
        case("two NaN", 6, 4, change=not_a_number),
        case("an infinity", 5, 4, change=infinite),
        case("two bounds of 0, one of them kept", 3, 8, change=kept_once),
        case("a bound of 0, and it is kept", 2, 9, change=kept),
        case("all entries equal", 3, 5, change=equal),
        case("off a bound of 0, and a NaN after it", 3, 6, change=infinite_twice),
    ]


def _against_bound(got, exact, bound):
    with np.errstate(all="ignore"):
        ratio = np.where(got == exact, 0.0, abs(got - exact) / bound)
    ratio = np.where(np.isnan(ratio), np.inf, ratio)
    return float(ratio.max()), tuple(int(i) for i in np.unravel_index(ratio.argmax(), ratio.shape))


check_against_bound = Check(
    "against_bound",
    _differences,
    _against_bound,
    dtype=None,
    K=4,
    parts=("ratio", "where"),
)
