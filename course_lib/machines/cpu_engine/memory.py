"""Device memory: one nameless file that this process and the engine's processes map, so that it outlives a crash."""

import mmap
import os
import tempfile
import weakref

import numpy as np

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine.messages import refused

BASE = 1 << 44  # where the engine's processes map it: an address is the same number in all of them
RED_ZONE = 256
UNSET = 0xFFF7FDC3  # NaN of a kind that no computation makes


def unset(bytes):
    """So many bytes that nothing has written yet."""
    return np.full(-(-bytes // 4), UNSET, "<u4").view(np.uint8)[:bytes]


class OutOfMemory(BadInput):
    """The device memory is used up."""


class Arena:
    """`alloc`, `free`, `read`, `write` by address; a second half of the file has a flag a byte: has it been written?"""

    def __init__(self, bytes=None):
        self.bytes = int(bytes or os.environ.get("COURSE_GPU_BYTES", 1 << 30)) // 4096 * 4096
        # not limited by the size of /dev/shm, which is 64 MiB in a container
        if hasattr(os, "memfd_create"):
            self.handle = os.memfd_create("course-gpu")
        else:
            self.handle, name = tempfile.mkstemp(prefix="course-gpu-")
            os.unlink(name)  # nothing is left behind, however this process ends
        weakref.finalize(self, os.close, self.handle)
        os.truncate(self.handle, 2 * self.bytes)  # takes room only as it is used
        both = np.frombuffer(mmap.mmap(self.handle, 2 * self.bytes), np.uint8)
        self._map = both.reshape(2, self.bytes)
        self.live: dict[int, int] = {}  # address -> bytes

    def alloc(self, bytes):
        """The address of `bytes` fresh bytes, aligned to 256, with a red zone behind them."""
        bytes, at = int(bytes), 4096
        for address, size in sorted(self.live.items()):
            if address - BASE - at >= bytes + RED_ZONE:
                break
            at = -(-(address - BASE + size + RED_ZONE) // 256) * 256
        if bytes < 0 or at + bytes + RED_ZONE > self.bytes:
            raise OutOfMemory(refused("full", bytes=bytes, all=self.bytes))
        self.live[BASE + at] = bytes
        self._map[0, at : at + bytes], self._map[1, at : at + bytes] = unset(bytes), 0
        return BASE + at

    def clear(self):
        """Frees everything; the memory goes back to the system."""
        self.live.clear()
        os.truncate(self.handle, 0)
        os.truncate(self.handle, 2 * self.bytes)

    def free(self, address):
        """Gives the memory back. Raises BadInput for an address that is not the start of an allocation."""
        if self.live.pop(address, None) is None:
            raise BadInput(refused("freed", address=address))

    def write(self, address, data):
        """Copies an array's bytes to the device."""
        raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        at = self._check(address, raw.size)
        self._map[0, at : at + raw.size], self._map[1, at : at + raw.size] = raw, 1

    def read(self, address, bytes):
        """A copy of that many bytes, as an array of uint8."""
        at = self._check(address, bytes)
        return np.array(self._map[0, at : at + bytes])

    def set_written(self, address, bytes, flag=1):
        """Says that these bytes count as written, or as not."""
        at = self._check(address, bytes)
        self._map[1, at : at + bytes] = flag

    def flags(self, address, bytes):
        """Which of these bytes count as written."""
        at = self._check(address, bytes)
        return self._map[1, at : at + bytes] != 0

    def written(self, address, bytes, element):
        """Which of the elements there are written: flagged so, or changed since `alloc` by kernels that are not traced.

        Of elements of one or two bytes, which may look unset by chance, all count as written if one has changed.
        """
        flags = self.flags(address, bytes)
        changed = ~flags & (self.read(address, bytes) != unset(bytes))
        if element < 4:
            changed[:] = changed.any()
        return (flags | changed).reshape(-1, element).any(axis=1)

    def owner(self, address):
        """The start of the allocation in which an address lies, or None."""
        owners = (at for at, size in self.live.items() if at <= address < at + max(size, 1))
        return next(owners, None)

    def _check(self, address, bytes):
        start = self.owner(address)
        if start is None or address + bytes > start + self.live[start]:
            raise BadInput(refused("apart", bytes=bytes, address=address))
        return address - BASE
