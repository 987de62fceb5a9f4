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


def _small_case(rng):
    """Probabilities down to e^-30: each must be right to its own size."""
    n = int(rng.integers(4, 8))
    z = -rng.uniform(17.0, 30.0, n)
    z[rng.integers(n)] = 0.5
    return Case((z.astype(np.float32),), "small probabilities", scale="entry")


def _softmax_cases(rng):
    z, labels = _logit_cases(rng, 1000.0)
    cases = [Case((v,), label) for v, label in zip(z, labels, strict=True)]
    return [*cases, *(Case((v,), label) for v, _, label in _far_cases(rng)), _small_case(rng)]


def _softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def _naive32(z):
    """softmax as 003 prints it, in the student's float32."""
    e = np.exp(z.astype(np.float32))
    return e / e.sum()


def _softmax_shifted(shift):
    def softmax(z):
        z = z.astype(np.float32)
        e = np.exp(z - shift(z))
        return e / e.sum()

    return softmax


def _shifted_late(z):
    e = np.exp(z.astype(np.float32))
    return (e - e.max()) / (e - e.max()).sum()


def _of_sigmoids(z):
    a = 1 / (1 + np.exp(-z.astype(np.float32)))
    return a / a.sum()


_OVERFLOW = (
    "exp overflows: exp(1000) is inf, in float64 too, and inf / inf is NaN. Subtract max(z) before exp; "
    "the result stays the same"
)

check_softmax = Check(
    "softmax",
    _softmax_cases,
    _softmax,
    K=12,
    diagnoses=[
        (_naive32, _OVERFLOW),
        (lambda z: np.exp(z) / np.exp(z).sum(), _OVERFLOW),
        (
            _shifted_late,
            "the maximum is subtracted after exp, when the overflow has already happened",
        ),
        *(
            (
                _softmax_shifted(lambda z, i=i: z[i]),
                f"subtracting z[{i}] leaves positive exponents where it is not the largest: subtract the maximum",
            )
            for i in (0, -1)
        ),
        (_of_sigmoids, "this is made of the sigmoid of each z: softmax is made of exp(z)"),
        (
            lambda z: (z == z.max()).astype(z.dtype),
            "this is argmax as a one-hot vector: softmax is its smooth version",
        ),
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
    return [
        Case((v, c), label, scale=float(np.abs(v).max())) for v, c, label in cases
    ]  # z may cancel, as in m - z[c]


def _logsumexp(z):
    return z.max() + np.log(np.exp(z - z.max()).sum())


def _cross_entropy(z, c):
    return float(_logsumexp(z) - z[c])


def _guarded(tiny):
    """A number added inside the logarithm, or a clipped probability: both end at -log(tiny)."""
    return lambda z, c: -np.log(_softmax(z.astype(np.float32))[c] + np.float32(tiny))


def _entropy_shifted(shift):
    def entropy(z, c):
        s = z.astype(np.float32)
        s = s - shift(s)
        return np.log(np.exp(s).sum()) - s[c]

    return entropy


def _entropy_with(log):
    """Another logarithm of the sum alone."""
    return lambda z, c: log(np.exp(z - z.max()).sum()) - (z[c] - z.max())


_SHIFT = "the shift is not the maximum, so exp can still overflow: subtract z.max()"
_NATS = "{} instead of np.log: the loss here is in nats, with the natural logarithm"
_CAPPED = "a small number inside the logarithm hides that p is 0 but caps the loss: use log-sum-exp, without any p"

check_cross_entropy = Check(
    "cross_entropy",
    _cross_entropy_cases,
    _cross_entropy,
    K=12,
    dtype=None,
    diagnoses=[
        (_guarded(1e-12), _CAPPED),
        (_guarded(1e-10), _CAPPED),
        (_guarded(1e-9), _CAPPED),
        (_guarded(1e-8), _CAPPED),
        (_guarded(1e-7), _CAPPED),
        (lambda z, c: (_logsumexp(z) - z[c]) / np.log(2), _NATS.format("log2")),
        (lambda z, c: (_logsumexp(z) - z[c]) / np.log(10), _NATS.format("log10")),
        (_entropy_with(np.log2), _NATS.format("log2")),
        (_entropy_with(np.log10), _NATS.format("log10")),
        *(
            (_entropy_shifted(shift), _SHIFT)
            for shift in (lambda z: z[0], lambda z: z[-1], np.min, np.mean)
        ),
        (lambda z, c: _logsumexp(z), "the term - z[c] is missing"),
        (lambda z, c: -z[c], "the log-sum-exp is missing: this is - z[c] alone"),
        (lambda z, c: 1 - _softmax(z)[c], "this is 1 - p: the cross-entropy is -log p"),
    ],
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


def _deltas(mse, cross_entropy):
    return lambda z, y, loss: mse(z, y) if loss == "mse" else cross_entropy(z, y)


def mse_delta(z, y):
    return 2 * (sigmoid(z) - y) * slope(z)


def _ce_delta(z, y):
    return _softmax(z) - y


check_output_delta = Check(
    "output_delta",
    _delta_cases,
    _deltas(mse_delta, _ce_delta),
    K=12,
    diagnoses=[
        (
            _deltas(lambda z, y: 2 * (z - y) * slope(z), _ce_delta),
            "mse: the loss compares y with a = sigma(z), not with z",
        ),
        (
            _deltas(mse_delta, lambda z, y: -y / _softmax(z)),
            "cross_entropy: this is dCE/dy_hat. Softmax stands between z and y_hat: its derivative belongs in too",
        ),
        (
            lambda z, y, loss: mse_delta(z, y),
            "both losses get the same delta: look at the argument loss",
        ),
        (
            lambda z, y, loss: _ce_delta(z, y),
            "both losses get the same delta: look at the argument loss",
        ),
    ],
)
