"""A discrete-event model: tasks that wait for tasks, on ranks with a core each, nodes, and links.

Rules of the model, all of them:
- A rank computes one task at a time, sends one message and receives one at a time; all three at once.
- A message of n bytes takes alpha + beta n, with the alpha and beta of the links inside a node, or between nodes.
- A node has one link to the others, or several, each for as many of its ranks: a link carries one message at a time
  out and one in, each for beta n. So ranks that send over it at once share its bytes, but not its alpha.
- A task starts as soon as all that it needs is free. Of those that wait for the same, that goes first which asked
  first; of those that asked at the same time, that which was added first.
A model: no switches in between, no contention beyond a node's own link, no rank slower than another. How far it is off,
beside published tables, real ranks and SimGrid, stands in docs/simulator.md.
"""

import heapq
import math
from array import array
from typing import Any, NamedTuple

import numpy as np

from course_lib.errors import BadInput, check_count, check_number
from course_lib.measure import Span, Timeline

NOTHING = -1  # in place of a task to wait for, or of a rank


class Cluster:
    """`ranks` ranks, `per_node` on each node; inside, between: (alpha, beta), seconds a message and seconds a byte.

    links: how many a node has to the others, each of `between`, and for per_node / links ranks.
    Raises BadInput unless per_node divides ranks and links per_node, and for times below 0.
    """

    def __init__(self, ranks, per_node=1, inside=(0.0, 0.0), between=(0.0, 0.0), links=1):
        self.ranks, self.per_node = check_count("ranks", ranks), check_count("per_node", per_node)
        if ranks % per_node:
            raise BadInput(f"{ranks} ranks are not a whole number of nodes of {per_node}")
        if per_node % check_count("links", links):
            raise BadInput(f"{per_node} ranks of a node cannot share {links} links evenly")
        self.links = links
        self.inside, self.between = _link("inside", inside), _link("between", between)


def _link(name, pair):
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise BadInput(f"{name} must be a pair (alpha, beta), not {pair!r}")
    return tuple(check_number(f"a time of {name}", seconds, False) for seconds in pair)


class Program:
    """Tasks, numbered from 0 in the order in which they are added; each may wait for tasks that were added before."""

    def __init__(self):
        self.source, self.dest = array("q"), array("q")  # dest: NOTHING for a task that computes
        self.cost = array("d")  # seconds, or bytes
        self.needs = array("q")  # what is waited for
        self.waits = array("q")  # by each task, for how many
        self.labels: dict[int, Any] = {}

    def __len__(self):
        return len(self.cost)

    def compute(self, rank, seconds, after=(), label=None):
        """Seconds of work of a rank, once the tasks `after` have ended; returns its number. label: (kind, number).

        after, here and below: numbers of tasks; NOTHING among them asks for nothing.
        """
        if rank < 0:
            raise BadInput(f"ranks count from 0: there is no rank {rank}")
        if label is not None:
            self.labels[len(self)] = label
        return self._add(rank, NOTHING, seconds, after)

    def message(self, source, dest, nbytes, after=()):
        """Bytes from one rank to another, once the tasks `after` have ended; returns its number."""
        if source == dest or min(source, dest) < 0:
            raise BadInput(f"a message needs two ranks, not {source} and {dest}")
        return self._add(source, dest, nbytes, after)

    def join(self, after):
        """The moment when all of the tasks `after` have ended, as a task that takes no time; returns its number."""
        return self._add(NOTHING, NOTHING, 0.0, after)

    def messages(self, sources, dests, nbytes, after):
        """As `message`, for arrays: message i waits for the tasks after[i], a row of (messages, k). Their numbers.

        Faster than one by one; what it is given is not looked at as closely.
        """
        first, there = len(self), after != NOTHING
        columns = (self.source, sources), (self.dest, dests), (self.waits, there.sum(axis=1))
        for column, values in (*columns, (self.needs, after[there])):
            column.frombytes(np.asarray(values, np.int64).tobytes())
        self.cost.extend([check_number("bytes", nbytes, False)] * len(sources))
        return np.arange(first, len(self))

    def _add(self, source, dest, cost, after):
        number = len(self)
        if not 0 <= cost < math.inf:
            raise BadInput(f"seconds, or bytes, must be finite and at least 0, not {cost!r}")
        waits = [task for task in after if task != NOTHING]
        if waits and not 0 <= min(waits) <= max(waits) < number:
            raise BadInput(f"task {number} can wait for those before it, not for {list(after)}")
        self.source.append(source)
        self.dest.append(dest)
        self.cost.append(cost)
        self.waits.append(len(waits))
        self.needs.extend(waits)
        return number


class Run(NamedTuple):
    """What ran when: start and end of each task, in seconds, by its number."""

    program: Program
    start: np.ndarray
    end: np.ndarray

    @property
    def seconds(self):
        """When the last task ended; 0 for an empty program."""
        return float(self.end.max(initial=0.0))

    def busy(self):
        """Seconds that each rank computes, an array as long as the highest rank that does."""
        ranks = np.asarray(self.program.source, np.int64)
        computes = (np.asarray(self.program.dest, np.int64) == NOTHING) & (ranks != NOTHING)
        return np.bincount(ranks[computes], (self.end - self.start)[computes])

    def timeline(self, ranks):
        """A Timeline of the labelled tasks of these ranks, to draw or to print."""
        labels, where = self.program.labels, self.program.source
        return Timeline(
            Span(where[n], kind, number, float(self.start[n]), float(self.end[n]))
            for n, (kind, number) in labels.items()
            if where[n] in ranks
        )


def simulate(program, cluster):
    """The Run of a program on a cluster. Raises BadInput for a rank that the cluster does not have."""
    first, followers, missing = _followers(program)
    took, link, (own, other, out, into), free = _resources(program, cluster)
    start, end, ready = ([0.0] * len(program) for _ in range(3))
    heap = [(0.0, 0.0, n) for n, count in enumerate(missing) if not count]
    while heap:  # in order: when to look at a task again, when it first asked, its number
        now, asked, n = heapq.heappop(heap)
        a, b, c, d = own[n], other[n], out[n], into[n]
        at = max(now, free[a], free[b], free[c], free[d])
        if at > now:  # nothing is kept for those that wait: others may go before
            heapq.heappush(heap, (at, asked, n))
            continue
        start[n], end[n] = now, now + took[n]
        free[c] = free[d] = now + link[n]
        free[a] = free[b] = end[n]
        for m in followers[first[n] : first[n + 1]]:
            missing[m] -= 1
            ready[m] = max(ready[m], end[n])
            if not missing[m]:
                heapq.heappush(heap, (ready[m], ready[m], m))
    return Run(program, np.array(start), np.array(end))


def _followers(program):
    """(first, followers, missing): followers[first[n] : first[n + 1]] wait for task n, and it for missing[n] tasks."""
    needs, missing = (np.asarray(column, np.int64) for column in (program.needs, program.waits))
    by = np.repeat(np.arange(len(missing)), missing)
    order = np.argsort(needs, kind="stable")
    first = np.searchsorted(needs[order], np.arange(len(missing) + 1))
    return first.tolist(), by[order].tolist(), missing.tolist()


def _resources(program, cluster):
    """(seconds of each task, seconds that it has a node's link, what it needs, when each of these is free).

    What can be needed stands in one list: ranks' cores, ways out, ways in, nodes' links out, in, and one for joins. A
    task needs four: sender's way out and receiver's in, two links of nodes; or, where it needs fewer, one repeatedly.
    """
    source, dest = (np.asarray(column, np.int64) for column in (program.source, program.dest))
    cost, p = np.asarray(program.cost), cluster.ranks
    if (most := max(source.max(initial=0), dest.max(initial=0))) >= p:
        raise BadInput(f"the program names rank {most}: the cluster has {p} ranks")
    sends, share = dest != NOTHING, cluster.per_node // cluster.links
    far = sends & (source // cluster.per_node != dest // cluster.per_node)
    links, a, b = p // share, source // share, dest // share
    core = np.where(source == NOTHING, 3 * p + 2 * links, source)
    own, other = np.where(sends, p + source, core), np.where(sends, 2 * p + dest, core)
    out, into = np.where(far, 3 * p + a, own), np.where(far, 3 * p + links + b, own)
    alpha, beta = (
        np.where(far, *pair) for pair in zip(cluster.between, cluster.inside, strict=True)
    )
    took = np.where(sends, alpha + beta * cost, cost)
    needed = [index.tolist() for index in (own, other, out, into)]
    return took.tolist(), (beta * cost).tolist(), needed, [0.0] * (3 * p + 2 * links + 1)
