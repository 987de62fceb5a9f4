"""In the student process: what a call has left behind: threads, and errors that ended a thread and reached nobody."""

import threading

from course_tools.grading.sandbox.race_injection import with_races

GRACE = 0.3  # seconds that a thread has to come to its end after the call


def probes(peer):
    """{name: function of a student's function}: what the checks may ask of one that starts threads.

    See `guarded` in the checks of chapter 03, which call `fn.watched(*args)`, then `fn.aftermath()`.
    """
    left_behind = LeftBehind(peer.threads)

    def aftermath():
        busy, left, lost = left_behind.told()
        return [busy, left, [peer.errors.described(error) for error in lost[:20]]]

    return {
        "watched": left_behind.watching,
        "stumbling": lambda fn: left_behind.watching(with_races(fn)),
        "aftermath": lambda fn: aftermath,
    }


class LeftBehind:
    """ours: returns the threads that belong to the connection, and not to the student."""

    def __init__(self, ours):
        self._ours, self._faults, self._left = ours, list[BaseException](), list[threading.Thread]()

    def watching(self, fn):
        """`fn`; after a call of it `told` says what it has left behind."""

        def call(*args):
            before = set(threading.enumerate())
            self._faults.clear()
            threading.excepthook = self._keep
            try:
                return fn(*args)
            finally:
                known = [*before, *self._ours()]
                left = [thread for thread in threading.enumerate() if thread not in known]
                # nobody can join a dummy
                self._left = [t for t in left if not isinstance(t, threading._DummyThread)]

        return call

    def told(self):
        """(threads at work when the call ended, those that still are a moment later, errors of threads)."""
        busy = len(self._left)
        for thread in self._left:
            thread.join(GRACE)
        return busy, sum(thread.is_alive() for thread in self._left), list(self._faults)

    def _keep(self, args):
        if not isinstance(args.exc_value, SystemExit | None):
            self._faults.append(args.exc_value)
