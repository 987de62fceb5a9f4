"""Requests: what a rank has begun and must wait for: a message that it sends, one that it receives."""

import pickle
from typing import Any

import numpy as np

from course_lib.machines.rehearsal.buffers import describe
from course_lib.machines.rehearsal.calls.completion import Completion
from course_lib.machines.rehearsal.memory import layout
from course_lib.machines.rehearsal.memory.pending import Hold

PICKLED = "pickled object"
OWNER = "a buffer belongs to MPI until the end of the Wait: wait first, or copy"


class Request(Completion):
    """Anything begun: done at `time` of the model's clock, None before; `moved`: when its bytes began to move.

    held: it was begun by a call that does not wait (Isend, ...), so that somebody must. peers(): whom it waits for.
    """

    hold: Any = None  # the memory that is MPI's meanwhile
    cancelled = False

    def __init__(self, rank, world, op, peers, held, nbytes=0):
        self.rank = rank
        self.world = world
        self.op = op
        self.peers = peers
        self.held = held
        self.nbytes = nbytes
        self.time: Any = None
        self.tested: Any = None  # the clock at its last Test
        self.moved = self.value = self.time
        self.finished, self.place, self.begin = False, rank.place(), rank.clock
        if held:
            world.held.append(self)
            world.event(rank, op.split("(")[0], self.partner(), nbytes, rank.clock, self.place)

    def partner(self):
        """For events: the other rank, or the others."""
        peers = self.peers()
        return peers[0] if len(peers) == 1 else peers or None

    def take(self, reads=(), lands=(), arrays=()):
        """Hold memory until the end of the Wait, and say so where another request has it."""
        self.world.touch(self.rank, self.op, reads, lands)
        if self.held and (reads or lands):
            self.hold = Hold(self, reads, lands, arrays)

    def let_go(self):
        """Give the memory back; what the program did to it meanwhile is a finding."""
        hold, self.hold = self.hold, None
        if hold is None:
            return
        if hold.was_changed():
            self._touched(
                "changed", ": the receiver gets the old numbers, the new ones, or a mixture"
            )
        if hold.was_written():
            self._touched("wrote to", "")
        hold.release()

    def _touched(self, did, so):
        message = (
            f"rank {self.rank.index} {did} the buffer of its {self.op} before it was waited for"
        )
        cause = (
            OWNER
            if so
            else (
                "a buffer belongs to MPI from the Irecv to the end of its Wait: anything written there in "
                "between may be lost, or corrupt the message"
            )
        )
        self.world.find("buffer", self.rank, self.place, message + so, cause)

    def finish(self, status=None):
        """Wait until it is done, and then do what the end of a wait does. Again: nothing."""
        if self.finished:
            return self.value
        begin, rank = self.rank.clock, self.rank
        rank.until(lambda: self.time, (f"Wait for {self.op}" if self.held else self.op, self.peers))
        self.finished = True
        name, place = ("Wait", rank.place()) if self.held else (self.op.split("(")[0], self.place)
        self.world.event(rank, name, self.partner(), self.nbytes, begin, place, self.moved)
        self.land(status)
        return self.value

    def land(self, status):
        """What happens at the end, on the rank's own turn."""

    def Free(self):
        """Nobody will wait for it: it ends by itself."""
        self.finished = True
        if self.time is not None:
            self.land(None)
        self.let_go()

    free = Free

    def Cancel(self):
        """A receive that no message has come for is taken back; anything else goes on."""
        if self.time is None and self.world.withdraw(self):
            self.cancelled, self.time = True, self.rank.clock

    cancel = Cancel


class Sending(Request):
    """buffer: a Buffer or `Pickled`; its dtype, or PICKLED, is `kind`. A short (eager) message is copied at once."""

    def __init__(self, rank, world, op, peers, held, buffer, envelope, eager):
        super().__init__(rank, world, op, peers, held, buffer.data.nbytes)
        self.buffer, self.kind, self.envelope, self.eager = buffer, buffer.dtype, envelope, eager
        self.taken: Any = None  # the bytes as the receiver gets them
        self.before = buffer.data.copy() if eager else None
        self.number = rank.count_up("sent")
        if self.kind != PICKLED:
            self.take(reads=[buffer], arrays=_whole(buffer))

    def land(self, status):
        self.let_go()


class Receiving(Request):
    """buffer: a Buffer, or None for a pickled object. The memory of a held one is poisoned until its Wait."""

    message: Any = None
    room: Any = None  # bytes that a pickled object may have

    def __init__(self, rank, world, op, peers, held, buffer, envelope):
        super().__init__(rank, world, op, peers, held, buffer.data.nbytes if buffer else 0)
        self.buffer, self.envelope = buffer, envelope
        self.number = rank.count_up("asked")
        if buffer:
            self.take(lands=[buffer], arrays=_whole(buffer))

    def partner(self):
        return self.message.rank.index if self.message else super().partner()

    def land(self, status):
        message = self.message
        self.let_go()
        if self.cancelled:
            return set_cancelled(status)
        if message is None:  # from PROC_NULL
            from mpi4py import MPI

            return set_status(status, (MPI.PROC_NULL, MPI.ANY_TAG), 0)
        if self.buffer:
            self._fill(message, self.buffer.data)
        set_status(status, message.envelope, message.nbytes)
        if not self.buffer:
            self.value = self._unpickled(message)

    def _unpickled(self, message):
        if self.room is not None and message.nbytes > self.room:
            self.world.raise_mpi(
                "ERR_TRUNCATE",
                f"the pickled object from rank {message.rank.index} has {message.nbytes} bytes, but {self.op} "
                f"takes {self.room}: give it a buffer, irecv(bytearray(n), ...), or use recv",
            )
        if message.kind == PICKLED:
            return pickle.loads(message.taken.tobytes())
        try:
            return pickle.loads(message.taken.tobytes())
        except Exception as error:
            error.rehearsal = (  # type: ignore[attr-defined]
                "type",
                f"rank {self.rank.index}'s {self.op} takes a pickled object, but rank {message.rank.index} has "
                f"sent {describe(message.nbytes, message.kind)}: send() goes with recv(), Send() with Recv()",
            )
            raise

    def _fill(self, message, room):
        mine, theirs = self.buffer.dtype, message.kind
        if theirs != mine:
            self._other_type(message, mine, theirs)
        else:
            layout.of_message(self.world, message, self)
        self.buffer.put(message.taken[: min(message.nbytes, room.nbytes)])
        if message.nbytes > room.nbytes:
            kind = np.dtype("u1") if theirs == PICKLED else theirs
            self.world.raise_mpi(
                "ERR_TRUNCATE",
                f"the message from rank {message.rank.index} to rank {self.rank.index} has "
                f"{describe(message.nbytes, kind)}, but the buffer of {self.op} has room for "
                f"{describe(room.nbytes, mine)}",
            )

    def _other_type(self, message, mine, theirs):
        sent = PICKLED if theirs == PICKLED else theirs.name
        self.world.find(
            "type",
            self.rank,
            self.place,
            f"rank {self.rank.index}'s {self.op} takes {mine.name}, but rank {message.rank.index} has sent "
            f"{'a ' * (theirs == PICKLED)}{sent}: the bytes are read as wrong numbers",
            "send() goes with recv(), Send() with Recv(), with one dtype on both sides",
        )


def _whole(buffer):
    return [] if buffer.array is None else [buffer.array]


def set_status(status, envelope, nbytes):
    """Write into an MPI.Status, if one was given."""
    if status is not None:
        from mpi4py import MPI

        status.Set_source(envelope[0])
        status.Set_tag(envelope[1])
        status.Set_elements(MPI.BYTE, nbytes)
        status.Set_cancelled(False)


def set_cancelled(status):
    """The same, of a receive that was taken back."""
    if status is not None:
        status.Set_cancelled(True)
