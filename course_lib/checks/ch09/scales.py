"""The checks of chapter 09 on numbers: the scales of an update, and what of a 32 x 32 tile's work is wanted."""

from course_lib.checks.kit.core import Case, Check

# scales ---------------------------------------------------------------------------------------------------------------


def _scale_cases(rng):
    def case(delta, label, lam=None):
        eta, B = float(rng.uniform(0.1, 2)), int(rng.integers(5, 90))
        return Case((delta, eta, float(rng.uniform(0.01, 0.1)) if lam is None else lam, B), label)

    return [
        case("gradient", "dZ a gradient"),
        case("eq8", "D of equation 8"),
        case("gradient", "no L2", 0.0),
        case("eq8", "D of equation 8, no L2", 0.0),
    ]


def _scales(delta, eta, lam, B):
    return eta / B if delta == "eq8" else -eta, 1 - eta * lam, 1.0


check_scales = Check(
    "scales", _scale_cases, _scales, dtype=None, parts=("alpha", "beta", "beta_b"), K=4
)

# wanted ---------------------------------------------------------------------------------------------------------------


def _wanted(B, n_in, n_out):
    b, k, n = (-(-size // 32) * 32 for size in (B, n_in, n_out))
    return B * n_in * n_out / (b * k * n), b * n - B * n_out


def _wanted_cases(rng):
    some = [int(n) for n in rng.integers(33, 200, 3)]
    return [
        Case((64, 1024, 10), "Kamra 2016's output layer"),
        Case((100, 42, 1024), "KDD Cup 99"),
        Case((32, 64, 96), "whole tiles"),
        Case((1, 784, 1), "one example, one output"),
        Case(tuple(some), "some layer"),
    ]


def _whole(answer):
    """A count that came as 704.0, from np.ceil, is a count."""
    if (
        isinstance(answer, tuple)
        and len(answer) == 2
        and isinstance(answer[1], float)
        and answer[1].is_integer()
    ):
        return answer[0], int(answer[1])
    return answer


check_wanted = Check(
    "wanted", _wanted_cases, _wanted, dtype=None, parts=("share", "idle"), post=_whole, K=4
)
