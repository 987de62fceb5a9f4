"""A stand-in for `course_lib.gpu.device` that keeps the books: what crosses the bus, and how often a kernel runs."""

import numpy as np

from course_lib.gpu import device


class Ledger:
    """Passes everything on to `device` and counts.

    sent, fetched: copies to the device and back. bytes: of all these copies. launches: of kernels. calls: a list of
    what happened, in order: ("to device", bytes), ("to host", bytes), ("launch", the n that the kernel was told).
    Counted are In, Out and InOut, to_device, from_device, memcpy_htod and memcpy_dtoh, and gpuarray's to_gpu, get, set.
    back: a copy of the array that came back last. places: the host's arrays that were filled by a copy back.
    """

    remote = (
        "In",
        "Out",
        "InOut",
        "to_device",
        "from_device",
        "from_device_like",
        "mem_alloc",
        "memcpy_htod",
        "memcpy_dtoh",
        "gpuarray",
    )  # what an answer in another process may use

    def __init__(self):
        self.calls, self.gpuarray, self.back, self.places = [], Arrays(self), np.empty(0), []

    sent = property(lambda self: self._count("to device"))
    fetched = property(lambda self: self._count("to host"))
    launches = property(lambda self: self._count("launch"))
    bytes = property(lambda self: sum(n for what, n in self.calls if what != "launch"))

    def _count(self, wanted):
        return sum(what == wanted for what, _ in self.calls)

    def note(self, what, size):
        """Writes a line into the books."""
        self.calls.append((what, size))

    def fetch(self, array):
        """The same for an array that has come back."""
        self.back = array.copy()
        self.places.append(array)
        self.note("to host", array.nbytes)
        return array

    def filled(self, array):
        """Did a copy back go into this array?"""
        return any(np.shares_memory(array, place) for place in self.places)

    def __str__(self):
        return (
            f"{self.launches} launch{'es' * (self.launches != 1)}, {self.sent} copies to the device, "
            f"{self.fetched} back, {self.bytes:,} bytes"
        )

    def __getattr__(self, name):
        return getattr(device, name)

    def SourceModule(self, *args, **more):
        return Module(self, device.SourceModule(*args, **more))

    def mem_alloc(self, nbytes):
        # a class where there is no GPU: a class cannot travel to an answer's process
        return device.mem_alloc(nbytes)

    def to_device(self, array):
        self.note("to device", array.nbytes)
        return device.to_device(array)

    def from_device(self, *args, **more):
        return self.fetch(device.from_device(*args, **more))

    def from_device_like(self, pointer, array):
        return self.fetch(device.from_device_like(pointer, array))

    def memcpy_htod(self, dest, src):
        self.note("to device", src.nbytes)
        device.memcpy_htod(dest, src)

    def memcpy_dtoh(self, dest, src):
        device.memcpy_dtoh(dest, src)
        self.fetch(dest)


class Module:
    """A compiled source whose functions keep the books."""

    def __init__(self, book, module):
        self.book, self.module = book, module

    def get_function(self, name):
        function = self.module.get_function(name)

        def launch(*args, **how):
            for arg in args:
                if crossings(arg)[0]:
                    self.book.note("to device", arg.array.nbytes)
            self.book.note(
                "launch", next((int(n) for n in args[:1] if isinstance(n, np.integer)), 0)
            )
            result = function(*(arg.real if isinstance(arg, Array) else arg for arg in args), **how)
            for arg in args:
                if crossings(arg)[1]:
                    self.book.fetch(arg.array)
            return result

        return launch


def crossings(arg):
    """(copies to the device, copies back) that an argument of a launch stands for: In, Out, InOut of either engine."""
    if hasattr(arg, "before"):
        return int(arg.before), int(arg.after)
    name = type(arg).__name__
    return int(name in ("In", "InOut")), int(name in ("Out", "InOut"))


class Arrays:
    """`device.gpuarray` with books."""

    remote = ("to_gpu", "empty", "zeros")

    def __init__(self, book):
        self.book = book

    def to_gpu(self, array):
        self.book.note("to device", array.nbytes)
        return Array(self.book, device.gpuarray.to_gpu(array))

    def empty(self, *args, **more):
        return Array(self.book, device.gpuarray.empty(*args, **more))

    def zeros(self, *args, **more):
        return Array(self.book, device.gpuarray.zeros(*args, **more))


class Array:
    """A device array with books."""

    remote = ("get", "set", "shape", "dtype", "size", "nbytes", "gpudata", "ptr")

    def __init__(self, book, real):
        self.book, self.real = book, real

    def __getattr__(self, name):
        return getattr(self.real, name)

    def get(self):
        return self.book.fetch(self.real.get())

    def set(self, array):
        self.book.note("to device", array.nbytes)
        self.real.set(array)
