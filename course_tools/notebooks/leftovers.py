"""What a notebook leaves running when its kernel has ended: ranks, servers, workers."""

import os
import time

MARK = "COURSE_SESSION"  # a variable that a kernel is given, and all that it starts inherit
SECONDS = 5.0  # for what is about to end


def slowness() -> float:
    """What COURSE_SLOW says this machine takes longer than two quiet cores: limits of time are multiplied by it."""
    return float(os.environ.get("COURSE_SLOW", "1"))


def left_running(mark: str, seconds: float = SECONDS) -> list[str]:
    """["1234 python -m ...", ...]: living processes with this mark, as soon as there are none, or after the seconds."""
    end = time.monotonic() + seconds * slowness()
    while (found := _marked(mark)) and time.monotonic() < end:
        time.sleep(0.1)
    return found


def _marked(mark: str) -> list[str]:
    import psutil

    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(f"{process.pid} {' '.join(process.cmdline())[:120]}")
        except (psutil.Error, OSError):  # it has ended, or it is not ours
            continue
    return found
