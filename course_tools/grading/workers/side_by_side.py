"""How many students are graded side by side: two a processor, and more while processors idle and memory is free.

Many checks wait: for threads, or for a worker that comes late on purpose. Waiting is not work, so others are graded
meanwhile. On a machine that is busy, with whatever it may be, it stays at two a processor.
"""

import contextlib
import os
import time
from pathlib import Path

from course_tools.grading.sandbox import resources, sandbox

BASE, MOST = 2, 8  # students a processor: always, and at the most
EVERY = 1.0  # seconds between two looks
BUSY = 0.85  # share of the processors that is to be used; the rest is for moments when many compute at once
FULL = 0.97  # share from which on there are too many, in PATIENCE looks one after another
PATIENCE = 2


def processors():
    """(how many this process may use, are all of them ours to fill: a container can have a share of their time)."""
    from course_lib.measure import machine

    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    usable = machine().usable or 1
    return usable, usable == allowed


class SideBySide:
    """`change(count)` says from time to time how many workers more (+) or fewer (-) than these there should be."""

    def __init__(self, students):
        self.processors, fillable = processors()
        self.base = max(1, min(BASE * self.processors, students))
        self.most = min(MOST * self.processors, students) if fillable else self.base
        self._before, self._next, self._full = ticks(), 0.0, 0

    def change(self, count):
        """0 where it is not yet time to say something, or nothing is to be changed."""
        if time.monotonic() < self._next:
            return 0
        self._next = time.monotonic() + EVERY
        before, self._before = self._before, ticks()
        return self._change(count, busy(before, self._before))

    def _change(self, count, share):
        """The same, where this share of the processors was in use since the last look; None: nobody knows."""
        self._full = self._full + 1 if share is not None and share > FULL else 0
        if self._full >= PATIENCE and count > self.base:
            self._full = 0
            return -min(self.processors, count - self.base)
        if share is None or share >= BUSY:
            return 0
        room_for = min(count + self.processors, self.most, int(count * BUSY / max(share, 0.01)))
        return max(0, min(room_for, _places()) - count)


def _places():
    """For how many students there is memory, were each room to take all that it may."""
    left = resources.free()
    return 0 if left is None else left // sandbox.Limits().memory


def ticks():
    """(ticks in use, ticks in all) of the processors that this process may use; None where the system does not say."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        mine = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        rows = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
        counts = [list(map(int, row[1:9])) for row in rows if row and row[0] in mine]
        idle = sum(row[3] + row[4] for row in counts)
        return sum(map(sum, counts)) - idle, sum(map(sum, counts))
    return None


def busy(before, after):
    """The share of the processors that was in use between two `ticks`; None where nobody knows."""
    if before is None or after is None or after[1] <= before[1]:
        return None
    return (after[0] - before[0]) / (after[1] - before[1])
