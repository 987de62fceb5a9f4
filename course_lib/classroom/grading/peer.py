"""Calls between two processes that do not trust each other: each may call what the other has shown it, no more.

A call carries its arguments as data (`wire`); arrays and lists among them are written back after it, as a call within
one process would have changed them. Calls nest. Each thread of one side has one thread of its own on the other side,
so that code which looks at its thread sees the same picture; a call back goes to the thread that waits for it.
"""

import collections
import contextlib
import json
import itertools
import linecache
import queue
import signal
import socket
import struct
import threading
import traceback
from typing import Any

import numpy as np

from . import wire

LONGEST = 256 << 20  # bytes of one message


class Gone(ConnectionError):
    """The other side has ended, or sent what is no message."""


class RemoteError(Exception):
    """An error of a kind that is not known here."""


class Peer:
    """One end of a connected stream socket. `show` gives things to the other side; `serve` answers its calls."""

    def __init__(self, connection, may_interrupt=False):
        self._may_interrupt = may_interrupt
        self._socket, self._lock, self._local = connection, threading.Lock(), threading.local()
        self._shown: dict[int, Any] = {}
        self._mail: dict[str, queue.Queue] = {}  # by name of a thread of this side
        self._mirror: dict[str, queue.Queue] = {}  # by name of a thread of the other side: who answers it here
        self._threads: dict[str, threading.Thread] = {}  # the mirrors, but for the one that serves
        self._main: queue.Queue = queue.Queue()
        self._serving = False
        self._offers: dict[str, queue.Queue] = collections.defaultdict(queue.Queue)
        self._lost, self._names = "", itertools.count(1)
        threading.Thread(target=self._read, daemon=True, name="peer").start()

    def show(self, thing):
        """The number by which the other side may call `thing`."""
        self._shown[id(thing)] = thing
        return id(thing)

    def call(self, stand_in, method, args, kwargs):
        """Call an object of the other side, or its method: the result, or its error, raised here. Raises Gone, wire.NotData."""
        name, mail = self._me()
        asker, outer = self._asker()
        memo = {id(thing): (place, thing) for place, thing in enumerate(outer)}
        given = [wire.pack(part, self.show, memo) for part in (_arrays(outer), list(args), kwargs)]
        sent = [thing for _, thing in sorted(memo.values(), key=lambda pair: pair[0])]
        self._send({"call": stand_in._peer_number, "method": method, "given": given, "from": name, "to": asker})
        self._local.sent = [*getattr(self._local, "sent", ()), sent]
        try:
            while "back" not in (message := self._next(mail)):
                self._answer(message)
        finally:
            self._local.sent.pop()
        memo_back: list = []
        back = wire.unpack(message["back"], self._stand_in, memo_back)
        same = {id(new): old for old, new in zip(sent, back, strict=False)}
        for old, new in zip(sent, back, strict=False):
            _write_back(old, new, same)
        if "error" in message:
            raise _error(message["error"])
        return _known(wire.unpack(message["value"], self._stand_in, memo_back), same, None)

    def offer(self, name, thing):
        """Tell the other side that it may call `thing`: there it is `received(name)`."""
        self._send({"offer": name, **wire.pack(thing, self.show)})

    def received(self, name, seconds=30.0):
        """What the other side offers under this name, as a stand-in. Raises Gone where nothing comes."""
        try:
            message = self._offers[name].get(timeout=seconds)
        except queue.Empty:
            raise Gone(f"the other side offered no {name} within {seconds:g} s") from None
        if message is None:
            raise Gone(self._lost)
        return stand_in(self, int(message["object"]), message)

    def serve(self):
        """Answer the calls of one thread of the other side in this one (those of others: in new ones) until `done`."""
        self._local.mail, self._serving = self._main, True
        while "done" not in (message := self._next(self._main)):
            self._answer(message)
        self._mirror = {name: mail for name, mail in self._mirror.items() if mail is not self._main}

    def done(self):
        """End the other side's `serve`."""
        self._send({"done": True})

    def interrupt(self):
        """What Ctrl-C would do, in the main thread of the other side."""
        self._send({"interrupt": True})

    def close(self):
        """No calls any more, in either direction."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    # Threads and messages

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

    def _asker(self):
        """(the thread over there that waits for this one, what came with its call); (None, []) where none waits."""
        return self._local.askers[-1] if getattr(self._local, "askers", None) else (None, [])

    def _next(self, mail):
        if self._lost:
            raise Gone(self._lost)
        message = mail.get()
        if message is None:
            raise Gone(self._lost)
        return message

    def _send(self, message):
        text = json.dumps(message).encode()
        try:
            with self._lock:
                self._socket.sendall(struct.pack("<I", len(text)) + text)
        except OSError as error:
            raise Gone(str(error)) from None

    def _read(self):
        """In a thread: hand each message to the thread that it is for."""
        stream = self._socket.makefile("rb")
        try:
            while len(head := stream.read(4)) == 4:
                (size,) = struct.unpack("<I", head)
                if size > LONGEST:
                    raise ValueError(f"a message of {size} bytes")
                self._deliver(json.loads(stream.read(size)))
            self._lost = "the other side has ended"
        except Exception as error:
            self._lost = f"the other side sent what is no message: {error}"
        for mail in (self._main, *self._mail.values(), *self._mirror.values(), *self._offers.values()):
            mail.put(None)

    def _deliver(self, message):
        if "done" in message:
            self._main.put(message)
        elif "offer" in message:
            self._offers[str(message["offer"])[:40]].put(message)
        elif "interrupt" in message and self._may_interrupt:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        elif "over" in message:
            self._end_mirror(message["over"])
        elif message.get("to") is not None:
            self._mail[message["to"]].put(message)
        else:
            self._mirror_of(message["from"]).put(message)

    def _mirror_of(self, name):
        if name not in self._mirror and self._serving and self._main not in self._mirror.values():
            self._mirror[name] = self._main
        if name not in self._mirror:
            self._mirror[name] = queue.Queue()
            self._threads[name] = threading.Thread(target=self._mirrors, args=(name, self._mirror[name]), daemon=True)
            self._threads[name].start()
        return self._mirror[name]

    def _end_mirror(self, name):
        mail = self._mirror.pop(name, None)
        if mail is not None and mail is not self._main:
            mail.put({"over": name})
            self._threads.pop(name).join(1.0)

    def _mirrors(self, name, mail):
        self._local.mail = mail
        with contextlib.suppress(Gone):
            while "over" not in (message := self._next(mail)):
                self._answer(message)

    # Calls in

    def _answer(self, message):
        """Do what the other side asks, and say what came of it."""
        memo: list = list(self._local.sent[-1]) if message.get("to") is not None else []
        reply: dict[str, Any] = {"to": message["from"]}
        self._local.askers = [*getattr(self._local, "askers", ()), (message["from"], memo)]
        try:
            now, args, kwargs = [wire.unpack(part, self._stand_in, memo) for part in message["given"]]
            for old, new in zip(memo, now, strict=False):
                _write_back(old, new, {})
            value = _method(self._shown[message["call"]], message["method"])(*args, **kwargs)
            places: dict = {}
            reply["back"] = wire.pack(memo, self.show, places)
            reply["value"] = wire.pack(value, self.show, places)
        except Gone:
            raise
        except BaseException as error:
            reply = {"to": message["from"], "error": _described(error), "back": wire.pack(memo, self.show)}
        finally:
            self._local.askers = self._local.askers[:-1]
        self._send(reply)

    def _stand_in(self, number, about):
        """What stands here for an object of the other side; its own object, where it was ours."""
        return self._shown[number] if about.get("yours") else stand_in(self, number, about)


class _Life:
    """Held by a thread alone: gone with it, and then the other side may end the thread that stands for it."""

    def __init__(self, peer, name):
        self.peer, self.name = peer, name

    def __del__(self):
        with contextlib.suppress(Exception):
            self.peer._mail.pop(self.name)
            self.peer._send({"over": self.name})


def _method(thing, name):
    """What a call means: of the thing, or of one of its public methods. `.` before a name: the attribute's value."""
    plain = name.lstrip(".")
    if plain and plain.startswith("_") and plain not in wire.SHOWN:
        raise AttributeError(plain)
    if name.startswith("."):
        return lambda: getattr(thing, plain)
    return getattr(thing, plain) if plain else thing


def stand_in(peer, number, about):
    """An object of the other side, as far as it can be used from here: called, and by its public methods."""

    class Remote:
        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return peer.call(self, f".{name}", (), {})

        def __call__(self, *args, **kwargs):
            return peer.call(self, "", args, kwargs)

    for name in about.get("has", ()):
        if name in wire.SHOWN:
            setattr(Remote, name, lambda self, *args, _name=name: peer.call(self, _name, args, {}))
    if not about.get("calls"):
        del Remote.__call__
    Remote.__name__ = Remote.__qualname__ = str(about.get("type", "object"))[:80]
    made = Remote()
    vars(made).update(_peer_number=number, __name__=str(about.get("name") or Remote.__name__))
    return made


def _arrays(things):
    """Copies of the arrays among them, None in the place of the others."""
    return [thing.copy() if isinstance(thing, np.ndarray) else None for thing in things]


def _write_back(old, new, same):
    """Change `old` to what the other side made of it. same: {id of what came back: what was sent}."""
    if type(old) is not type(new):
        return
    if isinstance(old, np.ndarray):
        if old.shape == new.shape and old.flags.writeable and old.tobytes() != new.tobytes():
            old[...] = new
    elif isinstance(old, np.random.Generator):
        old.bit_generator.state = new.bit_generator.state
    elif isinstance(old, list):
        old[:] = [_known(part, same, now) for part, now in itertools.zip_longest(new, old[: len(new)])]
    elif isinstance(old, dict):
        fresh = {key: _known(part, same, old.get(key)) for key, part in new.items()}
        old.clear()
        old.update(fresh)


def _known(part, same, now):
    """`part` with what was sent in the place of what came back for it; `now`, where that is the same."""
    if id(part) in same:
        return same[id(part)]
    if type(part) is tuple:
        before = now if type(now) is tuple and len(now) == len(part) else [None] * len(part)
        parts = tuple(_known(p, same, n) for p, n in zip(part, before, strict=True))
        return now if type(now) is tuple and all(p is n for p, n in zip(parts, before, strict=True)) else parts
    return part


def _described(error):
    """An error as data: its kind, its text, and the lines of the student's cells that it passed."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "ipykernel_" in f.filename or f.filename[0] == "<"]
    lines = [[f.filename, f.lineno, f.name, (f.line or linecache.getline(f.filename, f.lineno or 0)).strip()]
             for f in frames]  # fmt: skip
    return {"type": type(error).__name__, "text": str(error)[:4000], "lines": lines[-20:]}


def _error(given):
    """The error of the other side, to be raised here."""
    name = str(given.get("type", ""))[:80]
    kind = wire.ERRORS.get(name) or type(name or "error", (RemoteError,), {})
    if issubclass(kind, UnicodeError | KeyboardInterrupt | GeneratorExit):
        kind = RemoteError
    error = kind(str(given.get("text", "")))
    error.remote_lines = given.get("lines", [])
    return error
