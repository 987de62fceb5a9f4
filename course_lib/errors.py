"""The one error that bad input gets, and the questions asked at every boundary."""

import math

import numpy as np


class BadInput(ValueError):
    """Bad input: the message says what was wrong and what to do about it."""


class OutOfTime(Exception):
    """A time limit of ours ran out: there was too much to do, or the machine was too busy."""


class Unavailable(BadInput):
    """This machine lacks what is asked for, such as a compiler: the message says what to install or to set."""


def check_array(name, array, shape=None, dtype=None, finite=False):
    """Raise `BadInput` unless `array` is a NumPy array of that shape and dtype; return it.

    shape: tuple of ints, or of names such as "B" for "any length", or None for any shape.
    dtype: a NumPy dtype, a tuple of them (any of these), or None.
    finite: also refuse NaN and infinity.
    """
    if not isinstance(array, np.ndarray):
        raise BadInput(
            f"{name} must be a NumPy array, not {type(array).__name__}: wrap it in np.asarray(...)"
        )
    if shape is not None:
        _check_shape(name, array.shape, shape)
    if dtype is not None:
        wanted = dtype if isinstance(dtype, tuple) else (dtype,)
        if array.dtype not in [np.dtype(d) for d in wanted]:
            names = " or ".join(np.dtype(d).name for d in wanted)
            raise BadInput(
                f"{name} must have dtype {names}, not {array.dtype}: use {name}.astype(...)"
            )
    if finite and not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadInput(f"{name} holds {array[where]} at index {where}: every value must be finite")
    return array


def check_count(name, value, low=1, high=None):
    """Raise `BadInput` unless `value` is a whole number with low <= value (<= high); return it as int."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        bounds = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise BadInput(f"{name} must be a whole number {bounds}, not {value!r}")
    return int(value)


def check_number(name, value, positive=True):
    """Raise `BadInput` unless `value` is a finite number above 0 (or 0, where not `positive`); return it as float."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and (number > 0 if positive else number >= 0)):
        bounds = "above 0" if positive else "of at least 0"
        raise BadInput(f"{name} must be a finite number {bounds}, not {value!r}")
    return number


def check_choice(name, value, known):
    """Raise `BadInput` unless `value` is one of `known` (texts, or a dict's keys); return it."""
    if value not in known:
        raise BadInput(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def _check_shape(name, shape, wanted):
    fits = len(shape) == len(wanted) and all(
        isinstance(w, str) or s == w for s, w in zip(shape, wanted, strict=True)
    )
    if not fits:
        text = "(" + ", ".join(str(w) for w in wanted) + ("," if len(wanted) == 1 else "") + ")"
        raise BadInput(f"{name} must have shape {text}, not {tuple(shape)}")
