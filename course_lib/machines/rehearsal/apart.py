"""Jobs in a process of their own: forked, each with a deadline. What ends it does not end the notebook.

One process does all jobs of a rehearsal, unless a job leaves threads in it: to fork one costs more than most jobs do.
Inside `one_process` it stays for further rehearsals of programs from the same file.
Without fork (Windows), or where the answer cannot be sent, the job is done in the caller's process.
"""

import contextlib
import contextvars
import ctypes
import faulthandler
import functools
import gc
import mmap
import os
import pickle
import random
import re
import select
import signal
import struct
import sys
import tempfile
import threading
import time
import warnings
from typing import Any

import numpy as np

from course_lib.machines.rehearsal import turns
from course_lib.machines.rehearsal.memory.trail import clean_memory
from course_lib.machines.rehearsal.places import place

ALARM = getattr(
    signal, "SIGPROF", None
)  # comes after so much computing, whatever holds the interpreter
LATE = 1.0  # seconds of computing that a rehearsal has to end by itself, after its timeout
WAIT = 5  # times the computing time that it may take on the clock on the wall
GRACE = 3.0  # seconds on that clock for what comes after
PIECE = 1 << 20
LENGTH = struct.Struct("=Q")
READY, SPENT = b"0", b"1"  # the first byte of an answer: can it take another job?
NONE = 97  # exit status: there is no answer that could be sent
ENDING = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM")
FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$')


_here = contextvars.ContextVar("here", default=False)
_kept = contextvars.ContextVar[dict | None]("kept", default=None)


@contextlib.contextmanager
def not_apart():
    """Inside, rehearsals run in this process, several times as fast: for programs that are known, and end."""
    before = _here.set(True)
    try:
        yield
    finally:
        _here.reset(before)


@contextlib.contextmanager
def one_process():
    """Inside, rehearsals of programs from the same file share a process, which ends at the end."""
    kept: dict = {}
    before = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(before)
        for child in kept.values():
            child.end()


def child_for(copies, file):
    """A `Child` that can run these copies: one that is kept, or a new one."""
    kept = _kept.get()
    if kept is None or not _can_be_sent(copies):
        return Child(copies, file)
    if file not in kept:
        kept[file] = Child(copies, file)
    return kept[file]


def leave(child: "Child"):
    """The rehearsal needs it no longer: it ends, unless it is kept for the next."""
    kept = _kept.get() or {}
    is_kept = kept.get(child.file) is child
    if is_kept and not child.spent:
        return
    if is_kept:
        del kept[child.file]
    child.end()


def _can_be_sent(copies):
    return isinstance(copies[0], bytes)


class Ended(Exception):
    """The process ended without an answer. how: in words; late: its time was up; rank, at: who ran, and where."""

    def __init__(self, how, late, rank, at):
        super().__init__(how)
        self.how, self.late, self.rank, self.at = how, late, rank, at


class NoAnswer(Exception):
    """What the job gave cannot be sent."""


class Watcher:
    """Tells, from inside of the process and through shared memory, which rank runs."""

    def __init__(self, file):
        self.memory = mmap.mmap(-1, 64)
        self.traces = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this lives
        self.file = file
        self._turns: Any = None

    def switched(self, rank):
        """Before each turn."""
        struct.pack_into("=qQ", self.memory, 0, rank.index + 1, rank.thread.ident or 0)

    def begin(self, running):
        """A run begins: so much computing, and no more."""
        self._turns = running
        signal.setitimer(signal.ITIMER_PROF, running.timeout + LATE)

    def end(self):
        """It has come to its end."""
        signal.setitimer(signal.ITIMER_PROF, 0)

    def exit(self, code=0):
        """What os._exit is in the process: the rank has ended, and with it all ranks."""
        rank = self._turns.running
        if threading.current_thread() is not rank.thread:
            os_exit(code)
        rank.error = SystemExit(f"os._exit({code}): the process of the rank has ended")
        rank.error_place = rank.place(sys._getframe(1))
        rank.gone = rank.done = True
        self._turns.back.put(rank)
        threading.Event().wait()

    def kill(self, process, number):
        """What os.kill is in the process: its end is written down, which a SIGKILL leaves no time for."""
        if process in (0, os.getpid()) and number:
            faulthandler.dump_traceback(self.traces, all_threads=True)
        os_kill(process, number)

    def who(self):
        """(rank, thread) that ran last; None: nobody yet."""
        rank, thread = struct.unpack_from("=qQ", self.memory, 0)
        return (rank - 1, thread) if rank else None

    def where(self):
        """The place of that rank, from the trace that was written at the end."""
        self.traces.seek(0)
        lines = self.traces.read().decode(errors="replace").splitlines()
        ident = f"0x{self.who()[1]:016x}" if self.who() else "nobody"
        frames: list = []
        mine = False
        for line in lines:
            if "hread 0x" in line:
                mine = ident in line
            elif mine and (found := FRAME.match(line)):
                frames.append((found[1], int(found[2]), found[3]))
        return place(frames[::-1], self.file)


os_exit, os_kill = os._exit, os.kill


def possible():
    """Can a process be forked here, and should it?"""
    return (
        not _here.get()
        and hasattr(os, "fork")
        and sys.platform.startswith("linux")
        and ALARM is not None
    )


@functools.cache
def _libraries():
    """What a child needs, loaded before it is forked: prctl, setrlimit, RLIMIT_CORE. So are MPI and NumPy's numbers."""
    import resource

    import numpy.random  # noqa: F401
    from mpi4py import MPI  # noqa: F401

    return ctypes.CDLL(None).prctl, resource.setrlimit, resource.RLIMIT_CORE


class Child:
    """A process that does jobs with copies of a program from this file. Raises OSError where there can be none.

    copies: those that cannot be sent, the process has from the start; it does one job with them. spent: it cannot take
    another job.
    """

    def __init__(self, copies, file):
        _libraries()
        self._watcher, self.file, self.spent = Watcher(file), file, False
        self._held = None if _can_be_sent(copies) else copies
        jobs, self._jobs = os.pipe()
        self._answers, answers = os.pipe()
        with warnings.catch_warnings():
            # other threads live on in the parent only, and nothing here waits for them
            warnings.simplefilter("ignore")
            self._number = os.fork()
        if self._number == 0:
            os.close(self._jobs)
            os.close(self._answers)
            _serve(self._do, self._watcher, jobs, answers)
        os.close(jobs)
        os.close(answers)

    def _do(self, job, copies, how):
        return job(copies or self._held, self.file, how, self._watcher)

    def run(self, job, copies, how, seconds):
        """What job(copies, file, how, watcher) returns, in so many seconds of computing. Raises Ended, NoAnswer."""
        limit = WAIT * (seconds + LATE) + GRACE
        self.spent = True
        _send(self._jobs, _pickled((job, None if self._held else copies, how)))
        data, status = _answer(self._number, self._answers, limit)
        if data is None:
            raise _ended(self._watcher, status, seconds)
        # what cannot be copied would keep what a run has changed in it
        self.spent = data[:1] == SPENT or self._held is not None
        return _read(data[1:])

    def end(self):
        """End it, if it has not ended."""
        if self._number:
            os.close(self._jobs)
            os.close(self._answers)
            _end(self._number)
        self._number = 0


def _read(data):
    try:
        return pickle.loads(data)
    except Exception as error:
        raise NoAnswer from error


def _send(pipe, data):
    """The data, and how long they are before them."""
    data = memoryview(LENGTH.pack(len(data)) + data)
    while data:
        data = data[os.write(pipe, data) :]


def _serve(do, watcher, jobs, answers):
    """In the forked process; never returns."""
    try:
        _shut_in(watcher)
        again = _random_numbers()
        with open(jobs, "rb") as stream:
            while head := stream.read(LENGTH.size):
                job = pickle.loads(stream.read(LENGTH.unpack(head)[0]))
                again()
                data = _pickled(do(*job))
                _send(answers, (SPENT if threading.active_count() > 1 else READY) + data)
    except BaseException:
        os_exit(NONE)
    os_exit(0)


def _random_numbers():
    """A function that sets them back, so that a program draws the same ones in each run."""
    state, arrays = random.getstate(), np.random.get_state()

    def again():
        random.setstate(state)
        np.random.set_state(arrays)

    return again


def _shut_in(watcher):
    """Signals to this process's group end this process alone; it ends with its parent, and at its time."""
    clean_memory()
    gc.freeze()  # a collection would write to every page that is shared with the parent
    os.setpgid(0, 0)
    turns.forget_others()
    prctl, setrlimit, core = _libraries()
    prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    setrlimit(core, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for number in (ALARM, *(getattr(signal, name) for name in ENDING)):
        signal.signal(number, signal.SIG_DFL)
        faulthandler.register(number, watcher.traces, all_threads=True, chain=True)
    faulthandler.enable(watcher.traces, all_threads=True)
    os._exit, os.kill = watcher.exit, watcher.kill


def _pickled(value):
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception:
        import cloudpickle

        return cloudpickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _answer(child, pipe, seconds):
    """(what it sent by a deadline, None), or (None, its status; None: it has not ended)."""
    until, data, wanted = time.monotonic() + seconds, bytearray(), LENGTH.size
    while (left := until - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            break
        piece = os.read(pipe, PIECE)
        if not piece:
            return None, os.waitpid(child, 0)[1]
        data += piece
        if len(data) >= LENGTH.size:
            wanted = LENGTH.size + LENGTH.unpack_from(data)[0]
        if len(data) == wanted:
            return bytes(data[LENGTH.size :]), None
    os.kill(child, ALARM or signal.SIGKILL)  # so that it says where it was
    time.sleep(0.1)
    return None, None


def _end(child):
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _ended(watcher, status, seconds):
    if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == NONE:
        return NoAnswer()
    known = watcher.who()
    rank: Any = None if known is None else known[0]
    number = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
    if status is None or number == ALARM:
        return Ended(f"after {seconds:g} s", True, rank, watcher.where())
    if number is not None:
        return Ended(f"signal {signal.Signals(number).name}", False, rank, watcher.where())
    return Ended(f"exit status {os.waitstatus_to_exitcode(status)}", False, rank, watcher.where())
