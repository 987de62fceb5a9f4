"""The pretend communicator: point to point. Its names, arguments and exceptions are those of mpi4py."""

import operator
import pickle

import numpy as np

from course_lib.machines.rehearsal.buffers import Buffer
from course_lib.machines.rehearsal.collective_calls import CollectiveCalls
from course_lib.machines.rehearsal.requests import PICKLED, Receiving, Sending, set_status


class Comm(CollectiveCalls):
    """One rank's end of a communicator. ranks: those of the rehearsal that belong to it, in order."""

    def __init__(self, world, owner, ranks, key=()):
        self._world, self._owner, self._ranks, self._key, self._calls = world, owner, ranks, key, 0
        self._made, self.rank, self.size = Comm, ranks.index(owner.index), len(ranks)

    def __getattr__(self, name):
        raise AttributeError(
            f"the communicator of a rehearsal has no {name!r}: it may exist on real ranks, which "
            "run the same function"
        )

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def Free(self):
        """Nothing to give back here."""

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
        self._send("Send", Buffer, buf, dest, tag).finish()

    def Ssend(self, buf, dest, tag=0):
        self._send("Ssend", Buffer, buf, dest, tag).finish()

    def Isend(self, buf, dest, tag=0):
        return self._send("Isend", Buffer, buf, dest, tag, held=True)

    def Issend(self, buf, dest, tag=0):
        return self._send("Issend", Buffer, buf, dest, tag, held=True)

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
        return self._receive("irecv", PICKLED, source, tag, held=True)

    def Sendrecv(
        self, sendbuf, dest, sendtag=0, recvbuf=None, source=None, recvtag=None, status=None
    ):
        if Buffer(sendbuf).overlaps(Buffer(recvbuf, write=True)):
            self._world.find(
                "buffer",
                self._owner,
                self._owner.place(),
                f"rank {self._owner.index}'s Sendrecv receives into the memory that it sends from: what "
                "goes out may be what has just come in",
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

    def Probe(self, source=None, tag=None, status=None):
        return self._probe(source, tag, status, wait=True)

    def Iprobe(self, source=None, tag=None, status=None):
        return self._probe(source, tag, status, wait=False)

    probe, iprobe = Probe, Iprobe

    def _send(self, name, kind, data, dest, tag, held=False, enter=True):
        """Post a message; returns its Sending."""
        dest, tag = self._peer("dest", dest), self._tag(tag)
        if enter:
            self._owner.enter()
        message = kind(data)
        eager = message.data.nbytes <= self._world.eager and name.lower() not in ("ssend", "issend")
        null = dest < 0
        said = f"{name}(dest={'PROC_NULL' if null else dest}{f', tag={tag}' if tag else ''})"
        peers = [] if null else [self._ranks[dest]]
        sending = Sending(
            self._owner,
            self._world,
            said,
            lambda: peers,
            held and not null,
            message.data,
            message.dtype,
            (self.rank, tag),
            eager,
        )
        if null:
            sending.time = self._owner.clock
        else:
            self._world.post_send(sending, (self._key, dest))
        return sending

    def _receive(self, name, buf, source, tag, held=False, enter=True):
        """Post a receive; returns its Receiving. buf: a spec, or PICKLED."""
        source, tag = self._peer("source", source), self._tag(tag, True)
        if enter:
            self._owner.enter()
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
            self._world.post_receive(receiving, (self._key, self.rank))
        return receiving

    def _both(self, name, kind, data, dest, sendtag, buf, source, recvtag, status):
        """A send and a receive that cannot wait for each other."""
        rank = self._owner
        rank.enter()
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
        self._world.event(rank, name, peers or None, sending.nbytes, begin, place, moved)
        sending.finished = receiving.finished = True
        receiving.land(status)
        return receiving.value

    def _probe(self, source, tag, status, wait):
        """Is there a message? Its envelope into status; the message stays where it is."""
        self._owner.enter()
        source, tag = self._peer("source", source), self._tag(tag, True)
        queue = self._world.sent[self._key, self.rank]
        others = [r for r in self._ranks if r != self._owner.index]

        def found():
            return next((s for s in queue if self._world.fits(s.envelope, (source, tag))), None)

        if found() is None and not wait:
            self._owner.poll()
        if found() is None and wait:
            self._owner.wait(
                lambda: getattr(found(), "begin", None),
                ("Probe()", lambda: [self._ranks[source]] if source >= 0 else others),
            )
        message = found()
        if message is not None:
            set_status(status, message.envelope, message.nbytes)
        return message is not None

    def _peer(self, name, value):
        """A rank of this communicator, PROC_NULL or ANY_SOURCE, as an int."""
        MPI = _mpi()
        value = MPI.ANY_SOURCE if value is None and name == "source" else operator.index(value)
        if not (
            0 <= value < self.size
            or value == MPI.PROC_NULL
            or (value == MPI.ANY_SOURCE and name == "source")
        ):
            self._world.raise_mpi(
                "ERR_ROOT" if name == "root" else "ERR_RANK",
                f"{name}={value}, and the ranks are 0 to {self.size - 1}",
            )
        return value

    def _tag(self, value, receiving=False):
        value = _mpi().ANY_TAG if value is None and receiving else operator.index(value)
        if value < 0 and not (receiving and value == _mpi().ANY_TAG):
            self._world.raise_mpi("ERR_TAG", f"tag={value}: a tag is 0 or more")
        return value

    def _named(self, peer):
        MPI = _mpi()
        return {MPI.PROC_NULL: "PROC_NULL", MPI.ANY_SOURCE: "ANY_SOURCE"}.get(peer, peer)


class Pickled:
    """An object as a message: a copy of it as bytes, as mpi4py sends it."""

    def __init__(self, obj):
        self.data = np.frombuffer(pickle.dumps(obj, pickle.HIGHEST_PROTOCOL), np.uint8)
        self.dtype = PICKLED


def _mpi():
    from mpi4py import MPI

    return MPI
