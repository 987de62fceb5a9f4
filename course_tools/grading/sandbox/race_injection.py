"""In the student process: threads that wait a random moment before each of their lines, so that races come to light."""

import contextlib
import random
import threading
import time

LONGEST = 0.01  # seconds before a line


def with_races(fn):
    """`fn`; threads that it starts wait before each line of its file, the cell that it was written in."""
    own = getattr(getattr(fn, "__code__", None), "co_filename", None)

    def line(frame, event, argument):
        if event == "line":
            time.sleep(random.uniform(0, LONGEST))
        return line

    def enter(frame, event, argument):
        return line if frame.f_code.co_filename == own else None

    def call(*args):
        with _traced(enter):
            return fn(*args)

    return call


@contextlib.contextmanager
def _traced(enter):
    before = threading.gettrace()
    threading.settrace(enter)
    try:
        yield
    finally:
        threading.settrace(before)
