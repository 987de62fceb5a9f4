"""The check of the alarm for replicas: bits, on all ranks, few bytes, and no hash() that is salted in each process."""

import dis
import types

import numpy as np

from course_lib.checks.kit.core import normal, ragged
from course_lib.checks.kit.messages import CheckFailed, Report
from course_lib.checks.kit.ranks.check import RankCase, RankCheck

MOST = 200  # bytes of a rank in a collective
VALUES = (
    "NaN does not equal itself, and -0.0 equals 0.0: numbers, or sums of them, are compared or tested here, where "
    "bits are to be compared"
)
NANS = (
    "there are many NaN, with other bits: as numbers, and printed, they look alike. Take the bytes of "
    "the array, tobytes()"
)


def _params(rng):
    sizes = ragged(rng, 3, 6, 12)
    return [(normal(rng, a, b), normal(rng, b)) for a, b in zip(sizes, sizes[1:], strict=False)]


def _params_like(rng, params):
    return [(normal(rng, *W.shape), normal(rng, *b.shape)) for W, b in params]


def _copies(params, n):
    return [[(W.copy(), b.copy()) for W, b in params] for _ in range(n)]


def _last_bit(copy):
    copy[-1][1][-1:] = np.nextafter(copy[-1][1][-1:], np.float32(9))


def _first_bias(copy):
    copy[0][1][-1] += 1


def _swapped(copy):
    copy[0][0][[0, 1]] = copy[0][0][[1, 0]]


def _minus_zero(copy):
    copy[0][1][0] = -0.0


def _exchanged(copy):
    copy[0], copy[1] = copy[1], copy[0]


def _nan(copy):
    copy[0][0][0, 0] = np.nan


def _minus_nan(copy):
    copy[0][0][0, 0] = -np.float32(np.nan)


def _two_nans(params, n):
    copies = _copies(params, n)
    for copy in copies:
        _nan(copy)
    _minus_nan(copies[0])
    return copies


def _replicas(rng, n):
    """Replicas that agree, and such that differ on one rank, each in a way that some test does not see."""
    params = _params(rng)
    params[0][1][0] = 0.0
    middle, last = n // 2, n - 1

    def case(label, change, odd=None, shows=""):
        copies = _copies(params, n)
        for copy in copies if odd is None else [copies[odd]]:
            change(copy)
        return RankCase([(copy,) for copy in copies], label, shows=shows)

    deep = [(normal(rng, 3, 3), normal(rng, 3)) for _ in range(4)]
    turned = _copies(deep, n)
    _exchanged(turned[last])
    large = [[(W.copy(), W[0].copy())] for W in [normal(rng, 50, 30)] * n]
    large[middle][0][0][25, 15] += 1  # where printing puts "..."
    return [
        case("the same on all ranks", lambda copy: None),
        case(f"one bit differs in b of the last layer of rank {last}", _last_bit, last),
        case(f"two rows of W are swapped on rank {middle}", _swapped, middle),
        case(f"b of the first layer differs on rank {middle}", _first_bias, middle),
        case("0.0 on all ranks, -0.0 on rank 0", _minus_zero, 0, shows=VALUES),
        case("the same NaN on all ranks", _nan, shows=VALUES),
        RankCase(
            [(copy,) for copy in _two_nans(params, n)],
            "NaN on all ranks, on rank 0 another one",
            shows=NANS,
        ),
        RankCase([(copy,) for copy in _copies(deep, n)], "four layers"),
        RankCase([(copy,) for copy in turned], f"two layers have changed places on rank {last}"),
        RankCase(
            [(_params_like(rng, params),) for _ in range(n)], "each rank has its own parameters"
        ),
        RankCase([(copy,) for copy in large], f"one of 1,530 numbers differs on rank {middle}"),
    ]


def _bits(params):
    return b"".join(part.astype(np.float32).tobytes() for pair in params for part in pair)


def _agree(ranks):
    return len({_bits(params) for (params,) in ranks}) == 1


def _few_bytes(report, n, case):
    most = max((event["bytes"] for event in report.events), default=0)
    if n > 1 and most > MOST:
        return (
            f"{most} bytes per rank are sent: the parameters themselves?",
            f"at most {MOST} bytes, a digest, stand for all bits: hashlib.sha256(...).digest() has 32",
        )
    return None


_rehearsed = RankCheck(
    "replicas_agree",
    _replicas,
    _agree,
    limits=[_few_bytes],
    dtype=None,
)


def _salted(code, names, seen):
    """Does this code, a function inside of it, or one of the notebook's that it names, call Python's own hash()?"""
    if code in seen:
        return False
    seen.add(code)
    used = {
        step.argval
        for step in dis.get_instructions(code)
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    helpers = [names[name] for name in used if isinstance(names.get(name), types.FunctionType)]
    inner = [(part, names) for part in code.co_consts if isinstance(part, types.CodeType)]
    inner += [(fn.__code__, names) for fn in helpers if fn.__globals__ is names]
    return (
        ("hash" in used and "hash" not in names)
        or "__hash__" in code.co_names
        or any(_salted(part, names, seen) for part, names in inner)
    )


def check_replicas_agree(fn, seed=None):
    """Bits, not values; the same answer on every rank. hash() is refused: pretended ranks share one process's salt."""
    if isinstance(fn, types.FunctionType) and _salted(fn.__code__, fn.__globals__, set()):
        report = Report("replicas_agree is not right yet")
        report.add(
            "what",
            "it calls hash(), which has a different salt for bytes and texts in every process",
        )
        report.add(
            "cause",
            "on real ranks equal bytes would get different values, and replicas would never agree; of numbers, 0.0 "
            "and -0.0 get the same. hashlib.sha256 of the bytes gives the same everywhere",
        )
        raise CheckFailed(report)
    _rehearsed(fn, seed=seed)


check_replicas_agree.ranks = _rehearsed.ranks  # type: ignore[attr-defined]
