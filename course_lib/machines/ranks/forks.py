"""The controller and the ranks as forks of the supervisor, which has imported what they need: nothing is read anew.

A stand-in under mpiexec asks for each rank (stand_in.py), and is told when that has ended.
"""

import contextlib
import ctypes
import functools
import json
import os
import select
import signal
import socket
import sys
import traceback
from pathlib import Path

from course_lib.machines.ranks import leftovers

LINUX = sys.platform == "linux"
ENDED = "ended"  # a file in the folder, from when a rank has ended
STAND_IN = str(Path(__file__).with_name("stand_in.py"))
PR_SET_PDEATHSIG = 1
SIGNALS = ("SIGINT", "SIGHUP", "SIGTERM")
NEEDED = (
    "ipykernel.debugger ipyparallel.engine.app ipyparallel.controller.app ipykernel.ipkernel ipykernel.zmqshell "
    "tornado.platform.asyncio tornado.queues IPython.core.completer IPython.core.completerlib IPython.core.logger "
    "IPython.core.oinspect IPython.extensions.storemagic cloudpickle mpi4py numpy "
    "course_lib.machines.ranks.rank course_lib.machines.books.account"
)


def prepare():
    """Import what controller and ranks need; no thread is started and nothing opened, so that it can be forked."""
    sys.modules["debugpy"] = None  # type: ignore[assignment]  # half of an engine's start, and no rank is debugged
    for name in NEEDED.split():
        __import__(name)
    del sys.modules["debugpy"]


class Fork:
    """A process that runs main(). As a subprocess.Popen it has poll and terminate; `status` is a shell's."""

    def __init__(self, main, env, files):
        self.status: int | None = None
        parent, self.pid = os.getpid(), os.fork()
        if self.pid == 0:
            _become(main, env, files, parent)

    def poll(self):
        """Its status once it has ended, else None."""
        if self.status is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    code = os.waitstatus_to_exitcode(status)
                    self.status = code if code >= 0 else 128 - code
        return self.status

    def terminate(self):
        """Ask it to end."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)


class Nursery:
    """Waits for stand-ins, and forks a rank for each. argv: of a rank."""

    def __init__(self, address, argv):
        self.argv = argv
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(address)
        self.listener.listen(128)
        self.ranks: list = []  # (line to the stand-in, Fork)

    def look(self, stream, seconds):
        """Serve stand-ins for so long; True as soon as the stream is at its end."""
        ready = select.select([stream, self.listener], [], [], seconds)[0]
        if self.listener in ready:
            self._add()
        for line, rank in list(self.ranks):
            if rank.poll() is not None:
                self.ranks.remove((line, rank))
                with contextlib.suppress(OSError):
                    Path(self.listener.getsockname()).with_name(ENDED).touch()
                with line, contextlib.suppress(OSError):
                    line.sendall(str(rank.status).encode())
        return stream in ready

    def _add(self):
        line, _ = self.listener.accept()
        line.sendall(b"?")
        _, files, _, _ = socket.recv_fds(line, 1, 3)
        with line.makefile("rb") as said:
            env = json.loads(said.readline())
        if files[2:]:
            env["PMI_FD"] = str(files[2])
        others = [self.listener, line, *(other for other, _ in self.ranks)]
        self.ranks.append((line, Fork(lambda: engine(self.argv, others), env, files[:2])))
        for file in files:
            os.close(file)


def engine(argv, others):
    """Be a rank; what belongs to the supervisor is closed."""
    for line in others:
        line.close()
    sys.argv = ["ipengine", *argv]
    from ipyparallel.engine.app import main

    main()


def controller(argv, text, listener):
    """Be the controller. text: its program."""
    listener.close()
    leftovers.sweep()  # milliseconds, beside the start of the ranks
    sys.argv = ["ipcontroller", *argv]
    exec(text, {"__name__": "controller"})


def _become(main, env, files, parent):
    """In the fork; never returns."""
    status = 1
    try:
        die_with_parent(parent)
        for name in SIGNALS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with open(os.devnull) as nothing:
            for number, file in enumerate([nothing.fileno(), *files]):
                os.dup2(file, number)
        os.environ.clear()
        os.environ.update(env)
        if "numpy.random" in sys.modules:  # each rank draws numbers of its own
            sys.modules["numpy.random"].seed()
        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def start(job):
    """(programs by name, the Nursery) of a job with "forks": {"controller": argv, "text": ..., "engine": argv}."""
    wanted, folder = job["forks"], job["folder"]
    leftovers.hold(folder)
    nursery = Nursery(str(Path(folder, "forks")), wanted["engine"])
    with open(Path(folder, "controller.log"), "wb") as log:
        files = [log.fileno(), log.fileno()]
        run = functools.partial(controller, wanted["controller"], wanted["text"], nursery.listener)
        return {"controller": Fork(run, job["env"], files)}, nursery


def die_with_parent(parent=None):
    """On Linux this process is killed when its parent ends; at once, if process `parent` has ended before it asked."""
    if LINUX:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if parent not in (None, os.getppid()):
            os._exit(1)
