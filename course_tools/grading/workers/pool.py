"""The workers of one run of `grade`, on the cores of this machine or on the engines of a cluster."""

import contextlib
import fcntl
import itertools
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from course_lib.errors import BadInput
from course_tools.grading.paths import BESIDE
from course_tools.grading.workers import jobs, worker

# workers that may end before their work is done, with no student done in between: then this machine is to blame
DEATHS = 20
PREFORK = "course_tools.grading.workers.prefork"
WAIT = 15.0  # seconds for the workers of a killed run to end


class OutputFolder:
    """`with OutputFolder(out) as folder`: a folder of this run's own in the folder of the results; one run at a time.

    The lock ends with the last process that holds it: this one, or a worker of it that still works.
    """

    def __init__(self, out):
        self.out = Path(out).resolve()  # workers have a working folder of their own
        self.folder = self.out / ".grading"

    def __enter__(self):
        self.out.mkdir(parents=True, exist_ok=True)
        self.lock = os.open(self.out / ".lock", os.O_CREAT | os.O_RDWR, 0o600)
        end = time.monotonic() + WAIT
        while not self._locked():
            if time.monotonic() > end:
                os.close(self.lock)
                raise BadInput(
                    f"another `grade` works on {self.out}: wait for it, or choose another --out"
                )
            time.sleep(0.1)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        return self

    def _locked(self):
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self.lock)


class LocalWorkers:
    """Workers that are processes of this machine, forked from one."""

    def __init__(self, folder, count, lock):
        self.folder, self.lock, self.names = folder, lock, (f"w{n}" for n in itertools.count())
        self.count, self.prefork, self.running, self._said = count, None, set[str](), b""

    def rest(self):
        """Have the one that was started last of those at work end after what it has taken."""
        working = [name for name in self.running if not jobs.rests(self.folder, name)]
        jobs.rest(self.folder, max(working, key=lambda name: int(name[1:])))

    def working(self):
        """How many there are that take students."""
        return sum(not jobs.rests(self.folder, name) for name in self.running)

    def start(self):
        """Start one more."""
        if self.prefork is None:
            self.prefork = worker.start(
                self.folder, "prefork", PREFORK, subprocess.PIPE, (self.lock,)
            )
            os.set_blocking(self.prefork.stdout.fileno(), False)
        name = next(self.names)
        self.running.add(name)
        with contextlib.suppress(BrokenPipeError):  # `ended` will say so
            os.write(self.prefork.stdin.fileno(), f"{name}\n".encode())

    def ended(self):
        """[(name, exit status)] of those that have ended since the last call."""
        if self.prefork is None:
            return []
        # looked at first: what it has said before it ended is read below
        over = self.prefork.poll()
        with contextlib.suppress(BlockingIOError):
            while some := os.read(self.prefork.stdout.fileno(), 1000):
                self._said += some
        *lines, self._said = self._said.split(b"\n")
        gone = [(name, int(status)) for name, status in (line.decode().split() for line in lines)]
        self.running -= {name for name, _ in gone}
        if over is not None:
            gone += [(name, over) for name in sorted(self.running)]
            self.close()
        return gone

    def close(self):
        """End all."""
        if self.prefork is not None:
            self.prefork.kill()
            self.prefork.wait()
            self.prefork.stdin.close()
            self.prefork.stdout.close()
        self.prefork, self.running, self._said = None, set(), b""


class EngineWorkers:
    """Workers on the engines of an ipyparallel cluster: of a profile's running one, or a new one with N engines."""

    def __init__(self, folder, which):
        import ipyparallel

        self.folder, self.names, self.running = folder, (f"e{n}" for n in itertools.count()), {}
        self.cluster = (
            ipyparallel.Cluster(n=int(which), log_level=40) if which.isdecimal() else None
        )
        try:
            self.client = self._client(ipyparallel, which)
            self.view = self.client.load_balanced_view()
            self.count = len(self.client)
        except BaseException:
            self.close()
            raise

    def _client(self, ipyparallel, which):
        if self.cluster is not None:
            return self.cluster.start_and_connect_sync()
        try:
            client = ipyparallel.Client(profile=which, timeout=20)
            client.wait_for_engines(1, timeout=20)
            return client
        except (OSError, TimeoutError, ipyparallel.error.TimeoutError) as error:
            raise BadInput(
                f"there is no cluster of the profile {which!r} ({error}). Start one: ipcluster start "
                f"--profile={which} -n 4, or give a number: --engines 4"
            ) from None

    def start(self):
        """Start one more, on the engine that has the least to do."""
        name = next(self.names)
        self.running[name] = self.view.apply_async(_on_engine, str(BESIDE), str(self.folder), name)

    def ended(self):
        """As of `LocalWorkers`."""
        gone = []
        for name, result in list(self.running.items()):
            if result.ready():
                del self.running[name]
                gone.append(
                    (name, result.get()[1] if result.successful() else str(result.exception()))
                )
        return gone

    def close(self):
        """Leave a profile's cluster as it was; end one of our own. Its workers end as the folder's beat does."""
        if getattr(self, "client", None) is not None:
            self.client.close()
        if self.cluster is not None:
            self.cluster.stop_cluster_sync()


def _on_engine(library, folder, name):
    """Runs on an engine, which may never have heard of course_lib."""
    import sys

    if library not in sys.path:
        sys.path.insert(0, library)
    from course_tools.grading.workers import worker

    return worker.run(folder, name)


class WorkerPool:
    """Starts workers, and others where one ends before the work is done: `with WorkerPool(...) as p: p.look()`.

    size: a `SideBySide`, which says when there should be more or fewer; None: as many as `workers` says.
    """

    def __init__(self, work, workers, size=None):
        self.work, self.workers, self.size = work, workers, size
        self.deaths, self._beats, self._done = 0, 0, 0

    def __enter__(self):
        self._beat()
        for _ in range(self.workers.count):
            self.workers.start()
        return self

    def __exit__(self, *_):
        self.workers.close()

    def look(self):
        """Note who has ended; False when all have, with the work done."""
        self._beat()
        for name, status in self.workers.ended():
            if status == 0:
                continue
            done = self.work.done()
            self.deaths, self._done = (self.deaths if done == self._done else 0) + 1, done
            why = f"the grader's process ended ({status}): {self._said(name)}"
            jobs.put_back(self.work, name, why)
            if self.deaths <= DEATHS:
                self.workers.start()
        if self.workers.running:
            self._resize()
            return True
        left = sorted(os.listdir(self.work.folder / "todo"))
        if left:
            print(
                f"{len(left)} students are left: {DEATHS} processes have ended. {why}",
                file=sys.stderr,
            )
        return False

    def _resize(self):
        """More workers while processors idle, fewer where there are too many; not before the first is at work."""
        if self.size is None or not jobs.begun(self.work):
            return
        change = self.size.change(self.workers.working())
        for _ in range(min(change, jobs.waiting(self.work))):
            self.workers.start()
        for _ in range(-change):
            self.workers.rest()

    def _beat(self):
        if time.monotonic() - getattr(self, "_last", 0.0) > 2.0:
            self._last, self._beats = time.monotonic(), self._beats + 1
            (self.work.folder / "beat").write_text(str(self._beats))

    def _said(self, name):
        for log in (name, "prefork"):
            with contextlib.suppress(OSError, IndexError):
                return (
                    (self.work.folder / f"{log}.log")
                    .read_text(errors="replace")
                    .strip()
                    .splitlines()[-1][-300:]
                )
        return "it said nothing"
