"""What all ranks share while a rehearsal runs: messages on their way, collectives, counts, events, findings."""

from collections import Counter, defaultdict
from typing import Any

from course_lib.machines.rehearsal.model import Links
from course_lib.machines.rehearsal.turns import in_words


class World:
    """For n ranks; eager as in rehearse; links: `model.Links`."""

    def __init__(self, n, eager, alpha, beta):
        self.eager, self.links = -1 if eager is None else eager, Links(n, alpha, beta)
        # not matched yet; by (communicator, receiver)
        self.sent, self.asked = defaultdict(list), defaultdict(list)
        self.slots: dict = {}  # (communicator, number of the collective): {rank in it: Call}
        self.held: list = []  # requests that must be waited for
        self.messages, self.bytes = [0] * n, [0] * n
        self.collectives: list[Counter] = [Counter() for _ in range(n)]
        self.mismatches: list = []  # (what differs, {rank: Call}) of collectives that nobody leaves
        self.events, self.findings = [], []

    def event(self, rank, op, peer, nbytes, begin, place, moved=None):
        """Write down what a rank has done from begin until now, on its clock."""
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
            }
        )

    def find(self, tool, rank, place, message, cause):
        """Write down a finding that does not end the program."""
        at = {rank.index: {"op": "", "text": "", **place}}
        error = {
            "tool": tool,
            "rank": rank.index,
            "line": place["line"],
            "code": place["code"],
            "message": f"{tool}: {message}\n    {in_words(place)}",
            "cause": cause,
            "ranks": at,
        }
        if not any(
            (e["tool"], e["rank"], e["line"]) == (tool, rank.index, place["line"])
            for e in self.findings
        ):
            self.findings.append(error)

    def raise_mpi(self, name, text):
        """Raise MPI.Exception of that class; text: what the report says of it if nobody catches it."""
        from mpi4py import MPI

        error: Any = MPI.Exception(getattr(MPI, name))
        error.rehearsal = ("truncation" if name == "ERR_TRUNCATE" else "exception", text)
        raise error

    def post_send(self, sending, key):
        """A message sets out: to the receiver that waits for it, or into the queue of `key`."""
        self.messages[sending.rank.index] += 1
        self.bytes[sending.rank.index] += sending.nbytes
        if sending.eager:
            sending.taken = sending.before
            sending.moved, sending.time = self.links.move(
                sending.rank.index, None, sending.begin, sending.nbytes
            )
        wanting = next(
            (r for r in self.asked[key] if self.fits(sending.envelope, r.envelope)), None
        )
        if wanting:
            self.asked[key].remove(wanting)
            self._match(sending, wanting)
        else:
            self.sent[key].append(sending)

    def post_receive(self, receiving, key):
        """A receiver looks for its message, the first that fits, or waits in the queue of `key`."""
        found = next((s for s in self.sent[key] if self.fits(s.envelope, receiving.envelope)), None)
        if found:
            self.sent[key].remove(found)
            self._match(found, receiving)
        else:
            self.asked[key].append(receiving)

    @staticmethod
    def fits(envelope, wanted):
        """Is this (source, tag) one that was asked for? Negative: any."""
        return all(want < 0 or want == value for want, value in zip(wanted, envelope, strict=True))

    def _match(self, sending, receiving):
        """Both sides are there: copy the bytes, which is when a long message is read, and let the model's time pass."""
        receiving.message = sending
        if sending.eager:
            receiving.moved, receiving.time = sending.moved, max(sending.time, receiving.begin)
            return
        sending.taken = sending.data.copy()
        begin = max(sending.begin, receiving.begin)
        times = self.links.move(sending.rank.index, receiving.rank.index, begin, sending.nbytes)
        sending.moved, sending.time = receiving.moved, receiving.time = times
