"""A message longer than the memory that was to take it: which receive that was, wherever it was waited for."""

import functools
import re

from course_lib.machines.books import story

OBJECT = 32768  # bytes for which irecv has room, if it is given no memory
ONE = ("Wait", "wait", "Test", "test")
ALL = ("Waitall", "waitall", "Testall", "testall")
FROM = re.compile(r"Message from rank (\d+) and tag (\d+) truncated")
short: list = []  # (operation, book, bytes, source, tag) of this cell; source and tag None where MPI does not say


def install(replace, begun):
    """Wrap what waits for requests. begun: the ledger's."""
    from mpi4py import MPI

    one = {name: _waits(vars(MPI.Request)[name], begun) for name in ONE}
    every = {name: _waits_for_all(getattr(MPI.Request, name), begun) for name in ALL}
    replace(MPI.Request, one | every)


def _waits(method, begun):
    from mpi4py import MPI

    @functools.wraps(method)
    def waits(request, status=None):
        status = MPI.Status() if status is None else status
        known = begun.get(id(request))
        try:
            return method(request, status)
        except MPI.Exception as error:
            if error.Get_error_class() == MPI.ERR_TRUNCATE:
                _name(error, known, status)
            raise

    return waits


def _waits_for_all(method, begun):
    from mpi4py import MPI

    @functools.wraps(method)
    def waits(requests, statuses=None):
        requests, statuses = list(requests), [] if statuses is None else statuses
        try:
            return method(requests, statuses)
        except MPI.Exception as error:
            for request, status in zip(requests, statuses, strict=False):
                if status.error and MPI.Get_error_class(status.error) == MPI.ERR_TRUNCATE:
                    _name(error, begun.get(id(request)), status)
            raise

    return staticmethod(waits)


def _name(error, known, status):
    """known: (request, operation, `functools.partial` of ledger._receive) of a receive."""
    if known and isinstance(known[2], functools.partial):
        op, book, _, room = known[2].args
        tell(error, op, book, room(), status.source, status.tag)


def tell(error, op, book, room, source=None, tag=None):
    """Note with the error, and for the end of the cell, which receive it was. source: a rank of the communicator."""
    if found := FROM.search(str(error)):
        source, tag = map(int, found.groups())
    source = None if source is None else book.peers[source]
    short.append((op, book, room, source, tag))
    sender = "" if source is None else f" from rank {source}" + (f" with tag {tag}" if tag else "")
    size = "too little room" if room is None else f"room for {room:,} bytes"
    note = f"{story.words(op)} has {size}: the message{sender} is longer"
    if op[0] == "irecv" and room == OBJECT:
        note += "; irecv(bytearray(10**6)) has more, and recv has room for any object"
    error.add_note(note)


def room_of(op, args, named, bytes_of):
    """Bytes for which a receive has room; None where that is not plain to see."""
    at, name = (3, "recvbuf") if "endrecv" in op[0] and "replace" not in op[0] else (0, "buf")
    buffer = args[at] if len(args) > at else named.get(name)
    if op[0] == "irecv" and buffer is None:
        return OBJECT
    return buffer if isinstance(buffer, int) else bytes_of(buffer)
