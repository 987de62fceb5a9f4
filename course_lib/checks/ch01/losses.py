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
    cases += [*(Case((make(rng),), label) for make, label in more), _small_case(rng)]
    return [*cases, Case((1000 + normal(rng, 6, dtype=np.float64),), "all z near 1000, float64")]


def _softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


check_softmax = Check("softmax", _softmax_cases, _softmax, K=12)

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
    cases.append((normal(rng, 6, dtype=np.float64), 0, "ordinary z, float64"))
    parts = rng.uniform(0.05, 0.45, len(cases))
    parts[[1, 4]] = 0.0
    return [
        Case((v, c, float(part)), f"{label}, smooth {part:.2f}", scale=float(np.abs(v).max()))
        for (v, c, label), part in zip(cases, parts, strict=True)
    ]  # z may cancel, as in m - z[c]


def _log_softmax(z):
    return z - z.max() - np.log(np.exp(z - z.max()).sum())


def _smoothed_cross_entropy(z, c, smooth):
    logs = _log_softmax(z)
    return float(-((1 - smooth) * logs[c] + smooth * logs.mean()))


check_smoothed_cross_entropy = Check(
    "smoothed_cross_entropy", _entropy_cases, _smoothed_cross_entropy, K=12, dtype=None
)
