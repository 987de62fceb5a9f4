"""The grader's side of one submission: a room for the student's cells, another for the checks, deadlines for both.

The checks have a room of their own because some of them compile and run what the student wrote in CUDA C. That room
is never told a verdict's price: it says what the check said, and this process counts.
"""

import contextlib
import os
import signal
import socket
from concurrent import futures

from .peer import Gone, Peer

INTERRUPT = 2.0  # seconds that a cell has to come to an end after an interrupt


class Lost(RuntimeError):
    """The student's process has ended, or had to be ended: `.status` is crashed or timeout."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Late(TimeoutError):
    """No answer within the seconds."""


class Door:
    """One room: its outermost process, and what it offers. `ask` a method, then wait for the `answer`."""

    def __init__(self, zygote, role, seed, other):
        self.pid, connection = zygote.fork(role, seed, other)
        self.peer, self._asked = Peer(connection), None
        self._thread = futures.ThreadPoolExecutor(1, thread_name_prefix=role)
        try:
            self._room = self.peer.received("room")
        except BaseException:
            self.close()
            raise

    def ask(self, method, *args):
        """Begin a call."""
        self._asked = self._thread.submit(self.peer.call, self._room, method, args, {})

    def answer(self, seconds):
        """The result of the call that was begun. Raises Late, Gone."""
        try:
            return self._asked.result(seconds)
        except futures.TimeoutError:
            raise Late from None

    def call(self, method, *args, seconds):
        """Both."""
        self.ask(method, *args)
        return self.answer(seconds)

    def close(self):
        """Kill all that is in the room; calling it twice does no harm."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)
        self.peer.close()
        self._thread.shutdown(wait=False)


class Rooms:
    """`with Rooms(zygote, seed) as rooms: rooms.run(code, 10); rooms.check("ch01.check_neuron", "neuron", 7, 30)`."""

    def __init__(self, zygote, seed):
        self.zygote, self.seed = zygote, seed

    def __enter__(self):
        theirs, ours = socket.socketpair()
        with theirs, ours:
            self.student = Door(self.zygote, "student", self.seed, theirs)
            try:
                self.checker = Door(self.zygote, "checker", 0, ours)
            except BaseException:
                self.student.close()
                raise
        return self

    def __exit__(self, *_):
        self.student.close()
        self.checker.close()

    def run(self, code, seconds):
        """Run a cell in the student's room: what `room.Room.run` returns. Raises Lost."""
        return self._within(seconds, "run", code)

    def check(self, check, name, seed, seconds, code=""):
        """Judge what the student left under `name`: {"status", "message"}. Raises Lost.

        check: "ch01.check_neuron", of course_lib.checks or of the module whose text is `code`.
        """
        self.student.ask("attend")
        try:
            verdict = self.checker.call("judge", check, name, seed, code, seconds=seconds)
        except Late:
            raise self._lost("timeout", f"it did not come to an end within {seconds:g} s") from None
        except Gone:
            raise self._lost("crashed", "the process of the check has ended") from None
        try:
            self.student.answer(seconds=INTERRUPT)
        except (Late, Gone):
            raise self._lost("crashed", "the kernel died in this check") from None
        return verdict

    def _within(self, seconds, method, *args):
        try:
            return self.student.call(method, *args, seconds=seconds)
        except Late:
            with contextlib.suppress(Gone, Late):
                self.student.peer.interrupt()
                return self.student.answer(seconds=INTERRUPT)
            raise self._lost("timeout", f"the cell did not end within {seconds:g} s") from None
        except Gone:
            raise self._lost("crashed", "the kernel died in this cell") from None

    def _lost(self, status, message):
        self.student.close()
        self.checker.close()
        return Lost(status, message)
