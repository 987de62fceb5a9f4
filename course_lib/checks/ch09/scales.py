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


def _scales_with(
    signs=(-1, 1),
    over=lambda delta, B: B if delta == "eq8" else 1,
    L2=lambda eta, lam: 1 - eta * lam,
    bias=lambda eta, lam: 1.0,
):
    def scales(delta, eta, lam, B):
        return signs[delta == "eq8"] * eta / over(delta, B), L2(eta, lam), bias(eta, lam)

    return scales


def _with_beta(beta):
    return lambda *args: (_scales_with()(*args)[0], beta(*args), 1.0)


check_scales = Check(
    "scales",
    _scale_cases,
    _scales_with(),
    dtype=None,
    parts=("alpha", "beta", "beta_b"),
    K=4,
    diagnoses=[
        (
            _scales_with(signs=(1, -1)),
            "both signs: dZ points uphill (A - Y), D of equation 8 downhill (Y - A)",
        ),
        (
            _with_beta(lambda delta, eta, lam, B: 1 - eta * lam / B),
            "the penalty has no 1/B: [003] adds it once, outside of the mean over the examples",
        ),
        (
            _scales_with(L2=lambda eta, lam: 1 - 2 * eta * lam),
            "a 2 too many: the 0.5 of the penalty takes it",
        ),
        (
            _with_beta(lambda delta, eta, lam, B: 1 + eta * lam * (1 if delta == "eq8" else -1)),
            "the penalty makes weights smaller with either D: only alpha depends on the sign of D",
        ),
        (
            _scales_with(bias=lambda eta, lam: 0.0),
            "beta_b multiplies the old b: with 0 it is forgotten",
        ),
        (
            _scales_with(L2=lambda eta, lam: 1 - lam),
            "lam without eta: the penalty is part of the gradient",
        ),
    ],
)

# wanted ---------------------------------------------------------------------------------------------------------------


def _up(n):
    return -(-n // 32) * 32


def _wanted_as_if(B, n_in, n_out, up):
    return B * n_in * n_out / (up(B) * up(n_in) * up(n_out)), up(B) * up(n_out) - B * n_out


def _wanted(B, n_in, n_out):
    return _wanted_as_if(B, n_in, n_out, _up)


def _wanted_cases(rng):
    some = [int(n) for n in rng.integers(33, 200, 3)]
    return [
        Case((64, 1024, 10), "[000]'s output layer"),
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
    "wanted",
    _wanted_cases,
    _wanted,
    dtype=None,
    parts=("share", "idle"),
    post=_whole,
    K=4,
    diagnoses=[
        (
            lambda B, n_in, n_out: _wanted_as_if(B, n_in, n_out, lambda n: (n // 32 + 1) * 32),
            "n // 32 + 1 tiles are one too many where n is a multiple of 32: -(-n // 32) rounds up",
        ),
        (
            lambda B, n_in, n_out: _wanted_as_if(B, n_in, n_out, lambda n: max(n // 32, 1) * 32),
            "n // 32 leaves out the last tile, which is filled in part: -(-n // 32) rounds up",
        ),
    ],
)
