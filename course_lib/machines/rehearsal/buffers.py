"""What mpi4py takes for a message, as pieces of memory: an array, [array, type], [array, count, type], and so on."""

import functools
import operator

import numpy as np

from course_lib.errors import BadInput
from course_lib.machines.rehearsal.memory.layout import Layout


class Buffer:
    """blocks: flat arrays of bytes, views of the memory that `spec` names; dtype: of its elements.

    blocks=n: n equal parts of it, one for each rank; vector: parts as counts and displacements say.
    write: it must be writable. array: the NumPy array that was given, if all of it is meant; layout: its shape and
    order, or None. Of a type that the program made, blocks holds a packed copy. Raises what mpi4py raises for a spec
    that is none.
    """

    def __init__(self, spec, write=False, blocks=1, vector=False):
        from mpi4py import MPI

        whole, kind, rest = _unpacked(MPI, spec)
        checked = [whole, 0, kind] if kind is not None else [whole, 0] if rest else whole
        make = real_self().Recv_init if write else real_self().Send_init
        make(checked, 0).Free()
        array = whole if isinstance(whole, np.ndarray) else np.asarray(memoryview(whole))
        self.given, self.layout = array, None if rest else Layout(array)
        self.flat = array.reshape(-1, order="A").view(np.uint8)
        self.made, self.kind = _made(MPI, kind), _kind(MPI, kind)
        if self.made is not None:
            self._pack(rest, blocks, vector)
            return
        self.dtype = array.dtype if kind is None else np.dtype(self.kind.typestr)
        self.blocks = self._cut(rest, blocks, vector)

    def _cut(self, rest, blocks, vector):
        size = self.dtype.itemsize
        counts, starts = (_vector if vector else _simple)(rest, self._length(), blocks)
        parts, end = list(zip(starts, counts, strict=True)), self.flat.nbytes // size
        if any(start < 0 or start + count > end for start, count in parts):
            asked = f"elements {starts} to {np.add(starts, counts)} are asked for"
            has = f"the buffer has {end} of {self.dtype}"
            raise ValueError(f"message: {asked}, and {has}: MPI would go beyond its end")
        return [self.flat[s * size : (s + c) * size] for s, c in parts]

    def _pack(self, rest, blocks, vector):
        """The elements of a type that the program made, as a packed copy."""
        if blocks > 1 or vector:
            raise BadInput(
                "a rehearsal supports derived datatypes only in messages and Bcast: real ranks may support "
                "more; here send a copy, np.ascontiguousarray"
            )
        self.dtype = _element(self.made)
        extent = self.made.Get_extent()[1]
        if not rest and len(self.flat) % extent:
            raise ValueError(
                f"message: cannot infer count, buffer length {len(self.flat)} is not a multiple of "
                f"datatype extent {extent}"
            )
        (count,), (start,) = _simple(rest, len(self.flat) // extent, 1)
        self._items = self.flat[start * extent : (start + count) * extent]
        self.blocks = [np.zeros(count * self.made.Get_size(), np.uint8)]
        self.now()

    def now(self):
        """The bytes as they are now."""
        if self.made is not None:
            self.made.Pack(self._items, self.blocks[0], 0, real_self())
        return self.blocks[0]

    def put(self, data):
        """Write bytes, from the first on."""
        self.blocks[0][: len(data)] = data
        if self.made is not None and len(data):
            self.made.Unpack(self.blocks[0], 0, self._items, real_self())

    @property
    def array(self):
        """The array that was given, where all of it is meant."""
        whole = self.made is None and sum(map(len, self.blocks)) == self.given.nbytes
        return self.given if whole else None

    @property
    def views(self):
        """The memory that belongs to a call; nothing where only parts of it do."""
        return self.blocks if self.made is None else []

    def _length(self):
        if len(self.flat) % self.dtype.itemsize:
            raise ValueError(
                f"message: cannot infer count, buffer length {len(self.flat)} is not a multiple of "
                f"datatype extent {self.dtype.itemsize}"
            )
        return len(self.flat) // self.dtype.itemsize

    @property
    def data(self):
        """The only block."""
        return self.blocks[0]

    def overlaps(self, other):
        """Do the two share memory?"""
        return any(np.may_share_memory(a, b) for a in self.blocks for b in other.blocks)


def describe(nbytes, dtype):
    """ "3 float32"."""
    dtype = np.dtype(dtype)
    return (
        f"{nbytes // dtype.itemsize} {dtype.name}"
        if nbytes % dtype.itemsize == 0
        else f"{nbytes} bytes"
    )


@functools.cache
def real_self():
    """mpi4py's own MPI.COMM_SELF, which checks arguments. First called before a rehearsal hides it."""
    from mpi4py import MPI

    return MPI.COMM_SELF


def _unpacked(MPI, spec):
    """(memory, type or None, what else was said)."""
    if not isinstance(spec, list | tuple):
        return spec, None, []
    if not 2 <= len(spec) <= 4:
        raise ValueError("message: expecting 2 to 4 items")
    whole, *rest = spec
    kind = rest.pop() if len(spec) > 2 or isinstance(rest[0], str | MPI.Datatype) else None
    return whole, kind, rest


def _made(MPI, kind):
    """The type, if the program has made it itself."""
    if kind is None:
        return None
    kind = _kind(MPI, kind)
    return None if kind.is_predefined else kind


def _kind(MPI, kind):
    """A type, or the code that stands for one, as a type."""
    if kind is None:
        return None
    return kind if isinstance(kind, MPI.Datatype) else MPI.Datatype.fromcode(kind)


def _element(kind):
    """The one dtype that a made type consists of; bytes where it has several."""
    found, left = set(), [kind]
    while left:
        part = left.pop()
        if part.is_predefined:
            found.add(np.dtype(part.typestr))
        else:
            left += part.Get_contents()[3]
    return found.pop() if len(found) == 1 else np.dtype(np.uint8)


def _simple(rest, length, blocks):
    if len(rest) == 1 and isinstance(rest[0], list | tuple):
        rest = list(rest[0])
    count, start = [*rest, None, None][:2]
    start = operator.index(start or 0)
    if count is None:
        count, left = divmod(length - start, blocks)
        if left:
            raise ValueError(
                f"message: cannot infer count, number of entries {length - start} is not a multiple of "
                f"required number of blocks {blocks}"
            )
    count = operator.index(count)
    if count < 0:
        raise ValueError(f"message: negative count {count}")
    return [count] * blocks, [start + count * block for block in range(blocks)]


def _vector(rest, length, blocks):
    if len(rest) == 1 and isinstance(rest[0], tuple):
        (counts, starts) = rest[0]
    else:
        counts, starts = [*rest, None, None][:2]
    share, left = divmod(length, blocks)
    counts = (
        [share + (block < left) for block in range(blocks)]
        if counts is None
        else _numbers(counts, blocks)
    )
    if starts is None:
        starts = [sum(counts[:block]) for block in range(blocks)]
    elif np.ndim(starts) == 0:
        starts = [operator.index(starts) * block for block in range(blocks)]
    return counts, _numbers(starts, blocks)


def _numbers(values, blocks):
    values = [values] * blocks if np.ndim(values) == 0 else list(values)
    if len(values) != blocks:
        raise ValueError(f"expecting {blocks} items, got {len(values)}")
    return [operator.index(value) for value in values]
