"""The parent's end of a worker process."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]

# course_lib is imported from this very folder, and nothing else of this Python is put on the other one's path.
IMPORT = """
import importlib.util, sys
sys.path[:] = [p for p in sys.path if p]
spec = importlib.util.spec_from_file_location("course_lib", sys.argv[1] + "/__init__.py",
                                              submodule_search_locations=[sys.argv[1]])
sys.modules["course_lib"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
"""
START = f"{IMPORT}from course_lib.bench.worker import main\nmain(sys.argv[2])\n"


class WorkerError(RuntimeError):
    """A worker could not do what it was told. kind: the name of the exception there, or "died"."""

    def __init__(self, message: str, kind: str):
        super().__init__(
            message.replace(f"{PACKAGE.parent}/", "")
        )  # results hold no paths of this machine
        self.kind = kind


class Worker:
    """A process that holds one library. Use it as a context manager: on leaving, the process ends."""

    def __init__(
        self, library: str, python: str | None = None, env: Mapping[str, str] | None = None
    ):
        self.library = library
        self.log = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115  (close ends it)
        self.process = subprocess.Popen(
            [python or sys.executable, "-c", START, str(PACKAGE), library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            encoding="utf-8",
            env={**os.environ, **(env or {})},
        )

    def ask(self, do: str, **arguments: Any) -> Any:
        """Send one command, wait for its answer. Raises WorkerError where the worker failed or died."""
        self.send(do, **arguments)
        return self.receive()

    def send(self, do: str, **arguments: Any) -> None:
        """Send one command and do not wait; each must be followed by one `receive`."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended: receive will say so
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()

    def receive(self) -> Any:
        """The answer to what was sent. Raises WorkerError where the worker failed or died."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise WorkerError(f"the process of {self.library} ended: {self._last_words()}", "died")
        reply = json.loads(line)
        if "error" in reply:
            raise WorkerError(reply["error"], reply["kind"])
        return reply["answer"]

    def _last_words(self) -> str:
        self.process.wait(10)
        self.log.seek(0)
        words = self.log.read().strip().splitlines()
        return words[-1] if words else f"exit status {self.process.returncode}, nothing said"

    def close(self) -> None:
        """End of input is the sign to leave; a worker that does not heed it within 10 s is killed."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
