"""What a student gets to see of the usual slips: the error, at the line where it stands, with every compiler here."""

import re
import shutil
import sys

import numpy as np
import pytest
from engine_runs import needs_compiler, skip_unless_variables_are_filled

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import CompileError, compiler, trace
from course_lib.machines.cuda_c.complaints import complaints
from course_lib.machines.cuda_c.rewrite import rewrite

pytestmark = needs_compiler
HERE = [name for name in ("g++", "clang++") if shutil.which(name)]
HERE.append(pytest.param("ziglang", marks=pytest.mark.slow if HERE else ()))  # else it is the one

# what is inside the kernel's braces (the kernel's own line is 1), where the error is, a word of it with any compiler
BODIES = {
    "index of three": ("\nint i = blockIdx;\nx[i] = 1;", 2, "uint3"),
    "index by three": ("\nx[threadIdx] = 1;", 2, r"operator ?\[\]"),
    "compared with three": ("\nif (threadIdx < n) x[0] = 1;", 2, "uint3"),
    "semicolon": ("\nint i = threadIdx.x\nx[i] = 1;", (2, 3), "';'"),
    "undeclared": ("\nint i = threadIdx.x;\nx[j] = 1;", 3, "j"),
    "float index": ("\nfloat i = threadIdx.x;\nx[i] = 1;", 3, "subscript"),
    "small letters": ("\nint i = blockidx.x;\nx[i] = 1;", 2, "blockidx"),
    "no such direction": ("\nint i = blockIdx.w;\nx[i] = 1;", 2, "'w'"),
    "parenthesis": ("\nif (n < 3 {\nx[0] = 1;\n}", 2, r"'\)'"),
    "brace": (
        "\nif (n < 3) {\nx[0] = 1;\n",
        (5, 6, 7),
        "expected '}'",
    ),  # at the end, or just behind it
    "brace too many": ("\nx[0] = 1;\n}", 4, "brace|before '}'"),
    "host function": ("\ncudaMalloc(&x, 4);", 2, "cudaMalloc"),
    "shared of any size": ("\n__shared__ float s[n];\ns[0] = x[0];", 2, "variably modified"),
    "shared of the block's size": (
        "\n__shared__ float s[blockDim.x];\ns[0] = x[0];",
        2,
        "variably modified",
    ),
    "shared of no size": ("\n__shared__ float s[TILE];\ns[0] = x[0];", 2, "TILE"),
    "returns": ("\nreturn 1;", 2, "return"),
    "intrinsic": ("\nx[0] = __shfl(x[1], 2);", 2, "__shfl"),
    "barrier": ("\n__syncthread();", 2, "__syncthread"),
    "atomic on a value": ("\natomicAdd(x[0], 2.0f);", 2, "atomicAdd"),
    "atomic of the wrong type": ("\nif (n)\natomicAnd(x, 2);", 3, "invalid operands"),
    "min of one": ("\nx[0] = min(x[1]);", 2, "min"),
    "min of a pointer": ("\nx[0] = min(x, 3);", 2, "float ?[*]"),
    "shuffle of a struct": (
        "\nstruct { int a[9]; } s;\n__shfl_sync(~0u, s, 1);",
        3,
        "a shuffle moves 4 or 8 bytes",
    ),
    "template": ("\nx[0] = make<n>(x[0]);", 2, "make"),
    "wrong inside a template": ("\nx[0] = twice(&x[0]);", (1, 2), "invalid operands"),
    "assert": ("\nassert(x[0] > y);", 2, "y"),
    "a vector from a number": ("\nfloat4 v = x[0];", 2, "float4"),
    "threadIdx is written": ("\nthreadIdx.x = 0;", 2, "value|assignable"),
}
HEAD = (
    "template <int m> __device__ float make(float v) { return m * v; } "
    "template <class T> __device__ float twice(T v) { return 2 * v; } "
)


@pytest.fixture(params=HERE)
def cxx(request, monkeypatch):
    """Each compiler of this machine in turn."""
    monkeypatch.setenv("COURSE_CXX", request.param)
    for cached in (compiler.compiler, compiler._version, compiler._engine_key):
        cached.cache_clear()
    yield request.param
    monkeypatch.undo()
    for cached in (compiler.compiler, compiler._version, compiler._engine_key):
        cached.cache_clear()


def said(source, **how):
    with pytest.raises(CompileError) as failure:
        trace(source, "k", 1, 32, [], no_extern_c=True, **how)
    return str(failure.value).replace("‘", "'").replace("’", "'")


@pytest.mark.parametrize("slip", BODIES)
def test_told_at_the_line(cxx, slip):
    body, line, words = BODIES[slip]
    text = said(f"{HEAD}__global__ void k(float *x, int n) {{{body}\n}}")
    first = re.search(r"kernel\.cu:(\d+):\d+: error: (.*)", text)
    assert first and int(first[1]) in (line if isinstance(line, tuple) else (line,)), text
    assert re.search(words, first[2]), text
    assert not re.search(r"cuda_subset|engine\.h|COURSE_|course::|[ :]/", text), text
    lines = re.findall(r"kernel\.cu:(\d+):\d+: error", text)
    assert len(lines) == len(set(lines)), text


def test_the_linker_names_what_is_missing(cxx):
    text = said("__device__ float f(float);\n__global__ void k(float *x) { x[0] = f(x[0]); }")
    assert re.search(r"undefined.*\bf", text)


def test_another_file_is_named(cxx):
    text = said(
        '__global__ void k(float *x) {\n#line 7 "f of mine"\n x[0] = exq(1);\n#line 3 "kernel.cu"\n}'
    )
    assert re.search(r"f of mine:7:\d+: error: .*exq", text)


def test_options_of_the_caller(cxx):
    assert "--nonsense" in said("__global__ void k(float *x) {}", options=("--nonsense",))


UNSET = """__global__ void k(const float *x, float *y, int n)
{
    float sum, many[4];
    for (int i = 0; i < n; i++) sum += x[i];
    y[threadIdx.x] = threadIdx.x % 2 ? sum : many[threadIdx.x % 4];
}"""


def test_a_variable_without_a_first_value_is_no_lucky_zero(cxx):
    skip_unless_variables_are_filled()
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    trace(UNSET, "k", 1, 8, [x, y, np.int32(8)])
    assert not (np.abs(y) < 1e37).any()


def test_an_error_of_no_known_place_is_shown_as_it_is():
    assert complaints("/usr/include/a.h:1:2: error: strange\n") == "error: strange"
    assert complaints("Killed\nby the system\n") == "Killed\nby the system"


def test_the_compiler_is_told_to_speak_english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    assert "error: " in said("__global__ void k(float *x) { x[0] = nonsense; }")


def test_a_compiler_without_end_is_stopped():
    """With the processes that it has started: g++ only calls others."""
    child = "import time; time.sleep(3600)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with pytest.raises(CompileError, match=r"stopped after 0\.5 s: does a macro"):
        compiler._run(
            [sys.executable, "-c", parent], 0.5
        )  # the child holds the pipe open as long as it lives: it does not live on


def test_a_source_that_grows_without_end_is_stopped(cxx, monkeypatch):
    monkeypatch.setattr(compiler, "DEADLINE", 2)
    doubled = "\n".join(f"#define D{n} D{n - 1} + D{n - 1}" for n in range(1, 40))
    text = said(f"#define D0 x[0]\n{doubled}\n__global__ void k(float *x) {{ x[0] = D30; }}")
    assert "stopped after 2 s" in text


def test_a_kernel_of_no_void_is_no_kernel():
    with pytest.raises(BadInput, match="line 1: a kernel returns nothing"):
        rewrite("__global__ int k() { return 0; }")
    assert list(
        rewrite(
            "__global__ void __launch_bounds__(32) k() {}\n__global__ static void m() {}"
        ).kernels
    ) == [
        "k",
        "m",
    ]
