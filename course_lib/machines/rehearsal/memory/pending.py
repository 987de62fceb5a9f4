"""Memory that belongs to MPI: from a call that does not wait (Irecv, Isend, Iallreduce) to the end of its Wait.

What MPI will write is poisoned in the meantime, in one of several ways: whoever reads it early gets other numbers each
way, and whoever writes to it changes the poison. In a guarded run the arrays are read-only as well, so that the line
that writes raises.
"""

import struct

import numpy as np

# NaN whose quiet bit is not set: arithmetic changes it, so that `+=` and `*=` show, also where a program runs once
SIGNALLING = {2: 0xFD01, 4: 0xFFA00001, 8: 0xFFF4000000000001}
QUIET = np.uint64(0x7FFC000000000000).view(np.float64)  # a NaN that is_pending knows, as the other
CODES = {2: "<H", 4: "<I", 8: "<Q"}
ONCE, NAN, BELOW, ABOVE = range(
    4
)  # the ways: signalling NaN; NaN; numbers that begin below zero, above zero
BYTES = 0xA5, 0xA5, 0x5A, 0x00


class Piece:
    """A view of memory as a place to write to; `Buffer` has the same methods."""

    def __init__(self, view, dtype):
        self.view, self.dtype, self.views = view, dtype, [view]

    def now(self):
        """The bytes as they are now."""
        return self.view

    def put(self, data):
        """Write bytes, from the first on."""
        self.view[: len(data)] = data


class Hold:
    """What a request has of its rank's memory. reads: what MPI reads; lands: what it writes; arrays: all of both."""

    def __init__(self, request, reads, lands, arrays):
        self.request, self.reads, self.lands, self.arrays = request, reads, lands, arrays
        world, rank = request.world, request.rank
        self._mine = world.holds[rank.index]
        self._sent = [piece.now().copy() for piece in reads]
        self._before = [piece.now().copy() for piece in lands]
        poisons = [poison(piece, world.way) for piece in lands]
        self._poisons = list(zip(lands, poisons, strict=True))
        self._closed = [a for array in arrays for a in _close(array)] if world.guard else []
        self._mine.append(self)
        world.lent.append((rank.index, request.op, request.place, bool(lands)))
        rank.trail.start(self._mine)

    def was_changed(self):
        """Is what MPI reads no longer what it was?"""
        pairs = zip(self._sent, self.reads, strict=True)
        return not all(np.array_equal(old, piece.now()) for old, piece in pairs)

    def was_written(self):
        """Has the program written where MPI will?"""
        return not all(np.array_equal(old, piece.now()) for piece, old in self._poisons)

    def release(self):
        """The memory is the program's again, as it was before."""
        self._mine.remove(self)
        self.request.rank.trail.stop(self._mine)
        for array in reversed(self._closed):
            array.flags.writeable = True
        for piece, old in zip(self.lands, self._before, strict=True):
            piece.put(old)
        for _, data in self._poisons:
            data[...] = 0  # whoever gets this memory next must not find poison there

    def views(self, written):
        """Its memory: what MPI writes, and what it reads."""
        return [view for piece in (self.lands if written else self.reads) for view in piece.views]


def touched(holds, reads, writes):
    """(Hold, "sends from" or "receives into") of the first that a call with this memory is in the way of, or None."""
    for hold in holds:
        if _overlap(writes, hold.views(True) + hold.views(False)):
            return hold, "receives into"
        if _overlap(reads, hold.views(True)):
            return hold, "sends from"
    return None


def overlaps(array, holds):
    """Does an array lie, in part, in memory that MPI will write?"""
    return any(np.may_share_memory(array, view) for hold in holds for view in hold.views(True))


def poison(piece, way=ONCE):
    """Fill memory with what nobody should read: NaN, or bytes that give strange numbers. Returns the bytes."""
    data, dtype = np.array(piece.now()), piece.dtype
    data[...] = BYTES[way]
    if dtype.kind == "b":
        data[...] = way != BELOW
    elif dtype.kind in "fc" and data.nbytes:
        part = np.dtype(f"f{dtype.itemsize // (1 + (dtype.kind == 'c'))}")
        data.view(part)[...] = _numbers(data.nbytes // part.itemsize, way, part)
    piece.put(data)
    return data


def is_pending(array):
    """Has a NaN of the poison come into this array? Both have a bit set that arithmetic keeps, and makes of nothing."""
    if array.dtype.kind != "f":
        return False
    bits = np.ravel(array).astype(np.float32).view(np.uint32)
    return bool(((bits & 0x7FA00000) == 0x7FA00000).any())


def _numbers(count, way, dtype):
    if way == ONCE and (code := CODES.get(dtype.itemsize)):
        return np.frombuffer(struct.pack(code, SIGNALLING[dtype.itemsize]), dtype)
    k = np.arange(count)
    numbers = np.where(k % 2 == (way == BELOW), 1, -1) * (1000.37 + k % 97)
    # every way takes the same memory, so that all runs find it alike
    return numbers * QUIET if way in (ONCE, NAN) else numbers * 1.0


def _overlap(some, others):
    return any(a.size and b.size and np.may_share_memory(a, b) for a in some for b in others)


def _close(array):
    """Make an array, and those that it is all of, read-only; returns what was changed, the view first."""
    closed = []
    while isinstance(array, np.ndarray) and array.flags.writeable:
        array.flags.writeable = False
        closed.append(array)
        base = array.base
        whole = isinstance(base, np.ndarray) and base.nbytes == array.nbytes
        array = base if whole else None
    return closed
