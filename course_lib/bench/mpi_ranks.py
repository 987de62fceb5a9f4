"""The parent's end of a group of ranks: each has a socket to it, and waits there without using a processor.

Several groups are alive at once, one for each number of ranks, so that runs of all of them can be interleaved. Only
one is at work at a time. Every command has a deadline, after which the group is ended: nothing here waits for ever.
"""

import contextlib
import json
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.bench.processes import IMPORT, PACKAGE, WorkerError
from course_lib.machines.ranks.launch import ONE_THREAD, QUIET, mpiexec

START = f"{IMPORT}from course_lib.bench.mpi_worker import main\nmain(sys.argv[2])\n"
LIMIT = 60.0  # seconds that a command may take
GRACE = 2.0  # seconds that the others get after one rank has failed


def environment(settings: str) -> dict[str, str]:
    """What ranks get: one BLAS thread each, MPICH's way of waiting."""
    return {
        **os.environ,
        **ONE_THREAD,
        **(QUIET if settings == "quiet" else {}),
        "PYTHONPATH": str(PACKAGE.parent),
    }


class Ranks:
    """n ranks of `library`: "mpi", by mpiexec, or "torch", by themselves. A context manager: on leaving, they end.

    Until `connect` they start by themselves, so that several groups start side by side.
    """

    def __init__(self, library: str, n: int, settings: str = "plain", python: str | None = None):
        self.trouble = ""  # why something of it is missing in the result
        self.library, self.n, self.where = (
            library,
            n,
            f"{n} rank{'s' if n > 1 else ''} of {library}",
        )
        self.folder = tempfile.TemporaryDirectory(prefix="ranks")
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115  (close ends it)
        self.token, self.sockets = secrets.token_hex(16), {}  # type: str, dict[int, socket.socket]
        self.rest: dict[int, bytes] = {}
        self.server, address = listen(Path(self.folder.name, "socket"))
        env = environment(settings) | {"COURSE_BENCH_TOKEN": self.token}
        self.processes = self._start(address, env, python or sys.executable)

    def _start(
        self, address: str, env: Mapping[str, str], python: str
    ) -> list[subprocess.Popen[Any]]:
        def popen(command: list[str], **more: str) -> subprocess.Popen[Any]:
            own = {
                key: value
                for key, value in env.items()
                if self.library == "mpi" or key != "PYTHONPATH"
            }
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                env=own | more,
                start_new_session=True,
            )

        if self.library == "mpi":
            return [
                popen(
                    [
                        mpiexec(),
                        "-n",
                        str(self.n),
                        python,
                        "-m",
                        "course_lib.bench.mpi_worker",
                        address,
                    ]
                )
            ]
        meet = Path(self.folder.name, "meet").as_uri()
        alone = {"COURSE_BENCH_SIZE": str(self.n), "COURSE_BENCH_MEET": meet}
        command = [python, "-c", START, str(PACKAGE), address]
        return [popen(command, COURSE_BENCH_RANK=str(r), **alone) for r in range(self.n)]

    def connect(self, limit: float = LIMIT) -> dict[str, Any]:
        """Wait until all ranks are there; what rank 0 says of its versions. Raises WorkerError."""
        end, hello = time.monotonic() + limit, {}  # type: float, dict[str, Any]
        while len(self.sockets) < self.n:
            try:
                self.server.settimeout(0.2)
                one, _ = self.server.accept()
            except TimeoutError:
                if time.monotonic() > end or any(
                    process.poll() is not None for process in self.processes
                ):
                    self._fail("did not start")
                continue
            one.settimeout(limit)
            said = json.loads(self._line(one))
            if said.get("token") == self.token:
                self.sockets[said["rank"]], self.rest[said["rank"]] = one, b""
                hello |= said["versions"] if said["rank"] == 0 else {}
                if said["size"] != self.n:
                    self._fail(f"are {said['size']}")
        return hello

    @staticmethod
    def _line(one: socket.socket) -> bytes:
        data = b""
        while not data.endswith(b"\n"):
            if not (more := received(one)):
                raise WorkerError("a rank left before it had said who it is", "died")
            data += more
        return data

    def ask(self, do: str, limit: float = LIMIT, **arguments: Any) -> Any:
        """The same command to all ranks; rank 0's answer. Raises WorkerError where a rank fails, dies or is late."""
        if not self.sockets:
            raise WorkerError(f"{self.where} ended earlier", "died")
        line = json.dumps({"do": do, "limit": limit, **arguments}).encode() + b"\n"
        for one in self.sockets.values():
            with contextlib.suppress(OSError):  # it died: the answers will say so
                one.sendall(line)
        replies = self._replies(time.monotonic() + limit)
        errors = [reply for _, reply in sorted(replies.items()) if "error" in reply]
        if len(replies) < self.n:
            self._fail(
                errors[0]["error"] if errors else f"had not finished `{do}` after {limit:g} s"
            )
        if errors:
            raise WorkerError(errors[0]["error"], errors[0]["kind"])
        return replies[0]["answer"]

    def _replies(self, end: float) -> dict[int, dict[str, Any]]:
        """{rank: its reply}, of all ranks, or of those that replied before the end, or soon after one failed."""
        replies: dict[int, dict[str, Any]] = {}
        with selectors.DefaultSelector() as ready:
            for rank, one in self.sockets.items():
                ready.register(one, selectors.EVENT_READ, rank)
            while len(replies) < self.n and (left := end - time.monotonic()) > 0:
                for key, _ in ready.select(left):
                    rank = key.data
                    if not (more := received(self.sockets[rank])):
                        self._fail(f"rank {rank} died")
                    self.rest[rank] += more
                    if self.rest[rank].endswith(b"\n"):
                        replies[rank], self.rest[rank] = json.loads(self.rest[rank]), b""
                        if "error" in replies[rank]:
                            end = min(end, time.monotonic() + GRACE)
        return replies

    def _fail(self, what: str) -> None:
        """End the group and say why."""
        self._end(patience=0.0)
        self.log.seek(0)
        words = [line for line in self.log.read().strip().splitlines() if line.strip(" =")]
        raise WorkerError(
            f"{self.where}: {what}{f': {words[-1]}' if words and not self.sockets else ''}", "died"
        )

    def _end(self, patience: float) -> None:
        """Closed sockets are the sign to leave; who does not within `patience` seconds is killed, with all its own."""
        for one in self.sockets.values():
            one.close()
        self.sockets = {}
        end = time.monotonic() + patience
        for process in self.processes:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                kill(process)

    def close(self) -> None:
        self._end(patience=10.0)
        self.server.close()
        self.log.close()
        self.folder.cleanup()

    def __enter__(self) -> "Ranks":
        return self

    def __exit__(self, kind: object, *exc: object) -> None:
        if kind is not None:
            self._end(patience=0.0)  # an interrupt does not wait for what is being computed
        self.close()


def listen(path: Path) -> tuple[socket.socket, str]:
    """A listening socket, and its address as text: a file where the system has such sockets, else a port here."""
    if hasattr(socket, "AF_UNIX") and os.name == "posix":
        server = socket.socket(socket.AF_UNIX)
        server.bind(str(path))
        server.listen()
        return server, str(path)
    server = socket.create_server(("127.0.0.1", 0))
    return server, str(server.getsockname()[1])


def received(one: socket.socket) -> bytes:
    """What has come; nothing from one that has gone, in whichever way."""
    try:
        return one.recv(65536)
    except ConnectionError:
        return b""


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill it and, where the system has process groups, all that it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
