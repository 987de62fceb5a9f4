"""One order of arrival: which message each open receive takes, which of several requests is done first.

Under a search no receive that is open to any source is matched before no rank can go on without it: only then are all
messages there that it might take. The order says which; where it says nothing, the first that may. Of the others a
note is kept, so that the search knows what to try next.
"""

from dataclasses import dataclass

from course_lib.machines.rehearsal.world import fits


@dataclass
class Fork:
    """options: what could be done, as labels; taken: what was, and where the program was then.

    sleep: options whose turn leads only to what was tried before.
    """

    options: list
    sleep: frozenset
    taken: tuple = ()
    place: dict | None = None


class Order:
    """decisions: labels, one for each fork, as far as they go; sleep: at the fork after them.

    A label is (kind, rank that receives, which of its calls, rank that sends, which of its messages).
    """

    def __init__(self, decisions=(), sleep=frozenset()):
        self.decisions, self._sleep = tuple(decisions), sleep
        self.forks: list[Fork] = []
        self.redundant = False
        self._waiting: list = []  # of Chooser

    def settle(self, world, key):
        """Match what can be matched in one way only: receives from one source that no open one comes before."""
        done = False
        while not done:
            done = True
            for receiving in world.asked[key]:
                sending = _first(world, key, receiving)
                if receiving.envelope[0] >= 0 and sending is not None:
                    world.match(sending, receiving, key)
                    done = False
                    break

    def at_rest(self, world):
        """No rank can go on: take the next decision. False: there is none to take."""
        options = self._options(world)
        if not options or self.redundant:
            return False
        label = self._choose(list(options))
        if label is None:
            self.redundant = True
            return False
        self.forks[-1].place = world.ranks[label[1]].place()
        options[label]()
        return True

    def _options(self, world):
        """{label: function that does it}."""
        found = {}
        for key in sorted(world.asked, key=repr):
            for receiving in [r for r in world.asked[key] if r.envelope[0] < 0]:
                for sending in _candidates(world, key, receiving):
                    found[_label("message", receiving, sending)] = _matching(
                        self, world, key, sending, receiving
                    )
        for chooser in self._waiting:
            for label, value in chooser.options(world):
                found[label] = _choosing(self, chooser, value)
        return found

    def _choose(self, options):
        number = len(self.forks)
        fork = Fork(options, self._sleep if number >= len(self.decisions) else frozenset())
        free = [option for option in options if option not in fork.sleep]
        if number < len(self.decisions) and self.decisions[number] in options:
            fork.taken = self.decisions[number]
        elif free:
            fork.taken = free[0]
        else:
            return None
        self.forks.append(fork)
        if number >= len(self.decisions):
            self._sleep = asleep(fork.sleep, fork.taken)
        return fork.taken

    def any_of(self, rank, live, waits):
        """Of several requests the one that is done first."""
        return self._wait(rank, waits, _Requests(rank, rank.count_up("any"), live))

    def probed(self, rank, key, wanted, waits):
        """The message that an open Probe finds."""
        return self._wait(rank, waits, _Probe(rank, rank.count_up("probe"), key, wanted))

    def _wait(self, rank, waits, chooser):
        self._waiting.append(chooser)
        rank.wait(lambda: chooser.time, waits)
        return chooser.found

    def chosen(self, chooser, value):
        """A decision for a Waitany or a Probe."""
        self._waiting = [other for other in self._waiting if other is not chooser]
        chooser.found = value
        chooser.time = value.time if chooser.kind == "any" else value.begin


def asleep(sleep, taken):
    """Which of these still lead to nothing new after a decision: those of other ranks."""
    return frozenset(label for label in sleep if label[1] != taken[1])


class _Requests:
    kind, time, found = "any", None, None

    def __init__(self, rank, number, live):
        self.rank, self.number, self.live = rank, number, live

    def options(self, world):
        """Those that are done."""
        done = [(i, r) for i, r in enumerate(self.live) if r.time is not None]
        return [(("any", self.rank.index, self.number, i, 0), request) for i, request in done]


class _Probe:
    kind, time, found = "probe", None, None

    def __init__(self, rank, number, key, wanted):
        self.rank, self.number, self.key, self.wanted = rank, number, key, wanted

    def options(self, world):
        """The first message of each source."""
        firsts: dict = {}
        for sending in world.sent[self.key]:
            if fits(sending.envelope, self.wanted):
                firsts.setdefault(sending.rank.index, sending)
        return [
            (("probe", self.rank.index, self.number, source, sending.number), sending)
            for source, sending in firsts.items()
        ]


def _label(kind, receiving, sending):
    ours, theirs = receiving.rank.index, sending.rank.index
    return (kind, ours, receiving.number, theirs, sending.number)


def _first(world, key, receiving):
    """The message that a receive takes if it must be the first that fits, and no earlier receive may take it."""
    sending = next((s for s in world.sent[key] if fits(s.envelope, receiving.envelope)), None)
    if sending is None:
        return None
    taker = next(r for r in world.asked[key] if fits(sending.envelope, r.envelope))
    return sending if taker is receiving else None


def _candidates(world, key, receiving):
    """The messages that an open receive may take: the first of each source, unless an earlier receive gets it."""
    firsts: dict = {}
    for sending in world.sent[key]:
        if fits(sending.envelope, receiving.envelope):
            firsts.setdefault(sending.envelope[0], sending)
    return [
        sending
        for sending in firsts.values()
        if next(r for r in world.asked[key] if fits(sending.envelope, r.envelope)) is receiving
    ]


def _matching(order, world, key, sending, receiving):
    def match():
        world.match(sending, receiving, key)
        order.settle(world, key)

    return match


def _choosing(order, chooser, value):
    return lambda: order.chosen(chooser, value)
