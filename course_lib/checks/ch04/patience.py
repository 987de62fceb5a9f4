"""Loops without end: a limit for functions that need no threads, and an end for threads that go on spinning."""

import ctypes
import threading
import time

from course_lib.checks.kit.freeform import require_in_time
from course_lib.checks.kit.waits import TELLS, spinning

PATIENCE = 3.0  # seconds for calls that take a millisecond
BUSY = 4  # times as many by the clock, where the processor's are known
ENDING = 3.0  # seconds to its next line of Python, for a thread that is told to end
LOOKS = 3  # at what a thread uses: on a busy machine one that spins may not have its turn within the first


def stop(threads):
    """Raise SystemExit in those of the threads that spin, at their next line of Python; those that wait are harmless.

    A loop without end would go on holding the GIL, and spoil every measurement after it. A thread that waits never
    comes to a next line, and the exception that waits for it would disturb others (Python 3.11, with a profiler).
    """
    waits = list(threads)
    for _ in range(LOOKS):
        busy = spinning(waits)
        _end(busy)
        waits = [thread for thread in waits if thread not in busy and thread.is_alive()]


def _end(busy):
    for thread in busy:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
        )
        thread.join(ENDING)


def must_end(fn, calls, cause):
    """Fails, with this cause, if the calls fn(*args) do not come to an end. What else goes wrong is not looked at."""
    clocks = []  # the worker's own, so that the clock of a thread that has ended is never asked for

    def work():
        if TELLS:
            clocks.append(time.pthread_getcpuclockid(threading.get_ident()))
        for args in calls:
            try:
                fn(*args)
            except (Exception, SystemExit):
                return

    worker = threading.Thread(target=work, daemon=True, name="check")
    worker.start()
    endless = not _ends(worker, clocks)
    if endless:
        stop([worker])
    what = f"it did not finish within {PATIENCE:g} s: a loop without end"
    require_in_time(not endless, what, cause=cause)


def _ends(worker, clocks):
    """Does it end before it has used PATIENCE seconds of the processor, so that a busy machine gives it time enough?

    On the clock it has BUSY times as many; PATIENCE alone where the system tells nothing of a thread's.
    """
    begun, most = time.monotonic(), PATIENCE * (BUSY if TELLS else 1)
    while worker.is_alive() and time.monotonic() - begun < most:
        worker.join(PATIENCE / 20)
        if clocks and worker.is_alive() and _used(clocks[0]) > PATIENCE:
            break
    return not worker.is_alive()


def _used(clock):
    """Seconds of the processor; 0 of a thread that has just ended."""
    try:
        return time.clock_gettime(clock)
    except OSError:
        return 0.0
