"""Seeds and random inputs for checks: fresh each time, ragged, poisoned where a result belongs."""

import os

import numpy as np

from course_lib.errors import BadInput, check_count

LAST: dict = {}  # {"seed": of the check that was run last}, for `course report`; nothing draws from it


def choose_seed(seed=None):
    """The seed to use: `seed` if given, else COURSE_SEED from the environment, else a fresh one (six digits)."""
    LAST["seed"] = chosen = _chosen(seed)
    return chosen


def _chosen(seed):
    if seed is not None:
        return check_count("seed", seed, low=0)
    text = os.environ.get("COURSE_SEED", "").strip()
    if not text:
        return int.from_bytes(os.urandom(4), "little") % 900_000 + 100_000
    if not text.isdigit():
        raise BadInput(
            f"COURSE_SEED must be a whole number such as 123456, not {text!r}: set it again or unset it"
        )
    return int(text)


def ragged(rng, count, low=2, high=9):
    """`count` distinct sizes from low to high, shuffled: no square, no size that could pass for another."""
    if high - low + 1 < count:
        raise BadInput(
            f"ragged: {count} distinct sizes do not fit between {low} and {high}: widen the range"
        )
    return [int(n) for n in rng.choice(np.arange(low, high + 1), size=count, replace=False)]


def normal(rng, *shape, dtype=np.float32, scale=1.0):
    """An array (shape) of normal numbers of the dtype: asymmetric, no two alike."""
    return (scale * rng.standard_normal(shape)).astype(dtype)


def poison(*shape, dtype=np.float32):
    """An array (shape) full of NaN (or of the smallest integer): a place for results that nobody has written yet."""
    dtype = np.dtype(dtype)
    return np.full(shape, np.nan if dtype.kind in "fc" else np.iinfo(dtype).min, dtype)
