"""The process that owns a cluster: starts its programs, and kills all of them when one ends or the notebook does.

Run in a session of its own; standard input is the notebook's end of the life line. One line of JSON, which may come
late: folder, commands (name -> argument list), env, patience (seconds between SIGTERM and SIGKILL; a batch system needs
some to take its jobs back), forks (what forks.py starts) or nothing. When all is over it removes the folder and prints
one line of JSON: the last lines of each program's log. With the argument "forks" it imports what these need at once.
"""

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from course_lib.machines.ranks import forks

LINUX = forks.LINUX
# seconds: mpiexec ends when a rank does, and the others may still be asked where they are
GRACE = 2
LAUNCHERS = "mpiexec", "mpiexec.hydra", "hydra_pmi_proxy"
PR_SET_CHILD_SUBREAPER = 36


def main():
    """Start, watch, kill, tidy up."""
    import psutil  # noqa: F401  (now: when all is to be killed, nothing should have to be read from a disk)

    parent, ended = os.getppid(), threading.Event()
    for name in forks.SIGNALS:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: ended.set())
    if "forks" in sys.argv:
        forks.prepare()
    line = sys.stdin.readline()
    if not line:  # a spare one that was never needed
        return
    if LINUX:  # orphans of the cluster become children of this process, so that none can be missed
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    watch(json.loads(line), parent, ended)


def watch(job, parent, ended):
    """From the start of the job's programs until nothing of them is left."""
    programs: dict = {}
    try:
        look = begin(job, programs, ended)
        while not (look(0.05) or os.getppid() != parent):
            if any(program.poll() is not None for program in programs.values()):
                end = time.monotonic() + GRACE
                while time.monotonic() < end and not look(0.05):
                    pass
                break
    finally:
        kill(programs.values(), job["patience"])
        logs = {name: tail(job["folder"], name) for name in programs}
        tidy_up(job["folder"], parent)
    with contextlib.suppress(OSError):  # nobody may be left to read it
        print(json.dumps(logs), flush=True)


def begin(job, programs, ended):
    """Start the programs; a function of seconds that says, within these, whether the notebook wants an end."""
    nursery: Any = None
    if job.get("forks"):  # no thread may be there then
        started, nursery = forks.start(job)
        programs |= started
    else:
        threading.Thread(target=wait_for_end, args=(sys.stdin, ended), daemon=True).start()
    for name, command in job["commands"].items():
        programs[name] = start(name, command, job)
    if nursery:
        return lambda seconds: nursery.look(sys.stdin, seconds) or ended.is_set()
    return ended.wait


def tidy_up(folder, parent):
    """Remove the folder, and the shared memory of an MPI that the notebook, process `parent`, imported itself."""
    shutil.rmtree(folder, ignore_errors=True)
    for file in Path("/dev/shm").glob(f"mpich_shm_{parent:x}_*"):
        with contextlib.suppress(OSError):
            file.unlink()


def wait_for_end(stream, ended):
    stream.read()
    ended.set()


def start(name, command, job):
    """One program, its output in a log; it dies with this process, even if that is killed."""
    with open(Path(job["folder"], f"{name}.log"), "wb") as log:
        how: dict = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "env": job["env"]}
        return subprocess.Popen(command, **how, preexec_fn=forks.die_with_parent if LINUX else None)


def unlink_shared_memory(pid):
    """MPICH's files in /dev/shm that a process maps: they would outlive ranks that are killed."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps") as maps:
        rows = [row for row in maps if "/dev/shm/mpich_shm" in row and "(deleted)" not in row]
        for path in {row.split()[-1] for row in rows}:
            with contextlib.suppress(OSError):
                os.unlink(path)


def kill(programs, patience):
    """End the programs and everything that they have started."""
    import psutil  # here: course_lib.mpi is imported with NumPy alone

    me = psutil.Process()
    below = me.children(recursive=True)
    for program in programs if patience else ():
        program.terminate()
    psutil.wait_procs(below, timeout=patience)
    spared: tuple = LAUNCHERS  # they end with their ranks, and then remove their own files
    give_up = time.monotonic() + 10
    while below and time.monotonic() < give_up:
        for process in below:
            unlink_shared_memory(process.pid)
            with contextlib.suppress(psutil.NoSuchProcess):
                if process.name() not in spared:
                    process.kill()
        spared = ()
        psutil.wait_procs(below, timeout=1)
        below = me.children(recursive=True)
        below = [process for process in below if process.status() != psutil.STATUS_ZOMBIE]


def tail(folder, name):
    """The last lines of a program's log."""
    try:
        return Path(folder, f"{name}.log").read_text(errors="replace").splitlines()[-30:]
    except OSError:
        return []


if __name__ == "__main__":
    main()
