"""`trace`: one launch under the tracer, from NumPy arrays to a Report."""

import contextlib
import json
import os
import re
from functools import lru_cache

import numpy as np

from course_lib.errors import BadInput, check_number
from course_lib.machines.cpu_engine import launching
from course_lib.machines.cpu_engine.compiler import build
from course_lib.machines.cpu_engine.memory import Arena
from course_lib.machines.cpu_engine.process import LaunchFailed, Process
from course_lib.machines.cpu_engine.report import Report, make_report
from course_lib.machines.cpu_engine.unset import findings
from course_lib.machines.cuda_c.rewrite import rewrite

KEPT = 4  # processes that wait for another launch of their program
_kept: dict = {}


def trace(
    source, kernel, grid, block, args, shared=0, blocks=None, timeout=30.0,
    options=(), no_extern_c=True, symbols=None, program=None,
):  # fmt: skip
    """Runs `kernel` of a CUDA C source: what memcheck, racecheck, initcheck and synccheck find, and a profile.

    grid, block: one to three ints. args: NumPy arrays (device buffers; updated in place), NumPy scalars of the
    parameters' types, None for a null pointer. An array without gaps is copied as it lies in memory, as PyCUDA's In,
    Out and InOut do: given B.T, the kernel sees the same as given B. Other arrays are copied row by row, and so are
    those of `numpy.ma`. What is masked in one of them counts as not written yet; the mask is cleared where the kernel
    writes. A plain array has all of its values, NaN too. But if the kernel writes one of floats that came with nothing
    but NaN, that is the caller's mark: all such arrays count as not written yet.
    shared: bytes of dynamic shared memory. blocks: run only these, as numbers (x first) or tuples. timeout: seconds.
    symbols: arrays for `__constant__` and `__device__` variables, by name; updated in place, unless the launch crashed.
    All other variables start as in a module just loaded. program: what `compiled` gave of the source.
    Returns a Report.
    Raises CompileError for what does not compile, BadInput for arguments that do not fit.
    """
    grid, block, shared = launching.check_shape(grid, block, shared)
    timeout = check_number("timeout", timeout)
    if not isinstance(kernel, str):
        raise BadInput(f"there is no kernel {kernel!r:.40}: give its name as a text")
    if not isinstance(source, str) or "__global__" not in source:
        raise BadInput("the source must be a text of CUDA C with a kernel: a __global__ function")
    program, path = program or compiled(source, options, no_extern_c, (kernel,))
    with _worker(path) as (process, known):
        arena = process.arena
        parameters = launching.check_arguments(kernel, known["kernels"], args)
        buffers, values = _place(arena, kernel, program.kernels[kernel], parameters, args)
        _fill(process, known["symbols"], symbols or {})
        arrays = [(address, a.nbytes, _element(a), name) for address, a, name in buffers]
        numbers = launching.block_numbers(blocks, grid)
        launch = (kernel, grid, block, shared, 1, values, arrays, numbers, timeout)
        inputs = [name for _, array, name in buffers if _only_nan(array)]
        report = _without_inputs(_launch(process, launch, source, known["symbols"]), inputs)
        for address, array, _ in buffers:
            if array.flags.writeable:
                _to_host(arena, address, array)
        if not any(error["tool"] in ("crash", "timeout") for error in report.errors):
            _read_back(process, known["symbols"], symbols or {})
            process.end_copy()
        return report


@contextlib.contextmanager
def _worker(path):
    """(Process, what it describes) for one launch. Those used last are kept; each launch has a copy of its own."""
    key = os.getpid(), path, os.environ.get("COURSE_GPU_BYTES")
    process, known = _kept.pop(key, (None, None))
    if process is None or not process.alive():
        process, known = Process(path, Arena()), None
    keep = False
    try:
        known = known or process.describe()
        copied = process.begin()
        yield process, known
        keep = copied and process.alive()
    finally:
        if keep:
            process.arena.clear()
            _kept[key] = process, known
            process = _kept.pop(next(iter(_kept)))[0] if len(_kept) > KEPT else None
        if process:
            process.close()


def compiled(source, options=(), no_extern_c=True, instances=()):
    """(Program, path of the executable) of a source, for many a `trace`. Raises CompileError."""
    program = _rewritten(source, no_extern_c, tuple(instances))
    return program, build(program, tuple(options), traced=True)


_rewritten = lru_cache(64)(rewrite)  # a check launches the same source again and again


def _launch(process, launch, source, symbols):
    try:
        seconds, answer, printed = process.launch(*launch)
        answer = json.loads(answer)
        rows = findings(answer["errors"], answer["warned"], answer["reached"])
        answer["errors"] = [_meant(row, symbols, source, launch[0]) for row in rows]
        return make_report(answer, launch[1:3], source, printed, seconds, launch[0])
    except LaunchFailed as failure:  # it could not even say where it was
        error = {"tool": failure.tool, "line": 0, "index": -1, "count": 1, "shape": []}
        error |= dict.fromkeys(("block", "thread", "other"))
        error |= dict.fromkeys(("kind", "array", "op"), "")
        error["message"] = f"{failure.tool}: {failure}"
        return Report([error], [], failure.printed, 0.0, source, kernel=launch[0])


def _meant(row, symbols, source, kernel):
    """A row of the engine's errors, at a line and with an array that it could not know itself.

    A crash before the thread's first access is told at the kernel's name. Variables lie side by side, so an index far
    past one may be credited to another: it becomes that of the one variable that the line names, if it is one.
    """
    head = re.search(rf"__global__[^;{{}}]*?\b{re.escape(kernel.partition('<')[0])}\s*\(", source)
    array, index, line, lines = row[2], row[3], row[6][0], source.splitlines()
    if row[0] == "crash" and line == 0 and head:
        row[6][0] = source.count("\n", 0, head.end()) + 1
    if row[1] != "outside" or array not in symbols or not 0 < line <= len(lines):
        return row
    words = set(re.findall(r"\w+", lines[line - 1])) & set(symbols)
    if array in words or len(words) != 1:
        return row
    start, size, _, element = symbols[name := words.pop()]
    index = (symbols[array][0] + index * symbols[array][3] - start) // element
    return [*row[:2], name, index, row[4], [size // element], *row[6:]]


def _place(arena, kernel, names, parameters, args):
    """Copies the arrays to the device. Returns [(address, array, name)] and the arguments as bytes."""
    buffers, values, known = [], [], dict[object, int]({None: 0})  # a null pointer
    for name, parameter, value in zip(names, parameters, args, strict=True):
        if parameter[0] != "p":
            values.append(launching.scalar(kernel, name, parameter, value))
            continue
        launching.check_buffer(kernel, name, value)
        if value is not None and value.flags.fnc and not isinstance(value, np.ma.MaskedArray):
            value = value.T  # the same memory, and its shape is of no matter to the device
        key = value if value is None else (value.ctypes.data, value.strides, value.shape)
        if key not in known:
            known[key] = arena.alloc(value.nbytes)
            _to_device(arena, known[key], value)
            buffers.append((known[key], value, name))
        values.append(launching.pointer(known[key]))
    return buffers, values


def _element(array):
    """Its size, and in the highest bit whether it is a floating-point number."""
    return array.itemsize | (array.dtype.kind == "f") << 31


def _only_nan(array):
    plain = not isinstance(array, np.ma.MaskedArray) and array.dtype.kind == "f"
    return plain and array.size > 0 and bool(np.isnan(array).all())


def _to_device(arena, address, array):
    unset = np.ma.getmaskarray(array) | _only_nan(array)
    arena.write(address, np.ma.getdata(array))
    arena.set_written(address, array.nbytes, np.repeat(~unset.reshape(-1), array.itemsize))


def _to_host(arena, address, array):
    raw = arena.read(address, array.nbytes)
    np.ma.getdata(array)[...] = raw.view(array.dtype).reshape(array.shape)
    if np.ma.getmask(array) is not np.ma.nomask:
        written = arena.flags(address, array.nbytes).reshape(*array.shape, -1).any(axis=-1)
        array.mask = array.mask & ~written


def _without_inputs(report, names):
    """NaN is there on purpose, unless it is the caller's mark for an array that the kernel is to fill."""
    if not any(row["op"] != "load" and row["array"] in names for row in report.accesses):
        told = [e for e in report.errors if e["tool"] != "initcheck" or e["array"] not in names]
        report.errors[:] = told
    return report


def _fill(process, known, symbols):
    if not isinstance(symbols, dict):
        raise BadInput(f"symbols must be a dict of arrays by name, not {type(symbols).__name__}")
    for name, value in symbols.items():
        if name not in known:
            there = ", ".join(sorted(known)) or "none"
            raise BadInput(f"there is no variable {name!r}; the source has {there}")
        address, size, *_ = known[name]
        if not isinstance(value, np.ndarray) or value.nbytes != size or value.dtype.hasobject:
            raise BadInput(f"{name} has {size} bytes: pass a NumPy array of numbers of that size")
        process.write_symbol(address, np.ascontiguousarray(value).tobytes())


def _read_back(process, known, symbols):
    """What the kernel has left in the variables that the caller gave, into the caller's arrays."""
    for name, value in symbols.items():
        address, size, constant, _ = known[name]
        if value.flags.writeable and not constant:
            raw = np.frombuffer(process.read_symbol(address, size), value.dtype)
            value[...] = raw.reshape(value.shape)
