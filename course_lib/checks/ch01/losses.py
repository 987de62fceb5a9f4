"""The checks of chapter 01, sections 3 and 4: softmax, cross-entropy, and the delta of the last layer."""

import numpy as np

from course_lib.checks.ch01.nets import sigmoid, slope
from course_lib.checks.kit.core import Case, Check, normal, ragged

# Task softmax -------------------------------------------------------------------------------------------------


def _logit_cases(rng, big):
    sizes = ragged(rng, 4, 3, 10)
    shift, scale = [0.0, big, -big, 0.0], [2.0, 1.0, 1.0, 5.0]
    labels = ["ordinary z", f"all z near {big:g}", f"all z near -{big:g}", "spread z"]
    return [
        (s + normal(rng, n, dtype=np.float64, scale=k)).astype(np.float32)
        for n, s, k in zip(sizes, shift, scale, strict=True)
    ], labels


def _far_cases(rng):
    """(z, place of its maximum, label): one z hundreds above all others, first, in the middle, last."""
    found = []
    for place in ("first", "in the middle", "last"):
        n = int(rng.integers(4, 8))
        top = {"first": 0, "last": n - 1}.get(place, int(rng.integers(1, n - 1)))
        z = rng.uniform(-1000.0, 500.0, n)
        z[top] = rng.uniform(800.0, 1500.0)
        found.append((z.astype(np.float32), top, f"large z, the largest {place}"))
    return found


def _hundreds(rng):
    """One z at some 300: too much for exp in float32, not in float64; nor is the probability of the others 0 there."""
    z = rng.uniform(-5.0, 5.0, int(rng.integers(4, 8)))
    z[1] += rng.uniform(280.0, 320.0)
    return z.astype(np.float32)


def _at_the_edge(rng):
    """The largest z last, a little beyond what exp takes in float64: a few less, and it takes it."""
    z = rng.uniform(-5.0, 5.0, 8)
    z[-1] = rng.uniform(711.0, 713.0)
    return z.astype(np.float32)


def _far_below(rng):
    """All z near -60: exp of them is no 0, exp of twice as much is."""
    return (normal(rng, int(rng.integers(4, 8)), dtype=np.float64) - 60).astype(np.float32)


def _small_case(rng):
    """Probabilities down to e^-30: each must be right to its own size."""
    n = int(rng.integers(4, 8))
    z = -rng.uniform(17.0, 30.0, n)
    z[rng.integers(n)] = 0.5
    return Case((z.astype(np.float32),), "small probabilities", scale="entry")


def _softmax_cases(rng):
    z, labels = _logit_cases(rng, 1000.0)
    cases = [Case((v,), label) for v, label in zip(z, labels, strict=True)]
    cases += [Case((v,), label) for v, _, label in _far_cases(rng)]
    more = (
        (_hundreds, "a z near 300"),
        (_at_the_edge, "a z near 712"),
        (_far_below, "all z near -60"),
    )
    return [*cases, *(Case((make(rng),), label) for make, label in more), _small_case(rng)]


def _softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def _clipped(limit):
    def softmax(z):
        e = np.exp(np.clip(z, -limit, limit))
        return e / e.sum()

    return softmax


def _over_more(tiny):
    """A small number added to the sum, so that it is never 0."""

    def softmax(z):
        e = np.exp(z.astype(np.float32))
        return e / (e.sum() + np.float32(tiny))

    return softmax


_CLIPPED = "z is clipped, so that all that lie beyond become equal: subtract max(z)"
_MORE = (
    "a small number in the denominator hides that exp has overflowed, or vanished: subtract max(z)"
)

check_softmax = Check(
    "softmax",
    _softmax_cases,
    _softmax,
    K=12,
    diagnoses=[
        *((_clipped(limit), _CLIPPED) for limit in (10, 20, 30, 50, 80, 85, 88, 100, 500, 700)),
        *((_over_more(10.0**-k), _MORE) for k in range(3, 38)),
    ],
)

# Task cross_entropy -------------------------------------------------------------------------------------------


def _cross_entropy_cases(rng):
    z, labels = _logit_cases(rng, 1000.0)
    cases = [(v, int(np.argsort(v)[1]), label) for v, label in zip(z, labels, strict=True)]
    for v, top, _ in _far_cases(rng):
        c = int(rng.choice([i for i in range(len(v)) if i != top]))
        cases.append((v, c, f"hopelessly wrong: {v[top] - v[c]:.0f} below the best"))
    v, top, _ = _far_cases(rng)[0]
    v[-1] = v[top] - rng.uniform(
        0.5, 3.0
    )  # here -log(p) would do, and exp of anything but z - max(z) would not
    cases.append((v, len(v) - 1, "nearly the best"))
    cases.append((_hundreds(rng), 0, "a z near 300"))
    cases.append((_far_below(rng), 0, "all z near -60"))
    return [
        Case((v, c), label, scale=float(np.abs(v).max())) for v, c, label in cases
    ]  # z may cancel, as in m - z[c]


def _logsumexp(z):
    return z.max() + np.log(np.exp(z - z.max()).sum())


def _cross_entropy(z, c):
    return float(_logsumexp(z) - z[c])


def _added(tiny):
    """A number added inside the logarithm."""
    return lambda z, c: -np.log(_softmax(z.astype(np.float32))[c] + np.float32(tiny))


def _bounded(tiny):
    """A probability that is at least so large."""
    return lambda z, c: -np.log(max(_softmax(z.astype(np.float32))[c], np.float32(tiny)))


_CAPPED = "a small number inside the logarithm hides that p is 0 but caps the loss: use log-sum-exp, without any p"

check_cross_entropy = Check(
    "cross_entropy",
    _cross_entropy_cases,
    _cross_entropy,
    K=12,
    dtype=None,
    diagnoses=[(cap(10.0**-k), _CAPPED) for cap in (_added, _bounded) for k in range(3, 39)],
)

# Task output_delta --------------------------------------------------------------------------------------------


def _delta_cases(rng):
    cases = []
    for loss in ("mse", "cross_entropy"):
        for n in ragged(rng, 3, 3, 9):
            y = np.zeros(n)
            y[rng.integers(n)] = 1.0
            cases.append(
                Case(
                    (normal(rng, n, dtype=np.float64, scale=1.5), y, loss),
                    f"{loss}, {n} classes",
                    scale=2.0,
                )
            )
    n = int(rng.integers(3, 9))
    z = 1000 + normal(rng, n, dtype=np.float64)
    cases.append(
        Case(
            (z, np.eye(n)[rng.integers(n)], "cross_entropy"),
            "cross_entropy, z near 1000",
            scale=1000.0,
        )
    )
    return cases


def mse_delta(z, y):
    return 2 * (sigmoid(z) - y) * slope(z)


def _output_delta(z, y, loss):
    return mse_delta(z, y) if loss == "mse" else _softmax(z) - y


check_output_delta = Check("output_delta", _delta_cases, _output_delta, K=12)
