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
    ]


def _parts(y, predicted):
    """tp, fp, fn, tn."""
    return [int(np.sum((y == t) & (predicted == p))) for t, p in ((1, 1), (0, 1), (1, 0), (0, 0))]


def _judged(**changed):
    """A reference, with some of its five numbers replaced: functions of (tp, fp, fn, tn)."""
    ways = {
        "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
        "majority": lambda tp, fp, fn, tn: max(tp + fn, fp + tn) / (tp + fp + fn + tn),
        "precision": lambda tp, fp, fn, tn: tp / (tp + fp) if tp + fp else 0.0,
        "recall": lambda tp, fp, fn, tn: tp / (tp + fn),
        "balanced": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    } | changed

    def judge(y, predicted):
        return tuple(float(way(*_parts(y, predicted))) for way in ways.values())

    return judge


check_judge = Check(
    "judge",
    _answers,
    _judged(),
    dtype=None,
    parts=("accuracy", "majority", "precision", "recall", "balanced"),
    diagnoses=[
        (
            _judged(precision=lambda tp, fp, fn, tn: tp / (tp + fp) if tp + fp else np.nan),
            "where nothing was called 1, precision is 0.0 by the task, not 0 / 0",
        ),
        (
            _judged(majority=lambda tp, fp, fn, tn: min(tp + fn, fp + tn) / (tp + fp + fn + tn)),
            "that is the smaller class",
        ),
        (
            _judged(
                balanced=lambda tp, fp, fn, tn: (
                    (tp / (tp + fn) + (tn / (tn + fn) if tn + fn else 0)) / 2
                )
            ),
            "for the other class: of those that are normal, the share called so: tn / (tn + fp)",
        ),
        (
            _judged(balanced=lambda tp, fp, fn, tn: tp / (tp + fn) + tn / (tn + fp)),
            "the sum of both recalls is not yet halved",
        ),
        (
            _judged(accuracy=lambda tp, fp, fn, tn: tp / (tp + fp + fn + tn)),
            "right answers are of two kinds: attacks found, and normal connections left alone",
        ),
        (lambda y, predicted: _judged()(predicted, y), "labels and answers are exchanged"),
    ],
)


# honest_speedup -----------------------------------------------------------------------------------------------------


def _runs(rng):
    def times(middle, n=7):
        """n runs, one of them disturbed; no mean, median or least is another program's."""
        runs = middle * (1 + 0.1 * rng.random(n))
        runs[int(rng.integers(n))] *= 6
        return [float(t) for t in runs]

    def case(p, middles, parallel, label):
        programs = {name: times(m) for name, m in middles.items()}
        return Case((programs, times(parallel), p), label)

    unit = float(rng.uniform(0.5, 2))
    lucky = [
        unit * t for t in (0.2, 1.1, 1.2, 1.3, 1.4)
    ]  # the least of all runs, and yet not the quickest program
    return [
        case(
            4,
            {"loops": 90 * unit, "NumPy": 3 * unit, "NumPy float64": 5 * unit},
            1.1 * unit,
            "four threads",
        ),
        case(
            2,
            {"library": unit, "our own": 4 * unit},
            1.5 * unit,
            "slower than the best serial program",
        ),
        Case(
            (
                {"lucky once": lucky, "steady": [unit * t for t in (0.7, 0.8, 0.9, 0.75, 0.85)]},
                times(unit / 2),
                3,
            ),
            "one lucky run",
        ),
    ]


def _quotient(pick=min, of=np.median, give=lambda s, p: (s, s / p)):
    """A reference, with one of its choices replaced."""

    def honest_speedup(programs, parallel, p):
        name = pick(programs, key=lambda each: of(programs[each]))
        return (name, *(float(x) for x in give(of(programs[name]) / of(parallel), p)))

    return honest_speedup


def _first(programs, key):
    return next(iter(programs))


check_honest_speedup = Check(
    "honest_speedup",
    _runs,
    _quotient(),
    dtype=None,
    K=4,
    parts=("baseline", "speed-up", "efficiency"),
    diagnoses=[
        (
            _quotient(give=lambda s, p: (s, 100 * s / p)),
            "the efficiency as a fraction, not per cent",
        ),
        (
            _quotient(give=lambda s, p: (s, p / s)),
            "the efficiency is upside down: the speed-up divided by p",
        ),
        (_quotient(give=lambda s, p: (min(s, p), min(s, p) / p)), "nothing is to be cut off at p"),
    ],
)


# against_bound ------------------------------------------------------------------------------------------------------


def _differences(rng):
    def fresh(*shape):
        exact = rng.standard_normal(shape)
        bound = rng.uniform(0.5, 2, shape) * 1e-7 * (1 + 100 * (rng.random(shape) < 0.2))
        return exact, bound, exact + bound * rng.uniform(-0.9, 0.9, shape)

    cases = []
    for label, shape in (
        ("all within", (5, 7)),
        ("one entry off, the wrong way", (4, 3)),
        ("a vector", (11,)),
    ):
        exact, bound, got = fresh(*shape)
        if "off" in label:
            at = tuple(int(rng.integers(n)) for n in shape)
            got[at] = exact[at] - 37.5 * bound[at]
        cases.append(Case((got, exact, bound), label))
    exact, bound, got = fresh(6, 4)
    got[2, 3] = np.nan
    cases.append(Case((got, exact, bound), "a NaN"))
    exact, bound, got = fresh(3, 8)
    got[1, 1], bound[1, 1], got[0, 5], bound[0, 5] = exact[1, 1], 0, exact[0, 5] + 1e-9, 0
    cases.append(Case((got, exact, bound), "two bounds of 0, one of them kept"))
    exact, bound, got = fresh(2, 9)
    got[1, 4], bound[1, 4] = exact[1, 4], 0
    cases.append(Case((got, exact, bound), "a bound of 0, and it is kept"))
    return cases


def _held(ratio=None, place=None, nan=np.inf):
    """A reference: ratio (off, exact, bound) -> array; place: of (array of ratios) -> index."""
    ratio = ratio or (lambda got, exact, bound: abs(got - exact) / bound)
    place = place or (lambda r: tuple(int(i) for i in np.unravel_index(r.argmax(), r.shape)))

    def against_bound(got, exact, bound):
        with np.errstate(all="ignore"):
            r = np.where(got == exact, 0.0, ratio(got, exact, bound))
        r = np.where(np.isnan(r), nan, r)
        return float(r.max()), place(r)

    return against_bound


def _as_it_comes(clean):
    """NaN and infinity as NumPy gives them, or through its own remedy."""

    def against_bound(got, exact, bound):
        with np.errstate(all="ignore"):
            r = clean(abs(got - exact) / bound)
        return float(r.max()), tuple(int(i) for i in np.unravel_index(r.argmax(), r.shape))

    return against_bound


check_against_bound = Check(
    "against_bound",
    _differences,
    _held(),
    dtype=None,
    K=4,
    parts=("ratio", "where"),
    diagnoses=[
        (
            _as_it_comes(np.asarray),
            "a NaN or 0 / 0 is left among the ratios: infinite is the one, 0 the other",
        ),
        (
            _as_it_comes(np.nan_to_num),
            "np.nan_to_num makes 0 of a NaN, which then passes, and a large number of "
            "infinity: both ratios are infinite",
        ),
    ],
)
