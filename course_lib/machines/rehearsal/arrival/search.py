"""Other orders of arrival: a search over what each open receive may take, in a fixed order, until a number of runs.

Every order differs from those before it in what some rank sees: what two ranks decide for themselves is not tried in
both orders. Orders with few decisions unlike the first run's come first. If nothing is found, all is tried again with
sends that do not wait, which lets messages overtake each other that could not before.
"""

import heapq
import itertools
import time
from dataclasses import dataclass, replace

import numpy as np

from course_lib.machines.rehearsal.arrival.order import asleep
from course_lib.machines.rehearsal.once import play

MOST = 1000  # orders
LONG = 1.0  # seconds of computing
SHORT = 2.0  # seconds of computing for one order
ALL = 1 << 62  # bytes of a message that is sent without waiting


@dataclass
class Found:
    """tried: orders; results: how many different ones; whole: no bound met.

    decisions, eager: of an order with an error; of one with another result on the rank `race`.
    """

    tried: int
    results: int
    decisions: tuple | None = None
    eager: int | None = None
    whole: bool = True
    race: int | None = None


def explore(copies, file, how, watcher=None):
    """Try other orders of arrival; a `Found`."""
    begin, tried = time.process_time(), 0
    seen: set = set()
    first = race = None
    how = how.but(watch=False, timeout=min(how.timeout, SHORT))
    for eager in dict.fromkeys((how.eager, ALL)):
        number = itertools.count()
        ahead: list = [(0, next(number), (), frozenset())]
        while ahead:
            if tried >= MOST or time.process_time() - begin > LONG:
                return replace(race or Found(0, 0), tried=tried, results=len(seen), whole=False)
            unlike, _, decisions, sleep = heapq.heappop(ahead)
            now = how.but(eager=eager, decisions=decisions, sleep=sleep)
            outcome = play(copies, file, now, watcher)
            if outcome.redundant:
                continue
            tried += 1
            seen.add(tuple(sorted(m for m in outcome.marks.items() if m[0][0] == "result")))
            if failed(outcome):
                return Found(tried, len(seen), path_of(outcome), eager)
            first = first or outcome
            if race is None and (rank := unlike_on(first, outcome)) is not None:
                race = Found(0, 0, path_of(outcome), eager, race=rank)
            for path, asleep_there in _others(outcome.forks, len(decisions)):
                heapq.heappush(ahead, (unlike + 1, next(number), path, asleep_there))
    return replace(race or Found(0, 0), tried=tried, results=len(seen))


def path_of(outcome):
    """Its decisions."""
    return tuple(fork.taken for fork in outcome.forks)


def unlike_on(first, other):
    """The first rank that decides something and has another result in another order, or None."""
    for rank in sorted({fork.taken[1] for fork in other.forks if len(fork.options) > 1}):
        if not alike(first.report.results[rank], other.report.results[rank]):
            return rank
    return None


def alike(a, b):
    """Are two results the same, but for rounding? What cannot be compared is."""
    if type(a) is not type(b):
        return isinstance(a, int | float | complex | np.generic) and alike(complex(a), complex(b))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
        return a.shape == b.shape and np.allclose(a, b, 1e-5, 1e-6, equal_nan=True)
    if isinstance(a, np.ndarray):
        return a.dtype.hasobject or np.array_equal(a, b)
    if isinstance(a, float | complex | np.generic):
        return bool(np.all(np.isclose(a, b, 1e-5, 1e-6, equal_nan=True)))
    return not isinstance(a, int | str | bytes | bool) or a == b


def failed(outcome):
    """Is anything wrong in it, but that it took too long?"""
    return any(e["tool"] != "timeout" for e in outcome.report.errors)


def _others(forks, known):
    """(decisions, sleep) that begin as these forks did, and then differ, from the `known`th fork on."""
    taken = tuple(fork.taken for fork in forks)
    for i in range(known, len(forks)):
        fork = forks[i]
        done = fork.sleep | {fork.taken}
        for option in fork.options:
            if option not in done:
                yield (*taken[:i], option), asleep(done, option)
                done = done | {option}


def in_words(outcome):
    """Lines on how the order of an outcome differs from the first one."""
    said: list[str] = []
    for fork in outcome.forks:
        kind, rank, _, other, _ = fork.taken
        if fork.taken == fork.options[0] or len(said) == 3:
            continue
        if kind == "any":
            said.append(f"in an order where rank {rank}'s request number {other} is done first")
        else:
            said.append(f"in an order where rank {rank} first sees the message of rank {other}")
    return said or ["in another order of arrival"]
