"""What ran when: a span for each task, recorded in a real run or predicted by `course_lib.threads.simulate`."""

import time
from typing import NamedTuple


class Span(NamedTuple):
    """A thread's task from `start` to `end`: seconds since the timeline began, or units of a prediction."""

    thread: int
    kind: str
    layer: int
    start: float
    end: float


class Timeline(list):
    """A list of Spans. Its clock starts when it is first read; any thread may append (that costs a microsecond)."""

    zero: float | None = None

    def clock(self):
        """Seconds since this was first called."""
        now = time.perf_counter()
        self.zero = now if self.zero is None else self.zero
        return now - self.zero

    @property
    def makespan(self):
        """From the first start to the last end; 0 where nothing ran."""
        first = min((span.start for span in self), default=0.0)
        return max((span.end for span in self), default=0.0) - first

    def busy(self, thread):
        """How long a thread was inside its tasks."""
        return sum(span.end - span.start for span in self if span.thread == thread)
