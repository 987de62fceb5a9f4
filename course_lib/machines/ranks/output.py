"""What a rank prints: sent in few messages, at the latest when its cell ends, and cut where nobody would read on.

Each write to a kernel's stream may become a message, and ten thousand messages are slower than the work they tell of.
"""

import sys
import threading
import time

MOST = 1_000_000  # characters that a rank may print in one cell
AT_ONCE = 64_000  # characters that are sent together
SECONDS = 0.25  # after which what was printed is sent, should the rank not come to an end


class Output:
    """In the place of a stream's `write`: keeps what is written until there is enough of it."""

    def __init__(self, write, printed):
        # printed: one number, which both streams of a rank share
        self._send, self._printed = write, printed
        self._kept: list[str] = []
        self._size, self._since = 0, time.monotonic()
        self._lock = threading.RLock()  # a signal may come between

    def write(self, text):
        """Keep the text, or send all that is kept."""
        before, self._printed[0] = self._printed[0], self._printed[0] + len(text)
        if before <= MOST < self._printed[0]:
            said = f"\n... this rank printed more than {MOST:,} characters; the rest of them is left out\n"
            self._keep(text[: MOST - before] + said)
        elif self._printed[0] <= MOST:
            self._keep(text)
        return len(text)

    def _keep(self, text):
        with self._lock:
            self._kept.append(text)
            self._size += len(text)
            if self._size >= AT_ONCE or time.monotonic() - self._since > SECONDS:
                self.send()

    def send(self):
        """Send what is kept."""
        with self._lock:
            kept, self._kept, self._size = "".join(self._kept), [], 0
            self._since = time.monotonic()
            if kept:
                self._send(kept)


_printed = [0]
_outputs: list[Output] = []


def install():
    """For sys.stdout and sys.stderr of this rank."""
    for stream in (sys.stdout, sys.stderr):
        output = Output(stream.write, _printed)
        stream.write = output.write  # type: ignore[method-assign]
        _outputs.append(output)


def begin():
    """A cell begins: it may print MOST characters."""
    _printed[0] = 0


def send():
    """What was printed is on its way when this returns."""
    for output in _outputs:
        output.send()
