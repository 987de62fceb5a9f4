"""Students' threads under guard: a deadline for each call, faults of workers written down, threads left over counted.

The student's function runs in a daemon thread, and so do the threads that it starts: whatever hangs, the kernel
goes on. Each new thread is held back for a moment at its start, as a busy machine would: a mistake that needs an
unlucky moment (a loop variable read late, a sum taken before the join) then shows every time.
"""

import dis
import random
import sys
import threading
import time
import types
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from course_lib.checks.kit import waits
from course_lib.checks.kit.freeform import Unmet, require, require_in_time
from course_lib.checks.kit.probe import short_error

DEADLINE = 5.0  # seconds for one call; a right answer takes less than one
HELD_BACK = 0.03  # seconds that each new thread waits before its first line
MEETING = 2.0  # seconds that workers wait for each other before they go on alone
WAITS = random.Random(1)  # its own: what a student draws stays as it is
STUMBLE = 0.01  # seconds that a worker waits at the most before each line of a student's, where that is asked for


@dataclass
class Run:
    """What became of one call. faults: exceptions that ended a thread of the student's and reached nobody."""

    value: object = None
    error: BaseException | None = None
    faults: list = field(default_factory=list)
    noted: Any = None  # what `watch` said just when the call ended
    busy: int = 0  # threads of the student's that were alive then, at work or idle
    left: list = field(default_factory=list)  # threads of the student's still alive a moment later
    fn: Any = None  # the student's function

    @property
    def at_work(self):
        """How many threads were at work when the call ended, an idle pool being none, where `watch` counted tasks."""
        return max(0, min(self.busy, self.noted or 0))


def guarded(fn, *args, watch=lambda: None, stumble=False):
    """Call fn(*args), and at its end watch(), in a daemon thread; a `Run`. Fails, as `require` does, if it hangs.

    stumble: the workers wait a random moment before each of their lines, so that what is not held together falls apart.
    """
    run, before = Run(fn=fn), set(threading.enumerate())
    asked = getattr(
        fn, "stumbling" if stumble else "watched", fn
    )  # a function of another process is watched there

    def call():
        try:
            run.value = asked(*args)
        except (Exception, SystemExit) as error:
            run.error = error
        run.noted = watch()
        run.left = [t for t in started_since(before) if t is not caller]
        run.busy = len(run.left)

    caller = threading.Thread(target=call, daemon=True, name="check")
    with _watched(run.faults, _stumbling(fn) if stumble else None):
        caller.start()
        caller.join(DEADLINE)
        if not caller.is_alive():
            run.left = [t for t in run.left if not _ends_soon(t)]
            _look_elsewhere(run, fn)
    if caller.is_alive():
        _report_hang(fn, caller, before)
    return run


def started_since(before):
    """Threads that are there now and were not before. A dummy stands for a thread that Python has not started, or for
    one that is just beginning or ending: nobody can join it, and it may be gone."""
    return [
        t
        for t in threading.enumerate()
        if t not in before and not isinstance(t, threading._DummyThread)
    ]


def _look_elsewhere(run, fn):
    """A function of another process (of a submission that is graded) has left there what it has left."""
    if hasattr(fn, "aftermath"):
        busy, left, faults = fn.aftermath()
        run.busy = max(run.busy, busy)
        run.left = run.left or [None] * left
        run.faults += faults


def value_of(fn, *args):
    """The value of a guarded call; its own exception is raised, a worker's lost one is told, a leftover thread too."""
    return outcome(guarded(fn, *args))


def outcome(run):
    """The value of a `Run`, or its failure, as `value_of` tells it."""
    stopped = f"; here the caller then stopped with {short_error(run.error)}" if run.error else ""
    require_none_lost(run.faults, stopped)
    if run.error is not None:
        raise run.error
    require_in_time(
        not run.left,
        f"{len(run.left)} of your threads still ran after the function had returned",
        cause="join every thread before you return (a pool: use it in a `with`, or shut it down)",
    )
    return run.value


def require_none_lost(faults, then=""):
    """No exception may have ended a thread and reached nobody. then: what followed from it."""
    for fault in faults:
        if isinstance(
            fault, (NotImplementedError, Unmet)
        ):  # a blank, or a stand-in of ours refuses
            raise fault
    lost = [short_error(fault) for fault in faults]
    require(
        not lost,
        f"one of your threads stopped with {(lost or [''])[0]}",
        cause="an exception ends only its own thread: the thread that started it never sees it"
        + then,
    )


def cause_of_early_stop(error):
    """Why the caller stopped with this error while its threads were at work, or None."""
    if "'NoneType' object has no attribute 'join'" in str(error):
        return "start() returns None: keep the thread itself, thread = Thread(...), and start it in a line of its own"
    if "'list' object has no attribute 'join'" in str(error):
        return "a list has no join(): for thread in threads: thread.join()"
    if isinstance(error, TypeError) and "NoneType" in str(error):
        return "the parts were added up before the join, or it has a timeout: a part that is not ready is None"
    if isinstance(error, (KeyError, IndexError)):
        return "were the parts added up before the join? A part that is not ready is missing"
    return None


JOIN_MISSING = "a join is missing, for some threads or all, or has a timeout: t.join() waits until thread t has ended"


def likely_again(counts, what):
    """What it is likely that one did, whose tasks were done so many times each: a loop's variable read late gives the
    later of them."""
    again, lost = max(range(len(counts)), key=counts.__getitem__), counts.count(0)
    if not lost:
        return f"each {what} is done once: is one done in a thread, and once more elsewhere?"
    if counts.index(0) < again:
        return (
            "a function made in a loop reads the loop's variable when it runs, not when it was made, and by then the "
            "variable has changed: pass the value, Thread(target=work, args=(t,))"
        )
    return f"each thread has its own {what}: number t takes place t"


@contextmanager
def _watched(faults, trace=None):
    """Inside: what ends a thread is written down instead of printed, and each new thread is held back."""
    hook, profile, tracer = threading.excepthook, threading.getprofile(), threading.gettrace()

    def keep(args):
        if not isinstance(args.exc_value, (SystemExit, type(None))):
            faults.append(args.exc_value)

    threading.excepthook = keep
    threading.setprofile(_hold_back)
    if trace:
        threading.settrace(trace)
    try:
        yield
    finally:
        threading.excepthook = hook
        threading.setprofile(profile)
        threading.settrace(tracer)


def _hold_back(frame, event, argument):
    """The profile function of a new thread: called once, at its first event, then taken off."""
    sys.setprofile(None)
    if threading.current_thread().name != "check":
        time.sleep(HELD_BACK)


def _stumbling(fn):
    """A trace function: before each line of the student's, a worker waits a random moment."""
    own = getattr(getattr(fn, "__code__", None), "co_filename", None)

    def line(frame, event, argument):
        if event == "line":
            time.sleep(WAITS.uniform(0, STUMBLE))
        return line

    def call(frame, event, argument):
        return (
            line
            if frame.f_code.co_filename == own and threading.current_thread().name != "check"
            else None
        )

    return call


def caller_waits():
    """Does the thread that runs the student's function wait for others (a join, an event), or has it ended?"""
    caller = next((t for t in threading.enumerate() if t.name == "check"), None)
    frame = sys._current_frames().get(caller.ident or 0) if caller else None
    names, waits = [], frame is None or frame.f_code.co_filename == threading.__file__
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    return waits and "start" not in names  # start() waits, too: until the new thread runs


def come_late(seconds=0.15, patience=0.8):
    """A worker comes late: not before the caller waits for somebody, however long it may sleep instead."""
    alone = threading.current_thread().name == "check"  # the caller does this one itself
    _sleep(0 if alone else patience, caller_waits)
    _sleep(seconds)


def _sleep(seconds, until=lambda: False, nap=0.005):
    """Sleep in naps: whatever time the machine stands still, the others get as many turns in between."""
    for _ in range(round(seconds / nap)):
        if until():
            return
        time.sleep(nap)


def _ends_soon(thread):
    thread.join(0.3)
    return not thread.is_alive()


def _report_hang(fn, caller, before):
    """Say in which lines of the student's the threads stand, and in what."""
    frames, own = sys._current_frames(), getattr(getattr(fn, "__code__", None), "co_filename", None)
    threads = [caller, *(t for t in started_since(before) if t is not caller)]
    spins, places = waits.spinning(threads), {}
    for thread in threads:
        frame, below = frames.get(thread.ident), None
        while frame is not None and not (
            frame.f_code.co_filename == own or "ipykernel_" in frame.f_code.co_filename
        ):
            frame, below = frame.f_back, frame
        if frame is not None:
            place = f"line {frame.f_lineno} of {frame.f_code.co_name}"
            places[place] = waits.stands_in(frame, below, thread in spins)
    require_in_time(
        False,
        f"it did not finish within {DEADLINE:g} s: a deadlock or an endless loop",
        where="; ".join(sorted(" ".join(filter(None, each)) for each in places.items())) or None,
        cause=f"a thread waits for something that never happens: {waits.cause(places.values())}. The threads keep "
        "hanging: restart the kernel once you have found the cause",
    )


class Meeting:
    """Workers that must be at work at the same time meet here; `.missed` is True if they never did.

    most: how many were here at the same time.
    """

    def __init__(self, parties):
        self.missed, self.parties, self.most, self._here = False, parties, 0, 0
        self._barrier, self._lock = threading.Barrier(parties), threading.Lock()

    def wait(self):
        """Wait until all are here, or go on alone after a while."""
        self._count(1)
        try:
            self._barrier.wait(MEETING)
        except threading.BrokenBarrierError:
            self.missed = True
        self._count(-1)

    def _count(self, more):
        with self._lock:
            self._here += more
            self.most = max(self.most, self._here)


def require_met(meeting, what, apart, few=None, where=None):
    """All must have met. what: "calls ran"; apart, few: the cause if no two met, and if some did, but not all."""
    some = meeting.most > 1
    who = f"at most {meeting.most} of {meeting.parties}" if some else "no two"
    pool = "one thread for each, all started before the first join; a pool needs as many threads"
    cause = (few or pool) if some else apart
    require_in_time(not meeting.missed, f"{who} {what} at the same time", where=where, cause=cause)


UNHEARD = (
    "an exception ends only its own thread, and join() does not raise it: catch it in the worker, keep it in a list, "
    "and raise that same exception after the join"
)
KEPT_SILENT = (
    "it was caught, or a pool's future keeps it, and something else was raised, or failed, in its place: after the "
    "join first raise that same exception"
)
KEPT_QUIET = (
    "it was caught, or a pool's future keeps it, and nothing raised it again: after the join one fault is enough to "
    "raise that same exception, whatever the other threads have brought"
)


def lost_in(fn):
    """Words for a name that a function inside of the student's gives a value for itself alone, or ""."""
    if not isinstance(outer := getattr(fn, "__code__", None), types.CodeType):
        return ""
    theirs = set(outer.co_varnames[outer.co_argcount :])
    inside = (code for code in outer.co_consts if isinstance(code, types.CodeType))
    inside = (code for code in inside if code.co_name.isidentifier())  # no <listcomp>, no <lambda>
    found = [(name, code.co_name) for code in inside for name in sorted(_only_set(code) & theirs)]
    return "".join(
        f". `{name} = ...` in `{where}` makes a name of its own there, and the caller's `{name}` stays as it was: "
        f"say `nonlocal {name}`, or append to a list"
        for name, where in found[:1]
    )


def _only_set(code):
    """The local names that a function gives a value and never reads."""
    used: dict[str, set] = {"STORE_FAST": set(), "LOAD_FAST": set()}
    for each in dis.get_instructions(code):
        names = each.argval if isinstance(each.argval, tuple) else (each.argval,)
        for kind in used:
            used[kind] |= {*names} if kind in each.opname else set()
    return used["STORE_FAST"] - used["LOAD_FAST"]


def require_told(run, what, too=""):
    """The caller must have heard of a worker's ArithmeticError, once all others had ended. too: what else to raise."""
    told, chain = False, run.error
    while chain is not None:
        told = told or isinstance(chain, ArithmeticError)
        chain = chain.__cause__ or chain.__context__
    other = f": it stopped with {short_error(run.error)} instead" if run.error is not None else ""
    kept = KEPT_QUIET if run.error is None else KEPT_SILENT
    require(
        told,
        f"{what} raised an ArithmeticError, but the caller never saw it{other}",
        cause=(UNHEARD if run.faults else kept) + lost_in(run.fn),
    )
    require(
        not run.at_work,
        f"after a fault in {what} another one was still at work when the caller continued",
        cause=f"join all threads first, always; then raise what was caught{too}",
    )
