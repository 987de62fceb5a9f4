"""Pretend ranks: threads of which one runs at a time. The caller's thread hands out the turns, and keeps time."""

import ctypes
import io
import queue
import random
import sys
import threading
import time
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any

from course_lib.errors import BadInput
from course_lib.machines.rehearsal.arrival.same_order import Names
from course_lib.machines.rehearsal.memory.trail import NoTrail
from course_lib.machines.rehearsal.places import place

PATIENCE = 2.0  # seconds for a rank that is told to stop
LOOK, OFTEN = 0.05, 64  # seconds, and turns, from one look at the clock to the next
LOOKS = 0.3  # of the looks that fit into a rehearsal's time, those that must find it still at work: a machine that
# stood still for seconds, whose clocks have all gone on, says nothing
SLOWEST = 5  # times the computing time that a rehearsal may take on the clock on the wall, on a busy machine
PRINTED = 100_000  # characters kept of what a rank prints
_one_at_a_time = threading.RLock()


class Stopped(SystemExit):
    """Ends a rank from outside: no `except Exception` catches it, and a thread that it ends says nothing."""


class Rank:
    """One pretend rank: its thread, its clock of the model, and what it waits for."""

    def __init__(self, turns, index, call):
        self.turns, self.index, self.call = turns, index, call
        self.clock, self.polled, self.last, self.done = 0.0, False, 0, False
        self.ready = lambda: self.clock  # the model's time at which it can go on; None: not yet
        self.waits = None  # or (what it waits in, function that gives the ranks it waits for)
        self.result = self.error = None
        self.gone = False  # its thread will never go on
        self.error_place: Any = None
        self.finalized, self.attached = False, None  # MPI.Finalize was called; bytes for Bsend
        self.trail: Any = NoTrail()
        self.names = Names(turns.is_mine)
        self._counts: dict = {}
        self.out, self.go = _Printed(), queue.SimpleQueue[Any]()
        self.thread = threading.Thread(target=self._main, daemon=True, name=f"pretend rank {index}")

    def _main(self):
        self.go.get()
        try:
            self.check()
            self.result = self.call(self)
        except Stopped:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self.done = True
            self.turns.back.put(self)

    def count_up(self, what):
        """0, 1, 2, ...: how many of these there were before on this rank."""
        self._counts[what] = self._counts.get(what, -1) + 1
        return self._counts[what]

    def check(self):
        """Raises Stopped where all must end."""
        if self.turns.stopping:
            raise Stopped

    def until(self, ready, waits):
        """Go on when ready() is a time, at once if that is past. waits: as the field of that name."""
        when = ready()
        if when is None or when > self.clock:
            self.wait(ready, waits)

    def wait(self, ready, waits=None):
        """Give the turn away until ready() is a time."""
        self.ready, self.waits = ready, waits
        self.turns.back.put(self)
        self.go.get()
        self.check()
        self.waits, self.polled = None, False
        self.clock = max(self.clock, ready())

    def enter(self):
        """At the start of every call of MPI: ranks that are behind on the clock go first; by a schedule, any may."""
        self.check()
        if self.turns.order or (
            self.clock and any(other.is_behind(self.clock) for other in self.turns.ranks)
        ):
            self.wait(lambda: self.clock)

    def is_behind(self, clock):
        """Could it run now, at an earlier time?"""
        when = None if self.done else self.ready()
        return when is not None and when < clock and self is not self.turns.running

    def poll(self):
        """After a Test that failed: everybody else goes first."""
        self.polled = True
        self.wait(lambda: self.clock)

    def place(self, frame=None):
        """Where its thread is in the student's function: {"line", "code", "function"}."""
        frame, frames = frame or sys._current_frames().get(self.thread.ident or 0), []
        while frame and frame.f_code is not Rank._main.__code__:
            frames.append((frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
            frame = frame.f_back
        return place(frames[::-1], self.turns.file)


class Turns:
    """n ranks, call(rank) on each; file: of the student's function; seed: of another order."""

    def __init__(self, n, call, file, seed, timeout):
        self.file = file
        self.timeout = timeout
        self.stopping = False
        self.late = None
        self.running = None
        self.late_place: dict = {}
        self.looks = 0
        self.order = None if seed is None else random.Random(seed)
        self.back, self.count = queue.SimpleQueue[Any](), 0
        self.at_rest = lambda: False  # when no rank can go on: may one go on now?
        self.switched = lambda rank: None  # told before each turn
        self.ranks = [Rank(self, index, call) for index in range(n)]

    def run(self, at_end):
        """Run all ranks to their ends, or to where all wait; then at_end(), with their threads as they stand."""
        with alone():
            try:
                self._go(time.process_time(), time.monotonic())
                return at_end()
            finally:
                self._stop()

    def _go(self, computed, now):
        deadline = computed + self.timeout, now + SLOWEST * self.timeout
        for rank in self.ranks:
            rank.thread.start()
        while not self.stopping and (rank := self._next()):
            self._resume(rank, deadline)

    def is_mine(self, frame):
        """Is it a frame of the student's function, or of a cell?"""
        name = frame.f_code.co_filename
        return name == self.file or "ipykernel_" in name

    def _next(self):
        """Whose turn it is: of those who can go on the one furthest behind on the clock; None: all wait or are done."""
        able = self._able()
        while all(polled for polled, *_ in able) and self.at_rest():
            able = self._able()
        if not able:
            return None
        return self.ranks[(self.order.choice(able) if self.order else min(able))[-1]]

    def _able(self):
        return [
            (r.polled, when, r.last, r.index)
            for r in self.ranks
            if not r.done and (when := r.ready()) is not None
        ]

    def _resume(self, rank, deadline):
        self.count += 1
        rank.last, self.running = self.count, rank
        self.switched(rank)
        with redirect_stdout(rank.out):
            rank.go.put(True)
            while not self.stopping:
                with suppress(queue.Empty):
                    self.back.get(timeout=LOOK)
                    break
                self._look(rank, deadline)
        if not self.count % OFTEN:
            self._look(rank, deadline)

    def _look(self, rank, deadline):
        """Is it too late?"""
        self.looks += 1
        if self.looks < LOOKS * self.timeout / LOOK:
            return
        if time.process_time() > deadline[0] or time.monotonic() > deadline[1]:
            self.late, self.late_place, self.stopping = rank, rank.place(), True

    def _stop(self):
        """No thread goes on after this, but for one that is in compiled code, which ends when that does."""
        self.stopping = True
        for rank in self.ranks:
            if rank.thread.ident is None or rank.gone:
                continue
            with redirect_stdout(rank.out):
                rank.go.put(True)
                rank.thread.join(0 if rank is self.late else PATIENCE / 4)
                until = time.monotonic() + PATIENCE
                while rank.thread.is_alive() and time.monotonic() < until:
                    _raise_in(rank.thread.ident, Stopped)
                    rank.thread.join(0.02)


@contextmanager
def alone():
    """No other rehearsal runs meanwhile."""
    if not _one_at_a_time.acquire(blocking=False):
        raise BadInput("a rehearsal is running already: a rank cannot start another one")
    try:
        yield
    finally:
        _one_at_a_time.release()


def forget_others():
    """In a process that was forked from one with a rehearsal: none runs here."""
    global _one_at_a_time
    _one_at_a_time = threading.RLock()


def _raise_in(thread, kind):
    """Raise an exception in another thread, as soon as that runs Python code."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


class _Printed(io.StringIO):
    """What a rank prints, up to a limit; a last line says that there was more."""

    cut = False

    def write(self, text):
        room = PRINTED - self.tell()
        if not self.cut:
            super().write(text[: max(room, 0)])
        if not self.cut and len(text) > room:
            super().write(f"\n(cut here: more than {PRINTED:,} characters)\n")
            self.cut = True
        return len(text)
