"""PyCUDA's names on the CPU engine, for `course_lib.gpu.device`. A launch has ended when it returns; no streams."""

import os
import sys
import time

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine.compiler import CompileError, build  # noqa: F401 (a name of `device`)
from course_lib.machines.cpu_engine.launching import (
    MAX_SHARED,
    MAX_THREADS,
    check_arguments,
    check_shape,
    pointer,
    scalar,
)
from course_lib.machines.cpu_engine.process import LaunchFailed, Process
from course_lib.machines.cuda_c.rewrite import rewrite
from course_lib.machines.pycuda_names import memory
from course_lib.machines.pycuda_names.memory import Argument, Symbol, address, arena

NAME, gpuarray = "cpu", memory
NAMESPACES = (sys.modules[__name__], memory)  # where `device` finds its names
WORKERS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def attributes():
    """As of a GPU, but the engine's own: its threads stand for multiprocessors. They say nothing about a GPU."""
    return {
        "name": f"the CPU engine with {WORKERS} threads, not on a GPU",
        "multiprocessors": WORKERS,
        "max_threads_per_block": MAX_THREADS,
        "shared_bytes_per_block": MAX_SHARED,
        "compute_capability": None,
    }


def synchronize():
    """Nothing to wait for."""


class Event:
    """A moment on this machine's clock. Times between two of them, in ms, say nothing about a GPU."""

    def record(self, stream=None):
        self.seconds = time.perf_counter()
        return self

    def synchronize(self):
        return self

    def time_since(self, other):
        return 1e3 * (self.seconds - other.seconds)

    def time_till(self, other):
        return other.time_since(self)


class Stream:
    """What is put into it has ended when the call returns: there is nothing to overlap here."""

    def synchronize(self):
        """Nothing to wait for."""

    def wait_for_event(self, event):
        """Nothing to wait for."""


class SourceModule:
    """Kernels compiled for this CPU. Of `options` only -D, -U and -I count: the others are nvcc's."""

    def __init__(self, source, options=(), no_extern_c=False):
        if not isinstance(source, str):
            raise BadInput(f"the source must be a text of CUDA C, not {type(source).__name__}")
        self.given, self.instances, self.written = (source, no_extern_c), [], {}
        self.flags = tuple(option for option in options if option[:2] in ("-D", "-U", "-I"))
        self._start()

    def _start(self):
        self.program = rewrite(*self.given, self.instances)
        self.process = Process(build(self.program, self.flags), arena())
        self.known = self.process.describe()

    def _add(self, instance):
        """Compiles once more, with this instance of a template. What stands in variables is carried over."""
        held = {
            name: self.process.read_symbol(*place[:2])
            for name, place in self.known["symbols"].items()
        }
        self.instances.append(instance)
        old = self.process
        self._start()
        old.close()
        for name, data in held.items():
            self.process.write_symbol(self.known["symbols"][name][0], data)

    def get_function(self, name):
        """A kernel by its name, or an instance of a template, as in "reduce<float, 256>"."""
        if "<" in name and name not in self.known["kernels"]:
            self._add(name)
        if name not in self.known["kernels"]:
            raise self._missing("kernel", name)
        return lambda *args, **how: self.call(name, args, **how)

    def get_global(self, name):
        """(pointer, bytes) of a __constant__ or __device__ variable, for memcpy_htod and memcpy_dtoh."""
        if name not in self.known["symbols"]:
            raise self._missing("variable", name)
        return Symbol(self, name), self.known["symbols"][name][1]

    def _missing(self, what, name):
        there = self.known["kernels" if what == "kernel" else "symbols"]
        return BadInput(f"there is no {what} {name!r}; there are {', '.join(there) or 'none'}")

    def call(self, kernel, args, block=None, grid=(1, 1), shared=0, stream=None, time_kernel=False):
        """Runs a kernel. Raises BadInput for wrong arguments, LaunchFailed for a crash or after $COURSE_GPU_SECONDS."""
        if not (isinstance(block, tuple) and len(block) == 3 and isinstance(grid, tuple)):
            wanted = "block must be a tuple of three, as (256, 1, 1), and grid a tuple"
            raise BadInput(f"{kernel}: {wanted}")
        grid, block, shared = check_shape(grid, block, shared)
        parameters = check_arguments(kernel, self.known["kernels"], args)
        copies, values = [], []
        names = self.program.kernels[kernel]
        for name, parameter, arg in zip(names, parameters, args, strict=True):
            if parameter[0] != "p":
                values.append(scalar(kernel, name, parameter, arg))
                continue
            if isinstance(arg, Argument):
                copies.append((arg, arg.on_device()))
                arg = copies[-1][1]
            values.append(pointer(address(arg, f"{kernel}: {name}")))
        seconds = self._launch(kernel, grid, block, shared, values)
        for arg, place in copies:
            arg.back(place)
        return seconds if time_kernel else None

    def _launch(self, kernel, grid, block, shared, values):
        limit = float(os.environ.get("COURSE_GPU_SECONDS", 60))
        try:
            shape = grid, block, shared
            launched = self.process.launch(kernel, *shape, WORKERS, values, timeout=limit)
        except LaunchFailed as failure:
            # a new process, with what the host had written into variables
            self.known = self.process.describe()
            for name, data in self.written.items():
                self.process.write_symbol(self.known["symbols"][name][0], data)
            raise LaunchFailed(f"{kernel}: {failure}", failure.tool, failure.printed) from None
        seconds, stuck, printed = launched
        print(printed, end="", flush=True)
        if stuck:
            raise LaunchFailed(f"{kernel}: {stuck}", "synccheck", printed)
        return seconds
