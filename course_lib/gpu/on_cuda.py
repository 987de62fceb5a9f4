"""The names of `device` on a GPU: PyCUDA's own, but functions' errors name the kernel. Not run on a GPU so far."""

import atexit
import sys

import numpy as np
import pycuda.compiler
import pycuda.driver as driver
import pycuda.gpuarray as gpuarray  # noqa: F401 (one of the names)
from pycuda.tools import clear_context_caches, make_default_context

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import CompileError, LaunchFailed

NAME, NAMESPACES = "cuda", (sys.modules[__name__], driver)
_contexts: list = []  # the one that is held


def start():
    """Makes the primary context of $CUDA_DEVICE, or of the first device that works, current: once."""
    if not _contexts:
        driver.init()
        _contexts.append(make_default_context(lambda device: device.retain_primary_context()))
        _contexts[0].push()
        atexit.register(_release)


def _release():
    driver.Context.pop()
    _contexts.pop().detach()  # left to its destructor, PyCUDA 2026.1 detaches a primary context wrongly, and says so
    clear_context_caches()


def attributes():
    """name, multiprocessors, max_threads_per_block, shared_bytes_per_block and compute_capability of the GPU."""
    device, known = driver.Context.get_device(), driver.device_attribute
    wanted = {
        "multiprocessors": known.MULTIPROCESSOR_COUNT,
        "max_threads_per_block": known.MAX_THREADS_PER_BLOCK,
        "shared_bytes_per_block": known.MAX_SHARED_MEMORY_PER_BLOCK,
    }
    found = {name: device.get_attribute(which) for name, which in wanted.items()}
    return {"name": device.name(), **found, "compute_capability": device.compute_capability()}


def synchronize():
    """Waits until the GPU is done. Raises LaunchFailed for a kernel that went wrong since."""
    _call("a kernel that was launched before", driver.Context.synchronize)


class SourceModule(pycuda.compiler.SourceModule):
    """PyCUDA's, compiled by nvcc. Raises CompileError; its line numbers are those of `source`."""

    def __init__(self, source, options=(), no_extern_c=False):
        flags = [*pycuda.compiler.DEFAULT_NVCC_FLAGS, *options]
        source = f'#line 1 "kernel.cu"\n{source}'
        try:
            super().__init__(source, options=flags, no_extern_c=no_extern_c)
        except driver.CompileError as error:
            said = error.stderr or error.stdout or error
            raise CompileError(f"the kernel does not compile:\n{said}") from None
        except OSError as error:
            raise BadInput(f"PyCUDA cannot compile: {error}") from None

    def get_function(self, name):
        return Function(name, _call(name, super().get_function, name))


class Function:
    """PyCUDA's function; its other attributes, such as num_regs, are there too."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def __call__(self, *args, **how):
        for i, arg in enumerate(args):
            what = f"{self.name}: argument {i}"
            # PyCUDA would pass its bytes where the kernel expects an address
            if isinstance(arg, np.ndarray):
                raise BadInput(f"{what} is a NumPy array: wrap it in In, Out or InOut")
            if type(arg) in (int, float, bool):
                raise BadInput(f"{what} is a Python number: np.int32({arg}) has a size in bytes")
        return _call(self.name, self.function, *args, **how)

    def __getattr__(self, name):
        return getattr(self.function, name)


def _call(what, function, *args, **how):
    try:
        return function(*args, **how)
    except driver.Error as error:
        hint = "If later calls fail too, restart the notebook's kernel; trace() on the CPU engine shows why"
        raise LaunchFailed(f"{what}: {error}. {hint}", "crash") from None
