"""What a long training shows while it runs."""

import sys
import time


class TrainingProgress:
    """One line that overwrites itself in a terminal or a notebook; elsewhere, as in a log, one line an epoch."""

    def __init__(self, wanted, epochs, steps):
        self.epochs, self.steps, self.wanted = epochs, steps, wanted
        self.live = sys.stdout.isatty() or "ipykernel" in sys.modules
        self.shown, self.width, self.before = 0.0, 0, ""

    def step(self, epoch, number, loss):
        if self.live and time.monotonic() - self.shown > 0.2:
            where = f"epoch {epoch + 1}/{self.epochs}  step {number}/{self.steps}"
            self._show(f"{where}  loss {loss:.4f}{self.before}")

    def epoch_done(self, history):
        loss, right, seconds = history.loss[-1], history.val_accuracy[-1], history.seconds[-1]
        self.before = f"  validation so far {right:.2%}"
        done = f"epoch {len(history.loss)}/{self.epochs}"
        self._show(f"{done}  loss {loss:.4f}  validation {right:.2%}  {seconds:.1f} s")

    def close(self, history):
        if history.stopped:
            self._show(f"stopped: {history.stopped}")
        if self.live and self.wanted:
            print(flush=True)

    def _show(self, line):
        if self.wanted:
            start, end = ("\r", "") if self.live else ("", "\n")
            print(start + line.ljust(self.width), end=end, flush=True)
        self.shown, self.width = time.monotonic(), len(line) if self.live else 0
