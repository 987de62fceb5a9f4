"""What processes that were killed left on this machine: removed at the next start of ranks by the same user, on Linux.

A file goes only where it is proved that no process uses it any more, in a container neither.
"""

import os
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from pathlib import Path

with suppress(ImportError):  # there is none on Windows
    import fcntl

FOLDER = "course-mpi-"
SHARED = "mpich_shm_*", "ucx_shm_posix_*"
# a launcher's file, which ranks read in MPI_Init alone: (its folder, its name, the process that removes it)
TOPOLOGY = "/tmp", "hydra_hwloc_xmlfile_*", "hydra_pmi_proxy"
HELD = "held"  # a file in a folder, from when a process holds that
YOUNG = 600  # seconds for which a launcher's file stays in any case


def hold(folder):
    """While the number returned is open, here or in a fork, the folder is in use."""
    file = os.open(folder, os.O_RDONLY)
    with suppress(
        OSError
    ):  # some file systems have no locks, nor has a sandbox: nobody sweeps the folder then
        fcntl.flock(file, fcntl.LOCK_SH)
        Path(folder, HELD).touch()
    return file


def sweep(shared="/dev/shm"):
    """Remove what is left of this user's, in the folder of shared memory and in those for temporary files."""
    for name in SHARED:
        for path in Path(shared).glob(name):
            _with(path, _unlink_unused, os.O_RDWR)
    for path in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        if (path / HELD).exists():
            _with(path, _remove_folder, os.O_RDONLY)
    folder, name, launcher = TOPOLOGY
    if files := list(Path(folder).glob(name)):
        born = min(_births(launcher), default=time.time()) - YOUNG
        for path in files:
            with suppress(OSError):
                if path.stat().st_uid == os.getuid() and path.stat().st_mtime < born:
                    path.unlink()


def _with(path, remove, how):
    """remove(path, the open file), if it is this user's."""
    with suppress(OSError):
        file = os.open(path, how | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if os.fstat(file).st_uid == os.getuid():
                remove(path, file)
        finally:
            os.close(file)


def _unlink_unused(path, file):
    """The system grants a write lease on a file only where no other process has it open or mapped."""
    # should another process open it meanwhile, this one is told by a signal: not by SIGIO, which would end it
    fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    os.unlink(path)


def _remove_folder(path, file):
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    shutil.rmtree(path)


def _births(name):
    """When the living processes of that name were started."""
    import psutil

    known = [process.info for process in psutil.process_iter(["name", "create_time"])]
    return [info["create_time"] for info in known if info["name"] == name]
