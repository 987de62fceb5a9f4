"""bcast, reduce and allreduce on a binomial tree, from Send and Recv: log2 p rounds, since senders double in each.

Ranks are numbered from the root on, round the end. The parent of rank r is r without its lowest 1 bit; the root has
ceil(log2 p) children. Each message carries the whole array, n bytes: log2 p (alpha + beta n), p - 1 messages in all.
"""

import numpy as np

from course_lib.mpi.flat import as_bytes, as_flat


def tree_bcast(comm, array, root=0):
    """`array` of the root on all ranks, in place; returns it. The child with most ranks below it is served first."""
    parent, children = relatives(comm.size, comm.rank, root)
    if parent is not None:
        comm.Recv(as_bytes(array), source=parent)
    for child in reversed(children):
        comm.Send(as_bytes(array), dest=child)
    return array


def tree_reduce(comm, array, root=0):
    """The sum over all ranks in `array` of the root, in place; on another rank, the sum of the ranks below it."""
    flat = as_flat(array)
    got, (parent, children) = np.empty_like(flat), relatives(comm.size, comm.rank, root)
    for child in children:
        comm.Recv(as_bytes(got), source=child)
        flat += got
    if parent is not None:
        comm.Send(as_bytes(flat), dest=parent)
    return array


def tree_allreduce(comm, array):
    """Up the tree to rank 0 and down again: 2 log2 p (alpha + beta n), 2 (p - 1) messages in total."""
    return tree_bcast(comm, tree_reduce(comm, array))


def relatives(p, rank, root=0):
    """(parent, children) of a rank in the tree of the root, whose parent is None; the nearest child first."""
    r = (rank - root) % p
    low = r & -r or 1 << p.bit_length()
    below = [r + (1 << k) for k in range(p.bit_length()) if 1 << k < low and r + (1 << k) < p]
    return (root + r - low) % p if r else None, [(root + child) % p for child in below]
