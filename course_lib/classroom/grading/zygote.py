"""The process from which the rooms are forked: everything that an exercise imports is imported once, here.

It holds no secret: no hidden check, no solution, no submission. The grader sends it one end of a connection and a line
of JSON; it forks a process that goes into a sandbox and serves on that connection.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from . import sandbox

IMPORTS = ("numpy", "numba", "matplotlib.pyplot", "matplotlib_inline.backend_inline", "course_lib.checks",
           "course_lib.plots", "course_lib.measure", "course_lib.data", "course_lib.serial", "course_lib.threads",
           "course_lib.gpu.device", "course_lib.gpu.cpu_engine", "course_lib.mpi", "ipyparallel")  # fmt: skip


class Zygote:
    """Started with the grader. `with Zygote(isolation="sandbox") as z: pid, connection = z.fork("student", 7, other)`."""

    def __init__(self, isolation="sandbox", limits=None):
        self.isolation, self.limits, self._lock = isolation, limits or sandbox.Limits(), threading.Lock()

    def __enter__(self):
        self._home = tempfile.TemporaryDirectory(prefix="course-grade-")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", START, str(Path(__file__).parents[3]), str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, cwd=self._home.name,
                env=environment(self._home.name))  # fmt: skip
        self._socket = ours
        self._socket.settimeout(120)
        self._socket.recv(1)  # it has imported all
        return self

    def __exit__(self, *_):
        self._socket.close()
        self._process.wait()
        self._home.cleanup()

    def fork(self, role, seed, other):
        """A new room: (process id of its outermost process, our end of the connection). other: a socket for it."""
        ours, theirs = socket.socketpair()
        job = {"role": role, "seed": seed, "isolation": self.isolation, "limits": vars(self.limits)}
        with theirs, self._lock:
            socket.send_fds(self._socket, [json.dumps(job).encode()], [theirs.fileno(), other.fileno()])
            pid = int(self._socket.recv(100))
        return pid, ours


START = "import sys; sys.path.insert(0, sys.argv[1]); from course_lib.classroom.grading.zygote import main; main(int(sys.argv[2]))"


def environment(home):
    """The variables of the rooms: none of the user's own."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    keep = {name: os.environ[name] for name in ("COURSE_CXX", "COURSE_GPU", "COURSE_SLOW") if name in os.environ}
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": sandbox.HOME, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0",
            "MPLBACKEND": "module://matplotlib_inline.backend_inline", "MPLCONFIGDIR": home, "IPYTHONDIR": home,
            "COURSE_GRADING": "1", **one, **keep}  # fmt: skip


def main(handle):
    """Import, then fork on request, until the grader closes its end."""
    import importlib

    from . import room

    for name in IMPORTS:
        importlib.import_module(name)
    shell = room.make_shell()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the rooms: they must not stay as zombies
    with socket.socket(fileno=handle) as asked:
        asked.send(b"!")
        while True:
            text, handles, _, _ = socket.recv_fds(asked, 10_000, 2)
            if not text:
                return
            pid = os.fork()
            if pid == 0:
                _become_room(asked, shell, handles, json.loads(text))
            for handle in handles:
                os.close(handle)
            asked.send(str(pid).encode())


def _become_room(asked, shell, handles, job):
    """In the child: into the sandbox, and serve."""
    from . import room

    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        asked.close()
        control, other = (socket.socket(fileno=handle) for handle in handles)
        os.environ["COURSE_SEED"] = str(job["seed"])  # of what the student's own cells draw
        if job["isolation"] == "sandbox":
            sandbox.enter(sandbox.python_folders(), sandbox.Limits(**job["limits"]))
        else:
            os.chdir(tempfile.mkdtemp(prefix="course-room-"))
        room.main(shell, job["role"], control, other)
    except BaseException as error:
        print(f"grade: no room: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(70)
