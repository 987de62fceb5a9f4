"""Seeds and random inputs for checks: fresh each time, ragged, poisoned where a result belongs."""

import contextlib
import functools
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


UNWRITTEN = np.uint32(0x7FC5A5A5).view(
    np.float32
)  # a NaN that arithmetic keeps, and makes of nothing else


@contextlib.contextmanager
def nothing_in_empty():
    """Inside, floats of np.empty and np.empty_like are UNWRITTEN: to read them early is never right by luck."""
    kept = np.empty, np.empty_like
    np.empty, np.empty_like = map(_without_luck, kept)
    try:
        yield
    finally:
        np.empty, np.empty_like = kept


def _without_luck(make):
    @functools.wraps(make)
    def made(*args, **kwargs):
        array = make(*args, **kwargs)
        if array.dtype.kind == "f":
            array[...] = UNWRITTEN
        return array

    return made


def is_unwritten(array):
    """Has a number of np.empty come into this array?"""
    bits = np.ravel(array).astype(np.float32).view(np.uint32)
    return bool(((bits & 0x7FFFE000) == (UNWRITTEN.view(np.uint32) & 0x7FFFE000)).any())


def poison(*shape, dtype=np.float32):
    """An array (shape) full of NaN (or of the smallest integer): a place for results that nobody has written yet."""
    dtype = np.dtype(dtype)
    return np.full(shape, np.nan if dtype.kind in "fc" else np.iinfo(dtype).min, dtype)
