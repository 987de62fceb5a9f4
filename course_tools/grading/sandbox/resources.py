"""What all processes in a sandbox use, looked at from outside: limits on one process are none on their sum."""

import collections
import contextlib
import os
import time
from pathlib import Path

SAMPLE, SAMPLES = 0.5, 1000  # seconds between two looks at the processor, how many are kept
EVERY = 0.2  # seconds between two looks
# bytes that this machine must keep free; below, the sandbox that is being waited for has to end
FREE = 256 << 20
# bytes that one may hold for whoever does not read: twice Linux' own limit, as it counts
SOCKET = 416 << 10
# what a file may hold that one process has sent to another and none has open
ON_THE_WAY = 512 << 20


class TooMuchMemory(MemoryError):
    """A sandbox uses more memory than it may."""


class MemoryWatch:
    """Called again and again while a sandbox works: raises TooMuchMemory where its processes hold more than allowed.

    pid: of its outermost process. limit: bytes. samples: (time, seconds on processors, seconds of waiting for one).
    """

    def __init__(self, pid, limit):
        self.pid, self.limit, self._next, self._free = pid, limit, 0.0, free() or 0
        self._processor = Processor(pid)

    def __call__(self):
        if time.monotonic() < self._next:
            return
        began = time.monotonic()
        used = used_by(self.pid, self.limit // 2)
        if used > self.limit:
            raise TooMuchMemory(f"more than the {self.limit >> 20} MB that are allowed")
        left = free()
        if left is not None and left < FREE < self._free:
            raise TooMuchMemory("this machine has hardly any left")
        if began > self._processor.samples[-1][0] + SAMPLE:
            self._processor.look()
        now = time.monotonic()
        # a tenth of the time at the most goes into looking
        self._next = now + max(EVERY, 10 * (now - began))

    def starved(self, since, judge):
        """Had the room too little of a processor since then for a clock to say anything? judge: by its samples."""
        return judge(self.looked(), since)

    def looked(self):
        """The samples up to now."""
        self._processor.look()
        return list(self._processor.samples)


class Processor:
    """What all threads of a process and of its descendants have had of processors, those that have ended as well.

    samples: (time, seconds that they had since the first look, seconds that one of them waited for a processor:
    from look to look the one that waited longest, since many that wait for a moment are no sign of need).
    """

    def __init__(self, pid):
        self.pid, self._threads = pid, threads_of(pid)
        self.samples = collections.deque([(time.monotonic(), 0.0, 0.0)], SAMPLES)

    def look(self):
        """Add a sample."""
        before, self._threads = self._threads, threads_of(self.pid)
        _, had, waited = self.samples[-1]
        longest = 0.0
        for thread, (ran, stood) in self._threads.items():
            old = before.get(thread, (0.0, 0.0))
            had, longest = had + ran - old[0], max(longest, stood - old[1])
        self.samples.append((time.monotonic(), had, waited + longest))


def threads_of(pid):
    """{thread: (seconds that it had, seconds that it waited for a processor)} of a process and its descendants."""
    found = {}
    for one in below(pid):
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                with contextlib.suppress(OSError, ValueError):
                    ran, stood, _ = map(
                        int, Path(f"/proc/{one}/task/{thread}/schedstat").read_text().split()
                    )
                    found[one, thread] = ran * 1e-9, stood * 1e-9
    return found


def used_by(pid, enough=0):
    """Bytes held by a process and all below it: what they share is shared out, nameless files count as well.

    enough: where each one's own count, which takes what is shared as its own, gives no more than that: this instead.
    """
    pids = below(pid)
    nameless = sum(map(_nameless, pids))
    rough = sum(map(_resident, pids)) + nameless
    return rough if rough <= enough else sum(map(_held, pids)) + nameless


def below(pid):
    """The numbers of a process and of all its descendants."""
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                todo += map(int, Path(f"/proc/{one}/task/{thread}/children").read_text().split())
    return found


def running(pid):
    """How many threads a process and its descendants have; 0 where the system does not say."""
    count = 0
    for one in below(pid):
        with contextlib.suppress(OSError):
            count += len(os.listdir(f"/proc/{one}/task"))
    return count


def free():
    """Bytes that this machine can still give; None where it does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path("/proc/meminfo").read_text()
        return int(text.split("MemAvailable:")[1].split()[0]) << 10
    return None


def _resident(pid):
    """Bytes of a process that are in memory, those that it shares with others as well; quick to ask for."""
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
    return 0


def _held(pid):
    """The same, what it shares shared out: slow, the system looks at all of its pages."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):  # the process of the checks can be read by root alone
        return _resident(pid)


def _nameless(pid):
    """Bytes that count nowhere else: of files without a name (memfd) that are open, and what sockets can hold at most.

    Not seen: what waits in a socket that itself waits in one.
    """
    total = 0
    with contextlib.suppress(OSError):
        for handle in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                kind = os.readlink(handle.path)
                if kind.startswith("/memfd:"):
                    total += 512 * os.stat(handle.path).st_blocks
                elif kind.startswith("socket:"):
                    total += SOCKET + ON_THE_WAY * _on_the_way(pid, handle.name)
    return total


def _on_the_way(pid, handle):
    """How many handles have been sent through a socket and wait to be taken: their files are open nowhere."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/fdinfo/{handle}").read_text().split("scm_fds:")[1].split()[0])
    return 0
