"""`trace`: one launch under the tracer, from NumPy arrays to a Report."""

import json

import numpy as np

from course_lib.errors import BadInput, check_number
from course_lib.machines.cpu_engine.compiler import build
from course_lib.machines.cpu_engine.launching import (
    block_numbers,
    check_arguments,
    check_buffer,
    check_shape,
    pointer,
    scalar,
)
from course_lib.machines.cpu_engine.memory import Arena
from course_lib.machines.cpu_engine.process import LaunchFailed, Process
from course_lib.machines.cpu_engine.report import Report, make_report
from course_lib.machines.cpu_engine.rewrite import rewrite


def trace(
    source,
    kernel,
    grid,
    block,
    args,
    shared=0,
    blocks=None,
    timeout=30.0,
    options=(),
    no_extern_c=True,
    symbols=None,
):
    """Runs `kernel` of a CUDA C source: what memcheck, racecheck, initcheck and synccheck find, and a profile.

    grid, block: one to three ints. args: NumPy arrays (device buffers; updated in place), NumPy scalars of the
    parameters' types, None for a null pointer. An array that holds nothing but NaN counts as not written yet.
    shared: bytes of dynamic shared memory. blocks: run only these, as numbers (x first) or tuples. timeout: seconds.
    symbols: arrays for `__constant__` and `__device__` variables, by name. Returns a Report.
    Raises CompileError for what does not compile, BadInput for arguments that do not fit.
    """
    grid, block, shared = check_shape(grid, block, shared)
    timeout = check_number("timeout", timeout)
    if not isinstance(source, str) or "__global__" not in source:
        raise BadInput("the source must be a text of CUDA C with a kernel: a __global__ function")
    program = rewrite(source, no_extern_c, (kernel,))
    process = Process(build(program, tuple(options), traced=True), arena := Arena())
    try:
        known = process.describe()
        parameters = check_arguments(kernel, known["kernels"], args)
        buffers, values = _place(arena, kernel, program.kernels[kernel], parameters, args)
        _fill(process, known["symbols"], symbols or {})
        arrays = [(address, array.nbytes, array.itemsize, name) for address, array, name in buffers]
        numbers = block_numbers(blocks, grid)
        launch = (kernel, grid, block, shared, 1, values, arrays, numbers, timeout)
        report = _launch(process, launch, source)
        for address, array, _ in buffers:
            if array.flags.writeable:
                raw = arena.read(address, array.nbytes)
                array[...] = raw.view(array.dtype).reshape(array.shape)
        return report
    finally:
        process.close()


def _launch(process, launch, source):
    try:
        seconds, answer, printed = process.launch(*launch)
        return make_report(json.loads(answer), launch[1:3], source, printed, seconds, launch[0])
    except LaunchFailed as failure:  # it could not even say where it was
        error = {
            "tool": failure.tool,
            "kind": "",
            "line": 0,
            "array": "",
            "index": -1,
            "count": 1,
            "shape": [],
            "block": None,
            "thread": None,
            "op": "",
            "other": None,
        }
        return Report(
            [error | {"message": f"{failure.tool}: {failure}"}],
            [],
            failure.printed,
            0.0,
            source,
            launch[0],
        )


def _place(arena, kernel, names, parameters, args):
    """Copies the arrays to the device. Returns [(address, array, name)] and the arguments as bytes."""
    buffers, values, known = [], [], {}
    for name, parameter, value in zip(names, parameters, args, strict=True):
        if parameter[0] != "p":
            values.append(scalar(kernel, name, parameter, value))
            continue
        check_buffer(kernel, name, value)
        key = (
            None
            if value is None
            else (value.__array_interface__["data"][0], value.strides, value.shape)
        )
        if value is not None and key not in known:
            known[key] = arena.alloc(value.nbytes)
            arena.write(known[key], value)
            if value.dtype.kind == "f" and value.size and np.isnan(value).all():
                arena.set_written(known[key], value.nbytes, 0)
            buffers.append((known[key], value, name))
        values.append(pointer(known.get(key, 0)))
    return buffers, values


def _fill(process, known, symbols):
    for name, value in symbols.items():
        if name not in known:
            raise BadInput(
                f"there is no variable {name!r}; the source has {', '.join(sorted(known)) or 'none'}"
            )
        address, size, _ = known[name]
        if not isinstance(value, np.ndarray) or value.nbytes != size:
            raise BadInput(f"{name} has {size} bytes: pass a NumPy array of that size")
        process.write_symbol(address, np.ascontiguousarray(value).tobytes())
