"""Limits for trying known mistakes: on the time, for some never end, and on what proves anything."""

import contextlib
import signal
import threading
import time

import numpy as np

from course_lib.checks.kit.trees import leaves

EACH, ALL = 1.0, 6.0  # seconds: for one known mistake; for all of them
MAY_WAIT = ("while ", "threading", "queue", ".join(", ".acquire(", ".wait(", "Barrier")


class Late(BaseException):
    """A known mistake takes too long. No Exception, so that no `except` of an answer catches it."""


def can_interrupt():
    """Can a call be cut off here? Signals reach the main thread alone."""
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")


@contextlib.contextmanager
def at_most(seconds):
    """Raises `Late` inside after so many seconds; without effect where calls cannot be cut off."""
    others = signal.getitimer(signal.ITIMER_REAL)[0] if can_interrupt() else 0.0
    if not can_interrupt() or 0 < others <= seconds:  # somebody else's timer ends it before
        yield
        return
    begun, before = time.monotonic(), signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if others:
            left = others - (time.monotonic() - begun)
            signal.setitimer(signal.ITIMER_REAL, max(left, 0.001))


def _late(*_):
    raise Late


def harmless(sources, clock=time.monotonic):
    """Of (sentence, source) pairs those that may be tried: until the time is up, without loops that may never end
    where no limit holds."""
    end = clock() + ALL
    for says, source in sources:
        if clock() > end:
            return
        if can_interrupt() or not any(word in source for word in MAY_WAIT):
            yield says, source


def is_telling(value):
    """Can equality with it prove anything? Not with nothing, one truth value, all zeros, NaN or infinities."""
    for leaf in leaves(value):
        array = np.asarray(leaf)
        if array.dtype.kind in "fiu" and np.any(np.isfinite(array) & ~np.isin(array, (0, 1, -1))):
            return True
        if array.dtype.kind in "biuf" and array.size > 1 and len(np.unique(array)) > 1:
            return True
    return False
