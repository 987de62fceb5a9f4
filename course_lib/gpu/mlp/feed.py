"""Batches on their way to the device, and every copy counted."""

from collections import Counter
from types import SimpleNamespace

import numpy as np

from course_lib.gpu import device


class Transfers(Counter):
    """Copies in (to the device) and out so far, and their bytes. A dict of four numbers."""

    def note(self, way, nbytes):
        self.update({f"copies {way}": 1, f"bytes {way}": nbytes})

    def to_device(self, array):
        """A device array with a copy of an array, stored in the same order."""
        self.note("in", array.nbytes)
        return device.gpuarray.to_gpu(array)

    def to_host(self, array):
        """A NumPy copy of a device array, stored by rows."""
        self.note("out", array.nbytes)
        return np.ascontiguousarray(array.get())


class Feed:
    """Two places on the device that batches take in turn, each behind page-locked memory of the host.

    From there a GPU copies one batch while it computes with the other. So a batch holds until the second `send` after.
    """

    def __init__(self, computing, transfers):
        self.computing, self.copying = computing, device.Stream()
        self.transfers, self.places = transfers, []

    def send(self, array, rows):
        """A device array with these rows of an array (N, n) of float32. Kernels launched from here on wait for it."""
        shape, n = (len(rows), array.shape[1]), len(rows) * array.shape[1]
        place = self._next(n)
        # "raise" copies once more
        np.take(array, rows, axis=0, out=place.host[:n].reshape(shape), mode="clip")
        self.copying.wait_for_event(place.used)  # nothing computes with its last batch any more
        device.memcpy_htod_async(place.memory, place.host[:n], self.copying)
        place.copied.record(self.copying)
        self.computing.wait_for_event(place.copied)
        self.transfers.note("in", 4 * n)
        return device.gpuarray.GPUArray(shape, np.float32, gpudata=place.memory)

    def _next(self, n):
        """The place of the older batch, when it has been copied; or a new one, where it is too small for n numbers."""
        old = self.places.pop(0) if len(self.places) == 2 else None
        if self.places:
            # by now all work with that batch has been launched
            self.places[0].used.record(self.computing)
        if old is not None:
            old.copied.synchronize()  # nothing is on its way from its host memory any more
        if old is None or len(old.host) < n:
            old = SimpleNamespace(copied=device.Event(), used=device.Event())
            old.host, old.memory = device.pagelocked_empty(n, np.float32), device.mem_alloc(4 * n)
        self.places.append(old)
        return old
