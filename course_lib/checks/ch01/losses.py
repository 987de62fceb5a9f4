"""The checks of chapter 01, section 3: softmax, and the cross-entropy with softened labels."""

import numpy as np

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


_CLIPPED = "z is clipped, so all values beyond the limit become equal: subtract max(z) instead"
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

# Task smoothed_cross_entropy ----------------------------------------------------------------------------------


def _entropy_cases(rng):
    z, labels = _logit_cases(rng, 1000.0)
    cases = [(v, int(np.argsort(v)[1]), label) for v, label in zip(z, labels, strict=True)]
    for v, top, _ in _far_cases(rng):
        c = int(rng.choice([i for i in range(len(v)) if i != top]))
        cases.append((v, c, f"hopelessly wrong: {v[top] - v[c]:.0f} below the best"))
    v, top, _ = _far_cases(rng)[0]
    cases.append((v, top, "right and certain, the others hopeless"))
    v = v.copy()
    v[-1] = v[top] - rng.uniform(0.5, 3.0)
    cases.append((v, len(v) - 1, "nearly the best"))
    cases.append((_hundreds(rng), 0, "a z near 300"))
    cases.append((_far_below(rng), 0, "all z near -60"))
    parts = rng.uniform(0.05, 0.45, len(cases))
    parts[[1, 4]] = 0.0
    return [
        Case((v, c, float(part)), f"{label}, smooth {part:.2f}", scale=float(np.abs(v).max()))
        for (v, c, label), part in zip(cases, parts, strict=True)
    ]  # z may cancel, as in m - z[c]


def _smoothed(z, c, smooth, log):
    """The loss with `log`, a function z -> the logarithms of all probabilities."""
    logs = log(z)
    return float(-((1 - smooth) * logs[c] + smooth * logs.mean()))


def _log_softmax(z):
    return z - z.max() - np.log(np.exp(z - z.max()).sum())


def _smoothed_cross_entropy(z, c, smooth):
    return _smoothed(z, c, smooth, _log_softmax)


def _capped(cap, tiny):
    """A number added inside the logarithm, or a probability that is at least so large."""

    def wrong(z, c, smooth):
        p = cap(_softmax(z.astype(np.float32)), np.float32(tiny))
        return _smoothed(z, c, smooth, lambda _: np.log(p))

    return wrong


_CAPPED = "a small number inside the logarithm hides that p is 0 but caps the loss: use log-sum-exp, without any p"

check_smoothed_cross_entropy = Check(
    "smoothed_cross_entropy",
    _entropy_cases,
    _smoothed_cross_entropy,
    K=12,
    dtype=None,
    diagnoses=[
        (_capped(cap, 10.0**-k), _CAPPED) for cap in (np.add, np.maximum) for k in range(3, 39)
    ],
)
