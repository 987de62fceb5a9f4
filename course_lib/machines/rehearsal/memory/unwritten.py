"""What np.empty gives: a NaN of its own, so that a number which nobody has written is never right by luck."""

import contextlib
import functools

import numpy as np

UNWRITTEN = np.uint32(0x7FC5A5A5).view(
    np.float32
)  # a NaN that arithmetic keeps, and makes of nothing else


@contextlib.contextmanager
def nothing_in_empty():
    """Inside, floats of np.empty and np.empty_like are UNWRITTEN: to read them early is never right by luck."""
    names = vars(np)
    kept = {name: names[name] for name in ("empty", "empty_like")}
    names.update({name: _without_luck(make) for name, make in kept.items()})
    try:
        yield
    finally:
        names.update(kept)


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
