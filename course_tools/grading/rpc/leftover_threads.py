"""In a student's room: what a call has left behind: threads, and errors that ended a thread and reached nobody."""

import threading

GRACE = 0.3  # seconds that a thread has to come to its end after the call


class Aftermath:
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
                left = [
                    t for t in threading.enumerate() if t not in before and t not in self._ours()
                ]
                self._left = [
                    t for t in left if not isinstance(t, threading._DummyThread)
                ]  # nobody can join those

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
