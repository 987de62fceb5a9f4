"""Limits for trying known mistakes: on the time, for some never end, and on what proves anything."""

import contextlib
import os
import signal
import threading

import numpy as np

from course_lib.checks.kit.trees import leaves

EACH, ALL = 1.0, 6.0  # processor seconds: for one known mistake; for all of them
SHORTEST = 0.25  # for one, however fast the answer was
PATIENCE = 4.0  # times as many by the clock
MAY_WAIT = ("while ", "threading", "queue", ".join(", ".acquire(", ".wait(", "Barrier")


def as_long_as(seconds):
    """Processor seconds for a known mistake: some never end, and the answer that it must be like took `seconds`."""
    return min(EACH, max(SHORTEST, 8 * seconds))


class Late(BaseException):
    """A known mistake takes too long. No Exception, so that no `except` of an answer catches it."""


def can_interrupt():
    """Can a call be cut off here? Signals reach the main thread alone."""
    main = threading.current_thread() is threading.main_thread()
    return main and hasattr(signal, "setitimer")


@contextlib.contextmanager
def at_most(seconds):
    """Raises `Late` inside after so many processor seconds, or PATIENCE times as many by the clock, for a busy machine.

    Without effect where calls cannot be cut off.
    """
    with contextlib.ExitStack() as limits:
        if can_interrupt():
            limits.enter_context(_timed("ITIMER_REAL", "SIGALRM", PATIENCE * seconds))
            limits.enter_context(_timed("ITIMER_PROF", "SIGPROF", seconds))
        yield


@contextlib.contextmanager
def _timed(timer, sent, seconds):
    timer, sent = getattr(signal, timer), getattr(signal, sent)
    others = signal.getitimer(timer)[0]
    if 0 < others <= seconds:  # somebody else's timer ends it before
        yield
        return
    before = signal.signal(sent, _late)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        took = seconds - signal.setitimer(timer, 0)[0]
        signal.signal(sent, before)
        if others:
            signal.setitimer(timer, max(others - took, 0.001))


def _late(*_):
    raise Late


def stopwatch():
    """A function that says how many seconds have gone: of the processor, children that ended included; of the clock a
    PATIENCE-th, if that is more. So a busy machine finds what an idle one finds."""
    begun = os.times()

    def gone():
        now = os.times()
        used = sum(now[:4]) - sum(begun[:4])
        return max(used, (now.elapsed - begun.elapsed) / PATIENCE)

    return gone


def harmless(sources, clock=None):
    """Of (sentence, source) pairs those that may be tried: until the time is up, without loops that may never end
    where no limit holds."""
    clock = clock or stopwatch()
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
