"""The parent's end of the processes that do the work: one for each library, or one for each rank of a group.

Each has a connection to the parent, waits there without using a processor, and obeys one command at a time: a library's
thread pool, or a rank, never spins beside another that is measured. Several groups are alive at once, so that their
runs can be interleaved; only one is at work. A group with a limit is ended when a command takes longer.
"""

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
START = Path(__file__).with_name("start_desk.py")
STARTING = 600.0  # seconds that a group without a limit gets to load its library
GRACE = 2.0  # seconds that the others get after one rank has failed


class WorkerError(RuntimeError):
    """A process could not do what it was told. kind: the name of the exception there, or "died"."""

    def __init__(self, message: str, kind: str):
        super().__init__(message.replace(f"{ROOT}/", ""))  # results hold no paths of this machine
        self.kind = kind


class Group:
    """n processes with the same desk ("module:Class"). A context manager: on leaving, they end.

    launcher: the start of a command that starts all of them, such as mpiexec's; without, each is started by itself.
    Until `connect` or the first `ask` they start by themselves, so that several groups start side by side.
    """

    def __init__(
        self,
        name: str,
        desk: str,
        n: int = 1,
        python: str | None = None,
        env: Mapping[str, str] | None = None,
        launcher: Sequence[str] = (),
        limit: float | None = None,
    ):
        self.name, self.n, self.limit, self.trouble = name, n, limit, ""
        self.folder = tempfile.TemporaryDirectory(prefix="bench")
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115  (close ends it)
        self.token = secrets.token_hex(16)
        self.links: dict[int, Connection] = {}
        self.hello: Any = None  # rank 0's answer to `hello`: versions
        self.server, address = listen(Path(self.folder.name, "socket"))
        command = [*launcher, python or sys.executable, str(START), desk, address]
        starts = range(1 if launcher else n)
        self.processes = [self._start(command, {**os.environ, **(env or {})}, i) for i in starts]

    def _start(self, command: list[str], env: dict[str, str], rank: int) -> subprocess.Popen:
        said = {"TOKEN": self.token, "RANK": str(rank), "SIZE": str(self.n)}
        said["MEET"] = Path(self.folder.name, "meet").as_uri()
        env |= {f"COURSE_BENCH_{name}": text for name, text in said.items()}
        streams = {"stdin": subprocess.DEVNULL, "stdout": self.log, "stderr": self.log}
        return subprocess.Popen(command, env=env, start_new_session=True, **streams)  # type: ignore[call-overload]

    def connect(self) -> Any:
        """Wait until all are there; what rank 0 says of its versions. Raises WorkerError."""
        end = time.monotonic() + (self.limit or STARTING)
        self.server.settimeout(0.2)
        while len(self.links) < self.n:
            try:
                self._greet(Connection(self.server.accept()[0].detach()))
            except TimeoutError:
                ended = any(process.poll() is not None for process in self.processes)
                if time.monotonic() > end or ended:
                    self._fail("did not start")
        return self.hello

    def _greet(self, one: Connection) -> None:
        """Take in one who tells who it is."""
        if not one.poll(self.limit or STARTING):
            self._fail("did not start")
        try:
            said = json.loads(one.recv_bytes())
        except (EOFError, OSError):
            words = "a process left before it had said who it is"
            raise WorkerError(words, "died") from None
        if said.get("token") != self.token:
            return
        if "error" in said:
            self._end(patience=0.0)
            raise WorkerError(said["error"], said["kind"])
        self.links[said["rank"]] = one
        self.hello = said["answer"] if said["rank"] == 0 else self.hello
        if said["size"] != self.n:
            self._fail(f"are {said['size']}")

    def ask(self, do: str, limit: float | None = None, **arguments: Any) -> Any:
        """The same command to all; rank 0's answer. Raises WorkerError where one fails, dies or is late."""
        if self.hello is None:
            self.connect()
        if not self.links:
            raise WorkerError(f"{self.name} ended earlier", "died")
        limit = limit or self.limit
        line = json.dumps({"do": do, "limit": limit, **arguments}).encode()
        for one in self.links.values():
            with contextlib.suppress(OSError):  # it died: the answers will say so
                one.send_bytes(line)
        replies = self._replies(limit)
        errors = [reply for _, reply in sorted(replies.items()) if "error" in reply]
        if len(replies) < self.n:
            late = f"had not finished `{do}` after {limit:g} s" if limit else "left"
            self._fail(errors[0]["error"] if errors else late)
        if errors:
            raise WorkerError(errors[0]["error"], errors[0]["kind"])
        return replies[0]["answer"]

    def _replies(self, limit: float | None) -> dict[int, dict[str, Any]]:
        """{rank: its reply}, of all, or of those that replied in time, or soon after one failed."""
        replies: dict[int, dict[str, Any]] = {}
        ranks = {one: rank for rank, one in self.links.items()}
        end = time.monotonic() + limit if limit else float("inf")
        while len(replies) < self.n and (left := end - time.monotonic()) > 0:
            for one in wait(list(ranks), left if limit else None):
                rank = ranks[one]  # type: ignore[index]
                try:
                    replies[rank] = json.loads(self.links[rank].recv_bytes())
                except (EOFError, OSError):
                    self._fail(f"rank {rank} died" if self.n > 1 else "its process ended")
                if limit and "error" in replies[rank]:
                    end = min(end, time.monotonic() + GRACE)
        return replies

    def _fail(self, what: str) -> None:
        """End the group and say why, with the last words of a library, or of ranks that never came."""
        speak = self.n == 1 or not self.links
        self._end(patience=0.0)
        self.log.seek(0)
        words = [line for line in self.log.read().strip().splitlines() if line.strip(" =")]
        last = f": {words[-1]}" if words and speak else ""
        raise WorkerError(f"{self.name}: {what}{last}", "died")

    def _end(self, patience: float) -> None:
        """Closed connections say: leave. Who does not within `patience` seconds is killed, with all its own."""
        for one in self.links.values():
            one.close()
        self.links, self.hello = {}, self.hello or {}
        end = time.monotonic() + patience
        for process in self.processes:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                kill(process)

    def close(self, patience: float = 10.0) -> None:
        self.server.close()  # who has not come yet finds nobody
        self._end(patience if self.hello else 0.0)
        self.log.close()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        """An interrupt does not wait for what is being computed."""
        self.close(0.0 if kind is not None else 10.0)


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """Ctrl-C inside comes at its end: a process whose start is cut short would be known to nobody, and stay."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[bool] = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def listen(path: Path) -> tuple[socket.socket, str]:
    """A listening socket, and its address as text: a file where the system has such sockets, else a port here."""
    if hasattr(socket, "AF_UNIX") and os.name == "posix":
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
        server.listen()
        return server, str(path)
    server = socket.create_server(("127.0.0.1", 0))
    return server, str(server.getsockname()[1])


def kill(process: subprocess.Popen) -> None:
    """Kill it and, where the system has process groups, all that it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
