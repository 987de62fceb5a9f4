"""What the tests of the CPU engine share: a launch plain, traced or on a real GPU, and lines found by their mark."""

import os
import subprocess

import numpy as np
import pytest

from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.gpu.inspect import available
from course_lib.machines.cpu_engine import compiler, trace, tracing
from course_lib.machines.cpu_engine.launching import check_arguments, check_shape
from course_lib.machines.cpu_engine.memory import Arena
from course_lib.machines.cpu_engine.process import Process
from course_lib.machines.cuda_c.rewrite import rewrite

ASKED_FOR = os.environ.get("COURSE_GPU") == "cuda"  # by whoever started the tests


def no_gpu(why):
    """Ends a test that needs a GPU: skipped, or red where COURSE_GPU=cuda asks for one."""
    (pytest.fail if ASKED_FOR else pytest.skip)(f"not run on a GPU: {why}")


def no_compiler():
    """Why nothing can be compiled here, or an empty text."""
    try:
        compiler.compiler()
    except BadInput as missing:
        return str(missing)
    return ""


def skip_unless_variables_are_filled():
    """Ends a test of variables without a first value where the compiler in use leaves in them what was there."""
    if compiler._gcc_before(12, compiler._version()):
        pytest.skip("g++ 11 cannot fill variables")


needs_compiler = pytest.mark.skipif(bool(no_compiler()), reason=no_compiler() or "there is one")
everywhere = pytest.mark.parametrize(
    "how", ["plain", "traced", pytest.param("cuda", marks=pytest.mark.gpu)]
)


def is_nvcc_13_0():
    tool = available()
    return (
        bool(tool)
        and "nvrtc" not in tool
        and "release 13.0"
        in subprocess.run([tool, "--version"], capture_output=True, text=True).stdout
    )


needs_nvcc = pytest.mark.skipif(
    not is_nvcc_13_0(), reason="the figures in chapter 08 were noted with nvcc 13.0"
)


def line(source, mark):
    """The number of the one line that ends in `// mark`."""
    found = [
        number for number, text in enumerate(source.splitlines(), 1) if text.endswith(f"// {mark}")
    ]
    assert len(found) == 1, (mark, found)
    return found[0]


def run(how, source, kernel, grid, block, args, shared=0, no_extern_c=False, symbols=None):
    """Launches; arrays are changed in place. Traced launches must be free of reports. Returns what was printed."""
    if how == "traced":
        report = trace(
            source, kernel, grid, block, args, shared, no_extern_c=no_extern_c, symbols=symbols
        )
        assert not report.errors, str(report)
        return report.printed
    return {"plain": _plain, "cuda": _cuda}[how](
        source, kernel, grid, block, args, shared, no_extern_c, symbols or {}
    )


def _plain(source, kernel, grid, block, args, shared, no_extern_c, symbols):
    program, arena = rewrite(source, no_extern_c), Arena(1 << 26)
    process = Process(compiler.build(program), arena)
    try:
        known = process.describe()
        parameters = check_arguments(kernel, known["kernels"], args)
        buffers, values = tracing._place(arena, kernel, program.kernels[kernel], parameters, args)
        tracing._fill(process, known["symbols"], symbols)
        _, stuck, printed = process.launch(kernel, *check_shape(grid, block, shared), 2, values)
        assert not stuck, stuck
        for address, array, _ in buffers:
            array[...] = arena.read(address, array.nbytes).view(array.dtype).reshape(array.shape)
    finally:
        process.close()
    return printed


def _cuda(source, kernel, grid, block, args, shared, no_extern_c, symbols):
    engine, why = device._cuda()  # the context of `device`: a second one would not know its kernels
    if engine is None:
        no_gpu(why)
    from pycuda import compiler as nvcc
    from pycuda import driver

    module = nvcc.SourceModule(source, no_extern_c=no_extern_c)
    for name, value in symbols.items():
        driver.memcpy_htod(module.get_global(name)[0], value)
    (grid, block, shared), given = check_shape(grid, block, shared), []
    for value in args:
        given.append(
            driver.InOut(value)
            if isinstance(value, np.ndarray)
            else np.uint64(0)
            if value is None
            else value
        )
    module.get_function(kernel)(*given, grid=grid, block=block, shared=shared)
    driver.Context.synchronize()
    return None  # what a kernel prints goes to the terminal
