"""Threads that start together, are all waited for, and whose faults reach the caller."""

import threading
import weakref
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue

from course_lib.errors import BadInput, check_count


class ThreadFault(RuntimeError):
    """An error in a thread, raised in the thread that waits for it; `__cause__` is the error itself.

    where: what the thread was at, such as "shard 2, rows 34 to 51". thread: its number, from 0.
    """

    def __init__(self, where, thread, error):
        super().__init__(f"{where} (thread {thread}): {type(error).__name__}: {error}")
        self.where, self.thread, self.__cause__ = where, thread, error


def fork_join(calls, where=None, abort=None):
    """Fork: a new thread for each of the calls. Join: wait for all. Arguments and result as for `Pool.run`."""
    with Pool(check_count("the number of calls", len(calls))) as pool:
        return pool.run(calls, where, abort)


class Pool:
    """T threads that are started once and kept: `with Pool(T) as pool: pool.run(calls)`, as often as you like.

    close() ends and joins them; leaving the `with` block does, and so does dropping the last reference.
    Raises BadInput for T < 1 or not whole, and for more threads than the system gives.
    """

    def __init__(self, T):
        self.T = check_count("T", T)
        self._inboxes: list[SimpleQueue] = [SimpleQueue() for _ in range(self.T)]
        self._threads: list[threading.Thread] = []
        self._one_run = threading.Lock()
        # calling it twice does no harm
        self.close = weakref.finalize(self, _end, self._inboxes, self._threads)
        try:
            for t, inbox in enumerate(self._inboxes):
                thread = threading.Thread(target=_serve, args=(t, inbox), daemon=True)
                thread.name = f"course thread {t}"
                thread.start()
                self._threads.append(thread)
        except RuntimeError as error:  # "can't start new thread"
            self.close()
            most = f"no more than {len(self._threads)} threads"
            raise BadInput(f"this system gives {most}, not T = {T}") from error

    def run(self, calls, where=None, abort=None):
        """Call each of at most T zero-argument callables in a thread of its own; returns the list of results.

        where: texts, one for each call, or a function from its number to a text: what a ThreadFault names.
        abort: called with the error as soon as a call fails, or a KeyboardInterrupt comes: it must release calls that
        wait for others (Barrier.abort). All calls have ended when run returns or raises. Raises ThreadFault for the
        call that failed first, BadInput for more calls than threads, a closed pool, or one used by its own threads.
        """
        if not self.close.alive:
            raise BadInput("this pool is closed")
        if threading.current_thread() in self._threads:
            raise BadInput("a call of this pool cannot use the pool")
        check_count("the number of calls", len(calls), 1, self.T)
        job = _Job(calls, where, abort or (lambda error: None))
        with self._one_run:
            try:
                self._start(job)
                job.wait()
            except BaseException as error:  # KeyboardInterrupt; a second one would not wait
                job.abort(error)
                # it may have come before all threads had the job; who has done it does nothing
                self._start(job)
                job.wait()
                raise
        return job.outcome()

    def _start(self, job):
        for inbox, _ in zip(self._inboxes, job.calls, strict=False):
            inbox.put(job)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class _Job:
    """Calls that run side by side, and what became of them."""

    def __init__(self, calls, where, abort):
        # the caller's np.errstate holds in them too
        self.calls = [partial(copy_context().run, call) for call in calls]
        self.where, self.abort = where, abort
        # faults in the order of time: the first is the cause
        self.results, self.faults = [None] * len(calls), []
        self.ended = [threading.Event() for _ in calls]

    def run(self, t):
        if self.ended[t].is_set():
            return
        try:
            self.results[t] = self.calls[t]()
        except BaseException as error:  # whatever it is, it belongs to the caller
            self.faults.append((t, error))
            with suppress(Exception):  # abort's own error would hide the cause, and end this thread
                self.abort(error)
        finally:
            self.ended[t].set()

    def wait(self):
        for ended in self.ended:
            ended.wait()

    def outcome(self):
        if not self.faults:
            return self.results
        t, error = self.faults[0]
        if isinstance(error, ThreadFault):  # the call has said itself where it was
            raise error
        raise ThreadFault(self._place(t), t, error)

    def _place(self, t):
        if self.where is None:
            return f"call {t}"
        return self.where(t) if callable(self.where) else self.where[t]


def _serve(t, inbox):
    """A thread's life: one job after the other, until None comes."""
    while (job := inbox.get()) is not None:
        job.run(t)
        del job  # while it waits it must not keep the caller's arrays alive


def _end(inboxes, threads):
    for inbox in inboxes:
        inbox.put(None)
    for thread in threads:
        if thread is not threading.current_thread():
            thread.join()
