"""What mpi4py takes for a message, as pieces of memory: an array, [array, type], [array, count, type], and so on."""

import operator

import numpy as np

from course_lib.errors import BadInput

KINDS = ("f", "c")  # dtypes that have a NaN


class Buffer:
    """blocks: flat arrays of bytes, views of the memory that `spec` names; dtype: of its elements.

    blocks=n: n equal parts of it, one for each rank; vector: parts as counts and displacements say.
    write: it must be writable. Raises what mpi4py raises for a spec that is none.
    """

    def __init__(self, spec, write=False, blocks=1, vector=False):
        from mpi4py import MPI

        whole, kind, rest = _unpacked(MPI, spec)
        checked = [whole, 0, kind] if kind is not None else [whole, 0] if rest else whole
        make = MPI.COMM_SELF.Recv_init if write else MPI.COMM_SELF.Send_init
        make(checked, 0).Free()
        array = whole if isinstance(whole, np.ndarray) else np.asarray(memoryview(whole))
        flat = array.reshape(-1, order="A")
        self.dtype = flat.dtype if kind is None else _dtype(MPI, kind)
        self.flat, size = flat.view(np.uint8), self.dtype.itemsize
        counts, starts = (_vector if vector else _simple)(rest, self._length(), blocks)
        parts, end = list(zip(starts, counts, strict=True)), flat.nbytes // size
        if any(start < 0 or start + count > end for start, count in parts):
            asked = f"elements {starts} to {np.add(starts, counts)} are asked for"
            has = f"the buffer has {end} of {self.dtype}"
            raise ValueError(f"message: {asked}, and {has}: MPI would go beyond its end")
        self.blocks = [self.flat[s * size : (s + c) * size] for s, c in parts]

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


def poison(view, dtype):
    """Fill memory with what nobody should read: NaN, or bytes that give strange integers."""
    view[...] = 0xA5
    if dtype.kind in KINDS:
        view.view(dtype)[...] = np.nan


def _unpacked(MPI, spec):
    """(memory, type or None, what else was said)."""
    if not isinstance(spec, list | tuple):
        return spec, None, []
    if not 2 <= len(spec) <= 4:
        raise ValueError("message: expecting 2 to 4 items")
    whole, *rest = spec
    kind = rest.pop() if len(spec) > 2 or isinstance(rest[0], str | MPI.Datatype) else None
    return whole, kind, rest


def _dtype(MPI, kind):
    kind = kind if isinstance(kind, MPI.Datatype) else MPI.Datatype.fromcode(kind)
    if not kind.is_predefined:
        raise BadInput(
            "a rehearsal knows the types that come with MPI only: send a copy, np.ascontiguousarray"
        )
    return np.dtype(kind.typestr)


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
