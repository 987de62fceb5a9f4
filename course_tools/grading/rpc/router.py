"""Messages between the threads of two processes that do not trust each other.

Each thread of one side has one thread of its own on the other side, its servant, so that code which looks at its
thread sees the same picture; a call back goes to the thread that waits for it.
"""

import collections
import contextlib
import itertools
import queue
import socket
import threading

from course_tools.grading.rpc.framing import ConnectionLost, frame, messages

LONGEST = 64 << 20  # bytes of one message
MOST_THREADS = 100  # of the other side, at a time
OFFERED = "student"


class Router:
    """One end of a connected stream socket. `serve` has the other side's messages answered (`answer`) until `done`."""

    def __init__(self, connection):
        self._socket, self._lock, self._local = connection, threading.Lock(), threading.local()
        self._names, self._lost, self._serving = itertools.count(1), "", False
        self._main: queue.Queue = queue.Queue()
        # made here, not when something comes: two threads look into it
        self._offers: dict[str, queue.Queue] = {OFFERED: queue.Queue()}
        # by name of a thread of this side
        self._mail: dict[str, queue.Queue] = {}
        # by name of a thread of the other side: for its servant; all servants but the one that serves
        self._servants: dict[str, queue.Queue] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._ended: collections.deque = collections.deque()  # names of threads of this side
        threading.Thread(target=self._read, daemon=True, name="peer").start()

    def answer(self, message):
        """Do what a message asks for, and say what came of it: what a Router is for."""
        raise NotImplementedError

    def threads(self):
        """The threads of this side that answer the other's, as a list."""
        return [*self._threads.values()]

    def serve(self):
        """Answer the calls of one thread of the other side in this one (those of others: in new ones) until `done`."""
        self._local.mail, self._serving = self._main, True
        while "done" not in (message := self._next(self._main)):
            self.answer(message)
        others = [pair for pair in self._servants.items() if pair[1] is not self._main]
        self._servants = dict(others)

    def done(self):
        """End the other side's `serve`."""
        self._send({"done": True})

    def close(self):
        """No calls any more, in either direction."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _offered(self, name, seconds):
        """The message in which the other side offers something. Raises ConnectionLost where none comes."""
        try:
            message = None if self._lost else self._offers[name].get(timeout=seconds)
        except queue.Empty:
            raise ConnectionLost(f"the other side offered no {name} within {seconds:g} s") from None
        if message is None:
            raise ConnectionLost(self._lost)
        return message

    def _me(self):
        """(name, mailbox) of this thread."""
        if not hasattr(self._local, "name"):
            if not hasattr(self._local, "mail"):
                self._local.mail = queue.Queue()
            self._local.name = f"{next(self._names)}"
            self._mail[self._local.name] = self._local.mail
            if threading.current_thread() is not threading.main_thread():
                self._local.life = _Life(self, self._local.name)
        return self._local.name, self._local.mail

    def _next(self, mail):
        if self._lost:
            raise ConnectionLost(self._lost)
        message = mail.get()
        if message is None:
            raise ConnectionLost(self._lost)
        return message

    def _send(self, message):
        self._tell_of_ends()
        try:
            with self._lock:
                self._socket.sendall(frame(message))
        except OSError:
            raise ConnectionLost("the other side has ended") from None
        self._tell_of_ends()

    def _tell_of_ends(self):
        """Say which threads have ended. Where somebody is sending already, he does it: this runs in finalizers, too."""
        while self._ended and self._lock.acquire(blocking=False):
            try:
                self._socket.sendall(frame({"over": self._ended.popleft()}))
            except (OSError, IndexError):
                return
            finally:
                self._lock.release()

    def _read(self):
        """In a thread: hand each message to the thread that it is for."""
        try:
            for message in messages(self._socket.makefile("rb"), LONGEST):
                self._deliver(message)
            self._lost = "the other side has ended"
        except Exception:  # its text would be the other side's word: a place in a message, a length
            self._lost = "the other side sent what is no message"
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # whoever still writes over there hears of it
        for mails in (self._mail, self._servants, self._offers, {"": self._main}):
            for mail in list(mails.values()):
                mail.put(None)

    def _deliver(self, message):
        """Raises what it likes where the message is none: that ends the connection."""
        if "done" in message:
            if self._serving:
                self._main.put(message)
        elif "offer" in message:
            if message["offer"] != OFFERED or self._offers[OFFERED].qsize() > 3:
                raise ValueError("an offer that nobody asked for")
            self._offers[OFFERED].put(message)
        elif "over" in message:
            self._end_servant(message["over"])
        elif message.get("to") is not None:
            if message["to"] in self._mail:  # else: too late, that thread has ended
                self._mail[message["to"]].put(message)
        else:
            self._servant_of(message["from"]).put(message)

    def _servant_of(self, name):
        if name in self._servants:
            return self._servants[name]
        if self._serving and self._main not in self._servants.values():
            self._servants[name] = self._main
            return self._main
        if len(self._servants) >= MOST_THREADS:
            raise ValueError(f"more than {MOST_THREADS} threads")
        mail: queue.Queue = queue.Queue()
        self._servants[name] = mail
        thread = threading.Thread(target=self._serve_thread, args=(mail,), daemon=True)
        self._threads[name] = thread
        thread.start()
        return mail

    def _end_servant(self, name):
        mail = self._servants.pop(name, None)
        if mail is not None and mail is not self._main:
            mail.put({"over": name})
            # whoever counts threads then does not see it any more
            self._threads.pop(name).join(1.0)

    def _serve_thread(self, mail):
        self._local.mail = mail
        with contextlib.suppress(ConnectionLost):
            while "over" not in (message := self._next(mail)):
                self.answer(message)


class _Life:
    """Held by a thread alone: gone with it, and then the other side may end the thread that stands for it."""

    def __init__(self, router, name):
        self.router, self.name = router, name

    def __del__(self):
        with contextlib.suppress(Exception):
            self.router._mail.pop(self.name)
            self.router._ended.append(self.name)
            self.router._tell_of_ends()
