"""A machine that stands still: checks that wait for threads try once more before they blame the answer."""

import sys
import threading
import time

LOST = "is being installed"  # CPython, when two threads install a trace or profile function at once: one never runs
LONG = (
    0.25  # seconds by which a short sleep came back late: no thread of ours ran when it should have
)
STEP = 0.02


class Stalls:
    """Context: `.longest` is the longest time, in seconds, that this process was not run when it was due.

    A thread sleeps for `STEP` again and again, and notes how late it wakes. A spinning thread delays it by the
    interpreter's switch interval (5 ms a thread); a busy or a paused machine by much more. `.lost`: did a thread end
    before its first line, because two installed a trace function at the same moment?
    """

    def __init__(self, clock=time.monotonic):
        self.longest, self._clock, self._end = 0.0, clock, threading.Event()
        self.lost = False

    def __enter__(self):
        self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        self._thread = threading.Thread(target=self._look, daemon=True, name="stalls")
        self._thread.start()
        return self

    def __exit__(self, *error):
        sys.unraisablehook = self._hook
        self._end.set()
        self._thread.join(1)

    def _unraisable(self, args):
        if isinstance(args.exc_value, RuntimeError) and LOST in str(args.exc_value):
            self.lost = True
        else:
            self._hook(args)

    def _look(self):
        before = self._clock()
        while not self._end.wait(STEP):
            now = self._clock()
            self.longest = max(self.longest, now - before - STEP)
            before = now

    def happened(self):
        """Was the machine away for so long, or a thread lost, that a wait which ran out says nothing?"""
        return self.lost or self.longest > LONG
