"""A machine that stands still: checks that wait for threads try once more before they blame the answer."""

import threading
import time

LONG = (
    0.25  # seconds by which a short sleep came back late: no thread of ours ran when it should have
)
STEP = 0.02


class Stalls:
    """Context: `.longest` is the longest time, in seconds, that this process was not run when it was due.

    A thread sleeps for `STEP` again and again, and notes how late it wakes. A spinning thread delays it by the
    interpreter's switch interval (5 ms a thread); a busy or a paused machine by much more.
    """

    def __init__(self, clock=time.monotonic):
        self.longest, self._clock, self._end = 0.0, clock, threading.Event()

    def __enter__(self):
        self._thread = threading.Thread(target=self._look, daemon=True, name="stalls")
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._end.set()
        self._thread.join(1)

    def _look(self):
        before = self._clock()
        while not self._end.wait(STEP):
            now = self._clock()
            self.longest = max(self.longest, now - before - STEP)
            before = now

    def happened(self):
        """Was the machine away for so long that a wait which ran out says nothing?"""
        return self.longest > LONG
