"""`trace`: one launch under the tracer, from NumPy arrays to a Report."""

import json

import numpy as np

from course_lib.errors import BadInput

from .compiler import build
from .launching import check_arguments, check_shape, pointer, scalar
from .memory import Arena
from .process import LaunchFailed, Process
from .report import Report, make_report
from .rewrite import rewrite


def trace(source, kernel, grid, block, args, shared=0, blocks=None, timeout=30.0, options=(), no_extern_c=False):
    """Runs `kernel` of a CUDA C source and reports what memcheck, racecheck, initcheck and synccheck find, and a profile.

    grid, block: one to three ints. args: NumPy arrays (device buffers; updated in place), NumPy scalars of the
    parameters' types, None for a null pointer. An array that holds nothing but NaN counts as not written yet.
    shared: bytes of dynamic shared memory. blocks: run only these, numbered x first, as ints. timeout: seconds.
    Returns a Report. Raises CompileError for a source that does not compile, BadInput for arguments that do not fit.
    """
    grid, block, shared = check_shape(grid, block, shared)
    program = rewrite(source, no_extern_c)
    arena = Arena()
    process = Process(build(program, tuple(options), traced=True), arena)
    try:
        parameters = check_arguments(kernel, process.describe()["kernels"], args)
        buffers, values = _place(arena, kernel, program.kernels[kernel], parameters, args)
        arrays = [(address, array.nbytes, array.itemsize, name) for address, array, name in buffers]
        launch = (grid, block, shared, 1, values, arrays, _blocks(blocks, grid), timeout)
        sizes = {name: array.size for _, array, name in buffers}
        try:
            seconds, answer, printed = process.launch(kernel, *launch)
            report = make_report(json.loads(answer), (grid, block), source, sizes, printed, seconds)
        except LaunchFailed as failure:
            report = _last_resort(failure, source)
        for address, array, _ in buffers:
            array[...] = arena.read(address, array.nbytes).view(array.dtype).reshape(array.shape)
    finally:
        process.close()
    return report


def _place(arena, kernel, names, parameters, args):
    """Copies the arrays to the device. Returns [(address, array, name)] and the arguments as bytes."""
    buffers, values, known = [], [], {}
    for name, parameter, value in zip(names, parameters, args, strict=True):
        if parameter[0] != "p":
            values.append(scalar(kernel, name, parameter, value))
        elif value is None:
            values.append(pointer(0))
        elif not isinstance(value, np.ndarray):
            raise BadInput(f"{kernel}: {name} is a pointer: pass a NumPy array, or None for a null pointer")
        else:
            key = value.__array_interface__["data"][0], value.nbytes
            if key not in known:
                known[key] = arena.alloc(value.nbytes)
                arena.write(known[key], value)
                if value.dtype.kind == "f" and value.size and np.isnan(value).all():
                    arena.set_written(known[key], value.nbytes, 0)
                buffers.append((known[key], value, name))
            values.append(pointer(known[key]))
    return buffers, values


def _blocks(blocks, grid):
    if blocks is None:
        return None
    chosen = [int(block) for block in blocks]
    if not chosen or min(chosen) < 0 or max(chosen) >= grid[0] * grid[1] * grid[2]:
        raise BadInput(f"blocks must number some of the {grid[0] * grid[1] * grid[2]} blocks, from 0, not {blocks!r}")
    return chosen


def _last_resort(failure, source):
    """The report of a kernel that could not even say where it was."""
    error = {"tool": failure.tool, "line": 0, "array": "", "block": None, "thread": None, "count": 1, "message": f"{failure.tool}: {failure}"}
    return Report([error], [], failure.printed, 0.0, source)
