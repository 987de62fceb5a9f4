"""The student process: IPython with one submission's cells, run as the grader asks. It knows no right answer."""

import contextlib
import faulthandler
import functools
import signal
import sys
import threading

from course_tools.grading.rpc.rank_client import Ranked
from course_tools.grading.rpc.router import OFFERED
from course_tools.grading.sandbox import not_there
from course_tools.grading.sandbox.shell import Capped, Publisher
from course_tools.grading.sandbox.thread_probes import probes


class Alarms:
    """`with Alarms():` what is set inside to interrupt this process later is taken back, whoever set it.

    That is timers, handlers of signals, and functions that trace or profile: those would change the variables of the
    calls that the next answer is asked by.
    """

    TIMERS = signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF
    LOOKERS = sys.settrace, sys.setprofile, threading.settrace, threading.setprofile
    _stop, _handle, _handler = signal.setitimer, signal.signal, signal.getsignal
    _cancel = faulthandler.cancel_dump_traceback_later

    def __enter__(self):
        self.before = {number: Alarms._handler(number) for number in signal.valid_signals()}

    def __exit__(self, *_):
        for look_with in Alarms.LOOKERS:
            look_with(None)
        for timer in Alarms.TIMERS:
            Alarms._stop(timer, 0)
        Alarms._cancel()
        for number, handler in self.before.items():
            if handler is not None and Alarms._handler(number) is not handler:
                Alarms._handle(number, handler)


class StudentProcess:
    """What the grader may ask of the student's process."""

    def __init__(self, shell, checker):
        self.shell, self.checker = shell, checker
        checker.extras = probes(checker)

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
            "leans": not_there.called(),
        }

    def attend(self, as_rank=False):
        """Let the check ask for answers and call them, until it has done. as_rank: they are functions of a rank.

        Returns the names of what is not there and was called.
        """
        self.checker.offer(OFFERED, self.ranked if as_rank else self.answer)
        out = Capped()
        self.checker.prints = out.fresh
        with Alarms(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.checker.serve()
        return not_there.called()

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
