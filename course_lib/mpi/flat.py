"""How data is laid out over ranks: shares of rows, all gradients in one array, an array as bytes."""

from itertools import pairwise

import numpy as np

from course_lib.errors import BadInput, check_array


def shard(B, size, rank):
    """The rows of rank, a slice: B // size rows, and one more for the first B mod size ranks."""
    share, larger = divmod(B, size)
    start = rank * share + min(rank, larger)
    return slice(start, start + share + (rank < larger))


def length(B, size, rank):
    """How many rows the shard of a rank has."""
    rows = shard(B, size, rank)
    return rows.stop - rows.start


def pack(grads, extra=()):
    """list of (dW, db) -> one flat array of their dtype, with `extra` numbers at its end."""
    parts = [part.ravel() for pair in grads for part in pair]
    return np.concatenate([*parts, np.array(extra, grads[0][0].dtype)])


def unpack(flat, params):
    """Views into `flat`, in the shapes of params: a list of (dW, db)."""
    sizes = np.cumsum([0, *(part.size for pair in params for part in pair)])
    parts = iter([flat[a:b] for a, b in pairwise(sizes)])
    return [(next(parts).reshape(W.shape), next(parts)) for W, _ in params]


def as_flat(array):
    """The array itself in one dimension; BadInput where that would need a copy."""
    if not check_array("array", array).flags.c_contiguous:
        raise BadInput("array must be contiguous: use np.ascontiguousarray(array)")
    return array.reshape(-1)


def as_bytes(array):
    """The bytes of a contiguous array, in place: MPI has no name for some of NumPy's dtypes, such as float16."""
    return as_flat(array).view(np.uint8)
