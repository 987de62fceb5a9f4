"""A shared array on which the lost update is no matter of luck: every write waits until the others want to write, too.

Who reads, adds and writes without a lock meets the others between the read and the write, and all but one of the
updates are lost. Who holds a lock is waited for in vain, and goes on after a moment; who keeps a place of his own
and adds up after the join is alone, and never waits.
"""

import threading
import time

import numpy as np

PATIENCE = 0.25  # seconds that a writer waits for the others


class Traffic:
    """The threads that work on a shared array, and which of them have come to their write."""

    def __init__(self):
        self.workers: set = set()
        self.writers: set = set()

    def enter(self):
        """The calling thread works on a shard."""
        self.workers.add(threading.current_thread())

    def before_write(self):
        """Wait until every other worker that still lives wants to write as well, but not for long."""
        me = threading.current_thread()
        self.writers.add(me)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and any(
            t.is_alive() for t in self.workers - self.writers - {me}
        ):
            time.sleep(0.001)


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


def shared(values, traffic):
    """A `Shared` array with these values (n,)."""
    array = np.array(values).view(Shared)
    array.traffic, array.board = traffic, Board(array)
    return array


class Board:
    """A shared array for a caller that cannot see its memory: a call writes, if asked to, and returns what it holds."""

    def __init__(self, array):
        self._array = array

    def __call__(self, places=None, values=None):
        if places is not None:
            self._array._before_write()
            _plain(self._array)[places] = values
        return _plain(self._array).copy()


def _plain(value):
    return value.view(np.ndarray) if isinstance(value, Shared) else value
