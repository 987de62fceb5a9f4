"""A communicator that counts what goes through it."""

import pickle
from collections import Counter

import numpy as np

SENDS = ("Send", "Ssend", "Isend", "Sendrecv", "send", "ssend", "isend", "sendrecv")
COLLECTIVES = (
    "Barrier", "Bcast", "Scatter", "Scatterv", "Gather", "Gatherv", "Allgather", "Allgatherv",
    "Reduce", "Allreduce", "Iallreduce", "Reduce_scatter", "Alltoall", "Scan", "barrier", "bcast",
    "scatter", "gather", "allgather", "reduce", "allreduce", "alltoall",
)  # fmt: skip


class CountingComm:
    """Wraps an mpi4py communicator; used like it. Counts, on this rank, from its making or the last reset():

    messages: sends, point to point. bytes: of the data in them. collectives: Counter of collective calls by name;
    handed: Counter of the bytes of the first array that each is given (the messages inside of MPI's own collectives
    cannot be seen). Communicators made from it by Split, Dup or Create_cart count into the same numbers.
    """

    def __init__(self, comm, counts=None):
        self._comm, self._counts = comm, {} if counts is None else counts
        if counts is None:
            self.reset()

    def reset(self):
        """Begin again at zero."""
        self._counts.update(messages=0, bytes=0, collectives=Counter(), handed=Counter())

    messages = property(lambda self: self._counts["messages"])
    bytes = property(lambda self: self._counts["bytes"])
    collectives = property(lambda self: self._counts["collectives"])
    handed = property(lambda self: self._counts["handed"])

    def __getattr__(self, name):
        method = getattr(self._comm, name)
        if name in ("Split", "Dup", "Create_cart"):
            return lambda *args, **named: CountingComm(method(*args, **named), self._counts)
        if name not in (*SENDS, *COLLECTIVES):
            return method

        def counted(*args, **named):
            (self._count_collective if name in COLLECTIVES else self._count_send)(name, args, named)
            return method(*args, **named)

        return counted

    def _count_collective(self, name, args, named):
        self.collectives[name] += 1
        given = [a for a in (*args, *named.values()) if isinstance(a, np.ndarray | list | tuple)]
        self.handed[name] += _size(given[0], name) if given else 0

    def _count_send(self, name, args, named):
        dest = args[1] if len(args) > 1 else named["dest"]
        if dest >= 0:  # PROC_NULL is negative: nothing is sent
            sent = args[0] if args else named["buf" if "buf" in named else "sendbuf"]
            self._counts["messages"] += 1
            self._counts["bytes"] += _size(sent, name)


def _size(data, name):
    """Bytes of what a send is given: of an array, of [array, type], of bytes, or of the pickled object."""
    if name[0].islower():
        return len(pickle.dumps(data, pickle.HIGHEST_PROTOCOL))
    return np.asarray(data[0] if isinstance(data, list | tuple) else data).nbytes
