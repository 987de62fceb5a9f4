"""A run's seconds, and the most memory that all of its processes held together."""

import os
import threading
import time
from typing import Any

EVERY = 1.0  # seconds between two looks at the memory: each costs some milliseconds a process


class Watch:
    """`with Watch() as watch: ...`: then watch.seconds, and watch.peak in bytes (None where the system does not say).

    Counted is what was started from this process, at any depth. Memory that processes share is shared out (PSS), so
    the sum counts it once.
    """

    def __enter__(self) -> "Watch":
        self.peak: int | None = None
        self._over, self._before = threading.Event(), {process.pid for process in _below()}
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._began = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._began
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(EVERY):
            sizes = [_held(one) for one in _below() if one.pid not in self._before]
            known = [size for size in sizes if size is not None]
            if known:
                self.peak = max(self.peak or 0, sum(known))


def _below() -> list[Any]:
    import psutil

    return psutil.Process(os.getpid()).children(recursive=True)


def _held(process: Any) -> int | None:
    """Bytes of one process; where its share of what is shared cannot be read, all that it holds in memory."""
    import psutil

    try:
        return getattr(process.memory_full_info(), "pss", None) or process.memory_info().rss
    except psutil.AccessDenied:
        return process.memory_info().rss
    except psutil.Error:  # it has ended
        return None
