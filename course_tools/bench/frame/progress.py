"""What is seen on standard error while a benchmark runs."""

import sys
import time


class Progress:
    """One line that overwrites itself in a terminal; elsewhere one line for each part."""

    def __init__(self, command: str, parts: int):
        self.command, self.parts, self.done, self.start = command, parts, 0, time.monotonic()
        self.live, self.width = sys.stderr.isatty(), 0

    def part(self, what: str) -> None:
        """The next part begins."""
        self.done += 1
        line = f"{self.command}: part {self.done} of {self.parts}, {time.monotonic() - self.start:.0f} s: {what}"
        if self.live:
            print("\r" + line.ljust(self.width), end="", file=sys.stderr, flush=True)
            self.width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """A line that stays."""
        print(
            ("\n" if self.live and self.done else "") + f"{self.command}: {text}",
            file=sys.stderr,
            flush=True,
        )

    def close(self) -> None:
        if self.live:
            print(file=sys.stderr, flush=True)
