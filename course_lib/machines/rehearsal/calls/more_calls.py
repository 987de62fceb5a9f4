"""More of the communicator: buffered and ready sends, probes, persistent requests, groups, names."""

import operator
from typing import Any

from course_lib.machines.rehearsal.buffers import Buffer, real_self
from course_lib.machines.rehearsal.calls.groups import Group
from course_lib.machines.rehearsal.calls.persistent import begins
from course_lib.machines.rehearsal.requests import PICKLED, Receiving, set_status
from course_lib.machines.rehearsal.world import fits


class MoreCalls:
    """Mixed into `Comm`."""

    _world: Any
    _owner: Any
    _ranks: list
    _rank: int
    _size: int
    _key: tuple
    _name: Any
    _freed: bool
    _errors: Any = None
    _made: Any
    _enter: Any
    _send: Any
    _peer: Any
    _tag: Any

    def Bsend(self, buf, dest, tag=0):
        self._room(Buffer(buf).data.nbytes)
        self._send("Bsend", Buffer, buf, dest, tag).finish()

    def Ibsend(self, buf, dest, tag=0):
        self._room(Buffer(buf).data.nbytes)
        return self._send("Ibsend", Buffer, buf, dest, tag, held=True)

    def Rsend(self, buf, dest, tag=0):
        self._send("Rsend", Buffer, buf, dest, tag, ready=True).finish()

    def Irsend(self, buf, dest, tag=0):
        return self._send("Irsend", Buffer, buf, dest, tag, held=True, ready=True)

    def _room(self, nbytes):
        """Raises what MPI raises for a Bsend that the attached buffer cannot take."""
        rank = self._owner
        waiting = [s for queue in self._world.sent.values() for s in queue if s.rank is rank]
        held = sum(s.nbytes for s in waiting if s.op.lower().startswith(("bsend", "ibsend")))
        if rank.attached is None or rank.attached < held + nbytes:
            has = "none was attached" if rank.attached is None else f"it has {rank.attached} bytes"
            text = f"a Bsend of {nbytes} bytes needs a buffer, MPI.Attach_buffer, and {has}"
            self._world.raise_mpi("ERR_BUFFER", text)

    def Probe(self, source=None, tag=None, status=None):
        self._probe("Probe", source, tag, status, wait=True)
        return True

    def Iprobe(self, source=None, tag=None, status=None):
        return self._probe("Iprobe", source, tag, status, wait=False) is not None

    def Mprobe(self, source=None, tag=None, status=None):
        return self._taken(self._probe("Mprobe", source, tag, status, wait=True))

    def Improbe(self, source=None, tag=None, status=None):
        return self._taken(self._probe("Improbe", source, tag, status, wait=False))

    probe, iprobe, mprobe, improbe = Probe, Iprobe, Mprobe, Improbe

    def _probe(self, name, source, tag, status, wait):
        """The message that is there, or None; it stays where it is, its envelope goes into status."""
        self._enter()
        source, tag = self._peer("source", source), self._tag(tag, True)
        rank, key, order = self._owner, (self._key, self._rank), self._world.order
        if source < 0 and self._size > 2:
            self._world.open = True
        others = [r for r in self._ranks if r != rank.index]
        waits = (f"{name}()", lambda: [self._ranks[source]] if source >= 0 else others)

        def found():
            queue = self._world.sent[key]
            return next((s for s in queue if fits(s.envelope, (source, tag))), None)

        if wait and order and source < 0:
            message = order.probed(rank, key, (source, tag), waits)
        else:
            if found() is None and not wait:
                rank.poll()
            if found() is None and wait:
                rank.wait(lambda: getattr(found(), "begin", None), waits)
            message = found()
        if message is not None:
            set_status(status, message.envelope, message.nbytes)
        return message

    def _taken(self, message):
        """A message that only the `Message` can receive now."""
        if message is None:
            return None
        key = (self._key, self._rank)
        self._world.sent[key] = [s for s in self._world.sent[key] if s is not message]
        mine = ("taken", self._owner.index, message.rank.index, message.number)
        self._world.sent[mine] = [message]
        return Message(self, message, mine)

    def Get_group(self):
        return Group(self._ranks, self._owner.index)

    group = property(Get_group)

    def Create_group(self, group, tag=0):
        """Of a group whose ranks alone call it."""
        self._enter()
        if group.Get_rank() < 0:
            self._world.raise_mpi("ERR_GROUP", "Create_group: the rank is not in the group")
        made = self._owner.count_up(("group", self._key, tag, tuple(group.ranks)))
        key = (*self._key, "group", tag, tuple(group.ranks), made)
        comm = self._made(self._world, self._owner, group.ranks, key)
        comm.Barrier()
        self._world.collectives[self._owner.index]["Barrier"] -= 1
        return comm

    @classmethod
    def Compare(cls, comm1, comm2):
        from mpi4py import MPI

        if comm1._key == comm2._key:
            return MPI.IDENT
        same = Group.Compare(comm1.Get_group(), comm2.Get_group())
        return MPI.CONGRUENT if same == MPI.IDENT else same

    def Get_name(self):
        return self._name or ("" if self._key else "MPI_COMM_WORLD")

    def Set_name(self, name):
        self._name = name

    name = property(Get_name, Set_name)

    def Is_inter(self):
        return False

    def Is_intra(self):
        return True

    is_inter, is_intra = property(Is_inter), property(Is_intra)
    is_topo = property(lambda self: self.topology >= 0)
    topology = property(lambda self: self.Get_topology())

    def Get_topology(self):
        from mpi4py import MPI

        return MPI.UNDEFINED

    def Get_attr(self, keyval):
        return real_self().Get_attr(keyval)

    def Set_errhandler(self, errhandler):
        """Errors are exceptions here, whatever the handler."""
        self._errors = errhandler

    def Get_errhandler(self):
        from mpi4py import MPI

        return self._errors or MPI.ERRORS_RETURN

    def __eq__(self, other):
        from mpi4py import MPI

        if self._freed:
            return other is MPI.COMM_NULL
        return getattr(other, "_key", None) == self._key

    def __bool__(self):
        return not self._freed

    __hash__ = object.__hash__


for _name in ("Send", "Ssend", "Bsend", "Rsend", "Recv"):
    setattr(MoreCalls, f"{_name}_init", begins(f"I{_name.lower()}"))


class Message:
    """What Mprobe gives: a message that nobody else can receive."""

    def __init__(self, comm, message, key):
        self._comm, self._message, self._key = comm, message, key

    def Recv(self, buf, status=None):
        self._receive("Message.Recv", buf).finish(status)

    def Irecv(self, buf):
        return self._receive("Message.Irecv", buf, held=True)

    def recv(self, status=None):
        return self._receive("Message.recv", PICKLED).finish(status)

    def irecv(self):
        return self._receive("Message.irecv", PICKLED, held=True)

    def _receive(self, name, buf, held=False):
        comm, message = self._comm, self._message
        comm._enter()
        if message is None:
            comm._world.raise_mpi("ERR_REQUEST", "this message was received before")
        self._message = None
        buffer = None if buf is PICKLED else Buffer(buf, write=True)
        said = f"{name}(source={operator.index(message.envelope[0])})"
        peers = [message.rank.index]
        receiving = Receiving(
            comm._owner, comm._world, said, lambda: peers, held, buffer, message.envelope
        )
        comm._world.match(message, receiving, self._key)
        return receiving
