"""Arrays on which a lost update is no matter of luck: every write waits until the other threads want to write, too.

Threads that read, add and write without a lock meet between the read and the write, and all but one of the updates
are lost. A thread that holds a lock waits for the others in vain, once, and goes on after a moment; one that keeps a
place of its own loses nothing.
"""

import threading
import time
from collections import Counter

import numpy as np

PATIENCE = 0.3  # seconds that a writer waits for the others, in naps: of a machine that stands still one counts
NAP = 0.001


class Traffic:
    """The threads that work on a sum, and how many writes each of them has come to."""

    def __init__(self):
        self.workers: set = set()
        self.writes: Counter = Counter()
        self.in_vain = False  # somebody has waited for others who could not come: there is a lock

    def enter(self):
        """The calling thread works on a shard."""
        self.workers.add(threading.current_thread())

    def before_write(self):
        """Wait until every other worker that still lives has come to as many writes, but not for long."""
        me = threading.current_thread()
        self.writes[me] += 1
        for _ in range(round(PATIENCE / NAP)):
            if self.in_vain or not self._is_awaited(me):
                return
            time.sleep(NAP)
        self.in_vain = True

    def _is_awaited(self, me):
        """Has another worker that lives still come to fewer writes?"""
        others = self.workers - {me}
        return any(t.is_alive() and self.writes[t] < self.writes[me] for t in others)


class Shared(np.ndarray):
    """A float array (n,) whose writes go through a `Traffic`. Its views are shared arrays, too.

    board: how a caller without a view of this memory reads and writes it; of the array that `shared` made.
    """

    traffic: Traffic | None = None
    board: "Board | None" = None

    def __array_finalize__(self, parent):
        self.traffic = getattr(parent, "traffic", None)

    def __setitem__(self, key, value):
        value = _plain(value).copy() if isinstance(value, np.ndarray) else value
        self._before_write()
        _plain(self)[key] = value

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if method == "at":
            return self._at(ufunc, inputs)
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)  # the read
        if out is None:
            return result
        for target in out:
            if isinstance(target, Shared):
                target._before_write()
            _plain(target)[...] = result
        return out[0]

    def _at(self, ufunc, inputs):
        copy = _plain(inputs[0]).copy()
        ufunc.at(copy, *map(_plain, inputs[1:]))
        self[...] = copy

    def __array_function__(self, function, types, args, kwargs):
        if function is np.copyto:
            args[0][...] = args[1]
            return None
        return super().__array_function__(function, types, args, kwargs)

    def _before_write(self):
        if self.traffic is not None:
            self.traffic.before_write()


class Part(np.ndarray):
    """A part of a sum, float. Whoever computes with it has read; then it waits for the others, and only then writes.

    What is computed from a part is a part, too: the mean of a shard, the step of a layer.
    """

    traffic: Traffic | None = None
    board: "Board | None" = None

    def __array_finalize__(self, parent):
        self.traffic = getattr(parent, "traffic", None)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        result = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)  # the read
        if self.traffic is not None:
            self.traffic.before_write()
        if out is not None:
            _plain(out[0])[...] = result
            return out[0]
        return part(result, self.traffic) if isinstance(result, np.ndarray) else result


def part(values, traffic):
    """A `Part` with these values."""
    array = np.array(values).view(Part)
    array.traffic, array.board = traffic, Board(array)
    return array


def plain_gradient(grads):
    """A list of (dW, db) whose parts are parts no more; anything else as it is."""
    if isinstance(grads, (list, tuple)):
        return type(grads)(plain_gradient(one) for one in grads)
    return _plain(grads)


def shared(values, traffic):
    """A `Shared` array with these values (n,)."""
    array = np.array(values).view(Shared)
    array.traffic, array.board = traffic, Board(array)
    return array


class Board:
    """An array for a caller that cannot see its memory: a call writes, if asked to, and returns what it holds."""

    def __init__(self, array):
        self._array = array

    def __call__(self, places=None, values=None):
        traffic = self._array.traffic
        if traffic is not None and (places is not None or isinstance(self._array, Part)):
            traffic.before_write()
        if places is not None:
            _plain(self._array).reshape(-1)[places] = values
        return _plain(self._array).copy()


def _plain(value):
    return value.view(np.ndarray) if isinstance(value, (Shared, Part)) else value
