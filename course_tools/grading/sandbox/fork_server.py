"""The process from which the rooms are forked: everything that an exercise imports is imported once, here.

It holds no secret: no hidden check, no solution, no submission. The grader sends it one end of a connection and a line
of JSON; it forks a process that goes into a sandbox and serves on that connection.
"""

import contextlib
import fcntl
import gc
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from course_tools.grading.paths import BESIDE, LIBRARY
from course_tools.grading.sandbox import check_stubs, sandbox

IMPORTS = (
    "numpy",
    "numba",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "course_lib.plots",
    "course_lib.measure",
    "course_lib.data",
    "course_lib.serial",
    "course_lib.threads",
    "course_lib.gpu.device",
    "course_lib.gpu.data_sheets",
    "course_lib.gpu.cpu_engine",
    "course_lib.mpi",
    "ipyparallel",
    "course_tools.grading.sandbox.check_process",
)


class Zygote:
    """Started with the grader. `with Zygote() as z: process, connection = z.fork("student", 7, other)`.

    It is two processes: one has never seen the checks, and of it the students' rooms are forked.
    private: folders that no room shows, wherever the packages of this Python lie.
    """

    def __init__(self, isolation="sandbox", limits=None, private=()):
        self.isolation, self.limits, self._lock = (
            isolation,
            limits or sandbox.Limits(),
            threading.Lock(),
        )
        self.private = [str(folder) for folder in private]

    def __enter__(self):
        self._home = tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True)
        self.home = self._home.name
        pairs = [socket.socketpair(socket.AF_UNIX, KIND) for _ in ROLES]
        theirs = [pair[1].fileno() for pair in pairs]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", START, str(BESIDE), *map(str, theirs)],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            cwd=self.home,
            env=environment(self.home),
        )
        self._sockets = {role: pair[0] for role, pair in zip(ROLES, pairs, strict=True)}
        for _, other in pairs:
            other.close()
        self._await()
        return self

    def __exit__(self, *_):
        self.close()
        self._process.wait()
        self._home.cleanup()

    def _await(self):
        for role, ours in self._sockets.items():
            ours.settimeout(120)
            if not ours.recv(1):  # else it has imported all
                raise RuntimeError(f"the process that {role} rooms are forked from did not start")

    def twin(self):
        """A Zygote for one more worker of this machine: copies of the two processes, which share their memory."""
        made = Zygote(self.isolation, self.limits, self.private)
        made.home = self.home
        pairs = {role: socket.socketpair(socket.AF_UNIX, KIND) for role in ROLES}
        made._sockets = {role: ours for role, (ours, _) in pairs.items()}
        for role, (_, theirs) in pairs.items():
            with theirs:
                self._ask(role, {"role": TWIN}, theirs)
        made._await()
        return made

    def close(self):
        """Ask for no more rooms from here: the processes end."""
        for one in self._sockets.values():
            one.close()

    def fork(self, role, seed, *others):
        """A new room: (its outermost `Process`, our end of the connection). others: sockets for it, at most MOST."""
        ours, theirs = socket.socketpair()
        job = {
            "role": role,
            "seed": seed,
            "isolation": self.isolation,
            "limits": vars(self.limits),
            "private": self.private,
        }
        with theirs:
            return self._ask(role, job, theirs, *others), ours

    def _ask(self, role, job, *others):
        """Have a process forked that does this job; these sockets are for it."""
        with self._lock:
            handles = [other.fileno() for other in others]
            socket.send_fds(self._sockets[role], [json.dumps(job).encode()], handles)
            text, handles, _, _ = socket.recv_fds(self._sockets[role], 100, 1)
        if not text:
            raise RuntimeError(f"the process that {role} rooms are forked from has ended")
        home = Path(self.home, HOME.format(int(text))) if self.isolation == "none" else None
        return Process(int(text), handles[0] if handles else None, home)


class Process:
    """The outermost process of a room. handle: of exactly this process: its number may be another's once it ended.

    home: of a process that is in no room, to be removed with it.
    """

    def __init__(self, pid, handle, home=None):
        self.pid, self._handle, self._home, self._ended = pid, handle, home, False

    def kill(self):
        """End all that is in the room, and wait until it has ended; a second time does nothing."""
        if self._ended:
            return
        self._ended = True
        if self._home is not None:  # what has left its group goes on: no room, no end for all
            _end(os.killpg, self.pid)
        if self._handle is None:
            _end(os.kill, self.pid)
        else:
            _end(signal.pidfd_send_signal, self._handle)
        self._wait()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)

    def _wait(self):
        """Until it has ended, 5 s at most."""
        if self._handle is not None:
            select.select([self._handle], [], [], 5.0)
            os.close(self._handle)
            return
        end = time.monotonic() + 5.0  # a system without handles of processes
        with contextlib.suppress(ProcessLookupError, PermissionError):
            while time.monotonic() < end:
                os.kill(self.pid, 0)
                time.sleep(0.01)


def _end(how, which):
    """Kill it, if it still is there; a group is not, where its first process has not come to make it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        how(which, signal.SIGKILL)


HOME = "room-{}"  # of a process that is in no room, by its number
KIND = (
    socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM
)  # macOS knows no other
ROLES = ("student", "checker")
TWIN = "twin"  # no room: a copy of the process that forks them
MOST = 16  # connections of a room, but for the grader's
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from course_tools.grading.sandbox.fork_server import main; "
    "main(*map(int, sys.argv[2:]))"
)


def environment(home):
    """The variables of the rooms: none of the user's own."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    told = ("COURSE_CXX", "COURSE_GPU", "COURSE_MPI_START", "COURSE_SLOW")
    keep = {name: os.environ[name] for name in told if name in os.environ}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": sandbox.HOME,
        "LANG": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR": home,
        "IPYTHONDIR": home,
        "COURSE_GRADING": "1",
        "UCX_TLS": "^sysv",
        **one,
        **keep,
    }


def main(students, checkers):
    """Import, then fork on request, until the grader closes its ends. A copy of this process has the checks as well."""
    import importlib

    from course_tools.grading.sandbox import shell as shells

    for name in IMPORTS:
        importlib.import_module(name)
    shell, known = shells.make(), check_stubs.texts()
    sys.path[:] = [
        place for place in sys.path if place
    ]  # no module is looked for in a folder that a room can write
    signal.signal(
        signal.SIGCHLD, signal.SIG_IGN
    )  # nobody waits for the rooms: they must not stay as zombies
    if os.fork() == 0:
        os.close(students)
        for folder in sorted((LIBRARY / "checks").glob("ch[0-9][0-9]")):
            importlib.import_module(f"course_lib.checks.{folder.name}")
        _serve(checkers, shell)
        os._exit(0)
    os.close(checkers)
    check_stubs.install(known)
    _serve(students, shell)


def _serve(handle, shell):
    gc.freeze()  # what is here stays: a collection in a room would write to, and so copy, all of its memory
    with socket.socket(fileno=handle) as asked:
        asked.send(b"!")
        while True:
            text, handles, _, _ = socket.recv_fds(asked, 10_000, 1 + MOST)
            if not text:
                return
            job, pid = json.loads(text), os.fork()
            if pid == 0:
                (_become_twin if job["role"] == TWIN else _become_room)(asked, shell, handles, job)
            room = [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") and job["role"] != TWIN else []
            socket.send_fds(asked, [str(pid).encode()], room)
            for handle in (*handles, *room):
                os.close(handle)


def _become_twin(asked, shell, handles, job):
    """In the child: do as the parent does, for whoever has the other end of this connection."""
    try:
        asked.close()
        _serve(handles[0], shell)
    finally:
        os._exit(0)


def _become_room(asked, shell, handles, job):
    """In the child: into the sandbox, and serve."""
    from course_tools.grading.rpc.control import frame
    from course_tools.grading.sandbox import check_process

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        asked.close()
        control, *others = (socket.socket(fileno=handle) for handle in _only(handles))
        os.environ["COURSE_SEED"] = str(job["seed"])  # of what the student's own cells draw
        if job["isolation"] == "sandbox":
            hidden = check_stubs.hidden_folders() if job["role"] == "student" else ()
            sandbox.enter(
                sandbox.python_folders(job["private"]), sandbox.Limits(**job["limits"]), hidden
            )
        else:
            _without_a_room(sandbox.Limits(**job["limits"]))
        check_process.main(shell, job["role"], control, others)
    except Exception as error:  # the room could not be made
        control.sendall(frame({"answer": 0, "value": f"{type(error).__name__}: {error}"}))
    finally:
        os._exit(70)


def _without_a_room(limits):
    """In the child, with --isolation none: a process group and a home of its own, and limits for each process."""
    os.setsid()
    os.environ["HOME"] = home = os.path.join(os.getcwd(), HOME.format(os.getpid()))
    os.mkdir(home, 0o700)
    os.chdir(home)
    sandbox.limit(limits, alone=False)


def _only(handles):
    """Nothing but these stays open: what the grader or the zygote holds is not for the rooms. 0, 1, 2 lead nowhere."""
    for target, handle in enumerate(handles, 3):
        os.dup2(fcntl.fcntl(handle, fcntl.F_DUPFD, 20), target)
    os.closerange(3 + len(handles), 65536)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(nowhere, target)
    os.close(nowhere)
    return range(3, 3 + len(handles))
