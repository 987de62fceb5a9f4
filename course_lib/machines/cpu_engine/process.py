"""One compiled program, running: a process that launches kernels on request and may crash without harm."""

import contextlib
import json
import os
import select
import signal
import struct
import subprocess
import tempfile
import time
import weakref

from course_lib.errors import OutOfTime
from course_lib.machines.cpu_engine.memory import BASE
from course_lib.machines.cpu_engine.messages import refused

before_program = None  # called in each new process before it becomes the program: a grader takes rights away there


class LaunchFailed(RuntimeError):
    """The kernel crashed, ran past its time, or can never end. `.tool`: crash, timeout, synccheck; `.printed`: text."""

    def __init__(self, message, tool, printed=""):
        super().__init__(message)
        self.tool, self.printed = tool, printed


class LaunchTooSlow(LaunchFailed, OutOfTime):
    """The kernel ran past its time."""


class Process:
    """Starts with the first request; after a crash or a timeout the next request starts a new one."""

    def __init__(self, program, arena):
        self.program, self.arena, self._child = program, arena, None

    def launch(
        self, kernel, grid, block, shared, workers, values, arrays=None, blocks=None, timeout=60.0
    ):
        """Runs one grid. values: the arguments as bytes. arrays: (address, bytes, element, name), traced programs only.

        blocks: run only these, as ints. Returns (seconds, what the engine answers, what the kernel printed). A plain
        program answers "" or which threads wait for ever. Raises LaunchFailed.
        """
        only, seconds = blocks or (), max(1, round(timeout))
        numbers = (*grid, *block, shared, workers, seconds, len(only), *only)
        packed = struct.pack(f"<{len(numbers)}I", *numbers)
        parts = [struct.pack("<I", 0), _text(kernel.encode()), packed]
        parts += [struct.pack("<I", len(values)), *map(_text, values)]
        if arrays is not None:
            parts.append(struct.pack("<I", len(arrays)))
            parts += [struct.pack("<QQI", *a[:3]) + _text(a[3].encode()) for a in arrays]
        late = 3 if arrays is not None and timeout >= 1 else 0  # it says itself where it was
        nanoseconds, answer = self._ask(b"".join(parts), timeout, late)
        return nanoseconds * 1e-9, answer.decode(), self._printed()

    def describe(self):
        """{"kernels": {name: [[kind, bytes], ...]}, "symbols": {name: [address, bytes, is constant, element]}}."""
        return json.loads(self._ask(struct.pack("<I", 1), 30)[1])

    def alive(self):
        """Whether it runs."""
        return self._child is not None and self._child.poll() is None

    def begin(self):
        """What comes next, one launch at most, runs in a copy of a traced program's process. False: in itself."""
        return bool(self._ask(struct.pack("<I", 4), 30)[1])

    def end_copy(self):
        """Ends the copy that `begin` made, unless its launch has ended it."""
        child = self._started()
        child.stdin.write(struct.pack("<I", 5))
        child.stdin.flush()

    def write_symbol(self, address, data):
        self._ask(struct.pack("<IQQ", 2, address, len(data)) + bytes(data), 30)

    def read_symbol(self, address, bytes):
        return self._ask(struct.pack("<IQQ", 3, address, bytes), 30)[1]

    def close(self):
        """Ends the process, whatever it is doing."""
        if self._child is not None:
            self._end()
            self._child = None

    def _ask(self, request, timeout, late=0):
        child = self._started()
        deadline = time.monotonic() + timeout + late
        try:
            child.stdin.write(request)
            child.stdin.flush()
            nanoseconds, size = struct.unpack("<QQ", _read(child.stdout, 16, deadline))
            return nanoseconds, _read(child.stdout, size, deadline)
        except TimeoutError:
            self.close()
            late = refused("late", timeout=timeout)
            raise LaunchTooSlow(late, "timeout", self._printed()) from None
        except (EOFError, BrokenPipeError):
            code = child.wait()
            self.close()
            name = signal.Signals(-code).name if code < 0 else f"exit status {code}"
            printed = self._printed()
            message = f"the kernel crashed ({name})\n{printed}".rstrip()
            raise LaunchFailed(message, "crash", printed) from None
        except BaseException:  # an interrupt: the kernel must not go on by itself
            self.close()
            raise

    def _started(self):
        if not self.alive():
            self.close()
            self._output = tempfile.TemporaryFile()  # noqa: SIM115  (what the kernels print)
            handles = self.arena.handle, self._output.fileno()
            command = [self.program, *map(str, (handles[0], self.arena.bytes, BASE, handles[1]))]
            how: dict = {"start_new_session": True, "preexec_fn": before_program}
            how |= {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._output}
            self._child = subprocess.Popen(command, pass_fds=handles, **how)
            self._end = weakref.finalize(self, _end, self._child)
        return self._child

    def _printed(self):
        """What was printed since the last time; of more than 1 MiB, its beginning."""
        file = self._output.fileno()
        text, size = os.pread(file, 1 << 20, 0), os.fstat(file).st_size
        os.lseek(file, 0, os.SEEK_SET)  # the program's place in the file as well
        os.ftruncate(file, 0)
        cut = f"\n... cut here, after 1 MiB of {size / 2**20:.0f}\n" if size > len(text) else ""
        return text.decode(errors="replace") + cut


def _end(child):
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)  # its copy as well
    for stream in (child.stdin, child.stdout):
        with contextlib.suppress(OSError):  # a request that could not be sent
            stream.close()
    child.wait()


def _text(data):
    return struct.pack("<I", len(data)) + data


def _read(stream, size, deadline):
    """Exactly `size` bytes from an unbuffered pipe. Raises EOFError, or TimeoutError at the deadline."""
    data, handle = bytearray(), stream.fileno()
    while len(data) < size:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([handle], [], [], left)[0]:
            raise TimeoutError
        part = os.read(handle, min(size - len(data), 1 << 20))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
