"""Calls between two processes that do not trust each other: each may call what the other has shown it, no more.

A call carries its arguments as data (`wire`); arrays and lists among them are written back after it, as a call within
one process would have changed them. Calls nest. Each thread of one side has one thread of its own on the other side,
so that code which looks at its thread sees the same picture; a call back goes to the thread that waits for it.

The checker's end is `guarded`: the other end is a student's process, which may say whatever it likes. Then what comes
is data, functions and iterators, and no object with a life of its own; what was shown can be called, and no more;
errors are of plain kinds; an answer counts for the call that it belongs to. Where `keeps` is set, what was handed over
stays as it was: a check must not hold an answer against numbers that the answer has changed. (Generators go on.)
"""

import collections
import contextlib
import itertools
import json
import linecache
import queue
import secrets
import socket
import struct
import threading
import traceback
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from course_tools.grading.rpc import codec, copy_restore, race_injection, remote_errors
from course_tools.grading.rpc.control import Gone, frame
from course_tools.grading.rpc.leftover_threads import Aftermath
from course_tools.grading.rpc.proxy import stand_in
from course_tools.grading.rpc.remote_array import Mirror

LONGEST = 64 << 20  # bytes of one message
MOST_THREADS = 100  # of the other side, at a time
NO_VALUE = (
    "an object of the class {}, where only numbers, texts, arrays, functions, and lists, tuples or "
    "dictionaries of them can be graded"
)
PRINTED = 4000  # characters of what one call printed that are told
RESULTS = (
    "__iter__",
    "__next__",
)  # what a guarded end lets an object of the other side be used for, but for a call


OFFERED = "student"
WATCHED = (
    "watched",
    "stumbling",
    "aftermath",
)  # asked of functions that start threads, by the checks alone


class Peer:
    """One end of a connected stream socket. `show` gives things to the other side; `serve` answers its calls."""

    def __init__(self, connection, guarded=False):
        self.guarded, self.keeps, self.changed = guarded, False, False
        self.prints: Callable[[], str] | None = (
            None  # what was printed here since it was last called
        )
        self.heard: Callable[[str], Any] | None = None  # gets what the other side printed in a call
        self._socket, self._lock, self._local = connection, threading.Lock(), threading.local()
        self._shown: dict[int, Any] = {}
        self._numbers: dict[
            int, int
        ] = {}  # id of a thing that is shown -> its number, never given twice
        self._raised: list[BaseException] = []  # what was told to the other side, and may come back
        self._count = itertools.count(1)
        self._mail: dict[str, queue.Queue] = {}  # by name of a thread of this side
        self._mirror: dict[
            str, queue.Queue
        ] = {}  # by name of a thread of the other side: who answers it here
        self._threads: dict[str, threading.Thread] = {}  # the mirrors, but for the one that serves
        self._main: queue.Queue = queue.Queue()
        self._serving = False
        self._offers: dict[str, queue.Queue] = {
            OFFERED: queue.Queue()
        }  # made here: two threads look into it
        self._lost, self._names = "", itertools.count(1)
        self._aftermath = Aftermath(lambda: [*self._threads.values()])
        self._ended: collections.deque = collections.deque()  # names of threads of this side
        threading.Thread(target=self._read, daemon=True, name="peer").start()

    def show(self, thing):
        """The number by which the other side may call `thing`."""
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = number = next(self._count)
            self._shown[number] = thing
        return self._numbers[id(thing)]

    def forget(self):
        """Nothing is shown any more: what the other side has kept of an earlier check cannot be used in the next."""
        self._shown, self._numbers, self._raised, self.changed, self.keeps = (
            {},
            {},
            [],
            False,
            False,
        )

    def call(self, stand_in, method, args, kwargs, bare=False):
        """Call an object of the other side, or its method: the result, or its error, raised here.

        bare: what came with the call that this thread answers does not travel along, and is not written back.
        Raises Gone, and codec.NotData for what cannot travel.
        """
        name, mail = self._me()
        asker, outer = self._asker()
        outer = [] if bare else outer
        memo = {id(thing): (place, thing) for place, thing in enumerate(outer)}
        given = [
            codec.pack(part, self.show, memo)
            for part in (copy_restore.copies(outer), list(args), kwargs)
        ]
        sent = [thing for _, thing in sorted(memo.values(), key=lambda pair: pair[0])]
        number = secrets.randbits(53)  # nobody can answer a call that is yet to come
        self._send(
            {
                "call": stand_in._peer_number,
                "method": method,
                "given": given,
                "from": name,
                "to": asker,
                "id": number,
                "bare": bare,
            }
        )
        self._local.sent = [*getattr(self._local, "sent", ()), sent]
        try:
            message = self._awaited(mail, number)
        finally:
            self._local.sent.pop()
        return self._taken(message, sent, method)

    def _awaited(self, mail, number):
        """The answer to that call; calls back are answered meanwhile, and answers to others (late ones) dropped."""
        while True:
            message = self._next(mail)
            if "call" in message:
                self._answer(message)
            elif "back" in message and message.get("id") == number:
                return message

    def _taken(self, message, sent, method):
        """The value of an answer, or its error, raised; what was sent becomes what the other side has made of it."""
        if self.heard is not None and message.get("printed"):
            self.heard(str(message["printed"])[:PRINTED])
        memo: list = []
        back = codec.unpack(message["back"], self._stand_in, memo)
        same = {id(new): old for old, new in zip(sent, back, strict=False)}
        for old, new in zip(sent, back, strict=False):
            self._write_back(old, new, same)
        if "error" in message:
            raise self._error(message["error"], method)
        ours = {
            id(new): old
            for old, new in zip(sent, back, strict=False)
            if copy_restore.same_array(old, new)
        }
        memo = [
            ours.get(id(thing), thing) for thing in memo
        ]  # a view of an argument is one of ours
        try:
            value = codec.unpack(message["value"], self._stand_in, memo)
        except codec.NotData as error:
            raise self._error(
                {"type": "TypeError", "text": f"what it returns holds {error}"}, method
            ) from None
        return copy_restore.known(value, same, None)

    def offer(self, name, thing):
        """Tell the other side that it may call `thing`: there it is `received(name)`."""
        self._send({"offer": name, **codec.pack(thing, self.show)})

    def received(self, name, seconds=30.0):
        """What the other side offers under this name, as a stand-in. Raises Gone where nothing comes."""
        try:
            message = None if self._lost else self._offers[name].get(timeout=seconds)
        except queue.Empty:
            raise Gone(f"the other side offered no {name} within {seconds:g} s") from None
        if message is None:
            raise Gone(self._lost)
        return self._stand_in(int(message["object"]), message)

    def serve(self):
        """Answer the calls of one thread of the other side in this one (those of others: in new ones) until `done`."""
        self._local.mail, self._serving = self._main, True
        while "done" not in (message := self._next(self._main)):
            self._answer(message)
        self._mirror = {name: mail for name, mail in self._mirror.items() if mail is not self._main}

    def done(self):
        """End the other side's `serve`."""
        self._send({"done": True})

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
        self._tell_of_ends()
        try:
            with self._lock:
                self._socket.sendall(frame(message))
        except OSError as error:
            raise Gone(str(error)) from None
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
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # whoever still writes over there hears of it
        for mails in (self._mail, self._mirror, self._offers, {"": self._main}):
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
            self._end_mirror(message["over"])
        elif message.get("to") is not None:
            if message["to"] in self._mail:  # else: too late, that thread has ended
                self._mail[message["to"]].put(message)
        else:
            self._mirror_of(message["from"]).put(message)

    def _mirror_of(self, name):
        if name not in self._mirror and self._serving and self._main not in self._mirror.values():
            self._mirror[name] = self._main
        if name not in self._mirror:
            if len(self._mirror) >= MOST_THREADS:
                raise ValueError(f"more than {MOST_THREADS} threads")
            self._mirror[name] = queue.Queue()
            self._threads[name] = threading.Thread(
                target=self._mirrors, args=(name, self._mirror[name]), daemon=True
            )
            self._threads[name].start()
        return self._mirror[name]

    def _end_mirror(self, name):
        mail = self._mirror.pop(name, None)
        if mail is not None and mail is not self._main:
            mail.put({"over": name})
            self._threads.pop(name).join(
                1.0
            )  # whoever counts threads then does not see it any more

    def _mirrors(self, name, mail):
        self._local.mail = mail
        with contextlib.suppress(Gone):
            while "over" not in (message := self._next(mail)):
                self._answer(message)

    # Calls in

    def _answer(self, message):
        """Do what the other side asks, and say what came of it."""
        within = message.get("to") is not None and not message.get("bare")
        outer = within and getattr(self._local, "sent", None)
        memo: list = list(outer[-1]) if outer else []
        reply: dict[str, Any] = {"to": message.get("from"), "id": message.get("id")}
        self._local.askers = [*getattr(self._local, "askers", ()), (message.get("from"), memo)]
        try:
            args, kwargs = self._given(message["given"], memo)
            value = self._method(message["call"], message["method"])(*args, **kwargs)
            places: dict = {}
            reply["back"] = codec.pack(memo, self.show, places)
            reply["value"] = codec.pack(value, self.show, places)
        except Gone:
            raise
        except BaseException as error:
            reply |= {"error": self._described(error), "back": codec.pack(memo, self.show)}
            reply.pop("value", None)
        finally:
            self._local.askers = self._local.askers[:-1]
        if self.prints is not None:
            reply["printed"] = self.prints()[:PRINTED]
        self._send(reply)

    def _given(self, given, memo):
        """The arguments of a call; memo: what this side has sent to the one that calls, in its present state."""
        now = codec.unpack(given[0], self._stand_in, memo)
        for place, new in enumerate(now[: len(memo)]):
            if self.keeps and (
                isinstance(new, np.ndarray) or copy_restore.change(memo[place], new, {})
            ):
                memo[place] = (
                    new  # the call sees what the other side has; what was sent stays as it is
                )
            else:
                self._write_back(memo[place], new, {})
        args, kwargs = (codec.unpack(part, self._stand_in, memo) for part in given[1:])
        return args, kwargs

    def _write_back(self, old, new, same):
        """Change `old` to what the other side made of it. same: {id of what came back: what was sent}."""
        if isinstance(old, np.random.Generator) and isinstance(new, np.random.Generator):
            old.bit_generator.state = new.bit_generator.state
        elif change := copy_restore.change(old, new, same):
            self.changed = True
            if not self.keeps:
                change()

    def _method(self, number, name):
        """What a call means: of the thing, or of one of its methods in SHOWN. `.` before a name: an attribute.

        Attributes are seen of a SimpleNamespace, and those that a class of the checks lists in its `remote`.
        """
        thing = self._shown[number]
        if not name:
            return thing
        if name in WATCHED and not self.guarded:
            return self._watched(thing, name)
        if name.startswith("."):
            if isinstance(thing, types.SimpleNamespace) and name[1:] in vars(thing):
                return lambda: vars(thing)[name[1:]]
            if name[1:] in getattr(type(thing), "remote", ()):
                return lambda: getattr(thing, name[1:])
            raise AttributeError(
                f"{type(thing).__name__} has no attribute {name[1:]!r} that can be used here"
            )
        if name not in codec.SHOWN:
            raise AttributeError(name)
        return getattr(thing, name)

    def _watched(self, thing, name):
        """What the checks ask of a function that starts threads: see `guarded` in course_lib.checks.kit.threads."""
        if name == "aftermath":
            return self._left_behind
        return self._aftermath.watching(
            race_injection.stumbling(thing) if name == "stumbling" else thing
        )

    def _left_behind(self):
        busy, left, lost = self._aftermath.told()
        return [busy, left, [self._described(error) for error in lost[:20]]]

    def _stand_in(self, number, about):
        """What stands here for an object of the other side; its own object, where it was ours."""
        if about.get("yours"):
            return self._shown[number]
        if "values" in about and not self.guarded:
            return Mirror.of(
                codec.unpack(about["values"], None), stand_in(self, number, {"calls": True}, ())
            )
        if self.guarded and not (about.get("calls") or "__next__" in about.get("has", ())):
            raise codec.NotData(NO_VALUE.format(str(about.get("type"))[:40]))
        return stand_in(self, number, about, RESULTS if self.guarded else codec.SHOWN)

    def _described(self, error, depth=4):
        """An error as data: its kind, its text, where it comes from. A student's: the lines of cells that it passed,
        and the error that it was raised over (depth: of so many)."""
        said = {
            "type": type(error).__name__,
            "text": str(error)[:4000],
            "was": getattr(error, "peer_was", None),
        }
        if self.guarded:
            self._raised.append(error)
            return said | {"was": len(self._raised) - 1}
        cells = ("<", "/tmp/ipykernel_")
        files = [
            f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(cells)
        ]
        texts = [
            (f.line or linecache.getline(f.filename, f.lineno or 0)).strip() for f in files[-20:]
        ]
        over = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        said["over"] = self._described(over, depth - 1) if over is not None and depth else None
        return said | {
            "lines": [
                [f.filename, f.lineno, f.name, t] for f, t in zip(files[-20:], texts, strict=True)
            ]
        }

    def error_of(self, given):
        """An error of the other side that no call has raised, as this side knows it."""
        return self._error(given if isinstance(given, dict) else {}, "")

    def _error(self, given, method, depth=4):
        """The error of the other side, to be raised here; the very one, where it came from here."""
        was = given.get("was")
        if self.guarded and type(was) is int and 0 <= was < len(self._raised):
            known: Any = self._raised[was]
            known.remote_lines, known.of_answer = (
                remote_errors.lines(given.get("lines")),
                True,
            )  # it has passed through there
            return known
        error = remote_errors.plain(
            str(given.get("type", ""))[:80], str(given.get("text", ""))[:4000], method == "__next__"
        )
        error.remote_lines = remote_errors.lines(given.get("lines"))
        error.peer_was, error.of_answer = was, True
        if isinstance(given.get("over"), dict) and depth:
            error.__cause__ = self._error(given["over"], "", depth - 1)
        return error


class _Life:
    """Held by a thread alone: gone with it, and then the other side may end the thread that stands for it."""

    def __init__(self, peer, name):
        self.peer, self.name = peer, name

    def __del__(self):
        with contextlib.suppress(Exception):
            self.peer._mail.pop(self.name)
            self.peer._ended.append(self.name)
            self.peer._tell_of_ends()
