"""In the process of one rank: the communicator that the student's function gets. Each call goes to the rehearsal.

A call takes along the bytes of all the memory that it names, and of what requests under way have named before; what
the rehearsal has changed there is written back. So an Irecv's buffer holds NaN until its Wait, and a buffer that
changes too early is noticed, as within one process. Objects are pickled and read here alone.
"""

import contextlib
import ctypes
import linecache
import numbers
import pickle
import sys
from typing import Any

import numpy as np

EACH = ("scatter", "alltoall")  # their argument is one object for each rank
COMBINE = ("reduce", "allreduce", "scan", "exscan")
OBJECTS = ("send", "ssend", "isend", "sendrecv", "bcast", "gather", "allgather", *EACH, *COMBINE)
LOGIC = ("LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR")
OPS = ("SUM", "PROD", "MAX", "MIN", *LOGIC, "MAXLOC", "MINLOC")
FROM_ROOT = ("bcast", "scatter")  # only the root's object counts


class RankChannel:
    """All of one rank's calls in one rehearsal. ask: calls the rehearsal's `ranks.End`."""

    def __init__(self, ask):
        # held: number of a request -> numbers of its memory
        self.ask, self.owners, self.held = ask, {}, {}
        self.next, self.statuses = 0, list[Any]()

    def call(self, target, name, args, named=None):
        """A call, of a communicator (its number), of a request or of several."""
        used: list = []
        self.statuses = []
        given = [self.packed(part, used) for part in args]
        more = {key: self.packed(part, used) for key, part in (named or {}).items()}
        live = {*used, *(number for held in self.held.values() for number in held)}
        self.owners = {number: self.owners[number] for number in live}
        memory = {number: bytes(_memory(self.owners[number])) for number in live}
        try:
            value, changed, told, ended = self.ask(target, name, given, more, memory, _where())
        except Exception as error:
            if type(error).__name__ == "Stopped":
                raise SystemExit("the rehearsal is over") from None
            raise
        for number, data in changed.items():
            _memory(self.owners[number])[:] = data
        for number in ended:
            self.held.pop(number, None)
        for known, (source, tag, size) in zip(self.statuses, told, strict=False):
            _tell(known, source, tag, size)
        made = self.read(value)
        if isinstance(made, Request):
            self.held[made.number] = used
        return made

    def packed(self, value, used):
        """An argument as (kind, ...); used: gets the numbers of the memory that it names."""
        if isinstance(value, Pickled):
            return "pickle", value.data
        if isinstance(value, Combining):
            return "combine", value.name, value
        if isinstance(value, list | tuple):
            kind = "list" if isinstance(value, list) else "tuple"
            return kind, [self.packed(part, used) for part in value]
        if isinstance(value, np.ndarray):
            return self._array(value, used)
        if isinstance(value, bytes | bytearray | memoryview) or type(value).__name__ == "array":
            return self._array(np.asarray(memoryview(value)), used)
        return self._of_mpi(value) or (
            "plain",
            value.item() if isinstance(value, np.generic) else value,
        )

    def _of_mpi(self, value):
        """What mpi4py has a name for, as (kind, ...); None for anything else."""
        from mpi4py import MPI

        if isinstance(value, MPI.Op) or value is MPI.IN_PLACE:
            return "mpi", next(name for name in (*OPS, "IN_PLACE") if value == getattr(MPI, name))
        if isinstance(value, MPI.Datatype):
            return "type", value.tocode()
        if isinstance(value, MPI.Status):
            self.statuses.append(value)
            return ("status",)
        return None

    def _array(self, value, used):
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        number = next((n for n, known in self.owners.items() if known is owner), None)
        if number is None:
            number, self.next = self.next, self.next + 1
            self.owners[number] = owner
        used.append(number)
        offset = value.__array_interface__["data"][0] - np.lib.array_utils.byte_bounds(owner)[0]
        form = list(value.shape), list(value.strides), value.dtype.str
        return "array", number, offset if value.size else 0, *form, not value.flags.writeable

    def read(self, value):
        """A result from (kind, ...)."""
        from mpi4py import MPI

        kind, *parts = value
        if kind == "pickle":
            return pickle.loads(parts[0])
        if kind in ("list", "tuple"):
            return (list if kind == "list" else tuple)(map(self.read, parts[0]))
        if kind == "request":
            return Request(self, parts[0])
        if kind == "comm":
            return Comm(self, *parts)
        return getattr(MPI, parts[0]) if kind == "mpi" else parts[0]


class Pickled:
    """An object on its way."""

    def __init__(self, value):
        self.data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


class Combining:
    """An op for objects: takes and gives their pickled forms."""

    def __init__(self, op):
        from mpi4py import MPI

        self.op = MPI.SUM if op is None else op
        known = (
            name for name in OPS if isinstance(self.op, MPI.Op) and self.op == getattr(MPI, name)
        )
        self.name = next(known, getattr(self.op, "__name__", "a user-defined op"))

    def __call__(self, a, b):
        return Pickled(self.op(pickle.loads(a), pickle.loads(b))).data


class Comm:
    """What the student's function uses like an mpi4py communicator."""

    def __init__(self, channel, number, rank, size):
        self._channel, self._number, self.rank, self.size = channel, number, rank, size

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **named: self._call(name, args, named)

    def _call(self, name, args, named):
        if name not in OBJECTS:
            return self._channel.call(self._number, name, args, named)
        mine = args[0] if args else named.get(_object_name(named))
        counts = name not in FROM_ROOT or _root(args, named) == self.rank
        args, named = _with_object(_pickled(name, mine) if counts else None, args, named)
        if name in COMBINE:
            args, named = _with_op(args, named)
        value = self._channel.call(self._number, name, args, named)
        return mine if name == "bcast" and counts else value


def _object_name(named):
    return "obj" if "obj" in named else "sendobj"


def _root(args, named):
    return named.get("root", args[1] if len(args) > 1 else 0)


def _pickled(name, value):
    if name in EACH:
        return [Pickled(part) for part in value]
    return Pickled(value)


def _with_object(sent, args, named):
    """The arguments of a call, with what is sent in the place of its object."""
    if args:
        return (sent, *args[1:]), named
    return args, {**named, _object_name(named): sent}


def _with_op(args, named):
    """The arguments of a call, with an op that takes pickled objects in the place of its op."""
    op = Combining(args[1] if len(args) > 1 else named.get("op"))
    others = {key: value for key, value in named.items() if key != "op"}
    if len(args) < 3:
        return args[:1], {**others, "op": op}
    return (args[0], op, *args[2:]), others


class Request:
    """What an Isend and its like return."""

    def __init__(self, channel, number):
        self.channel, self.number = channel, number

    def __getattr__(self, name):
        if name not in ("Wait", "wait", "Test", "test", "Free"):
            raise AttributeError(name)
        return lambda *status: self.channel.call("request", name, (self.number, *status))


def _of_all(name):
    def method(requests, *status):
        requests = list(requests)
        if not requests:
            return True if name in ("Waitall", "Testall") else []
        return requests[0].channel.call(
            "requests", name, ([request.number for request in requests], *status)
        )

    return staticmethod(method)


for _name in ("Waitall", "waitall", "Waitany", "waitany", "Testall", "testall"):
    setattr(Request, _name, _of_all(_name))


class Ranked:
    """The student's function as a rank of a rehearsal calls it: (end, rank, size, clock, *args)."""

    def __init__(self, fn, call):
        self.fn, self.call, self.__name__ = fn, call, getattr(fn, "__name__", "")
        if hasattr(fn, "__code__"):
            self.__code__ = fn.__code__  # the names of its arguments are told

    def __call__(self, end, rank, size, clock, *args):
        channel = RankChannel(lambda *asked: self.call(end, asked))
        comm: Any = Comm(channel, 0, rank, size)
        # handed to what the check gave, it is the rehearsal's own there
        comm._peer_number = end._peer_number
        with _as_mpi(comm, clock), _salted(rank):
            return _copy(self.fn)(comm, *args)


def _tell(status, source, tag, size):
    """Write into an MPI.Status."""
    from mpi4py import MPI

    status.Set_source(source)
    status.Set_tag(tag)
    status.Set_elements(MPI.BYTE, size)


def _copy(fn):
    """As each rank of a rehearsal gets it: with copies of the names that it uses."""
    try:
        import cloudpickle

        return pickle.loads(cloudpickle.dumps(fn))
    except Exception:
        return fn


@contextlib.contextmanager
def _as_mpi(comm, clock):
    """MPI.COMM_WORLD and its like are the rehearsal's meanwhile."""
    from mpi4py import MPI

    names = {"COMM_WORLD": comm, "Request": Request} | ({"Wtime": comm.Wtime} if clock else {})
    before = {name: getattr(MPI, name) for name in names}
    vars(MPI).update(names)
    try:
        yield
    finally:
        vars(MPI).update(before)


@contextlib.contextmanager
def _salted(rank):
    """hash() of texts and bytes is another one in each process, as it is on real ranks."""
    import builtins

    plain = builtins.hash

    def salted(value):
        return plain(value) if isinstance(value, numbers.Number) else plain((rank, value))

    builtins.hash = salted
    try:
        yield
    finally:
        builtins.hash = plain


def _memory(owner):
    """The bytes of an array where they lie."""
    first, last = np.lib.array_utils.byte_bounds(owner)
    return memoryview(
        (ctypes.c_char * (last - first if owner.size else 0)).from_address(first)
    ).cast("B")


def _where():
    """(line, its text, function) of the innermost line of a cell, of who is calling."""
    frame: Any = sys._getframe(1)
    while frame is not None and not frame.f_code.co_filename.startswith(("<", "/tmp/ipykernel_")):
        frame = frame.f_back
    if frame is None:
        return None, "", ""
    file, line = frame.f_code.co_filename, frame.f_lineno
    return line, linecache.getline(file, line).strip(), frame.f_code.co_name
