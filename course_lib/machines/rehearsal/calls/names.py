"""Names of mpi4py.MPI that a rehearsal has its own of, while it runs; and those that it has not."""

from contextlib import contextmanager

from course_lib.machines.rehearsal.buffers import real_self
from course_lib.machines.rehearsal.calls.groups import Group
from course_lib.machines.rehearsal.calls.more_calls import Message
from course_lib.machines.rehearsal.calls.persistent import Prequest
from course_lib.machines.rehearsal.comm import Cartcomm, Comm
from course_lib.machines.rehearsal.places import refused
from course_lib.machines.rehearsal.requests import Request

# one-sided communication, files, new processes, other worlds: nothing of that is rehearsed
ABSENT = ("Win", "File", "Session", "Grequest", "Intercomm", "Open_port", "Lookup_name")


class Proxy:
    """MPI.COMM_WORLD or COMM_SELF while a rehearsal runs: that of the rank whose turn it is."""

    def __init__(self, find):
        vars(self)["_find"] = find

    def __getattr__(self, name):
        return getattr(self._find(), name)

    def __setattr__(self, name, value):
        setattr(self._find(), name, value)

    def __eq__(self, other):
        return self._find() == other

    def __bool__(self):
        return True

    __hash__ = object.__hash__


class Absent:
    """A class or function of MPI that is not rehearsed: any use of it says so."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        raise refused("the MPI", self._name)

    def __call__(self, *args, **named):
        raise refused("the MPI", self._name)


def own_names(turns, clock):
    """{name: what it is in a rehearsal}. clock: Wtime is the model's."""
    rank = lambda: turns.running  # noqa: E731
    names = {
        "COMM_WORLD": Proxy(lambda: rank().comm),
        "COMM_SELF": Proxy(lambda: rank().alone),
        "Comm": Comm,
        "Intracomm": Comm,
        "Cartcomm": Cartcomm,
        "Request": Request,
        "Prequest": Prequest,
        "Message": Message,
        "Group": Group,
        "GROUP_EMPTY": Group(),
        "Attach_buffer": lambda buf: _attach(rank(), buf),
        "Detach_buffer": lambda: _detach(rank()),
        "Finalize": lambda: _finalize(rank()),
        "Is_finalized": lambda: rank().finalized,
        **{name: Absent(name) for name in ABSENT},
    }
    if clock:
        names["Wtime"] = lambda: rank().clock
    return names


def _attach(rank, buf):
    if rank.attached is not None:
        rank.comm._world.raise_mpi("ERR_BUFFER", "a buffer for Bsend is attached already")
    rank.attached = memoryview(buf).nbytes


def _detach(rank):
    """Waits until the messages in the buffer are on their way."""
    sent = rank.comm._world.sent
    said = ("bsend", "ibsend")

    def left():
        waiting = [s for queue in sent.values() for s in queue if s.rank is rank]
        return [s for s in waiting if s.op.lower().startswith(said)]

    rank.until(
        lambda: None if left() else rank.clock,
        ("Detach_buffer()", lambda: sorted({p for s in left() for p in s.peers()})),
    )
    rank.attached = None


def _finalize(rank):
    rank.comm._enter()
    rank.finalized = True


@contextmanager
def as_mpi(turns, clock):
    """The names in the place of mpi4py's, put back afterwards."""
    from mpi4py import MPI

    real_self()
    names = own_names(turns, clock)
    before = {name: getattr(MPI, name) for name in names}
    vars(MPI).update(names)
    try:
        yield
    finally:
        vars(MPI).update(before)
