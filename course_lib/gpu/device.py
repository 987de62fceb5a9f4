"""One PyCUDA-shaped surface over two engines: PyCUDA's own objects on a GPU, and the same names on the CPU engine.

Importing decides nothing. The first name that is used picks the engine and prints which. COURSE_GPU=cuda: PyCUDA or
an error; cpu: the CPU engine; auto (or unset): PyCUDA where it works. All names are as in PyCUDA, but for
SourceModule(source, options=(), no_extern_c=False), with .get_function(name) and .get_global(name) -> (pointer, bytes).
A function is called as f(*arguments, block=(x, y, z), grid=(x, y), shared=0), with NumPy scalars, device memory, device
arrays, or In, Out, InOut around NumPy arrays.
"""

import os
from functools import cache

from course_lib.errors import BadInput

NAMES = (
    "SourceModule", "In", "Out", "InOut", "mem_alloc", "to_device", "from_device",
    "from_device_like", "memcpy_htod", "memcpy_htod_async", "memcpy_dtoh", "memcpy_dtod",
    "memset_d8", "memset_d32", "gpuarray", "pagelocked_empty", "Event", "Stream", "synchronize",
    "attributes", "CompileError", "LaunchFailed",
)  # fmt: skip


def engine_name():
    """What runs kernels: "cuda" (a GPU, through PyCUDA) or "cpu" (the CPU engine)."""
    return _engine().NAME


@cache
def _engine():
    wanted = os.environ.get("COURSE_GPU") or "auto"
    if wanted not in ("cuda", "cpu", "auto"):
        raise BadInput(f"COURSE_GPU is {wanted!r}: it may be cuda, cpu or auto")
    engine, why = (None, "COURSE_GPU=cpu") if wanted == "cpu" else _cuda()
    if engine is None and wanted == "cuda":
        advice = "Set it to auto or cpu to run kernels on the CPU engine"
        raise BadInput(f"COURSE_GPU=cuda, but {why}. {advice}")
    if engine is None:
        from course_lib.machines.pycuda_names import calls

        engine = calls
    print(f"Kernels run on {engine.attributes()['name']}{why and f': {why}'}.", flush=True)
    return engine


def _cuda():
    """PyCUDA's side, with a context, or None and why not."""
    try:
        from course_lib.gpu import on_cuda

        on_cuda.start()
    except ImportError as error:
        missing = "'pycuda'" in str(error)
        return None, "PyCUDA is not installed" if missing else f"PyCUDA does not load ({error})"
    except (on_cuda.driver.Error, RuntimeError) as error:  # RuntimeError: a driver, but no device
        return None, f"PyCUDA finds no GPU ({error})"
    return on_cuda, ""


def __getattr__(name):
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return next(vars(m)[name] for m in _engine().NAMESPACES if name in vars(m))
