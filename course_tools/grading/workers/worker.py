"""One worker: takes students' folders one after another and runs pytest over them, until none is left.

`grade` has its workers forked from one process (`prefork`); engines of a cluster call `run`. Nothing but the
grader's own files configures pytest.
"""

import contextlib
import importlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from course_tools.grading.paths import BESIDE

MOST = 8  # students in one pytest session: starting one costs 0.1 s, and what it keeps of a test stays small
BEAT = 60.0  # seconds without a sign of the grader after which a worker ends
INI = "[pytest]\naddopts =\n"
QUIET = ("-q", "--no-header", "--tb=native", "--show-capture=no")
PLAIN = (
    "--noconftest",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "nbval.plugin",
    "--nbval",
)


def start(folder, name, module=__name__, stdout=None, keep=()):
    """Start a worker; what it says goes to <name>.log. It ends when its stdin is closed. keep: handles for it."""
    env = os.environ | {"PYTHONPATH": str(BESIDE), "TMPDIR": str(folder)}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    line = [sys.executable, "-m", module, str(folder), name]
    with open(Path(folder, f"{name}.log"), "a") as log:
        how: dict[str, Any] = {"cwd": folder, "env": env, "pass_fds": keep}
        return subprocess.Popen(
            line, stdin=subprocess.PIPE, stdout=stdout or log, stderr=log, **how
        )


def run(folder, name):
    """For an engine: start a worker on its machine and wait for it; (name, exit status)."""
    process = start(folder, name)
    try:
        return name, process.wait()
    finally:
        process.kill()


def main(folder, name):
    """Work until nothing is left. Returns 0."""
    with ready(folder) as (work, fork_server):
        work_on(work, fork_server, name)
    return 0


@contextlib.contextmanager
def ready(folder):
    """(Work, ForkServer), with everything imported that a worker needs."""
    from course_tools.grading.sandbox.fork_server import ForkServer
    from course_tools.grading.workers import jobs

    work = jobs.load(folder)
    imports = threading.Thread(
        target=importlib.import_module, args=("course_tools.grading.workers.nbval_plugin",)
    )
    imports.start()  # while the other process imports what exercises need
    private = [work.folder, work.out, *(one.folder for one in work.releases.values())]
    with ForkServer(work.isolation, private=private) as fork_server:
        imports.join()
        yield work, fork_server


def work_on(work, fork_server, name):
    """Take students and grade them, until none is left and none will come, or there are too many workers."""
    from course_tools.grading.workers import jobs

    while not jobs.rests(work.folder, name):
        complete = (
            work.folder / "complete"
        ).exists()  # looked at first: what was added before it is seen below
        units = jobs.take(work, name, MOST)
        if units:
            _grade(work, fork_server, name, units)
        elif complete:
            return
        else:
            time.sleep(0.05)


def _grade(work, fork_server, name, units):
    """One pytest session. A job that it leaves without a result ends this worker: `grade` sees to it."""
    import pytest

    from course_tools.grading.workers.nbval_plugin import GraderPlugin

    grader = GraderPlugin(work, fork_server, units)
    ini = work.folder / f"{name}.ini"
    ini.write_text(INI)
    where = ("-c", str(ini), f"--rootdir={work.folder}")
    pytest.main([*QUIET, *PLAIN, *where, *map(str, units)], plugins=[grader])
    if grader.broken or any(grader.left.values()):
        raise RuntimeError(grader.broken or "pytest did not begin")


def _end_with_the_grader(folder):
    """Two signs of its life: the other end of stdin; and a file whose text changes, for workers on other machines."""

    def stdin():
        while os.read(0, 100):
            pass
        os._exit(3)

    def beat():
        last, seen = "", time.monotonic()
        while time.monotonic() - seen < BEAT:
            time.sleep(2.0)
            with contextlib.suppress(OSError):
                text = Path(folder, "beat").read_text()
                last, seen = (text, time.monotonic()) if text != last else (last, seen)
        os._exit(4)

    for sign in (stdin, beat):
        threading.Thread(target=sign, daemon=True).start()


if __name__ == "__main__":
    _end_with_the_grader(sys.argv[1])
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
