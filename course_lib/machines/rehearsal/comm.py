"""The pretend communicator: point to point. Its names, arguments and exceptions are those of mpi4py."""

import operator
import pickle

import numpy as np

from course_lib.machines.rehearsal.buffers import Buffer, real_self
from course_lib.machines.rehearsal.calls.cart import OnGrid
from course_lib.machines.rehearsal.calls.more_calls import MoreCalls
from course_lib.machines.rehearsal.collective_calls import CollectiveCalls
from course_lib.machines.rehearsal.places import refused
from course_lib.machines.rehearsal.requests import PICKLED, Receiving, Sending
from course_lib.machines.rehearsal.world import fits

ROOM = 1 << 15  # bytes that mpi4py's irecv takes a pickled object of, unless it is given a buffer


class Comm(MoreCalls, CollectiveCalls):
    """One rank's end of a communicator. ranks: those of the rehearsal that belong to it, in order."""

    def __init__(self, world, owner, ranks, key=()):
        self._world, self._owner, self._ranks, self._key, self._calls = world, owner, ranks, key, 0
        self._made, self._cart, self._freed, self._name = Comm, Cartcomm, False, None
        self._rank, self._size = ranks.index(owner.index), len(ranks)

    def __getattr__(self, name):
        raise refused("the communicator", name)

    rank = property(lambda self: self.Get_rank())
    size = property(lambda self: self.Get_size())

    def Get_rank(self):
        self._check()
        return self._rank

    def Get_size(self):
        self._check()
        return self._size

    def Free(self):
        """Nobody may use it any more."""
        self._enter()
        if not self._key:
            self._world.raise_mpi("ERR_COMM", "COMM_WORLD must not be freed")
        self._freed = True

    free = Disconnect = Free

    def _check(self):
        """Raises what MPI raises for a communicator that is none."""
        if self._freed:
            self._world.raise_mpi("ERR_COMM", "the communicator was freed: no call may use it now")
        if self._owner.finalized:
            self._world.raise_mpi("ERR_OTHER", "no call of MPI may follow MPI.Finalize()")

    def _enter(self):
        """At the start of every call."""
        self._check()
        self._owner.enter()

    def compute(self, seconds):
        """Work of so many seconds, on the model's clock."""
        self._owner.check()
        begin = self._owner.clock
        self._owner.clock += seconds
        self._world.event(self._owner, "compute", None, 0, begin, self._owner.place())

    def Abort(self, errorcode=0):
        """Ends all ranks, as on real ones."""
        raise SystemExit(f"Abort({errorcode}): all ranks are ended")

    def Send(self, buf, dest, tag=0):
        """Like all that follow: as mpi4py has it."""
        self._send("Send", Buffer, buf, dest, tag).finish()

    def Ssend(self, buf, dest, tag=0):
        self._send("Ssend", Buffer, buf, dest, tag).finish()

    def Isend(self, buf, dest, tag=0):
        return self._send("Isend", Buffer, buf, dest, tag, held=True)

    def Issend(self, buf, dest, tag=0):
        return self._send("Issend", Buffer, buf, dest, tag, held=True)

    def bsend(self, obj, dest, tag=0):
        self._room(len(Pickled(obj).data))
        self._send("bsend", Pickled, obj, dest, tag).finish()

    def ibsend(self, obj, dest, tag=0):
        self._room(len(Pickled(obj).data))
        return self._send("ibsend", Pickled, obj, dest, tag, held=True)

    def issend(self, obj, dest, tag=0):
        return self._send("issend", Pickled, obj, dest, tag, held=True)

    def send(self, obj, dest, tag=0):
        self._send("send", Pickled, obj, dest, tag).finish()

    def ssend(self, obj, dest, tag=0):
        self._send("ssend", Pickled, obj, dest, tag).finish()

    def isend(self, obj, dest, tag=0):
        return self._send("isend", Pickled, obj, dest, tag, held=True)

    def Recv(self, buf, source=None, tag=None, status=None):
        self._receive("Recv", buf, source, tag).finish(status)

    def Irecv(self, buf, source=None, tag=None):
        return self._receive("Irecv", buf, source, tag, held=True)

    def recv(self, buf=None, source=None, tag=None, status=None):
        return self._receive("recv", PICKLED, source, tag).finish(status)

    def irecv(self, buf=None, source=None, tag=None):
        request = self._receive("irecv", PICKLED, source, tag, held=True)
        request.room = ROOM if buf is None else buf if isinstance(buf, int) else len(buf)
        return request

    def Sendrecv(
        self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=None, status=None
    ):
        if Buffer(sendbuf).overlaps(Buffer(recvbuf, write=True)):
            self._world.find(
                "buffer",
                self._owner,
                self._owner.place(),
                f"rank {self._owner.index}'s Sendrecv receives into the memory that it sends from: it may send "
                "the data that has just arrived",
                "receive into another array, or use Sendrecv_replace",
            )
        self._both("Sendrecv", Buffer, sendbuf, dest, sendtag, recvbuf, source, recvtag, status)

    def Sendrecv_replace(self, buf, dest, sendtag=0, source=None, recvtag=None, status=None):
        copy = Buffer(buf, write=True)
        data = copy.data.copy().view(copy.dtype)
        self._both("Sendrecv_replace", Buffer, data, dest, sendtag, buf, source, recvtag, status)

    def sendrecv(
        self, sendobj, dest, sendtag=0, recvbuf=None, source=None, recvtag=None, status=None
    ):
        return self._both(
            "sendrecv", Pickled, sendobj, dest, sendtag, PICKLED, source, recvtag, status
        )

    def _send(self, name, kind, data, dest, tag, held=False, enter=True, ready=False):
        """Post a message; returns its Sending."""
        dest, tag = self._peer("dest", dest), self._tag(tag)
        if enter:
            self._enter()
        message = kind(data)
        short = len(message.data) <= self._world.eager
        how = name.lower().removeprefix("i")
        eager = (short and how != "ssend") or how == "bsend"
        null = dest < 0
        said = f"{name}(dest={'PROC_NULL' if null else dest}{f', tag={tag}' if tag else ''})"
        peers, envelope = [] if null else [self._ranks[dest]], (self._rank, tag)
        base = self._owner, self._world, said, lambda: peers, held and not null
        sending = Sending(*base, message, envelope, eager)
        if null:
            sending.time = self._owner.clock
            return sending
        if ready and not any(
            fits(envelope, r.envelope) for r in self._world.asked[self._key, dest]
        ):
            self._not_ready(sending)
        self._world.post_send(sending, (self._key, dest))
        return sending

    def _not_ready(self, sending):
        rank = self._owner
        self._world.find(
            "early",
            rank,
            sending.place,
            f"rank {rank.index}'s {sending.op} begins before its receiver has posted the receive",
            "a ready send (Rsend) is only correct if the receive is already posted: use Send",
        )

    def _receive(self, name, buf, source, tag, held=False, enter=True):
        """Post a receive; returns its Receiving. buf: a spec, or PICKLED."""
        source, tag = self._peer("source", source), self._tag(tag, True)
        if enter:
            self._enter()
        null = source == _mpi().PROC_NULL
        buffer = None if buf is PICKLED or null else Buffer(buf, write=True)
        said = f"{name}(source={self._named(source)}{f', tag={tag}' if tag >= 0 else ''})"
        others = [r for r in self._ranks if r != self._owner.index]
        peers = [] if null else others if source < 0 else [self._ranks[source]]
        receiving = Receiving(
            self._owner, self._world, said, lambda: peers, held and not null, buffer, (source, tag)
        )
        if null:
            receiving.time = self._owner.clock
        else:
            self._world.post_receive(receiving, (self._key, self._rank))
        return receiving

    def _both(self, name, kind, data, dest, sendtag, buf, source, recvtag, status):
        """A send and a receive that cannot wait for each other."""
        rank = self._owner
        self._enter()
        begin, place = rank.clock, rank.place()
        receiving = self._receive(name, buf, source, recvtag, enter=False)
        sending = self._send(name, kind, data, dest, sendtag, enter=False)
        parts = (sending, receiving)
        op = f"{name}(dest={self._named(dest)}, source={self._named(receiving.envelope[0])})"
        rank.until(
            lambda: (
                None
                if None in (sending.time, receiving.time)
                else max(sending.time, receiving.time)
            ),
            (op, lambda: sorted({p for part in parts if part.time is None for p in part.peers()})),
        )
        moved = min((part.moved for part in parts if part.moved is not None), default=None)
        peers = sorted({*sending.peers(), *receiving.peers()})
        to = next(iter(sending.peers()), None)
        self._world.event(rank, name, peers or None, sending.nbytes, begin, place, moved, to)
        sending.finished = receiving.finished = True
        receiving.land(status)
        return receiving.value

    def _peer(self, name, value):
        """A rank of this communicator, PROC_NULL or ANY_SOURCE, as an int."""
        MPI = _mpi()
        value = MPI.ANY_SOURCE if value is None and name == "source" else operator.index(value)
        if not (
            0 <= value < self._size
            or (value == MPI.PROC_NULL and name != "root")
            or (value == MPI.ANY_SOURCE and name == "source")
        ):
            self._world.raise_mpi(
                "ERR_ROOT" if name == "root" else "ERR_RANK",
                f"{name}={value}, but the ranks are 0 to {self._size - 1}",
            )
        return value

    def _tag(self, value, receiving=False):
        value = _mpi().ANY_TAG if value is None and receiving else operator.index(value)
        if value < 0 and not (receiving and value == _mpi().ANY_TAG):
            self._world.raise_mpi("ERR_TAG", f"tag={value}: a tag is 0 or more")
        if value > real_self().Get_attr(_mpi().TAG_UB):
            self._world.raise_mpi("ERR_TAG", f"tag={value}: more than MPI.TAG_UB")
        return value

    def _named(self, peer):
        MPI = _mpi()
        return {MPI.PROC_NULL: "PROC_NULL", MPI.ANY_SOURCE: "ANY_SOURCE"}.get(peer, peer)


class Cartcomm(OnGrid, Comm):
    """A communicator of ranks on a grid. made: the communicator of those ranks."""

    def __init__(self, made, dims, periods):
        super().__init__(made._world, made._owner, made._ranks, made._key)
        self.dims, self.periods = dims, periods


# calls whose arguments or results live in one process with the ranks: not for ranks in processes of their own
HERE_ALONE = {"Create", "Create_cart", "free", "Disconnect", "bsend", "ibsend"} | {
    name
    for name in dir(Comm)
    if name.endswith("_init") or (name in vars(MoreCalls) and "probe" not in name.lower())
}
HERE_ALONE |= {name for name in dir(Comm) if "mprobe" in name.lower()}


class Pickled:
    """An object as a message: a copy of it as bytes, as mpi4py sends it."""

    def __init__(self, obj):
        self.data = np.frombuffer(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL), np.uint8)
        self.dtype = PICKLED

    def now(self):
        """The bytes, which nobody can change."""
        return self.data


def _mpi():
    from mpi4py import MPI

    return MPI
