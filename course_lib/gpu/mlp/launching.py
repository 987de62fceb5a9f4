"""Where kernels run: on the engine of `device`, or traced. Matrices with strides, and every copy counted."""

import math
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.gpu.cpu_engine import trace

from .activations import source


@dataclass(eq=False)
class Matrix:
    """float32 numbers on the device: flat memory, shape, strides counted in elements. One index (a bias) or two."""

    on: "OnDevice"
    memory: Any
    shape: tuple
    strides: tuple

    @property
    def T(self):
        """Transposed, in the same memory."""
        return Matrix(self.on, self.memory, self.shape[::-1], self.strides[::-1])

    def get(self):
        """A copy as a NumPy array, stored by rows. It counts as a transfer."""
        flat, strides = self.on.read(self.memory), tuple(4 * step for step in self.strides)
        return np.ascontiguousarray(np.lib.stride_tricks.as_strided(flat, self.shape, strides))


class Slot:
    """A batch's place on the device, behind page-locked memory of the host: only from there a GPU copies by itself."""

    def __init__(self, n):
        self.host, self.memory = device.pagelocked_empty(n, np.float32), device.gpuarray.empty(n, np.float32)
        self.copied, self.used = device.Event(), device.Event()


class OnDevice:
    """Runs kernels on the engine of `device`, a GPU or the CPU engine.

    each: a thread of a product computes each x each elements, 1, 2, 4 or 8. options: more options for the compiler.
    transfers: how many copies and bytes have gone in (to the device) and out so far.
    """

    def __init__(self, each=4, options=()):
        if each not in (1, 2, 4, 8):
            raise BadInput(f"each must be 1, 2, 4 or 8, not {each!r}: a block's tile has 32 x 32 elements")
        self.each, self.options = each, (f"-DTM={each}", f"-DTN={each}", *options)
        self.transfers = Counter({"copies in": 0, "bytes in": 0, "copies out": 0, "bytes out": 0})
        self.slots: list[Slot] = []

    def empty(self, *shape):
        """A fresh Matrix, stored by rows."""
        return Matrix(self, device.gpuarray.empty(math.prod(shape), np.float32), shape, (*shape[1:], 1))

    def put(self, array):
        """A Matrix with a copy of an array of float32, stored in the same order: by columns where it is stored so."""
        matrix, array = self.empty(*array.shape), array if array.flags.forc else np.ascontiguousarray(array)
        matrix.memory.set(array.ravel(order="K"))
        self.count("in", array.nbytes)
        return Matrix(self, matrix.memory, array.shape, tuple(step // 4 for step in array.strides))

    def at(self, matrix, n, shape, strides):
        """A Matrix in the same memory, n numbers further."""
        reach = 1 + sum((length - 1) * step for length, step in zip(shape, strides, strict=True))
        pointer = int(matrix.memory.gpudata) + 4 * n
        memory = device.gpuarray.GPUArray((reach,), np.float32, gpudata=pointer)
        memory.base = matrix.memory  # which must live as long
        return Matrix(self, memory, shape, strides)

    def send(self, *arrays, rows=None):
        """These rows (None: all) of each array, as Matrices: in one copy, to one of two slots in turn.

        A GPU copies while it computes with the other slot. So a Matrix holds until the second `send` after this one.
        """
        rows = np.arange(len(arrays[0])) if rows is None else rows
        ends, matrices = np.cumsum([len(rows) * array.shape[1] for array in arrays]), []
        slot = self.slot(ends[-1])
        for array, part, end in zip(arrays, np.split(slot.host, ends), ends, strict=False):
            shape = (len(rows), array.shape[1])
            np.take(array, rows, axis=0, out=part.reshape(shape), mode="clip")  # "raise" would go through a copy
            matrices.append(self.at(slot, end - part.size, shape, (shape[1], 1)))
        self.copying.wait_for_event(slot.used)  # nothing computes with its last batch any more
        device.memcpy_htod_async(slot.memory.gpudata, slot.host[: ends[-1]], self.copying)
        slot.copied.record(self.copying)
        self.computing.wait_for_event(slot.copied)  # what is launched from here on
        self.count("in", 4 * ends[-1])
        return matrices

    def slot(self, n):
        """The slot with the older batch, or a new one where it has no room for n numbers."""
        old = self.slots.pop(0) if len(self.slots) == 2 else None
        if self.slots:
            self.slots[0].used.record(self.computing)  # all work with that batch has been launched
        self.slots.append(old if old and len(old.host) >= n else Slot(n))
        self.slots[-1].copied.synchronize()
        return self.slots[-1]

    def product(self, kernel, activation, M, N, *args):
        """A launch with a block for each 32 x 32 elements of an M x N result."""
        side = 32 // self.each
        self.launch(kernel, activation, (-(-N // 32), -(-M // 32)), (side, side, 1), M, N, *args)

    def launch(self, kernel, activation, grid, block, *args):
        """mlp_{kernel}. Ints become int32, floats float32, a Matrix its memory and strides, None a null pointer."""
        flat: list = []
        for arg in args:
            flat += (arg.memory, *map(np.int32, arg.strides)) if isinstance(arg, Matrix) else (_scalar(arg),)
        self.run(kernel, activation, grid, block, flat)

    def run(self, kernel, activation, grid, block, args):
        function = _function(device.engine_name(), kernel, activation, self.options)
        args = [np.uint64(0) if arg is None else arg for arg in args]
        function(*args, block=block, grid=grid, stream=self.computing)

    def read(self, memory):
        self.count("out", memory.nbytes)
        return memory.get()

    def count(self, way, nbytes):
        self.transfers.update({f"copies {way}": 1, f"bytes {way}": int(nbytes)})

    computing, copying = (cached_property(lambda self: device.Stream()) for _ in range(2))


class Traced(OnDevice):
    """Runs each kernel under the tracer of the CPU engine. reports: a list of (kernel, Report); table(): their sums."""

    def __init__(self, each=4, options=()):
        super().__init__(each, options)
        self.reports: list[tuple] = []

    def run(self, kernel, activation, grid, block, args):
        arrays = {int(arg.gpudata): arg for arg in args if hasattr(arg, "gpudata")}
        host = {place: array.get() for place, array in arrays.items()}
        given = [host[int(arg.gpudata)] if hasattr(arg, "gpudata") else arg for arg in args]
        report = trace(source(kernel, activation), f"mlp_{kernel}", grid, block, given, options=self.options)
        self.reports.append((kernel, report))
        for place, array in arrays.items():
            array.set(host[place])

    @property
    def errors(self):
        """What the checks have found, in any launch."""
        return [error for _, report in self.reports for error in report.errors]

    def table(self):
        """(header, rows): for each kernel its launches, the sums of their counts, and the worst way of a conflict."""
        names, rows = ("requests", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts"), []
        for kernel in dict(self.reports):
            reports = [report for name, report in self.reports if name == kernel]
            worst = max(row["max_way"] for report in reports for row in report.accesses)
            rows.append((kernel, len(reports), *(sum(r.total(name) for r in reports) for name in names), worst))
        return ("kernel", "launches", *(name.replace("_", " ") for name in names), "max way"), rows


@cache
def _function(engine, kernel, activation, options):
    return device.SourceModule(source(kernel, activation), options).get_function(f"mlp_{kernel}")


def _scalar(arg):
    return np.int32(arg) if isinstance(arg, int) else np.float32(arg) if isinstance(arg, float) else arg
