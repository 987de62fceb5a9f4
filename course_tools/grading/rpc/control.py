"""The grader's control channel to a process in a sandbox: one question at a time, a short answer within its time.

At the other end may be a hostile process that holds the connection and says whatever it likes, so this side never
calls anything, makes no objects but those of JSON, reads no more than LONGEST bytes, and waits no longer than told.
"""

import contextlib
import queue
import select
import signal
import socket
import threading
import time

from course_tools.grading.rpc.framing import ConnectionLost, frame, messages, taken_from

LONGEST = 8 << 20  # bytes of one answer
ENDED = "the process has ended"
STEP = 0.1  # seconds between two looks at the process while an answer is awaited


class DeadlineExceeded(TimeoutError):
    """No answer within the seconds."""


class ControlChannel:
    """The grader's end. look: called every STEP seconds of waiting; what it raises ends the wait."""

    def __init__(self, connection, look=lambda: None):
        self._socket, self.look, self._asked, self._read = connection, look, 0, bytearray()
        connection.setblocking(False)

    def ask(self, method, *args, seconds=10.0):
        """Send a question. Raises ConnectionLost, also where the process does not listen."""
        self._asked += 1
        left, end = (
            memoryview(frame({"ask": self._asked, "method": method, "args": args})),
            time.monotonic() + seconds,
        )
        while left:
            try:
                left = left[self._socket.send(left) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, end)
            except OSError:
                raise ConnectionLost(ENDED) from None

    def answer(self, seconds):
        """The value that the process gives, of JSON's types. Raises DeadlineExceeded, ConnectionLost."""
        end = time.monotonic() + seconds
        while (message := self._message()) is None:
            self._wait(select.POLLIN, end)
            try:
                some = self._socket.recv(1 << 20)
            except BlockingIOError:
                continue
            except OSError:
                raise ConnectionLost(ENDED) from None
            if not some:
                raise ConnectionLost(ENDED)
            self._read += some
        if message.get("answer") != self._asked or "value" not in message:
            raise ConnectionLost("the process sent what is no answer")
        return message["value"]

    def said(self):
        """Has something come that nobody has looked at yet?"""
        try:
            return bool(self._read or self._socket.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def interrupt(self):
        """What Ctrl-C would do, while the process works on a question."""
        try:
            self._socket.send(frame({"interrupt": True}))
        except OSError:
            raise ConnectionLost(ENDED) from None

    def close(self):
        """Nothing is said any more."""
        self._socket.close()

    def _message(self):
        """The next message that has come whole, or None."""
        try:
            return taken_from(self._read, LONGEST)
        except (ValueError, RecursionError):  # nothing of what was sent is told: it may be shown
            raise ConnectionLost("the process sent what is no message") from None

    def _wait(self, event, end):
        """Wait for the socket, looking at the process meanwhile. Raises Late at the end."""
        waiter = select.poll()
        waiter.register(self._socket, event)
        while time.monotonic() < end:
            self.look()
            if waiter.poll(1000 * min(STEP, max(end - time.monotonic(), 0))):
                return
        raise DeadlineExceeded


class ControlServer:
    """The end in the sandbox: answers questions in the main thread until the grader closes the channel."""

    def __init__(self, connection, may_interrupt=False):
        self._socket, self._may_interrupt, self._busy = connection, may_interrupt, False
        self._asked: queue.Queue = queue.Queue()
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._listen, daemon=True, name="control").start()

    def say(self, number, value):
        """Send an answer; number 0 before anything is asked: the process is ready."""
        self._socket.sendall(frame({"answer": number, "value": value}))

    def serve(self, methods):
        """Answer until the channel is closed. methods: {name: function of JSON's values}."""
        self.say(0, "open")
        while (message := self._asked.get()) is not None:
            try:
                self._busy = True
                value = methods[message["method"]](*message["args"])
                self._busy = False
            except BaseException as error:
                self._busy = False
                value = {"status": "error", "error": f"{type(error).__name__}: {error}"[:4000]}
            self.say(message["ask"], value)

    def _interrupted(self, *_):
        """Only a question is interrupted, never its answer on the way out."""
        if self._busy:
            raise KeyboardInterrupt

    def _listen(self):
        with contextlib.suppress(OSError, ValueError):
            for message in messages(self._socket.makefile("rb"), LONGEST):
                if "interrupt" not in message:
                    self._asked.put(message)
                elif self._may_interrupt:
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        self._asked.put(None)
