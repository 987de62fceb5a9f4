"""Three allreduces written from Sendrecv, Send and Recv: ring, recursive doubling, tree.

Each adds up `array` over the ranks of comm, in place on all of them, and returns it: any shape and dtype, also empty;
the same on every rank. All ranks end with the same bits. Cost: p ranks, n bytes, alpha a message, beta a byte.
Raises BadInput for an array that is none, or not contiguous.
"""

import numpy as np

from course_lib.errors import BadInput, check_array


def ring_allreduce(comm, array):
    """2 (p - 1) messages of about n/p bytes a rank: 2 (p - 1) (alpha + beta n/p). Best for long arrays.

    The array is cut into p parts. First round the ring: each part is added up on its way, and rank r holds the whole
    sum of part r + 1. Second round: the sums are handed on.
    """
    flat, p, r = _flat(array), comm.size, comm.rank
    parts = np.array_split(flat, p)
    left, right, got = (r - 1) % p, (r + 1) % p, np.empty(-(-len(flat) // p), flat.dtype)
    for step in range(p - 1):
        target = parts[(r - step - 1) % p]
        _swap(comm, parts[(r - step) % p], right, got[: len(target)], left)
        target += got[: len(target)]
    for step in range(p - 1):
        _swap(comm, parts[(r - step + 1) % p], right, parts[(r - step) % p], left)
    return array


def doubling_allreduce(comm, array):
    """log2 p messages of n bytes: log2 p (alpha + beta n); two more where p is no power of 2. Best for short arrays.

    In round k, ranks that differ in bit k swap what they have and add. Ranks beyond the largest power of 2 first give
    theirs to a partner and take the sum from it at the end.
    """
    flat, p, r = _flat(array), comm.size, comm.rank
    q, got = 1 << (p.bit_length() - 1), np.empty_like(_flat(array))
    if r >= q:
        comm.Send(_bytes(flat), dest=r - q)
        comm.Recv(_bytes(flat), source=r - q)
        return array
    if r + q < p:
        comm.Recv(_bytes(got), source=r + q)
        flat += got
    for k in range(q.bit_length() - 1):
        _swap(comm, flat, r ^ (1 << k), got, r ^ (1 << k))
        flat += got
    if r + q < p:
        comm.Send(_bytes(flat), dest=r + q)
    return array


def tree_allreduce(comm, array):
    """Up a binomial tree to rank 0 and down again: 2 log2 p (alpha + beta n), 2 (p - 1) messages in all."""
    flat, p, r = _flat(array), comm.size, comm.rank
    got, low = np.empty_like(flat), r & -r or 1 << p.bit_length()  # the parent of r is r without its lowest bit
    children = [r + bit for k in range(p.bit_length()) if (bit := 1 << k) < low and r + bit < p]
    for child in children:
        comm.Recv(_bytes(got), source=child)
        flat += got
    if r:
        comm.Send(_bytes(flat), dest=r - low)
        comm.Recv(_bytes(flat), source=r - low)
    for child in reversed(children):
        comm.Send(_bytes(flat), dest=child)
    return array


def mpi_allreduce(comm, array):
    """MPI's own, in the form of the others."""
    from mpi4py import MPI

    comm.Allreduce(MPI.IN_PLACE, check_array("array", array))
    return array


def _swap(comm, send, to, receive, source):
    """One Sendrecv: a Send and a Recv that cannot wait for each other."""
    comm.Sendrecv(_bytes(send), dest=to, recvbuf=_bytes(receive), source=source)


def _bytes(part):
    """The bytes of an array: MPI has no name for some of NumPy's dtypes, such as float16."""
    return part.view(np.uint8)


def _flat(array):
    if not check_array("array", array).flags.c_contiguous:
        raise BadInput("array must be contiguous: use np.ascontiguousarray(array)")
    return array.reshape(-1)
