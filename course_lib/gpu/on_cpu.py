"""The names of `device` on the CPU engine, as PyCUDA has them. A launch has ended when the call returns; no streams."""

import os
import sys
import time

from course_lib.errors import BadInput

from . import cpu_memory
from .cpu_engine import CompileError, LaunchFailed, compiler, launching, process, rewrite  # noqa: F401: a name
from .cpu_memory import Argument, Symbol, address, arena

NAME, ROOMS, gpuarray = "cpu", (sys.modules[__name__], cpu_memory), cpu_memory
WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def attributes():
    """As of a GPU, but the engine's own: its threads stand for multiprocessors. They say nothing about a GPU."""
    return {"name": f"the CPU engine with {WORKERS} threads, not on a GPU", "multiprocessors": WORKERS, "max_threads_per_block": launching.MAX_THREADS,
            "shared_bytes_per_block": launching.MAX_SHARED, "compute_capability": None}  # fmt: skip


def synchronize():
    """Nothing to wait for."""


class Event:
    """A moment on this machine's clock; times between two, in ms, are the engine's and say nothing about a GPU."""

    def record(self, stream=None):
        self.seconds = time.perf_counter()
        return self

    def synchronize(self):
        return self

    def time_since(self, other):
        return 1e3 * (self.seconds - other.seconds)

    def time_till(self, other):
        return other.time_since(self)


class SourceModule:
    """Kernels compiled for this CPU. Of `options` only -D, -U and -I count: the others are nvcc's."""

    def __init__(self, source, options=(), no_extern_c=False):
        self.program = rewrite.rewrite(source, no_extern_c)
        flags = tuple(option for option in options if option[:2] in ("-D", "-U", "-I"))
        self.process = process.Process(compiler.build(self.program, flags), arena())
        self.known, self.written = self.process.describe(), {}

    def get_function(self, name):
        return Function(self, self._there("kernels", name))

    def get_global(self, name):
        """(pointer, bytes) of a __constant__ or __device__ variable, for memcpy_htod and memcpy_dtoh."""
        return Symbol(self, name), self.known["symbols"][self._there("symbols", name)][1]

    def restart(self):
        """After a crash: a new process, with what the host had written into variables."""
        self.known = self.process.describe()
        for name, data in self.written.items():
            self.process.write_symbol(self.known["symbols"][name][0], data)

    def _there(self, kind, name):
        if name not in self.known[kind]:
            raise BadInput(f"there is no {name!r}; the source has the {kind} {', '.join(self.known[kind]) or '(none)'}")
        return name


class Function:
    """A kernel. Raises BadInput for arguments that do not fit, LaunchFailed for a kernel that goes wrong."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self, *args, block=None, grid=(1, 1), shared=0, stream=None, time_kernel=False):
        if not (isinstance(block, tuple) and len(block) == 3 and isinstance(grid, tuple)):
            raise BadInput(f"{self.name}: block must be a tuple of three, as (256, 1, 1), and grid a tuple, not {block!r} and {grid!r}")
        shape = launching.check_shape(grid, block, shared)
        parameters = launching.check_arguments(self.name, self.module.known["kernels"], args)
        held, values = [], []  # held: the device copies of In, Out and InOut
        for name, parameter, arg in zip(self.module.program.kernels[self.name], parameters, args, strict=True):
            if parameter[0] != "p":
                values.append(launching.scalar(self.name, name, parameter, arg))
            elif isinstance(arg, Argument):
                held.append((arg, arg.on_device()))
                values.append(launching.pointer(held[-1][1]))
            else:
                values.append(launching.pointer(address(arg, f"{self.name}: {name}")))
        seconds = self._launch(*shape, values)
        for arg, memory in held:
            arg.back(memory)
        return seconds if time_kernel else None

    def _launch(self, grid, block, shared, values):
        limit = float(os.environ.get("COURSE_GPU_SECONDS", 60))
        try:
            seconds, stuck, printed = self.module.process.launch(self.name, grid, block, shared, WORKERS, values, timeout=limit)
        except LaunchFailed as failure:
            self.module.restart()
            raise LaunchFailed(f"{self.name}: {failure}", failure.tool, failure.printed) from None
        print(printed, end="", flush=True)
        if stuck:
            line, number, _, count = stuck.split()
            message = f"{self.name}, line {line}: {count} threads of block {number} wait at this barrier for threads that never come"
            raise LaunchFailed(message, "synccheck", printed)
        return seconds
