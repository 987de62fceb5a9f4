"""Bad input gets one clear error, with a line where there is one; nothing a kernel does ends this Python."""

import os
import sys

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.errors import BadInput, Unavailable
from course_lib.machines.cpu_engine import CompileError, compiler, trace
from course_lib.machines.cpu_engine.compiler import build
from course_lib.machines.cpu_engine.memory import Arena, OutOfMemory
from course_lib.machines.cpu_engine.process import LaunchFailed, Process
from course_lib.machines.cuda_c.rewrite import rewrite

pytestmark = needs_compiler
ADD = """__global__ void add_all(int n, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}
__global__ void negate(float *y) { y[threadIdx.x] = -y[threadIdx.x]; }
"""


def add(*, source=ADD, kernel="add_all", grid=1, block=32, **changes):
    given = {"n": np.int32(32), "x": np.ones(32, np.float32), "y": np.zeros(32, np.float32)}
    args = changes.pop("args", None)
    given |= {name: changes.pop(name) for name in list(changes) if name in given}
    return trace(
        source, kernel, grid, block, list(given.values()) if args is None else args, **changes
    )


def test_the_call_that_the_others_change_is_right():
    y = np.zeros(32, np.float32)
    assert add(y=y).ok and (y == 1).all()


VARIABLE = "__device__ double c;\n" + ADD
SWAPPED = np.dtype(np.float32).newbyteorder()


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"source": "the quick brown fox"}, "CUDA C with a kernel: a __global__ function"),
        ({"source": ""}, "__global__"),
        ({"source": None}, "must be a text"),
        ({"source": b"__global__ void k() {}"}, "must be a text"),
        ({"kernel": "add_al"}, "no kernel 'add_al'.*did you mean add_all"),
        ({"kernel": "multiply"}, "no kernel 'multiply'; the source has add_all, negate$"),
        ({"kernel": None}, "no kernel None"),
        ({"grid": 0}, r"grid\[0\] must be a whole number from 1 .* not 0"),
        ({"grid": (1, -1)}, r"grid\[1\]"),
        ({"grid": ()}, "grid must be one to three numbers"),
        ({"grid": 1.5}, "whole number"),
        ({"grid": (2**31, 1)}, r"grid\[0\]"),
        ({"grid": (2**31 - 1, 65535)}, "blocks, too many"),
        ({"block": 0}, r"block\[0\]"),
        ({"block": 1025}, r"block\[0\].*1024"),
        ({"block": (64, 32)}, "2048 threads; a block may have 1024"),
        ({"block": "32"}, "whole number"),
        ({"args": [np.int32(1)]}, "takes 3 arguments, not 1"),
        ({"args": [np.int32(1), None, None, None]}, "takes 3 arguments, not 4"),
        ({"args": np.zeros(3)}, "must be a list, not ndarray"),
        ({"args": 5}, "must be a list, not int"),
        ({"n": 32}, r"n is an integer of 4 bytes: pass np.int32\(...\), not int"),
        ({"n": np.int64(32)}, "not np.int64"),
        ({"n": np.float32(32)}, "not np.float32"),
        ({"n": None}, "not NoneType"),
        ({"n": np.ones(1, np.int32)}, "not ndarray"),
        ({"x": [1.0] * 32}, "x is a pointer: .* not list"),
        ({"x": 5}, "not int"),
        ({"x": np.array([None] * 32)}, "not an array of object"),
        ({"x": np.array(["a"] * 32)}, "not an array of <U1"),
        ({"x": np.ones(32, SWAPPED)}, "the bytes of x's numbers are swapped"),
        ({"shared": -1}, "shared must be"),
        ({"shared": 1 << 20}, "shared must be"),
        ({"blocks": []}, "one block at least"),
        ({"blocks": 0}, "one block at least"),
        ({"blocks": [(0, 0, 0, 0)]}, r"a block is a number or \(x, y, z\), not \(0, 0, 0, 0\)"),
        ({"blocks": [7]}, "a block's number"),
        ({"timeout": 0}, "timeout must be a finite number above 0"),
        ({"timeout": float("nan")}, "timeout"),
        ({"symbols": {"table": np.ones(4)}}, "no variable 'table'; the source has none"),
        ({"symbols": ["table"]}, "symbols must be a dict of arrays by name, not list"),
        ({"source": VARIABLE, "symbols": {"c": None}}, "c has 8 bytes: pass a NumPy array"),
        ({"source": VARIABLE, "symbols": {"c": np.ones(3)}}, "c has 8 bytes"),
        ({"source": VARIABLE, "symbols": {"c": np.array([None])}}, "array of numbers"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_wrong_call(changes, words):
    with pytest.raises(BadInput, match=words) as error:
        add(**changes)
    assert len(str(error.value).splitlines()) == 1


def test_what_does_not_compile_is_told_at_its_line():
    with pytest.raises(CompileError, match=r"kernel.cu:3:\d+: error"):
        add(source=ADD.replace("y[i] += x[i]", "y[i] += z[i]"))


def test_no_such_compiler(monkeypatch):
    monkeypatch.setenv("COURSE_CXX", "no-such-compiler -O2")
    for cached in (compiler.compiler, compiler._version, compiler._engine_key):
        cached.cache_clear()
    try:
        with pytest.raises(Unavailable, match="the compiler no-such-compiler cannot be started"):
            add()
    finally:
        for cached in (compiler.compiler, compiler._version, compiler._engine_key):
            cached.cache_clear()


def test_too_large_for_the_device(monkeypatch):
    monkeypatch.setenv("COURSE_GPU_BYTES", str(1 << 16))
    with pytest.raises(OutOfMemory, match="no 80,000 bytes left of 65,536"):
        add(x=np.ones(20000, np.float32))


# Unusual and right -------------------------------------------------------------------------------------------------


def test_arrays_that_do_not_lie_in_one_piece():
    whole = np.zeros((32, 2), np.float32)
    assert add(x=np.ones(64, np.float32)[::-2], y=whole[:, 1]).ok
    assert (whole[:, 1] == 1).all() and (whole[:, 0] == 0).all()


def test_arrays_that_may_not_be_written():
    y = np.zeros(32, np.float32)
    y.flags.writeable = False
    assert add(x=np.broadcast_to(np.float32(1), 32), y=y).ok and (y == 0).all()


def test_arrays_without_elements():
    none = np.zeros(0, np.float32)
    assert add(n=np.int32(0), x=none, y=none.reshape(3, 0)).ok
    (error,) = add(n=np.int32(1), x=none).errors
    assert (error["tool"], error["array"], error["line"]) == ("memcheck", "x", 3)


# What kernels do ---------------------------------------------------------------------------------------------------

BEGIN, END = "__global__ void k(float *A) {\n    A[0] = 1;\n    ", "\n}"
NASTY = {
    "aborts": ("abort();", "crash"),
    "exits": ("exit(0);", "crash"),
    "kills-itself": ("raise(SIGKILL);", "crash"),
    "interrupts": ("raise(SIGINT);", "crash"),
    "traps": ("__builtin_trap();", "crash"),
    "recursion": ("volatile float a[64]; a[threadIdx.x] = A[0]; A[1] = deep(a, 1);", "crash"),
    "null": ("*(volatile float *)(unsigned long long)threadIdx.x = 1;", "memcheck"),
    "wild": ("for (long long i = 1; i < 1ll << 46; i *= 3) A[i] = 1;", "memcheck"),
    "huge-memset": ("memset(A - 100000, 255, 1 << 28);", ""),
    "closes-files": ("for (int i = 0; i < 100; i++) close(i);", "crash"),
    "reads-requests": ("char b[8]; while (read(0, b, 8) < 9) A[1] += b[0];", "timeout"),
    "stops-itself": ("raise(SIGSTOP);", "timeout"),
    "endless": ("for (volatile int i = 0; i < 5; i--) A[1] += i;", "timeout"),
}
HEAD = (
    "#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
    "__device__ float deep(volatile float *a, int n) {\n"
    "    volatile float b[64]; b[n % 64] = a[0]; return deep(b, n + 1) + b[1];\n}\n"
)


@pytest.mark.skipif(sys.platform != "linux", reason="signals and calls of Linux")
@pytest.mark.parametrize("name", NASTY)
def test_nothing_ends_this_python(name):
    body, tool = NASTY[name]
    A = np.zeros(64, np.float32)
    report = trace(HEAD + BEGIN + body + END, "k", 1, 32, [A], timeout=1)
    assert not report.ok and (not tool or report.errors[0]["tool"] == tool), report.errors
    assert trace(ADD, "negate", 1, 32, [A]).ok  # the next one runs


def test_an_abort_is_told_with_its_line():
    (error,) = trace(HEAD + BEGIN + "abort();" + END, "k", 1, 1, [np.zeros(64, np.float32)]).errors
    assert (error["tool"], error["line"]) == ("crash", 9)  # of the last traced access


FLOOD = """__global__ void flood(int n) {
    for (int i = 0; i < n; i++) printf("%01000d\\n", i);
}
__global__ void hello() { printf("hello\\n"); }"""


def test_of_a_flood_of_text_the_beginning_is_kept():
    """100 MB: more than is written down, and than is read."""
    report = trace(FLOOD, "flood", 1, 1, [np.int32(100_000)])
    assert report.ok and report.printed.startswith("0" * 1000 + "\n")
    assert (
        report.printed.endswith("... cut here, after 1 MiB of 64\n")
        and len(report.printed) < 1 << 21
    )


def test_after_a_flood_the_next_launch_prints_its_own():
    process = Process(build(rewrite(FLOOD)), Arena(1 << 20))
    try:
        launch = ((1, 1, 1), (1, 1, 1), 0, 1)
        flood = process.launch("flood", *launch, [np.int32(5000).tobytes()])[2]
        assert "cut here, after 1 MiB of 5" in flood
        assert process.launch("hello", *launch, [])[2] == "hello\n"
        assert os.fstat(process._output.fileno()).st_size == 0
    finally:
        process.close()


def test_a_plain_kernel_that_aborts_is_an_error():
    process = Process(build(rewrite(HEAD + BEGIN + "abort();" + END)), arena := Arena(1 << 20))
    try:
        with pytest.raises(LaunchFailed, match="crashed"):
            process.launch("k", (1, 1, 1), (1, 1, 1), 0, 1, [arena.alloc(64).to_bytes(8, "little")])
    finally:
        process.close()
