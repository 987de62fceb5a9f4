"""How far a notebook's run has come."""

import sys
import time

from course_tools.text import count

NOTICEABLE = 2.0  # seconds: slower cells get a line of their own where the output is not a terminal


class CellProgress:
    """One updating line on a terminal; elsewhere a line for the notebook and for each slow cell. On stderr."""

    def __init__(self, title, total, quiet=False, stream=None):
        self.title, self.total, self.quiet, self.stream = title, total, quiet, stream or sys.stderr
        self.live = self.stream.isatty() and not quiet

    def __enter__(self):
        self.began = time.perf_counter()
        return self

    def __exit__(self, kind, *_):
        seconds = time.perf_counter() - self.began
        self._draw("")
        if kind is None:
            self._say(f"{self.title}: {count(self.total, 'cell')} in {seconds:.1f} s")

    def begin(self, number, name):
        """A cell starts."""
        self.name, self.cell_began = name, time.perf_counter()
        seconds = self.cell_began - self.began
        self._draw(f"{self.title}: {number}/{self.total} {name}  ({seconds:.0f} s)")

    def end(self):
        """A cell has ended."""
        seconds = time.perf_counter() - self.cell_began
        if not self.live and seconds >= NOTICEABLE:
            self._say(f"{self.title}: {self.name} took {seconds:.1f} s")

    def _draw(self, text):
        if self.live:
            print(f"\r\x1b[2K{text}", end="", file=self.stream, flush=True)

    def _say(self, text):
        if not self.quiet:
            print(text, file=self.stream, flush=True)
