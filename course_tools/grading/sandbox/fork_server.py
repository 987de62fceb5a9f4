"""The server that forks student and check processes: everything that an exercise imports is imported once, here.

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
from course_tools.grading.sandbox import check_stubs, not_there, sandbox

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
    "course_tools.grading.sandbox.inside",
)


class ForkServer:
    """Started with the grader. `with ForkServer() as z: process, connection = z.fork("student", 7, other)`.

    It is two processes: one has never seen the checks, and of it the student processes are forked.
    private: folders that no sandbox shows, wherever the packages of this Python lie.
    """

    def __init__(self, isolation="sandbox", limits=None, private=()):
        self.isolation, self.limits = isolation, limits or sandbox.Limits()
        self._lock = threading.Lock()
        self.private = [str(folder) for folder in (*private, *sandbox.homes())]

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
                raise RuntimeError(
                    f"the process that {role} processes are forked from did not start"
                )

    def twin(self):
        """A ForkServer for one more worker of this machine: copies of the two processes, which share their memory."""
        made = ForkServer(self.isolation, self.limits, self.private)
        made.home = self.home
        pairs = {role: socket.socketpair(socket.AF_UNIX, KIND) for role in ROLES}
        made._sockets = {role: ours for role, (ours, _) in pairs.items()}
        for role, (_, theirs) in pairs.items():
            with theirs:
                self._ask(role, {"role": TWIN}, theirs)
        made._await()
        return made

    def close(self):
        """Ask for no more processes from here: the server ends."""
        for one in self._sockets.values():
            one.close()

    def fork(self, role, seed, *others, absent=()):
        """A new process in a sandbox: (`Process`, our end of the connection). others: sockets for it, at most MOST.

        absent: functions of course_lib that it is to do without (`not_there`).
        """
        ours, theirs = socket.socketpair()
        job = {"role": role, "seed": seed, "isolation": self.isolation, "private": self.private}
        job |= {"limits": vars(self.limits), "absent": list(absent)}
        with theirs:
            return self._ask(role, job, theirs, *others), ours

    def _ask(self, role, job, *others):
        """Have a process forked that does this job; these sockets are for it."""
        with self._lock:
            handles = [other.fileno() for other in others]
            socket.send_fds(self._sockets[role], [json.dumps(job).encode()], handles)
            text, handles, _, _ = socket.recv_fds(self._sockets[role], 100, 1)
        if not text:
            raise RuntimeError(f"the process that {role} processes are forked from has ended")
        home = Path(self.home, HOME.format(int(text))) if self.isolation == "none" else None
        return Process(int(text), handles[0] if handles else None, home)


class Process:
    """The outermost process of a sandbox. handle: of exactly this process: its number may be another's once it ended.

    home: of a process that is in no sandbox, to be removed with it.
    """

    def __init__(self, pid, handle, home=None):
        self.pid, self._handle, self._home, self._ended = pid, handle, home, False

    def kill(self):
        """End all that is in the sandbox, and wait until it has ended; a second time does nothing."""
        if self._ended:
            return
        self._ended = True
        if self._home is not None:  # what has left its group goes on: no sandbox, no end for all
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


HOME = "home-{}"  # of a process that is in no sandbox, by its number
# macOS knows no other
KIND = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM
ROLES = ("student", "checker")
TWIN = "twin"  # no student or check process: a copy of the one that forks them
LONGEST = 100_000  # bytes of a job
MOST = 16  # connections of a process, but for the grader's
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from course_tools.grading.sandbox.fork_server import main; "
    "main(*map(int, sys.argv[2:]))"
)


def environment(home):
    """The variables of the processes: none of the user's own."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    told = ("COURSE_CXX", "COURSE_GPU", "COURSE_MPI_START", "COURSE_SLOW")
    kept = {name: os.environ[name] for name in told if name in os.environ}
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
        **threads,
        **kept,
    }


def main(students, checkers):
    """Import, then fork on request, until the grader closes its ends. A copy of this process has the checks as well."""
    import importlib

    from course_tools.grading.sandbox import shell as shells

    for name in IMPORTS:
        importlib.import_module(name)
    shell, known = shells.make(), check_stubs.texts()
    sys.path[:] = filter(None, sys.path)  # no module is looked for where a student can write
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for what is forked: no zombies
    if os.fork() == 0:
        os.close(students)
        for name in _chapters_of_checks():
            importlib.import_module(f"course_lib.checks.{name}")
        _serve(checkers, shell)
        os._exit(0)
    os.close(checkers)
    check_stubs.install(known)
    _serve(students, shell)


def _chapters_of_checks():
    """["ch00", ...], a package each."""
    return sorted(folder.name for folder in (LIBRARY / "checks").glob("ch[0-9][0-9]"))


def _serve(handle, shell):
    gc.freeze()  # what is here stays: a collection in a fork would write to, and so copy, all of its memory
    with socket.socket(fileno=handle) as asked:
        asked.send(b"!")
        while True:
            text, handles, _, _ = socket.recv_fds(asked, LONGEST, 1 + MOST)
            if not text:
                return
            job = json.loads(text)
            not_there.texts(tuple(job.get("absent", ())))  # once, here, for all that are forked
            pid = os.fork()
            if pid == 0:
                (_become_twin if job["role"] == TWIN else _become_process)(
                    asked, shell, handles, job
                )
            pidfd = (
                [os.pidfd_open(pid)] if hasattr(os, "pidfd_open") and job["role"] != TWIN else []
            )
            socket.send_fds(asked, [str(pid).encode()], pidfd)
            for handle in (*handles, *pidfd):
                os.close(handle)


def _become_twin(asked, shell, handles, job):
    """In the child: do as the parent does, for whoever has the other end of this connection."""
    try:
        asked.close()
        _serve(handles[0], shell)
    finally:
        os._exit(0)


def _become_process(asked, shell, handles, job):
    """In the child: into the sandbox, and serve."""
    from course_tools.grading.rpc.framing import frame
    from course_tools.grading.sandbox import inside

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        asked.close()
        control, *others = (socket.socket(fileno=handle) for handle in _only(handles))
        os.environ["COURSE_SEED"] = str(job["seed"])  # of what the student's own cells draw
        not_there.take_out(job["absent"], load=job["isolation"] != "sandbox")
        if job["isolation"] == "sandbox":
            hidden = check_stubs.hidden_folders() if job["role"] == "student" else ()
            shown = sandbox.python_folders(job["private"])
            masks = not_there.masks(job["absent"])
            sandbox.enter(shown, sandbox.Limits(**job["limits"]), hidden, masks)
        else:
            _without_a_sandbox(sandbox.Limits(**job["limits"]))
        inside.main(shell, job["role"], control, others)
    except Exception as error:  # the sandbox could not be made
        control.sendall(frame({"answer": 0, "value": f"{type(error).__name__}: {error}"}))
    finally:
        os._exit(70)


def _without_a_sandbox(limits):
    """In the child, with --isolation none: a process group and a home of its own, and limits for each process."""
    os.setsid()
    os.environ["HOME"] = home = os.path.join(os.getcwd(), HOME.format(os.getpid()))
    os.mkdir(home, 0o700)
    os.chdir(home)
    sandbox.limit(limits, alone=False)


def _only(handles):
    """Nothing but these stays open: what the grader or this server holds is not for students. 0, 1, 2 lead nowhere."""
    for target, handle in enumerate(handles, 3):
        os.dup2(fcntl.fcntl(handle, fcntl.F_DUPFD, 20), target)
    os.closerange(3 + len(handles), 65536)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for target in (0, 1, 2):
        os.dup2(nowhere, target)
    os.close(nowhere)
    return range(3, 3 + len(handles))
