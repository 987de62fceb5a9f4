"""The grader's side of one submission: a room for the student's cells, another for the checks, deadlines for both.

The checks have a room of their own because some of them compile and run what the student wrote in CUDA C. That room
is never told a verdict's price: it says what the check said, and this process counts.
"""

import contextlib
import socket
import time

from course_lib.checks.kit.kinds import KINDS
from course_tools.grading.rpc.control import Gone, Late, Line
from course_tools.grading.sandbox import resources
from course_tools.grading.verdict import undecided

INTERRUPT = 2.0  # seconds that a cell has to come to an end after an interrupt
OPEN = 30.0  # seconds for a room to open
AWAY = 2.0  # seconds that a check may go on when the student's process has done with it
LONGEST = 100_000  # characters kept of one text
MOST = 20  # outputs kept of a cell
MOST_RANKS = 16
VERDICTS = ("pass", "missing", "wrong", "crashed", "error")  # of the room of the checks


class Lost(RuntimeError):
    """The student's process has ended, or had to be ended: `.status` is crashed, timeout or inconclusive."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Door:
    """One room: its outermost process, and the line to it."""

    def __init__(self, zygote, role, seed, *others):
        self.process, connection = zygote.fork(role, seed, *others)
        self.line = Line(connection)
        try:
            said = self.line.answer(OPEN)
            if said != "open":
                raise RuntimeError(f"a room could not be opened: {text_of(said)}")
            self.line.look = resources.Memory(self.process.pid, zygote.limits.memory)
        except BaseException:
            self.close()
            raise

    def call(self, method, *args, seconds):
        """Ask, and wait for the answer."""
        self.line.ask(method, *args)
        return self.line.answer(seconds)

    def close(self):
        """Kill all that is in the room; calling it twice does no harm."""
        self.process.kill()
        self.line.close()


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
        self.memory_of_student, self.memory_of_checker = (
            self.student.line.look,
            self.checker.line.look,
        )
        self.texts, self.ranks, self.needs = list[str](), None, dict[tuple, int]()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End all rooms; a second time does nothing."""
        self.student.close()
        self.checker.close()
        if self.ranks is not None:
            self.ranks.close()
            self.ranks = None

    def run(self, code, seconds):
        """Run a cell in the student's room: what `room.Room.run` returns, capped. Raises Lost."""
        with self._costs("in this cell", seconds):
            self.student.line.ask("run", code)
            try:
                reply = reply_of(self.student.line.answer(seconds))
            except Late:
                if self._starved():
                    raise
                self.student.line.interrupt()
                reply = reply_of(self.student.line.answer(INTERRUPT))
        self.texts.append(code)
        return reply

    def check(self, check, name, seed, seconds, code=""):
        """Judge what the student left under `name`: {"status", "message"}. Raises Lost.

        check: "ch01.check_neuron", of course_lib.checks or of the module whose text is `code`.
        """
        with self._costs("in this check", seconds):
            if (check, code) not in self.needs:
                self.needs[check, code] = count_of(
                    self.checker.call("needs", check, code, seconds=seconds)
                )
            if self.needs[check, code]:
                verdict = self._check_ranks(check, name, seed, seconds, code)
                return undecided.verdict(verdict, self._starved_a_while)
            self.student.line.ask("attend")
            self.attends = time.monotonic()
            self.checker.line.look = self._look_at_both
            verdict = verdict_of(
                self.checker.call("judge", check, name, seed, code, seconds=seconds)
            )
            self.student.line.answer(
                INTERRUPT
            )  # nothing counts that a dead or stuck process has said
            if verdict["status"] == "crashed":
                raise Gone(verdict["message"])
            return undecided.verdict(verdict, self._starved_a_while)

    def _check_ranks(self, check, name, seed, seconds, code):
        """The same, each rank in a room of its own, in which all the cells have run."""
        wanted = self.needs[check, code]
        if self.ranks is not None and len(self.ranks.students) < wanted:
            self.ranks.close()
            self.ranks = None
        if self.ranks is None:
            self.ranks = RankRooms(self.zygote, self.seed, wanted)
        self.ranks.run(self.texts, seconds)
        verdict, stuck = self.ranks.judge(check, name, seed, seconds, code)
        if stuck:  # a rank of this answer computes for ever: not beside the next
            self.ranks.close()
            self.ranks = None
        return verdict

    def _look_at_both(self):
        now = time.monotonic()
        self.student.line.look()
        self.memory_of_checker()
        if not self.student.line.said():
            self.attends = now
        elif (
            now - self.attends > AWAY and not self._starved_a_while()
        ):  # it answers when the check is done, not before
            raise Gone("it does not attend to its check")

    def _starved_a_while(self):
        """The same for a while: a check's own waits are shorter than the time that it may take."""
        return self._starved(undecided.starving_a_while)

    def _starved(self, judge=undecided.starving):
        """Had one of the rooms at work too little of a processor since the question?"""
        looks = [
            self.memory_of_student,
            self.memory_of_checker,
            *(self.ranks.looks if self.ranks is not None else ()),
        ]
        return any(look.starved(self.asked, judge) for look in looks)

    @contextlib.contextmanager
    def _costs(self, where, seconds):
        """What goes wrong inside costs the rooms, and is Lost."""
        self.asked = time.monotonic()
        try:
            yield
        except Late:
            said = f"it did not come to an end {where} within {seconds:g} s"
            raise self._lost(*undecided.late(said, self._starved)) from None
        except resources.TooMuch as error:
            raise self._lost("crashed", f"too much memory {where}: {error}") from None
        except Gone as error:
            raise self._lost("crashed", f"the kernel died {where} ({error})") from None

    def _lost(self, status, message):
        self.close()
        return Lost(status, message)


class RankRooms:
    """A room for each of so many ranks, and one for the checks that look at them. Raises what doors and lines raise."""

    def __init__(self, zygote, seed, n):
        pairs, self.ran = [socket.socketpair() for _ in range(n)], 0
        self.doors: list[Door] = []  # of the students, then of the checks
        try:
            for theirs, _ in pairs:
                self.doors.append(Door(zygote, "student", seed, theirs))
            self.doors.append(Door(zygote, "checker", 0, *(ours for _, ours in pairs)))
        except BaseException:
            self.close()
            raise
        finally:
            for one in (end for pair in pairs for end in pair):
                one.close()
        *self.students, self.checker = self.doors
        self.looks = [door.line.look for door in self.doors]
        for door in self.doors:
            door.line.look = self._look  # all are at work while one is waited for

    def run(self, texts, seconds):
        """Run those of the cells that have not run here yet, side by side in all rooms; nobody looks at the replies."""
        for text in texts[self.ran :]:
            for door in self.students:
                door.line.ask("run", text)
            for door in self.students:
                try:
                    door.line.answer(seconds)
                except Late:
                    door.line.interrupt()
                    door.line.answer(INTERRUPT)
        self.ran = len(texts)

    def judge(self, check, name, seed, seconds, code):
        """(verdict, is a rank stuck). Raises Gone where a room has ended."""
        for door in self.students:
            door.line.ask("attend", True)
        value = self.checker.call("judge", check, name, seed, code, seconds=seconds)
        for door in self.students:
            door.line.answer(INTERRUPT)
        verdict = verdict_of(value)
        if verdict["status"] == "crashed":
            raise Gone(verdict["message"])
        return verdict, value.get("stuck") is not False

    def close(self):
        """End all that is in the rooms."""
        for door in self.doors:
            door.close()

    def _look(self):
        for look in self.looks:
            look()


def count_of(value):
    """How many ranks a check needs, 0 to 16."""
    return value if type(value) is int and 0 <= value <= MOST_RANKS else 0


def text_of(value):
    """A text that any file can hold, capped; of what is no text: nothing."""
    return value[:LONGEST].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def reply_of(value):
    """The reply to `run` in its form, whatever came. Raises Gone where it is none."""
    if not isinstance(value, dict) or value.get("status") not in ("ok", "error"):
        raise Gone("what came is no reply")
    shown = value.get("outputs")
    rows = [row for row in shown[:MOST] if isinstance(row, dict)] if isinstance(shown, list) else []
    outputs = [{text_of(kind)[:100]: text_of(row[kind]) for kind in list(row)[:10]} for row in rows]
    return {
        "status": value["status"],
        "error": text_of(value.get("error")),
        "printed": text_of(value.get("printed")),
        "outputs": outputs,
    }


def verdict_of(value):
    """The checker's verdict in its form. Raises Gone where it is none: nothing has passed then."""
    if not isinstance(value, dict) or value.get("status") not in VERDICTS:
        raise Gone("the check gave no verdict")
    kind = value.get("kind") if value.get("kind") in KINDS else ""
    return {"status": value["status"], "kind": kind, "message": text_of(value.get("message"))}
