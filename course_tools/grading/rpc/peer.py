"""Calls between two processes that do not trust each other: each may call what the other has shown it, no more.

A call carries its arguments as data (`codec`); arrays and lists among them are written back after it, as a call within
one process would have changed them. Calls nest; `router` has each thread's calls answered by one thread.

The checker's end is `guarded`: the other end is a student's process, which may say whatever it likes. Then what comes
is data, functions and iterators, and no object with a life of its own; what was shown can be called, and no more;
errors are of plain kinds; an answer counts for the call that it belongs to. Where `keeps` is set, what was handed over
stays as it was: a check must not hold an answer against numbers that the answer has changed. (Generators go on.)
"""

import itertools
import secrets
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from course_tools.grading.rpc import codec, copy_restore, remote_errors
from course_tools.grading.rpc.framing import ConnectionLost
from course_tools.grading.rpc.proxy import proxy_of
from course_tools.grading.rpc.remote_array import RemoteArray
from course_tools.grading.rpc.router import Router

NO_VALUE = (
    "an object of the class {}, where only numbers, texts, arrays, functions, and lists, tuples or "
    "dictionaries of them can be graded"
)
UNTOLD = "an error that cannot be told: to look at it raises another one"
PRINTED = 4000  # characters of what one call printed that are told
# what a guarded end lets an object of the other side be used for, but for a call
RESULTS = ("__iter__", "__next__")


class Peer(Router):
    """One end of a connected stream socket. `show` gives things to the other side; `serve` answers its calls."""

    def __init__(self, connection, guarded=False):
        self.guarded, self.keeps, self.changed = guarded, False, False
        self.errors = remote_errors.Errors(guarded)
        # what was printed here since it was last called; gets what the other side printed in a call
        self.prints: Callable[[], str] | None = None
        self.heard: Callable[[str], Any] | None = None
        # methods of what is shown that it does not have itself: {name: function of the thing}
        self.extras: dict[str, Callable[[Any], Callable]] = {}
        # by number; id of a thing -> its number, never given twice
        self._shown: dict[int, Any] = {}
        self._numbers: dict[int, int] = {}
        self._count = itertools.count(1)
        super().__init__(connection)

    def show(self, thing):
        """The number by which the other side may call `thing`."""
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = number = next(self._count)
            self._shown[number] = thing
        return self._numbers[id(thing)]

    def forget(self):
        """Nothing is shown any more: what the other side has kept of an earlier check cannot be used in the next."""
        self._shown, self._numbers = {}, {}
        self.changed = self.keeps = False
        self.errors.forget()

    def call(self, proxy, method, args, kwargs, bare=False):
        """Call an object of the other side, or its method: the result, or its error, raised here.

        bare: what came with the call that this thread answers does not travel along, and is not written back.
        Raises ConnectionLost, and codec.NotData for what cannot travel.
        """
        name, mail = self._me()
        asker, outer = self._asker()
        outer = [] if bare else outer
        memo = {id(thing): (place, thing) for place, thing in enumerate(outer)}
        parts = copy_restore.copies(outer), list(args), kwargs
        given = [codec.pack(part, self.show, memo) for part in parts]
        sent = [thing for _, thing in sorted(memo.values(), key=lambda pair: pair[0])]
        number = secrets.randbits(53)  # nobody can answer a call that is yet to come
        asked = {"call": proxy._peer_number, "method": method, "given": given, "bare": bare}
        self._send(asked | {"from": name, "to": asker, "id": number})
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
                self.answer(message)
            elif "back" in message and message.get("id") == number:
                return message

    def _taken(self, message, sent, method):
        """The value of an answer, or its error, raised; what was sent becomes what the other side has made of it."""
        if self.heard is not None and message.get("printed"):
            self.heard(str(message["printed"])[:PRINTED])
        memo: list = []
        back = codec.unpack(message["back"], self._object, memo)
        same = {id(new): old for old, new in zip(sent, back, strict=False)}
        for old, new in zip(sent, back, strict=False):
            self._write_back(old, new, same)
        if "error" in message:
            raise self.errors.remade(message["error"], method)
        # a view of an argument is one of ours
        pairs = zip(sent, back, strict=False)
        ours = {id(new): old for old, new in pairs if copy_restore.same_array(old, new)}
        memo = [ours.get(id(thing), thing) for thing in memo]
        try:
            value = codec.unpack(message["value"], self._object, memo)
        except codec.NotData as error:
            said = {"type": "TypeError", "text": f"what it returns holds {error}"}
            raise self.errors.remade(said, method) from None
        return copy_restore.known(value, same, None)

    def offer(self, name, thing):
        """Tell the other side that it may call `thing`: there it is `received(name)`."""
        self._send({"offer": name, **codec.pack(thing, self.show)})

    def received(self, name, seconds=30.0):
        """What the other side offers under this name, as a proxy. Raises ConnectionLost where nothing comes."""
        message = self._offered(name, seconds)
        return self._object(int(message["object"]), message)

    # Calls in

    def _asker(self):
        """(the thread over there that waits for this one, what came with its call); (None, []) where none waits."""
        return self._local.askers[-1] if getattr(self._local, "askers", None) else (None, [])

    def answer(self, message):
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
        except ConnectionLost:
            raise
        except BaseException as error:
            reply.pop("value", None)
            reply |= self._told(error, memo)
        finally:
            self._local.askers = self._local.askers[:-1]
        if self.prints is not None:
            reply["printed"] = self.prints()[:PRINTED]
        self._send(reply)

    def _told(self, error, memo):
        """An error's part of a reply. Of a student's objects even a look may raise: the thread that answers goes on."""
        try:
            return {"error": self.errors.described(error), "back": codec.pack(memo, self.show)}
        except BaseException:
            said = {"type": "RuntimeError", "text": UNTOLD}
            return {"error": said, "back": codec.pack([], self.show)}

    def _given(self, given, memo):
        """The arguments of a call; memo: what this side has sent to the one that calls, in its present state."""
        now = codec.unpack(given[0], self._object, memo)
        for place, new in enumerate(now[: len(memo)]):
            if self.keeps and (
                isinstance(new, np.ndarray) or copy_restore.change(memo[place], new, {})
            ):
                # the call sees what the other side has; what was sent stays as it is
                memo[place] = new
            else:
                self._write_back(memo[place], new, {})
        args, kwargs = (codec.unpack(part, self._object, memo) for part in given[1:])
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
        if name in self.extras:
            return self.extras[name](thing)
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

    def _object(self, number, about):
        """What stands here for an object of the other side; its own object, where it was ours."""
        if about.get("yours"):
            return self._shown[number]
        if "values" in about and not self.guarded:
            return RemoteArray.of(
                codec.unpack(about["values"], None), proxy_of(self, number, {"calls": True}, ())
            )
        if self.guarded and not (about.get("calls") or "__next__" in about.get("has", ())):
            raise codec.NotData(NO_VALUE.format(str(about.get("type"))[:40]))
        return proxy_of(self, number, about, RESULTS if self.guarded else codec.SHOWN)
