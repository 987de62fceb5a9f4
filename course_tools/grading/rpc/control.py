"""The grader's line to a room: one question at a time, a short answer in plain JSON, within its time, or `Gone`.

At the other end may be a hostile process that holds the connection and says whatever it likes, so this side never
calls anything, makes no objects but those of JSON, reads no more than LONGEST bytes, and waits no longer than told.
"""

import json
import queue
import select
import signal
import socket
import struct
import threading
import time

LONGEST = 8 << 20  # bytes of one answer
STEP = 0.1  # seconds between two looks at the room while an answer is awaited


class Gone(ConnectionError):
    """The other side has ended, or sent what is no message."""


class Late(TimeoutError):
    """No answer within the seconds."""


def frame(message):
    """A message as bytes: its length, then JSON."""
    text = json.dumps(message).encode()
    return struct.pack("<I", len(text)) + text


class Line:
    """The grader's end. look: called every STEP seconds of waiting; what it raises ends the wait."""

    def __init__(self, connection, look=lambda: None):
        self._socket, self.look, self._asked, self._read = connection, look, 0, bytearray()
        connection.setblocking(False)

    def ask(self, method, *args, seconds=10.0):
        """Send a question. Raises Gone, also where the room does not listen."""
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
            except OSError as error:
                raise Gone(str(error)) from None

    def answer(self, seconds):
        """The value that the room gives, of JSON's types. Raises Late, Gone."""
        end = time.monotonic() + seconds
        while (message := self._message()) is None:
            self._wait(select.POLLIN, end)
            try:
                some = self._socket.recv(1 << 20)
            except BlockingIOError:
                continue
            except OSError as error:
                raise Gone(str(error)) from None
            if not some:
                raise Gone("the room has ended")
            self._read += some
        if message.get("answer") != self._asked or "value" not in message:
            raise Gone("the room sent what is no answer")
        return message["value"]

    def said(self):
        """Has something come that nobody has looked at yet?"""
        try:
            return bool(self._read or self._socket.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def interrupt(self):
        """What Ctrl-C would do, while the room works on a question."""
        try:
            self._socket.send(frame({"interrupt": True}))
        except OSError as error:
            raise Gone(str(error)) from None

    def close(self):
        """Nothing is said any more."""
        self._socket.close()

    def _message(self):
        """The next message that has come whole, or None."""
        if len(self._read) < 4:
            return None
        (size,) = struct.unpack_from("<I", self._read)
        if size > LONGEST:
            raise Gone(f"the room sent a message of {size} bytes")
        if len(self._read) < 4 + size:
            return None
        text = bytes(self._read[4 : 4 + size])
        del self._read[: 4 + size]
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Gone(f"the room sent what is no JSON: {type(error).__name__}") from None
        if not isinstance(message, dict):
            raise Gone("the room sent what is no answer")
        return message

    def _wait(self, event, end):
        """Wait for the socket, looking at the room meanwhile. Raises Late at the end."""
        waiter = select.poll()
        waiter.register(self._socket, event)
        while time.monotonic() < end:
            self.look()
            if waiter.poll(1000 * min(STEP, max(end - time.monotonic(), 0))):
                return
        raise Late


class Desk:
    """The room's end: answers questions with `methods` in the main thread until the grader closes the line."""

    def __init__(self, connection, may_interrupt=False):
        self._socket, self._may_interrupt, self._busy = connection, may_interrupt, False
        self._asked: queue.Queue = queue.Queue()
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._listen, daemon=True, name="desk").start()

    def say(self, number, value):
        """Send an answer; number 0 before anything is asked: the room is open."""
        self._socket.sendall(frame({"answer": number, "value": value}))

    def serve(self, methods):
        """Answer until the line is closed. methods: {name: function of JSON's values}."""
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
        stream = self._socket.makefile("rb")
        try:
            while len(head := stream.read(4)) == 4:
                message = json.loads(stream.read(struct.unpack("<I", head)[0]))
                if "interrupt" not in message:
                    self._asked.put(message)
                elif self._may_interrupt:
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        except (OSError, ValueError):
            pass
        self._asked.put(None)


def pair():
    """(end, other end) of a new connection."""
    return socket.socketpair()
