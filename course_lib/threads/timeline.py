"""What ran when: one span for each task, recorded by a real run or predicted by `simulate`."""

import time
from typing import NamedTuple


class Span(NamedTuple):
    """A task of a thread, from `start` to `end`: seconds from the timeline's start, or the units of `simulate`."""

    thread: int
    kind: str
    layer: int
    start: float
    end: float


class Timeline(list):
    """A list of Spans. Its clock starts when it is first looked at; recording a span costs a few microseconds."""

    zero: float | None = None

    def clock(self):
        """Seconds since the first call of this method."""
        now = time.perf_counter()
        if self.zero is None:
            self.zero = now
        return now - self.zero

    @property
    def makespan(self):
        """From the first start to the last end; 0 where nothing ran."""
        return max((span.end for span in self), default=0.0) - min((span.start for span in self), default=0.0)

    def busy(self, thread):
        """The time that a thread spent inside its tasks."""
        return sum(span.end - span.start for span in self if span.thread == thread)
