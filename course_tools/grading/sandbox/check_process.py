"""Inside a room: IPython with one submission's cells, run as the grader asks. Nothing here knows a right answer."""

import contextlib
import faulthandler
import functools
import importlib
import os
import signal
import sys
from typing import Any

from course_tools.grading.rpc.control import Desk, Gone
from course_tools.grading.rpc.peer import OFFERED, Peer
from course_tools.grading.rpc.rank_client import Ranked
from course_tools.grading.rpc.rank_server import Ranks, install
from course_tools.grading.sandbox import cuda_words, sandbox, syscalls
from course_tools.grading.sandbox.shell import Capped, Publisher


class Alarms:
    """`with Alarms():` what is set inside to interrupt this process later is taken back, whoever set it."""

    TIMERS = signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF
    _stop, _handle, _handler = signal.setitimer, signal.signal, signal.getsignal
    _cancel = faulthandler.cancel_dump_traceback_later

    def __enter__(self):
        self.before = {number: Alarms._handler(number) for number in signal.valid_signals()}

    def __exit__(self, *_):
        for timer in Alarms.TIMERS:
            Alarms._stop(timer, 0)
        Alarms._cancel()
        for number, handler in self.before.items():
            if handler is not None and Alarms._handler(number) is not handler:
                Alarms._handle(number, handler)


class Room:
    """What the grader may ask of the student's process."""

    def __init__(self, shell, checker):
        self.shell, self.checker = shell, checker

    def run(self, code):
        """Run a cell. {"status": "ok" or "error", "error": text, "printed": text, "outputs": [{mime: text}]}."""
        out, shown = Capped(), list[dict]()
        self.shell.display_pub = Publisher()
        self.shell.display_pub.shown = self.shell.displayhook.shown = shown
        with Alarms(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            result = self.shell.run_cell(code, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        text = "" if error is None else f"{type(error).__name__}: {error}"[:4000]
        return {
            "status": "ok" if result.success and error is None else "error",
            "error": text,
            "printed": out.getvalue(),
            "outputs": shown,
        }

    def attend(self, as_rank=False):
        """Let the check ask for answers and call them, until it has done. as_rank: they are functions of a rank."""
        self.checker.offer(OFFERED, self.ranked if as_rank else self.answer)
        out = Capped()
        self.checker.prints = out.fresh
        with Alarms(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.checker.serve()

    def answer(self, name):
        """What the student's cells left under a name; NameError if nothing."""
        if name not in self.shell.user_ns:
            raise NameError(f"name {name!r} is not defined")
        return self.shell.user_ns[name]

    def ranked(self, name):
        """The same, as a rank of a rehearsal calls it."""
        answer = self.answer(name)
        call = functools.partial(self.checker.call, bare=True)
        return (
            Ranked(answer, lambda end, asked: call(end, "", asked, {}))
            if callable(answer)
            else answer
        )


class NoAnswer(Exception):
    """The student's cells have left nothing under the name."""


class Checker:
    """What the grader may ask of the room of the checks."""

    def __init__(self, *students):
        self.students, self.offered, self.ranks = students, list[Any](), list[Ranks]()

    def judge(self, check, name, seed, code=""):
        """{"status": pass, wrong, missing, crashed or error, "kind": one of kinds.KINDS or "", "message": text}.

        code: of a hidden check, or "" for ours.

        Whatever the student's process does, one of these comes back, or this process ends: then nothing has passed.
        """
        os.environ["COURSE_SEED"] = str(seed)
        out, self.ranks = Capped(), []
        try:
            self.offered = [student.received(OFFERED) for student in self.students]
            for student in (
                self.students
            ):  # a check that listens hears what an answer prints; the verdict does not
                student.heard = lambda text: None if sys.stdout is out else sys.stdout.write(text)
            with contextlib.redirect_stdout(out):
                function = _check_of(check, code)
                function(self.answer(name))
                if any(student.changed for student in self.students) and must_keep(function):
                    for student in self.students:
                        student.keeps = True
                    function(self.answer(name))
            verdict = {"status": "pass", "kind": "", "message": out.getvalue()}
        except BaseException as error:
            verdict = _failure(error)
        for student in self.students:
            student.forget()
            with contextlib.suppress(Gone):
                student.done()
        return verdict | {"stuck": any(ranks.stuck for ranks in self.ranks)}

    def needs(self, check, code=""):
        """How many ranks a check tries its answers on; 0: it calls them as they are."""
        with contextlib.suppress(Exception):
            return max(map(int, getattr(_check_of(check, code), "ranks", (0,))))
        return 0

    def answer(self, name):
        """The student's answer: a stand-in for a function of one room, or of all ranks."""
        try:
            parts = [offered(name) for offered in self.offered]
        except NameError:
            raise NoAnswer(f"its cell defines no {name}") from None
        if len(parts) == 1:
            return allowed(name, parts[0])
        if not all(hasattr(part, "_peer_number") for part in parts):
            return parts[0]
        self.ranks.append(Ranks(name, parts, self.students))
        return self.ranks[-1]


def allowed(name, answer):
    """The answer; CheckFailed where it is CUDA C with words that reach past the language of the lessons."""
    from course_lib.checks.kit.messages import CheckFailed, Report

    word = (
        cuda_words.refused(answer) if isinstance(answer, str) and "__global__" in answer else None
    )
    if word is None:
        return answer
    report = Report(f"{name} says what CUDA C in an answer may not say while it is graded")
    raise CheckFailed(
        report.add("what", word).add(
            "cause", "the tasks need kernels and __device__ functions alone"
        )
    )


def must_keep(function):
    """Must an answer pass also where it can change nothing that the check holds it against?

    Not where the check works on copies, nor where to change something is the task (`property_check(changes=True)`).
    """
    from course_lib.checks.kit.check import Check
    from course_lib.checks.kit.ranks.check import RankCheck

    return not isinstance(function, Check | RankCheck) and not getattr(function, "changes", False)


def _failure(error):
    """The verdict where a check has raised something."""
    from course_lib.checks.kit.kinds import kind_of
    from course_lib.checks.kit.messages import CheckFailed, NotWritten

    statuses = (
        ((NotWritten, NoAnswer), "missing"),
        (CheckFailed, "wrong"),
        (Gone, "crashed"),
    )
    status = next((status for types, status in statuses if isinstance(error, types)), "error")
    plain = isinstance(error, (CheckFailed, NoAnswer))
    message = str(error) if plain else f"{type(error).__name__}: {error}"
    return {"status": status, "kind": kind_of(error), "message": message[:4000]}


def _check_of(name, code):
    """The check: of a module of course_lib.checks, "ch01.check_neuron", or of a hidden module's text."""
    module, _, function = name.partition(".")
    if not code:
        return getattr(importlib.import_module(f"course_lib.checks.{module}"), function)
    namespace = {"__name__": f"hidden_{module}"}
    exec(compile(code, f"<hidden {module}>", "exec"), namespace)
    return namespace[function]


def _limit_programs():
    """Compiled CUDA C may compute here, and no more."""
    from course_lib.machines.cpu_engine import process

    if syscalls.available():
        process.before_program = syscalls.limiting()


def main(shell, role, control, others):
    """Serve the grader until it closes the connection. Never returns."""
    desk = Desk(control, may_interrupt=role == "student")
    if role == "student":
        room: Any = Room(shell, Peer(others[0]))
        methods = {"run": room.run, "attend": room.attend}
    else:
        sandbox.unreadable()  # what a student's CUDA C does in a process of its own must not reach this one
        _limit_programs()
        checker = Checker(*(Peer(other, guarded=True) for other in others))
        if len(others) > 1:
            install()
        methods = {"judge": checker.judge, "needs": checker.needs}
    status = 1
    with contextlib.suppress(OSError):
        desk.serve(methods)
        status = 0
    os._exit(status)
