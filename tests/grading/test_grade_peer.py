"""Calls between two processes, and a hostile one at the other end of a checker's connection or of the grader's line."""

import contextlib
import json
import socket
import struct
import threading
import types

import numpy as np
import pytest

from course_tools.grading.rpc import peer, remote_errors, router
from course_tools.grading.rpc.control import (
    LONGEST,
    ConnectionLost,
    ControlChannel,
    DeadlineExceeded,
)
from course_tools.grading.verdict.session import reply_of, verdict_of


def pair(offered):
    """(guarded end, what it received): the other end serves `offered` in a thread."""
    ours, theirs = socket.socketpair()
    student = peer.Peer(theirs)

    def serve():
        student.offer(router.OFFERED, offered)
        while True:
            try:
                student.serve()
            except ConnectionError:
                return

    threading.Thread(target=serve, daemon=True).start()
    checker = peer.Peer(ours, guarded=True)
    return checker, checker.received(router.OFFERED, 20)


def test_call_with_arrays_and_a_call_back():
    checker, scaled = pair(lambda f, x: 2 * f(x))
    assert scaled(lambda x: x + 1, np.arange(3.0)).tolist() == [2, 4, 6]
    checker.close()


def fill(x, rng):
    x[:] = 7
    return x, rng.random()


def test_what_is_changed_there_is_changed_here():
    checker, answer = pair(fill)
    x, rng = np.zeros(2), np.random.default_rng(1)
    back, drawn = answer(x, rng)
    again = np.random.default_rng(1)
    assert back is x and x.tolist() == [7, 7] and checker.changed
    assert (drawn, rng.random()) == (again.random(), again.random())
    checker.close()


def test_what_is_kept_stays_as_it_was():
    checker, answer = pair(fill)
    checker.keeps = True
    x = np.zeros(2)
    answer(x, np.random.default_rng(1))
    assert x.tolist() == [0, 0] and checker.changed
    checker.close()


def test_unchanged_is_not_changed():
    checker, answer = pair(lambda *args: None)
    answer(np.ones(2), [np.ones(2), (1, 2.0)], {"a": np.ones(1)}, np.random.default_rng(1))
    assert not checker.changed
    checker.close()


def test_own_errors_come_back_as_they_were():
    class Mine(Exception):
        pass

    def ours():
        raise Mine("of the check")

    checker, answer = pair(lambda f: f())
    with pytest.raises(Mine):
        answer(ours)
    checker.close()


def raises(error):
    def answer():
        raise error

    return answer


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("x"), ValueError),
        (NotImplementedError("x"), NotImplementedError),
        (SystemExit(0), SystemExit),
        (KeyboardInterrupt(), remote_errors.RemoteError),
        (GeneratorExit(), remote_errors.RemoteError),
        (BaseException("x"), remote_errors.RemoteError),
        (StopIteration(), remote_errors.RemoteError),
        (ConnectionResetError(), remote_errors.RemoteError),
        (peer.ConnectionLost("x"), None),
        (UnicodeDecodeError("a", b"", 0, 0, "b"), remote_errors.RemoteError),
        (ExceptionGroup("a", [ValueError()]), remote_errors.RemoteError),
        (type("CheckFailed", (AssertionError,), {})("x"), remote_errors.RemoteError),
    ],
    ids=lambda x: type(x).__name__.replace("\0", "") if isinstance(x, BaseException) else "",
)
def test_errors_are_of_plain_kinds(error, kind):
    checker, answer = pair(raises(error))
    if kind is None:  # the student's side gives up: so does the connection, and nothing has passed
        checker.close()
        return
    with pytest.raises(kind) as caught:
        answer()
    assert type(caught.value) is kind or kind is remote_errors.RemoteError
    checker.close()


class Secretive:
    """What a check may hand over: to be called, and not to be looked into."""

    def __init__(self):
        self.wanted, self.np = 42, np

    def __call__(self):
        return 1

    def tell(self):
        return self.wanted


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.wanted,
        lambda f: f.tell(),
        lambda f: f.np,
        lambda f: f.__dict__,
        lambda f: f.__class__.__init__.__globals__,
        lambda f: f._peer.call(f, "__dict__", (), {}),
        lambda f: f.func,
        lambda f: f.__self__,
        lambda f: f.args,
    ],
)
@pytest.mark.parametrize(
    "thing", [Secretive(), Secretive().tell, lambda: 1], ids=["object", "method", "function"]
)
def test_what_is_shown_can_be_called_and_no_more(ask, thing):
    checker, answer = pair(lambda f: str(ask(f)))
    with contextlib.suppress(AttributeError, KeyError, TypeError):
        assert "42" not in answer(thing)
    checker.close()


def test_a_record_shows_its_values():
    checker, answer = pair(lambda r: r.x)
    assert answer(types.SimpleNamespace(x=3)) == 3
    checker.close()


class Chameleon:
    """Of the student's: what would it say to a comparison?"""

    def __eq__(self, other):
        return True

    def __contains__(self, item):
        return True

    def __len__(self):
        return 3

    def __getitem__(self, key):
        return key

    __hash__ = None


def test_objects_of_the_students_do_not_come():
    checker, answer = pair(lambda: Chameleon())
    with pytest.raises(TypeError, match="returns holds an object of the class Chameleon"):
        answer()
    checker.close()


def test_functions_of_the_students_can_be_called_and_no_more():
    class Callable(Chameleon):
        def __call__(self):
            return 5

    checker, answer = pair(lambda: Callable())
    got = answer()
    assert got() == 5 and got != 5 and not hasattr(got, "shape")
    for look in (len, list, lambda x: 5 in x, lambda x: x[0], np.sum):
        with pytest.raises(TypeError):
            assert look(got) is not got or look(got) + 1
    checker.close()


def test_a_generator_comes():
    def count():
        yield from range(3)

    checker, answer = pair(count)
    assert list(answer()) == [0, 1, 2]
    checker.close()


# A hostile process that writes frames of its own ------------------------------------------------------------------


def frame(message):
    text = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("<I", len(text)) + text


class Hostile:
    """The student's end, by hand."""

    def __init__(self):
        ours, self.end = socket.socketpair()
        self.end.settimeout(5)
        self.checker = peer.Peer(ours, guarded=True)
        self.say({"offer": router.OFFERED, "object": 1, "calls": True})
        self.answer = self.checker.received(router.OFFERED, 5)

    def say(self, *messages):
        for message in messages:
            self.end.sendall(frame(message))

    def hear(self):
        while True:
            size = struct.unpack("<I", self.end.recv(4, socket.MSG_WAITALL))[0]
            message = json.loads(self.end.recv(size, socket.MSG_WAITALL))
            if "over" not in message:
                return message

    def asked(self, *args):
        """(the call that the checker makes, where its result will be)"""
        result: list = []

        def call():
            try:
                result.append(self.answer(*args))
            except BaseException as error:
                result.append(error)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        return self.hear(), (lambda: (thread.join(5), result[0])[1])


def test_late_and_doubled_answers_do_not_count():
    hostile = Hostile()
    call, result = hostile.asked()
    right = {"to": call["from"], "id": call["id"], "back": {"list": []}, "value": 1}
    hostile.say(
        right | {"id": call["id"] - 1, "value": 2},
        right | {"id": None},
        right,
        right | {"value": 3},
    )
    assert result() == 1
    call, result = hostile.asked()
    hostile.say({"to": call["from"], "id": call["id"], "back": {"list": []}, "value": 4})
    assert result() == 4


def test_what_was_shown_to_one_check_is_gone_in_the_next():
    hostile, called = Hostile(), []
    call, result = hostile.asked(lambda: called.append(1))
    (shown,) = [part["object"] for part in call["given"][1]["list"]]
    hostile.say({"to": call["from"], "id": call["id"], "back": {"list": []}, "value": None})
    result()
    hostile.checker.forget()
    hostile.say(
        {
            "call": shown,
            "method": "",
            "given": [{"list": []}, {"list": []}, {"dict": []}],
            "from": "x",
            "id": 1,
        }
    )
    assert "error" in hostile.hear() and not called


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"1" * 5000,
        [],
        1,
        None,
        {},
        {"to": []},
        {"from": {}},
        {"offer": "other", "object": 1},
        {"offer": []},
    ],
    ids=lambda m: str(m)[:20],
)
def test_what_is_no_message_ends_the_connection(message):
    hostile = Hostile()
    _, result = hostile.asked()
    hostile.say(message)
    assert isinstance(result(), ConnectionLost)


@pytest.mark.parametrize(
    "part",
    [
        {"value": {"object": 99, "yours": True}},
        {"value": {"object": [], "calls": True}},
        {"value": {"object": 1, "has": 5}},
        {"back": 7},
        {"back": {"dict": []}, "value": {"same": 5}},
        {"error": 5},
        {"error": None},
        {"error": {"type": 5}},
        {"error": {"type": "SystemExit", "was": 10**9}},
        {"error": {"type": "ConnectionLost"}},
        {
            "value": {
                "object": 5,
                "values": {"array": "<f8", "shape": [1], "order": "C", "data": "AAAAAAAAAAA="},
            }
        },
    ],
    ids=str,
)
def test_odd_answers_are_errors_of_the_call(part):
    hostile = Hostile()
    call, result = hostile.asked()
    hostile.say({"to": call["from"], "id": call["id"], "back": {"list": []}, "value": 1} | part)
    got = result()
    assert got == 1 or (
        isinstance(got, Exception | SystemExit) and not isinstance(got, ConnectionLost)
    ), got


def test_threads_without_end():
    hostile = Hostile()
    _, result = hostile.asked()
    before = threading.active_count()
    hostile.end.settimeout(0.5)
    for number in range(3 * router.MOST_THREADS):
        try:
            hostile.say({"call": 1, "method": "", "given": [], "from": f"t{number}", "id": 1})
        except OSError:
            break
    assert (
        isinstance(result(), ConnectionLost)
        and threading.active_count() <= before + router.MOST_THREADS
    )


# The grader's line ------------------------------------------------------------------------------------------------


def line():
    ours, theirs = socket.socketpair()
    return ControlChannel(ours), theirs


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{",
        b"[" * 100_000,
        [],
        None,
        {"answer": 1},
        {"value": 1},
        {"answer": 0, "value": 1},
        {"answer": 2, "value": 1},
        {"call": 1, "method": "__class__"},
    ],
    ids=lambda m: str(m)[:20],
)
def test_the_grader_takes_nothing_but_its_answer(answer):
    ours, theirs = line()
    ours.ask("run", "1")
    theirs.sendall(frame(answer))
    with pytest.raises(ConnectionLost):
        ours.answer(5)


def test_the_grader_reads_no_more_than_it_may():
    ours, theirs = line()
    ours.ask("run", "1")
    theirs.sendall(struct.pack("<I", LONGEST + 1))
    with pytest.raises(ConnectionLost):
        ours.answer(5)


def test_the_grader_waits_no_longer_than_told():
    ours, theirs = line()
    ours.ask("run", "1")
    theirs.sendall(struct.pack("<I", 100) + b"{")  # and never the rest
    with pytest.raises(DeadlineExceeded):
        ours.answer(0.3)
    with pytest.raises(DeadlineExceeded):  # it does not listen, either
        ours.ask("run", "x" * (4 << 20), seconds=0.2)


@pytest.mark.parametrize("value", [None, 1, "ok", [], {}, {"status": "pass"}, {"status": ["ok"]}])
def test_no_reply(value):
    with pytest.raises((ConnectionLost, TypeError)):
        reply_of(value)


def test_replies_are_capped_and_clean():
    shown = [{"text/plain": "x" * 10**6, "image/png": 5, "\ud800": None}] * 50
    got = reply_of(
        {
            "status": "ok",
            "error": {},
            "printed": "\ud800" + "y" * 10**6,
            "outputs": [*shown, 3],
            "more": 1,
        }
    )
    json.dumps(got, ensure_ascii=False).encode()
    assert (
        len(got["printed"]) <= 10**5
        and len(got["outputs"]) == 20
        and got["error"] == ""
        and "more" not in got
    )
    assert reply_of({"status": "ok", "outputs": "x"})["outputs"] == []


def test_a_verdict_is_one_of_a_few():
    for value in (None, {"status": "Pass"}, {"status": True}, [], {"message": "pass"}):
        with pytest.raises(ConnectionLost):
            verdict_of(value)
    plain = {"status": "pass", "kind": "", "message": ""}
    assert verdict_of({"status": "pass", "message": 5}) == plain
    assert verdict_of(plain | {"kind": "excused"}) == plain
    assert verdict_of(plain | {"status": "wrong", "kind": "clock"})["kind"] == "clock"


def test_an_error_whose_text_cannot_be_had_is_told_all_the_same():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no")

    told = remote_errors.Errors(guarded=False).described(Mute())
    assert told["type"] == "Mute" and told["text"] == "(an error without a text)"
