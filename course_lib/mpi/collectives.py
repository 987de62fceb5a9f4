"""Two allreduces written from Sendrecv, ring and recursive doubling, and MPI's own. The tree's is in tree.py.

Each adds up `array` over the ranks of comm, in place on all of them, and returns it: any shape and dtype, also empty;
the same on every rank. All ranks end with the same bits: in the ring each part is added up once, and copied; in the
doubling two partners add the same two numbers, a + b and b + a. Another number of ranks adds in another order, and may
round otherwise. (The MPI standard asks of Allreduce that all ranks get identical results.)
Cost: p ranks, n bytes, alpha a message, beta a byte. Raises BadInput for an array that is none, or not contiguous.
"""

import numpy as np

from course_lib.errors import check_array
from course_lib.mpi.flat import as_bytes, as_flat


def ring_allreduce(comm, array):
    """2 (p - 1) messages of about n/p bytes a rank: 2 (p - 1) (alpha + beta n/p). Best for long arrays.

    The array is cut into p parts. First round the ring: each part is added up on its way. Second: the sums travel.
    """
    ring_reduce_scatter(comm, array)
    return ring_allgather(comm, array)


def ring_reduce_scatter(comm, array):
    """The first half: rank r ends with the whole sum of part r + 1 (of p, modulo p), and returns a view of it.

    The other parts of `array` then hold partial sums. (p - 1)/p n bytes a rank: each part takes p - 1 steps.
    """
    flat, p, r = as_flat(array), comm.size, comm.rank
    parts, got = np.array_split(flat, p), np.empty(-(-len(flat) // p), flat.dtype)
    for step in range(p - 1):
        target = parts[(r - step - 1) % p]
        _swap(comm, parts[(r - step) % p], (r + 1) % p, got[: len(target)], (r - 1) % p)
        target += got[: len(target)]
    return parts[(r + 1) % p]


def ring_allgather(comm, array):
    """The second half: rank r has part r + 1 (of p, modulo p) of `array`; all get the other parts, in place."""
    p, r = comm.size, comm.rank
    parts = np.array_split(as_flat(array), p)
    for step in range(p - 1):
        _swap(comm, parts[(r - step + 1) % p], (r + 1) % p, parts[(r - step) % p], (r - 1) % p)
    return array


def doubling_allreduce(comm, array):
    """log2 p rounds of n bytes: log2 p (alpha + beta n); floor(log2 p) + 2 where p is no power of 2. For short arrays.

    In round k, ranks that differ in bit k swap what they have and add. Ranks beyond the largest power of 2 first give
    theirs to a partner and take the sum from it at the end.
    """
    flat, p, r = as_flat(array), comm.size, comm.rank
    q, got = 1 << (p.bit_length() - 1), np.empty_like(flat)
    if r >= q:
        comm.Send(as_bytes(flat), dest=r - q)
        comm.Recv(as_bytes(flat), source=r - q)
        return array
    if r + q < p:
        comm.Recv(as_bytes(got), source=r + q)
        flat += got
    for k in range(q.bit_length() - 1):
        _swap(comm, flat, r ^ (1 << k), got, r ^ (1 << k))
        flat += got
    if r + q < p:
        comm.Send(as_bytes(flat), dest=r + q)
    return array


def mpi_allreduce(comm, array):
    """MPI's own, in the form of the others."""
    from mpi4py import MPI

    comm.Allreduce(MPI.IN_PLACE, check_array("array", array))
    return array


def _swap(comm, send, to, receive, source):
    """One Sendrecv: a Send and a Recv that cannot wait for each other."""
    comm.Sendrecv(as_bytes(send), dest=to, recvbuf=as_bytes(receive), source=source)
