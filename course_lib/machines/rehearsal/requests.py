"""Requests: what a rank has begun and must wait for. Also Waitall and its like, as MPI.Request has them."""

import pickle
from typing import Any

import numpy as np

from course_lib.machines.rehearsal.buffers import describe, poison

PICKLED = "pickled object"


class Request:
    """Anything begun: done at `time` of the model's clock, None before; `moved`: when its bytes began to move.

    held: it was begun by a call that does not wait (Isend, ...), so that somebody must. peers(): whom it waits for.
    """

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

    def Wait(self, status=None):
        self.rank.enter()
        self.finish(status)
        return True

    def wait(self, status=None):
        self.Wait(status)
        return self.value

    def Test(self, status=None):
        self.rank.enter()
        if self.time is None and not self.finished:
            self.rank.poll()
        if not self.finished and (self.time is None or self.under_way()):
            return False
        self.finish(status)
        return True

    def under_way(self):
        """Is it done later only? Who asks again at the same time waits for it: a loop of Tests must end."""
        again, self.tested = self.tested == self.rank.clock, self.rank.clock
        return self.time > self.rank.clock and not again

    def test(self, status=None):
        return (True, self.value) if self.Test(status) else (False, None)

    def Free(self):
        self.finished = True

    @classmethod
    def Waitall(cls, requests, statuses=None):
        for i, request in enumerate(requests):
            request.Wait(statuses[i] if statuses else None)
        return True

    @classmethod
    def waitall(cls, requests, statuses=None):
        cls.Waitall(requests, statuses)
        return [request.value for request in requests]

    @classmethod
    def Waitany(cls, requests, status=None):
        from mpi4py import MPI

        requests = list(requests)
        live = [request for request in requests if not request.finished]
        if not live:
            return MPI.UNDEFINED
        rank = live[0].rank
        rank.enter()
        rank.until(
            lambda: min((r.time for r in live if r.time is not None), default=None),
            ("Waitany", lambda: sorted({peer for r in live for peer in r.peers()})),
        )
        first = min((r for r in live if r.time is not None), key=lambda r: r.time)
        first.finish(status)
        return requests.index(first)

    @classmethod
    def waitany(cls, requests, status=None):
        index = cls.Waitany(requests, status)
        return index, requests[index].value if index >= 0 else None

    @classmethod
    def Testall(cls, requests, statuses=None):
        requests = list(requests)
        if any(request.time is None and not request.finished for request in requests):
            requests[0].rank.enter()
            requests[0].rank.poll()
        if any(
            not request.finished and (request.time is None or request.under_way())
            for request in requests
        ):
            return False
        return cls.Waitall(requests, statuses)

    @classmethod
    def testall(cls, requests, statuses=None):
        done = cls.Testall(requests, statuses)
        return done, [request.value for request in requests] if done else None


class Sending(Request):
    """data: the bytes where they stand, kind: their dtype or PICKLED. A short (eager) message is copied at once."""

    def __init__(self, rank, world, op, peers, held, data, kind, envelope, eager):
        super().__init__(rank, world, op, peers, held, data.nbytes)
        self.data, self.kind, self.envelope, self.eager = data, kind, envelope, eager
        self.taken: Any = None  # the bytes as the receiver gets them
        self.before = data.copy() if held or eager else data

    def land(self, status):
        if self.held and not np.array_equal(self.before, self.data):
            self.world.find(
                "buffer",
                self.rank,
                self.place,
                f"rank {self.rank.index} changed the buffer of its {self.op} before it was waited for: the "
                "receiver gets the old numbers, the new ones or some of each",
                "a buffer belongs to MPI until the end of the Wait: wait first, or copy",
            )


class Receiving(Request):
    """buffer: a Buffer, or None for a pickled object. The memory of a held one is poisoned until its Wait."""

    message: Any = None

    def __init__(self, rank, world, op, peers, held, buffer, envelope):
        super().__init__(rank, world, op, peers, held, buffer.data.nbytes if buffer else 0)
        self.buffer, self.envelope = buffer, envelope
        if held and buffer:
            self.before = buffer.data.copy()
            poison(buffer.data, buffer.dtype)
            self.poisoned = buffer.data.copy()

    def partner(self):
        return self.message.rank.index if self.message else super().partner()

    def land(self, status):
        message = self.message
        if message is None:  # from PROC_NULL
            from mpi4py import MPI

            return set_status(status, (MPI.PROC_NULL, MPI.ANY_TAG), 0)
        if self.buffer:
            self._check_poison()
            self._fill(message, self.buffer.data)
        set_status(status, message.envelope, message.nbytes)
        if not self.buffer:
            self.value = pickle.loads(message.taken.tobytes())

    def _check_poison(self):
        if self.held:
            if not np.array_equal(self.poisoned, self.buffer.data):
                self.world.find(
                    "buffer",
                    self.rank,
                    self.place,
                    f"rank {self.rank.index} wrote to the buffer of its {self.op} before it was waited for",
                    "a buffer belongs to MPI from the Irecv to the end of its Wait: what is written "
                    "there in between may be lost, or spoil the message",
                )
            self.buffer.data[...] = self.before

    def _fill(self, message, room):
        mine, theirs = self.buffer.dtype, message.kind
        if theirs != mine:
            sent = PICKLED if theirs == PICKLED else theirs.name
            self.world.find(
                "type",
                self.rank,
                self.place,
                f"rank {self.rank.index}'s {self.op} takes {mine.name}, and rank {message.rank.index} has "
                f"sent {'a ' * (theirs == PICKLED)}{sent}: the bytes are read as other numbers",
                "send() goes with recv(), Send() with Recv(), with one dtype on both sides",
            )
        fits = min(message.nbytes, room.nbytes)
        room[:fits] = message.taken[:fits]
        if message.nbytes > room.nbytes:
            kind = np.dtype("u1") if theirs == PICKLED else theirs
            self.world.raise_mpi(
                "ERR_TRUNCATE",
                f"the message from rank {message.rank.index} to rank {self.rank.index}"
                f" has {describe(message.nbytes, kind)}, and the buffer of {self.op} room for "
                f"{describe(room.nbytes, mine)}",
            )


def set_status(status, envelope, nbytes):
    """Write into an MPI.Status, if one was given."""
    if status is not None:
        from mpi4py import MPI

        status.Set_source(envelope[0])
        status.Set_tag(envelope[1])
        status.Set_elements(MPI.BYTE, nbytes)
