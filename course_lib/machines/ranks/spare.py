"""What is kept ready for the cell after an error: a whole team of ranks that has run nothing, or, of a large team, its
supervisor alone, which waits with all imported. COURSE_MPI_SPARE=0: neither.
"""

import atexit
import os
import subprocess
import sys
from typing import Any

from course_lib.machines.ranks import forks, launch

MOST = 8  # ranks: more of them take too much memory to stand idle
_waiting: list = []  # (the process, the surroundings in which it was started)


def wanted():
    """Shall anything be kept?"""
    return forks.LINUX and os.environ.get("COURSE_MPI_SPARE") != "0"


def keep():
    """A supervisor shall wait from now on."""
    if not _waiting and wanted():
        _waiting.append((_start(None), surroundings()))
        atexit.register(end)


def take(site):
    """A supervisor for ranks of this machine (site None), the one that waits if there is one, or of a site."""
    while _waiting and site is None:
        process, then = _waiting.pop()
        if process.poll() is None and then == surroundings():
            return process
        _end(process)
    return _start(site)


def end():
    """None waits any more."""
    while _waiting:
        _end(_waiting.pop()[0])


def surroundings():
    """What ranks take from the notebook when they are started."""
    return os.getcwd(), tuple(sys.path), dict(os.environ)


def _start(site) -> Any:
    how: dict[str, Any] = {"text": True, "start_new_session": True, "stderr": subprocess.DEVNULL}
    how |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": launch.environment()}
    ready = ["forks"] if site is None and forks.LINUX else []
    command = [sys.executable, "-m", "course_lib.machines.ranks.supervisor", *ready]
    return subprocess.Popen(command, **how)


def _end(process):
    process.stdin.close()
    process.kill()
    process.wait()
    process.stdout.close()
