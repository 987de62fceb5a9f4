"""What all ranks share while a rehearsal runs: messages on their way, collectives, counts, events, findings."""

import zlib
from collections import Counter, defaultdict
from typing import Any

from course_lib.machines.rehearsal.memory.pending import touched
from course_lib.machines.rehearsal.model import Links
from course_lib.machines.rehearsal.places import in_words

SMALL = 4096  # bytes of a message that are remembered


class World:
    """For n ranks; eager as in rehearse; links: `model.Links`.

    way: of poison; guard: are held arrays read-only? order: of arrival, by an `orders.Order`.
    """

    def __init__(self, n, eager, alpha, beta, way=0, guard=False, order=None):
        self.eager, self.links = -1 if eager is None else eager, Links(n, alpha, beta)
        self.way, self.guard, self.order = way, guard, order
        # not matched yet; by (communicator, receiver)
        self.sent, self.asked = defaultdict(list), defaultdict(list)
        self.ranks: list = []
        self.slots: dict = {}  # (communicator, number of the collective): {rank in it: Call}
        self.past: dict = defaultdict(
            list
        )  # communicator: its last collectives, each {rank in it: Call}
        self.held: list = []  # requests that must be waited for
        self.holds: dict = defaultdict(list)  # rank: memory that is MPI's now
        self.lent: list = []  # (rank, op, place) of all requests that ever held memory that MPI writes, or reads
        self.open = False  # could a message have come from another rank?
        self.messages, self.bytes = [0] * n, [0] * n
        self.said = [
            0
        ] * n  # of the bytes of short messages of each rank: a sum that changes with them
        self.collectives: list[Counter] = [Counter() for _ in range(n)]
        self.mismatches: list = []  # (what differs, {rank: Call}) of collectives that nobody leaves
        self.events, self.findings = [], []

    def event(self, rank, op, peer, nbytes, begin, place, moved=None, dest=None):
        """Write down what a rank has done from begin until now, on its clock. dest: of a send with a receive."""
        end = rank.clock
        wait = 0.0 if moved is None else min(max(moved - begin, 0.0), end - begin)
        self.events.append(
            {
                "rank": rank.index,
                "op": op,
                "peer": peer,
                "bytes": nbytes,
                "begin": begin,
                "end": end,
                "wait": wait,
                "line": place["line"],
                "dest": dest,
            }
        )

    def find(self, tool, rank, place, message, cause, rows=()):
        """Write down a finding that does not end the program. rows: what else is told, a line each."""
        at = {rank.index: {"op": "", "text": "", **place}}
        error = {
            "tool": tool,
            "rank": rank.index,
            "line": place["line"],
            "code": place["code"],
            "message": "\n    ".join([f"{tool}: {message}", in_words(place), *rows]),
            "cause": cause,
            "ranks": at,
        }
        if not any(
            (e["tool"], e["rank"], e["line"]) == (tool, rank.index, place["line"])
            for e in self.findings
        ):
            self.findings.append(error)

    def touch(self, rank, op, reads, lands):
        """A call with this memory: another request of the rank may hold some of it."""
        memory = [[view for piece in part for view in piece.views] for part in (reads, lands)]
        found = touched(self.holds[rank.index], *memory)
        if found:
            hold, does = found
            self.find(
                "buffer",
                rank,
                rank.place(),
                f"rank {rank.index}'s {op} {does} memory that its {hold.request.op} still uses: no Wait has "
                "completed it",
                "a buffer belongs to MPI until the end of the Wait: wait first, or use another array",
                [f"begun in {in_words(hold.request.place)}"],
            )

    def raise_mpi(self, name, text):
        """Raise MPI.Exception of that class; text: what the report says of it if nobody catches it."""
        from mpi4py import MPI

        error: Any = MPI.Exception(getattr(MPI, name))
        error.rehearsal = ("truncation" if name == "ERR_TRUNCATE" else "exception", text)
        raise error

    def post_send(self, sending, key):
        """A message sets out: to the receiver that waits for it, or into the queue of `key`."""
        rank, data = sending.rank.index, sending.buffer.data
        self.messages[rank] += 1
        self.bytes[rank] += sending.nbytes
        if len(data) <= SMALL:
            self.said[rank] = zlib.crc32(data.tobytes(), self.said[rank])
        if sending.eager:
            sending.taken = sending.before
            sending.moved, sending.time = self.links.move(rank, None, sending.begin, sending.nbytes)
        if self.order:
            self.sent[key].append(sending)
            return self.order.settle(self, key)
        wanting = next((r for r in self.asked[key] if fits(sending.envelope, r.envelope)), None)
        if wanting:
            self.match(sending, wanting, key)
        else:
            self.sent[key].append(sending)

    def post_receive(self, receiving, key):
        """A receiver looks for its message, the first that fits, or waits in the queue of `key`."""
        self.open = self.open or (receiving.envelope[0] < 0 and len(self.messages) > 2)
        if self.order:
            self.asked[key].append(receiving)
            return self.order.settle(self, key)
        found = next((s for s in self.sent[key] if fits(s.envelope, receiving.envelope)), None)
        if found:
            self.match(found, receiving, key)
        else:
            self.asked[key].append(receiving)

    def withdraw(self, receiving):
        """Take back a receive that no message has come for; False: there is none such."""
        for queue in self.asked.values():
            if any(other is receiving for other in queue):
                queue.remove(receiving)
                return True
        return False

    def match(self, sending, receiving, key):
        """Both sides are there: copy the bytes, which is when a long message is read, and let the model's time pass."""
        self.sent[key] = [s for s in self.sent[key] if s is not sending]
        self.asked[key] = [r for r in self.asked[key] if r is not receiving]
        receiving.message = sending
        self._move(sending, receiving)
        if receiving.finished:  # freed meanwhile
            receiving.land(None)

    def _move(self, sending, receiving):
        if sending.eager:
            receiving.moved, receiving.time = sending.moved, max(sending.time, receiving.begin)
            return
        sending.taken = sending.buffer.now().copy()
        begin = max(sending.begin, receiving.begin)
        times = self.links.move(sending.rank.index, receiving.rank.index, begin, sending.nbytes)
        sending.moved, sending.time = receiving.moved, receiving.time = times


def fits(envelope, wanted):
    """Is this (source, tag) one that was asked for? Negative: any."""
    return all(want < 0 or want == value for want, value in zip(wanted, envelope, strict=True))
