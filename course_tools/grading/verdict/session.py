"""The grader's side of one submission: a process for the student's cells, another for the checks, deadlines for both.

The checks have a sandbox of their own because some of them compile and run what the student wrote in CUDA C. That
process is never told a verdict's price: it says what the check said, and the grader counts.
"""

import contextlib
import socket
import time

from course_lib.checks.kit.kinds import KINDS
from course_tools.grading.rpc.control import ConnectionLost, ControlChannel, DeadlineExceeded
from course_tools.grading.sandbox import not_there, resources
from course_tools.grading.verdict import undecided

INTERRUPT = 2.0  # seconds that a cell has to come to an end after an interrupt
OPEN = 30.0  # seconds for a sandbox to open
SPARE = 0.05  # seconds that are not worth waiting for
AWAY = 2.0  # seconds that a check may go on when the student's process has done with it
LONGEST = 100_000  # characters kept of one text
MOST = 20  # outputs kept of a cell
MOST_RANKS = 16
VERDICTS = ("pass", "missing", "wrong", "crashed", "error")  # of the check process


class SessionLost(RuntimeError):
    """The student's process has ended, or had to be ended: `.status` is crashed, timeout or inconclusive."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class SandboxedProcess:
    """A process in a sandbox, and the channel to it. pid: of the outermost process; watch: its MemoryWatch."""

    def __init__(self, fork_server, role, seed, *others, absent=()):
        self.process, connection = fork_server.fork(role, seed, *others, absent=absent)
        self.pid, self.channel = self.process.pid, ControlChannel(connection)
        try:
            said = self.channel.answer(OPEN)
            if said != "open":
                raise RuntimeError(f"a sandbox could not be opened: {text_of(said)}")
            self.watch = resources.MemoryWatch(self.pid, fork_server.limits.memory)
            self.channel.look = self.watch
        except BaseException:
            self.close()
            raise

    def call(self, method, *args, seconds):
        """Ask, and wait for the answer."""
        self.channel.ask(method, *args)
        return self.channel.answer(seconds)

    def close(self):
        """Kill all that is in the sandbox; calling it twice does no harm."""
        self.process.kill()
        self.channel.close()


class Session:
    """A student process and a check process, with a connection between them.

    `with Session(server, 1) as session: session.run(code, 10); session.check("ch01.check_neuron", "neuron", 7, 30)`.
    """

    def __init__(self, fork_server, seed, absent=()):
        self.fork_server, self.seed = fork_server, seed
        # names of course_lib that the student's cells do without; those of them that were called
        self.absent, self.leaned = tuple(absent), set[str]()
        # seconds beyond the limit that were given because the rooms waited for a processor; was that not enough?
        self.given, self.overdue = 0.0, False
        self.interrupted = False  # the last cell: it had not come to an end

    def __enter__(self):
        theirs, ours = socket.socketpair()
        with theirs, ours:
            self.student = SandboxedProcess(
                self.fork_server, "student", self.seed, theirs, absent=self.absent
            )
            try:
                self.checker = SandboxedProcess(self.fork_server, "checker", 0, ours)
            except BaseException:
                self.student.close()
                raise
        self.texts, self.ranks, self.needs = list[str](), None, dict[tuple, int]()
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End all processes; a second time does nothing."""
        self.student.close()
        self.checker.close()
        if self.ranks is not None:
            self.ranks.close()
            self.ranks = None

    def run(self, code, seconds):
        """Run a cell in the student process: what `StudentProcess.run` returns, capped. Raises SessionLost."""
        self.interrupted = False
        with self._costs("in this cell", seconds):
            self.student.channel.ask("run", code)
            try:
                said = self._answer(self.student.channel, seconds)
            except DeadlineExceeded:
                if self.overdue or self._starved():
                    raise
                self.student.channel.interrupt()
                self.interrupted = True
                said = self.student.channel.answer(INTERRUPT)
            reply = reply_of(said)
            self._leans(said.get("leans"))
        self.texts.append(code)
        return reply

    def check(self, check, name, seed, seconds, code="", causes=True):
        """Judge what the student left under `name`: {"status", "message"}. Raises SessionLost.

        check: "ch01.check_neuron", of course_lib.checks or of the module whose text is `code`. causes: look for the
        cause of a failure, too; not for nobody.
        """
        with self._costs("in this check", seconds):
            if (check, code) not in self.needs:
                self.needs[check, code] = count_of(
                    self.checker.call("needs", check, code, seconds=seconds)
                )
            if self.needs[check, code]:
                verdict = self._check_ranks(check, name, seed, seconds, code, causes)
                return undecided.verdict(verdict, self._starved_a_while)
            self.student.channel.ask("attend")
            self.attends = time.monotonic()
            self.checker.channel.look = self._look_at_both
            self.checker.channel.ask("judge", check, name, seed, code, causes)
            verdict = verdict_of(self._answer(self.checker.channel, seconds))
            # nothing counts that a dead or stuck process has said
            self._leans(self.student.channel.answer(INTERRUPT))
            if verdict["status"] == "crashed":
                raise ConnectionLost(verdict["message"])
            return undecided.verdict(verdict, self._starved_a_while)

    def _check_ranks(self, check, name, seed, seconds, code, causes):
        """The same, each rank in a process of its own, in which all the cells have run."""
        wanted = self.needs[check, code]
        if self.ranks is not None and len(self.ranks.students) < wanted:
            self.ranks.close()
            self.ranks = None
        if self.ranks is None:
            self.ranks = RankSession(self.fork_server, self.seed, wanted, self.absent)
        self.ranks.run(self.texts, seconds)
        verdict, stuck = self.ranks.judge(
            lambda channel: self._answer(channel, seconds), check, name, seed, code, causes
        )
        for names in self.ranks.leans:
            self._leans(names)
        if stuck:  # a rank of this answer computes for ever: not beside the next
            self.ranks.close()
            self.ranks = None
        return verdict

    def _leans(self, names):
        """Keep those names that are absent; the student's process says them, which decides nothing."""
        self.leaned |= names_of(names, self.absent)

    def _look_at_both(self):
        now = time.monotonic()
        self.student.watch()
        self.checker.watch()
        if not self.student.channel.said():
            self.attends = now
        elif now - self.attends > AWAY and not self._starved_a_while():
            # it answers when the check is done, not before
            raise ConnectionLost("it does not answer its check")

    def _answer(self, channel, seconds):
        """The answer to a question. Time in which the rooms waited for a processor does not count, up to PATIENCE."""
        left = seconds
        while True:
            try:
                return channel.answer(left)
            except DeadlineExceeded:
                passed = time.monotonic() - self.asked
                left = min(seconds - self._counted(passed), undecided.PATIENCE * seconds - passed)
                self.overdue = undecided.PATIENCE > 1 and passed >= undecided.PATIENCE * seconds
                if left <= SPARE:
                    raise
                self.given += left

    def _counted(self, passed):
        """Seconds since the question that count."""
        return undecided.counted(passed, [one.looked() for one in self._watches()], self.asked)

    def _watches(self):
        ranks = self.ranks.watches if self.ranks is not None else []
        return [self.student.watch, self.checker.watch, *ranks]

    def _starved_a_while(self):
        """The same for a while: a check's own waits are shorter than the time that it may take."""
        return self._starved(undecided.starving_a_while)

    def _starved(self, judge=undecided.starving):
        """Had one of the processes at work too little of a processor since the question?"""
        return any(watch.starved(self.asked, judge) for watch in self._watches())

    @contextlib.contextmanager
    def _costs(self, where, seconds):
        """What goes wrong inside ends the processes, and is SessionLost."""
        self.asked, self.overdue = time.monotonic(), False
        try:
            yield
        except DeadlineExceeded:
            said = f"it did not finish {where} within {seconds:g} s"
            raise self._lost(
                *undecided.late(said, lambda: self.overdue or self._starved())
            ) from None
        except resources.TooMuchMemory as error:
            raise self._lost("crashed", f"too much memory {where}: {error}") from None
        except ConnectionLost as error:
            raise self._lost("crashed", f"the kernel died {where} ({error})") from None

    def _lost(self, status, message):
        self.close()
        return SessionLost(status, message)


class RankSession:
    """A student process for each of so many ranks, and a check process that looks at them all.

    Raises what the channels to them raise.
    """

    def __init__(self, fork_server, seed, n, absent=()):
        pairs, self.ran = [socket.socketpair() for _ in range(n)], 0
        self.leans: list = []  # what the ranks say of the last check
        self.processes: list[SandboxedProcess] = []  # of the students, then of the checks
        try:
            for theirs, _ in pairs:
                self.processes.append(
                    SandboxedProcess(fork_server, "student", seed, theirs, absent=absent)
                )
            self.processes.append(
                SandboxedProcess(fork_server, "checker", 0, *(ours for _, ours in pairs))
            )
        except BaseException:
            self.close()
            raise
        finally:
            for one in (end for pair in pairs for end in pair):
                one.close()
        *self.students, self.checker = self.processes
        self.watches = [process.watch for process in self.processes]
        for process in self.processes:
            process.channel.look = self._look  # all are at work while one is waited for

    def run(self, texts, seconds):
        """Run the cells that have not run here yet, side by side in all processes; nobody looks at the replies."""
        for text in texts[self.ran :]:
            for process in self.students:
                process.channel.ask("run", text)
            for process in self.students:
                try:
                    process.channel.answer(seconds)
                except DeadlineExceeded:
                    process.channel.interrupt()
                    process.channel.answer(INTERRUPT)
        self.ran = len(texts)

    def judge(self, awaited, *asked):
        """(verdict, is a rank stuck). awaited: waits for a channel's answer. Raises ConnectionLost."""
        for process in self.students:
            process.channel.ask("attend", True)
        self.checker.channel.ask("judge", *asked)
        value = awaited(self.checker.channel)
        self.leans = [process.channel.answer(INTERRUPT) for process in self.students]
        verdict = verdict_of(value)
        if verdict["status"] == "crashed":
            raise ConnectionLost(verdict["message"])
        return verdict, value.get("stuck") is not False

    def close(self):
        """End all that is in the sandboxes."""
        for process in self.processes:
            process.close()

    def _look(self):
        for watch in self.watches:
            watch()


def count_of(value):
    """How many ranks a check needs, 0 to 16."""
    return value if type(value) is int and 0 <= value <= MOST_RANKS else 0


def names_of(value, known):
    """Those of these names that are known, or functions of a class or module that is, whatever came."""
    texts = {one for one in value[:1000] if isinstance(one, str)} if isinstance(value, list) else {}
    found = {of: not_there.split(of) for of in known if any(t.startswith(f"{of}.") for t in texts)}
    below = {
        f"{of.removesuffix('.' + inner)}.{name}"
        for of, (file, inner) in found.items()
        for name in not_there.functions(file)
        if not inner or name.startswith(f"{inner}.")
    }
    return {name for name in texts if name in known or name in below}


def text_of(value):
    """A text that any file can hold, capped; of what is no text: nothing."""
    return value[:LONGEST].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def reply_of(value):
    """The reply to `run` in its form, whatever came. Raises ConnectionLost where it is none."""
    if not isinstance(value, dict) or value.get("status") not in ("ok", "error"):
        raise ConnectionLost("the reply was not understood")
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
    """The checker's verdict in its form. Raises ConnectionLost where it is none: nothing has passed then."""
    if not isinstance(value, dict) or value.get("status") not in VERDICTS:
        raise ConnectionLost("the check gave no verdict")
    kind = value.get("kind") if value.get("kind") in KINDS else ""
    return {"status": value["status"], "kind": kind, "message": text_of(value.get("message"))}
