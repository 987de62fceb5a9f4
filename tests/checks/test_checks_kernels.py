"""The check of a kernel: right ones pass, wrong ones are told what, where and why, and nothing takes it down."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from engine_runs import line, needs_compiler

from course_lib.checks.kit.core import CheckBroken, CheckFailed, NotWritten, normal
from course_lib.checks.kit.kernels.check import (
    KernelCheck,
    Launch,
    at_least,
    at_most,
    at_most_sectors,
    exactly,
    limit,
    loads_each_once,
    mentions,
    no_bank_conflicts,
    padded,
    uses_shared,
    without,
    x_across,
)
from course_lib.gpu import device

pytest_plugins = ["gpu_engine"]  # the fixtures `engine` and `cpu`
pytestmark = needs_compiler


def refusal(check, source, seed=7):
    """The report that this source gets, in one line of text."""
    with pytest.raises(CheckFailed) as caught:
        check(source, seed=seed)
    return " ".join(str(caught.value).split())


def in_order(text, *words):
    """All of the words stand in the text, one behind the other."""
    at = 0
    for word in words:
        assert word in text[at:], f"{word!r} is not in {text[at:]!r}"
        at = text.index(word, at) + len(word)
    return True


# y = a x + y: one axis, an array that is read and changed ----------------------------------------------------------


def saxpy_cases(rng):
    def launch(n, label, more=0):
        args = {
            "n": np.int32(n),
            "a": np.float32(2.5),
            "x": normal(rng, n + more),
            "y": normal(rng, n + more),
        }
        return Launch(-(-n // 64), 64, args, inout=("y",), label=label, owner=x_across)

    return [
        launch(128, "full blocks"),
        launch(150, "a ragged end"),
        launch(100, "longer arrays", more=9),
    ]


check_saxpy = KernelCheck(
    "SAXPY",
    "saxpy",
    saxpy_cases,
    lambda n, a, x, y: (a * x + y)[: int(n)],
    limits=[at_most_sectors("x", "load", 4)],
)
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"


def saxpy(*rows, head="__global__ void saxpy(int n, float a, const float *x, float *y)"):
    return "\n".join(["", head, "{", *rows, "}", ""])


SAXPY = saxpy(INDEX, "if (i < n) y[i] = a * x[i] + y[i];  // mark")


def test_a_right_kernel_passes_in_one_line(engine, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    check_saxpy(SAXPY, seed=7)
    shown = capsys.readouterr().out
    assert shown.replace(", and the GPU agrees", "") == (
        "✔ SAXPY: 3 launches right; memcheck, racecheck, initcheck and synccheck silent; "
        "within limits: sectors per request of x (seed 7)\n"
    )
    assert device._engine.cache_info().currsize == 0  # a cell that asks what runs is still told


RIGHT = {
    "other names": SAXPY.replace("y", "out").replace("saxpout", "saxpy"),
    "restrict, const, an array": saxpy(
        INDEX,
        "if (i < n) y[i] += a * x[i];",
        head="__global__ void __launch_bounds__(64)\n"
        "saxpy(const int n, const float a, float const * __restrict__ x,  // the input\n float y[])",
    ),
    "a stride over the grid": saxpy(
        "for (int i = threadIdx.x; i < n; i += blockDim.x)\nif (blockIdx.x == 0) y[i] = fmaf(a, x[i], y[i]);"
    ),
    "a helper, a second kernel": "__device__ float f(float a, float x) { return a * x; }\n__global__ void other() { }"
    + SAXPY.replace("a * x[i]", "f(a, x[i])"),
    "it prints": SAXPY.replace("}\n", 'if (i == 0) printf("%d\\n", n);\n}\n'),
    "extern C": 'extern "C" {' + SAXPY + "}",
    "comments that mislead": '// #error "write saxpy: about"\n/* __global__ void saxpi() */'
    + SAXPY,
}


@pytest.mark.parametrize("which", RIGHT)
def test_right_kernels_of_other_styles(cpu, which):
    check_saxpy(RIGHT[which], seed=7)


WRONG = {  # rows of the kernel, then words of the report in their order
    "blank": (
        '#error "write saxpy: about 2 lines, 5 minutes"',
        "SAXPY is not written yet",
        "#error",
    ),
    "no guard": (
        f"{INDEX}\ny[i] = a * x[i] + y[i];",
        "2 of 3 launches",
        "the numbers are right, but memcheck",
        "thread (22, 0, 0) of block (2, 0, 0)",
        "x[150], which has 150 elements",
        "guard",
        "line 5: y[i] = a * x[i] + y[i];",
        "a ragged end",
        "saxpy<<<3, 64>>>(n = 150, a = 2.5, x (150,) float32",
        "right on full blocks",
        "seed=7",
    ),
    "guard one too far": (f"{INDEX}\nif (i <= n) y[i] = a * x[i] + y[i];", "memcheck", "x[150]"),
    "guard one too early": (
        f"{INDEX}\nif (i < n - 1) y[i] = a * x[i] + y[i];",
        "1 of 128 elements of y should change but is as it was",
        "only the last one",
        "y[127], the element of thread (63, 0, 0) of block (1, 0, 0)",
        "as it arrived",
    ),
    "guard turned round": (
        f"{INDEX}\nif (i > n) y[i] = a * x[i] + y[i];",
        "memcheck",
        "x[151]",
        "150 of 150 elements of y should change but are as they were",
    ),
    "nothing written": (
        f"{INDEX}\nfloat z = a * x[i < n ? i : 0];",
        "128 of 128 elements of y should change",
        "no thread writes to y",
    ),
    "whole blocks only": (
        f"{INDEX}\nif ((blockIdx.x + 1) * blockDim.x <= n) y[i] = a * x[i] + y[i];",
        "22 of 150",
        "exactly the elements with the last blockIdx.x (2): the ragged edge",
    ),
    "block forgotten": (
        "int i = threadIdx.x;\nif (i < n) y[i] = a * x[i] + y[i];",
        "racecheck",
        "y[0]",
        "of block (1, 0, 0)",
        "two blocks access the same element",
        "128 of 128 elements of y are wrong, 64 of them as before",
    ),
    "thread forgotten": (
        "int i = blockIdx.x;\nif (i < n && threadIdx.x == 0) y[i] = a * x[i] + y[i];",
        "should change but are as they were",
        "everything from element 2 on",
    ),
    "y not added": (
        f"{INDEX}\nif (i < n) y[i] = a * x[i];",
        "3 of 3",
        "128 of 128 elements of y are wrong",
        "y[0], the element of thread (0, 0, 0) of block (0, 0, 0)",
        "far more than rounding",
    ),
    "minus": (f"{INDEX}\nif (i < n) y[i] = -a * x[i] - y[i];", "the sign is flipped"),
    "twice": (f"{INDEX}\nif (i < n) y[i] = 2 * (a * x[i] + y[i]);", "2 times the expected one"),
    "odd threads": (
        f"{INDEX}\nif (i < n && threadIdx.x % 2 == 0) y[i] = a * x[i] + y[i];",
        "exactly the elements with threadIdx.x = 1, 3, 5, 7, ...",
    ),
    "nearly": (
        f"{INDEX}\nif (i < n) y[i] = 1.00001f * (a * x[i] + y[i]);",
        "right to about 4 digits",
        "wanted",
        "allowed",
        "4 * 1 * 1.2e-07",
    ),
    "nan": (
        f"{INDEX}\nif (i < n) y[i] = 0 * (a * x[i] + y[i]) / 0;",
        "128 of 128 elements of y are wrong",
        "got",
        "nan",
    ),
    "an input changed": (
        f"{INDEX}\nif (i < n) {{ y[i] += a * x[i]; ((float *)x)[i] = 0; }}",
        "the numbers are right, but",
        "128 elements of x changed, but x is an input",
        "x[0]",
        "before",
    ),
    "past the end": (
        f"{INDEX}\nif (i < n) y[i] += a * x[i]; else if (n == 100 && i < n + 9) y[i] = 0;",
        "1 of 3",
        "the numbers are right, but",
        "9 elements of y beyond the first 100",
        "y[100], the element of thread (36, 0, 0) of block (1, 0, 0), which has nothing to write",
    ),
    "strided": (
        "int i = threadIdx.x * gridDim.x + blockIdx.x;\nif (i < n) y[i] = a * x[i] + y[i];",
        "the numbers are right, but a limit of the task is not met",
        "8 sectors per request in the loads of x, and the task wants at most 4",
        "lanes 0, 1, 2 of a warp go to x[0], x[2], x[4]",
        "do not access neighbouring elements",
        "line 5",
    ),
    "endless": (
        f"{INDEX}\nwhile (i < n) y[i] = a * x[i] + y[i];",
        "launch 1 was stopped after 5 s",
        "did not finish in time",
        "a loop whose condition",
        "line 5",
    ),
    "no end, no word": (
        'while (1) printf("%d and so on\\n", n);',
        "was stopped after 5 s",
        "printed 128 and so on",
    ),
    "division by zero": (
        f"{INDEX}\nif (i < n) y[i] = n / (int)threadIdx.y;",
        "launch 1 crashed",
        "a whole number divided by zero",
    ),
    "barrier for some": (
        f"{INDEX}\nif (i < n) y[i] = a * x[i] + y[i];\nif (i < 5) __syncthreads();",
        "the numbers are right, but synccheck",
        "59 threads",
        "line 6",
    ),
    "printed": (
        f'{INDEX}\nfor (int k = 0; k < 9 && i == 0; k++) printf("k = %d\\n", k);',
        "printed k = 0 k = 1 k = 2 k = 3 ...",
    ),
}


@pytest.mark.parametrize("which", WRONG)
def test_wrong_kernels(cpu, which):
    rows, *words = WRONG[which]
    assert in_order(refusal(check_saxpy, saxpy(rows)), *words)


def test_the_program_ended(cpu):
    report = refusal(check_saxpy, "#include <stdlib.h>" + saxpy("exit(0);"))
    assert in_order(report, "launch 1 crashed", "must not call exit()")


def test_a_blank_counts_as_not_written(cpu):
    with pytest.raises(NotWritten):
        check_saxpy(saxpy(WRONG["blank"][0]))


NOT_COMPILED = {
    "undeclared": (
        f"{INDEX}\nif (i < n) y[i] = a * x[j];",
        "'j'",
        "line 5: if (i < n) y[i] = a * x[j];",
        "does not exist here",
    ),
    "semicolon": (f"{INDEX}\nif (i < n) y[i] = a * x[i]", "expected", "line 5", "; is missing"),
    "semicolon above": ("int i = threadIdx.x\nint j = 1;", "expected", "; "),
    "brace": (f"{INDEX}\nif (i < n) {{ y[i] = 1;", "this { is never closed", "line 3"),
    "an extra brace": (f"{INDEX}\n}} }}", "this } closes nothing"),
    "bracket": (f"{INDEX}\ny[i = 1;", "this [ is never closed", "line 5"),
    "comment": ("/* y[0] = 1;", "unterminated", "line 4"),
    "no letter": (
        "int i = threadIdx;\ny[i] = 1;",
        "threadIdx is three numbers, not one",
        "line 4: int i = threadIdx;",
        ".x, .y",
    ),
    "small letters": (
        "int i = blockidx.x;\ny[i] = 1;",
        "there is no blockidx",
        "names are case-sensitive",
    ),
    "python": ("for i in range(n):\n    y[i] = 1", "is Python", "line 4", "int i = 0"),
    "python comment": (
        f"{INDEX}\n# the guard\nif (i < n) y[i] = 1;",
        "# the is no directive",
        "line 5",
        "//",
    ),
    "power": (f"{INDEX}\ny[i] = x[i] ** 2;", "no power operator", "powf"),
    "const": (f"{INDEX}\nx[i] = a;", "line 5: x[i] = a;", "a const array is an input"),
    "launch": ("saxpy<<<1, 1>>>(n, a, x, y);", "a launch inside the string"),
    "sync": ("syncthreads();", "there is no syncthreads()", "__syncthreads()"),
    "twice": (f"{INDEX}\nint i = 3;", "line 5", "declared twice"),
    "member": ("int i = threadIdx.w;", "threadIdx is three numbers", ".x, .y"),
}


@pytest.mark.parametrize("which", NOT_COMPILED)
def test_what_does_not_compile_is_told_at_its_line(cpu, which):
    rows, *words = NOT_COMPILED[which]
    report = refusal(check_saxpy, saxpy(rows))
    assert in_order(report, "SAXPY does not compile", *words) and "kernel.cpp" not in report


NO_KERNEL = {
    "none": (None, "must be a string of CUDA C, not None"),
    "a list": ([SAXPY], "must be a string of CUDA C, not a list of 1"),
    "bytes": (SAXPY.encode(), "must be a string"),
    "empty": (" \n", "the string is empty"),
    "something else": ("y = a * x + y", "keep the line `__global__ void saxpy(...)` of the task"),
    "another name": (SAXPY.replace("saxpy", "saxpi"), "no kernel named saxpy", "yours is saxpi"),
    "no __global__": (SAXPY.replace("__global__ ", ""), "a kernel begins with __global__"),
    "not void": (SAXPY.replace("void", "float"), "a kernel returns nothing"),
    "a template": ("template <int T>" + SAXPY, "it is a template"),
    "a parameter less": (
        SAXPY.replace("float a, ", ""),
        "4 arguments are passed, but your kernel takes 3",
        "got saxpy(n, x, y)",
    ),
    "another order": (SAXPY.replace("int n, float a", "float a, int n"), "the order has changed"),
    "another type": (
        SAXPY.replace("float *y", "double *y"),
        "y is float32 here, but your kernel declares `double *y`",
    ),
    "a float count": (SAXPY.replace("int n", "float n"), "n is int32 here"),
    "a long count": (
        SAXPY.replace("int n", "unsigned n"),
        "n is int32 here, but your kernel declares `unsigned n`",
    ),
    "a type of one's own": (
        "typedef long long N;" + SAXPY.replace("int n", "N n"),
        "cannot be launched",
        "keep the parameter types",
    ),
    "no pointer": (
        SAXPY.replace("float *y", "float y"),
        "y is an array, so a pointer to it is passed",
    ),
    "a pointer": (SAXPY.replace("float a", "float *a"), "a is one number (float32), not an array"),
    "shared in a class": (
        "struct S { __shared__ float s[4]; };" + SAXPY,
        "does not compile",
        "a member of a class",
        "line 1",
    ),
    "no character": (
        SAXPY + "// \ud800",
        "it contains a character that cannot be stored in a file",
        "line 7",
    ),
    "two of one name": (SAXPY + SAXPY, "does not compile", "declared twice"),
    "an include": ("#include <iostream>" + SAXPY, "#include <iostream>", "line 1", "leave it out"),
}


@pytest.mark.parametrize("which", NO_KERNEL)
def test_what_is_no_such_kernel(cpu, which):
    source, *words = NO_KERNEL[which]
    assert in_order(refusal(check_saxpy, source), "SAXPY", *words)


# A transpose: two axes, padded rows, shared memory, limits ---------------------------------------------------------


def transpose_cases(rng):
    def launch(rows, columns, label):
        args = {
            "rows": np.int32(rows),
            "columns": np.int32(columns),
            "in": padded(normal(rng, rows, columns), 3),
            "in_row": np.int32(columns + 3),
            "out": np.empty((columns, rows + 5), np.float32),
            "out_row": np.int32(rows + 5),
        }
        return Launch(
            (-(-columns // 32), -(-rows // 32)), (32, 32), args, out=("out",), label=label, K=1
        )

    return [launch(32, 64, "full tiles"), launch(39, 71, "ragged")]


def transposed(**args):
    rows, columns = int(args["rows"]), int(args["columns"])
    return args["in"][:rows, :columns].T


check_transpose = KernelCheck(
    "TRANSPOSE",
    "transpose",
    transpose_cases,
    transposed,
    axes=("column", "row"),
    limits=[
        uses_shared("tile"),
        loads_each_once("in"),
        at_most_sectors("out", "store", 6),
        no_bank_conflicts("tile"),
    ],
    causes=[
        (lambda e: e["tool"] == "racecheck" and e["array"] == "tile", "the barrier is missing")
    ],
)
TRANSPOSE = """
__global__ void transpose(int rows, int columns, const float *in, int in_row, float *out, int out_row)
{
    __shared__ float tile[32][33];  // padded
    int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i < rows && j < columns)
        tile[threadIdx.y][threadIdx.x] = in[i * in_row + j];  // load
    __syncthreads();
    i = blockIdx.y * 32 + threadIdx.x, j = blockIdx.x * 32 + threadIdx.y;
    if (i < rows && j < columns)
        out[j * out_row + i] = tile[threadIdx.x][threadIdx.y];  // store
}
"""
TRANSPOSE_WRONG = {
    "no barrier": (("    __syncthreads();\n", ""), "racecheck: tile", "the barrier is missing"),
    "no padding": (
        ("tile[32][33]", "tile[32][32]"),
        "the numbers are right, but a limit of the task is not met",
        "bank conflict in the loads of tile",
        "lanes 0 and 1 of a warp ask the same bank for words 0 and 32 of it",
        "padding",
        "store",
    ),
    "wrong stride": (
        ("i * in_row", "i * columns"),
        "TRANSPOSE: 2 of 2",
        "NaN: in was read where it holds no data",
    ),
    "wrong stride out": (
        ("j * out_row", "j * rows"),
        "elements of out are wrong",
        "right numbers in the wrong places",
    ),
    "guard too wide": (
        (
            "    if (i < rows && j < columns)\n        out",
            "    if (i < rows + 2 && j < columns)\n        out",
        ),
        "initcheck",
    ),
    "wide and set": (
        (
            "    if (i < rows && j < columns)\n        tile[threadIdx.y][threadIdx.x] = in[i * in_row + j]",
            "    tile[threadIdx.y][threadIdx.x] = i < rows && j < columns ? in[i * in_row + j] : 0",
        ),
        (
            "    if (i < rows && j < columns)\n        out",
            "    if (i < rows + 2 && j < columns)\n        out",
        ),
        "1 of 2",
        "the numbers are right, but 142 elements of out beyond the 71 x 39 elements",
        "the guard must compare with the width",
        "out[0][39] (column 0, row 39, counted from 0)",
    ),
    "not transposed": (
        ("tile[threadIdx.x][threadIdx.y]", "tile[threadIdx.y][threadIdx.x]"),
        "wrong",
        "out[0][1]",
    ),
    "loaded twice": (
        (
            "in[i * in_row + j];",
            "in[i * in_row + j] + 0 * *(volatile float *)(in + i * in_row + j);",
        ),
        "16,384 bytes in the loads of in, and the task wants at most 8,192",
    ),
    "tile too small": (("tile[32][33]", "tile[16][33]"), "memcheck", "tile"),
    "barrier in a branch": (
        ("    __syncthreads();\n", "    if (i < rows) __syncthreads();\n"),
        "synccheck",
    ),
}


def test_a_right_transpose(engine):
    check_transpose(TRANSPOSE, seed=7)


@pytest.mark.parametrize("which", TRANSPOSE_WRONG)
def test_wrong_transposes(cpu, which):
    (*changes,) = (part for part in TRANSPOSE_WRONG[which] if isinstance(part, tuple))
    words = [part for part in TRANSPOSE_WRONG[which] if isinstance(part, str)]
    source = TRANSPOSE
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    assert in_order(refusal(check_transpose, source), *words)


def test_without_shared_memory(cpu):
    source = TRANSPOSE[: TRANSPOSE.index("    __shared__")] + (
        "    int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;\n"
        "    if (i < rows && j < columns) out[j * out_row + i] = in[i * in_row + j];\n}\n"
    )
    assert in_order(
        refusal(check_transpose, source), "no shared array named tile", "__shared__ array"
    )


# Limits ------------------------------------------------------------------------------------------------------------


def copy_check(*limits, reference=lambda n, x, y: x, n=256, **more):
    """A check of y = x with these limits."""

    def cases(rng):
        args = {"n": np.int32(n), "x": normal(rng, n), "y": np.empty(n, np.float32)}
        return [Launch(1, 64, args, out=("y",), **more)]

    return KernelCheck("COPY", "copy", cases, reference, limits=limits)


def copy(*rows):
    return saxpy(*rows, head="__global__ void copy(int n, const float *x, float *y)")


LOOP = "for (int i = threadIdx.x; i < n; i += 64)"
PLAIN = copy(f"{LOOP} y[i] = x[i];")
FLOAT4 = copy("((float4 *)y)[threadIdx.x] = ((const float4 *)x)[threadIdx.x];")
SHIFT = copy(f"{LOOP} y[(i + 1) % n] = x[(i + 1) % n];")
TWICE = copy(f"{LOOP} {{ y[i] = 0; y[i] = 0 * x[(i + 64) % n] + x[i]; }}")
ATOMIC = copy(
    f"{LOOP} y[i] = 0;", "__syncthreads();", f"{LOOP} atomicAdd(y + i, x[i]);  // __syncthreads();"
)
LIMITS = [  # limit, a kernel that keeps it, one that does not, words
    (
        at_most_sectors("x", "load", 4),
        PLAIN,
        SHIFT,
        ["5 sectors per request in the loads of x", "middle of a sector"],
    ),
    (at_most_sectors("x", "load", 4, "because"), PLAIN, SHIFT, ["cause because"]),
    (
        at_most("requests", 8, "too many", array="x"),
        PLAIN,
        TWICE,
        ["16 requests in the accesses to x, and the task wants at most 8"],
    ),
    (
        at_most("bytes", lambda launch: 4 * int(launch.args["n"]), "once", op="store"),
        PLAIN,
        TWICE,
        ["2,048 bytes in the stores to all memory, and the task wants at most 1,024", "once"],
    ),
    (
        at_least("bytes per thread", 16, "float4", array="x", op="load"),
        FLOAT4,
        PLAIN,
        [
            "4 bytes per thread in the loads of x, and the task wants at least 16",
            "lanes 0, 1, 2 of a warp go to x[0], x[1], x[2]",
            "float4",
        ],
    ),
    (
        at_least("requests", 1, "atomicAdd", op="atomic", space="global"),
        ATOMIC,
        PLAIN,
        ["0 requests in the atomics on global"],
    ),
    (
        exactly("threads", 256, "one each", array="x"),
        PLAIN,
        FLOAT4,
        ["64 threads in the accesses to x, and the task wants exactly 256"],
    ),
    (
        loads_each_once("x"),
        FLOAT4,
        TWICE,
        ["2,048 bytes in the loads of x, and the task wants at most 1,024", "load them once"],
    ),
    (
        loads_each_once("x", times=2),
        TWICE,
        copy(f"{LOOP} y[i] = x[i] + 0 * (x[n - 1 - i] + x[i ^ 1]);"),
        ["at most 2,048"],
    ),
    (
        uses_shared(),
        copy("__shared__ float s[256];", f"{LOOP} s[i] = x[i];", f"{LOOP} y[i] = s[i];"),
        PLAIN,
        ["the kernel uses no shared memory"],
    ),
    (
        without("atomicAdd", "no two threads meet"),
        PLAIN,
        ATOMIC,
        ["the source contains atomicAdd", "no two threads meet", "line 6"],
    ),
    (
        mentions("__syncthreads", "a barrier", least=1, most=1),
        ATOMIC,
        PLAIN,
        ["appears 0 times in the source, but 1"],
    ),
    (
        lambda report, launch: (
            ("own words", "own cause") if report.total("requests") > 16 else None
        ),
        PLAIN,
        TWICE,
        ["what own words", "cause own cause"],
    ),
]


@pytest.mark.parametrize("number", range(len(LIMITS)))
def test_limits(cpu, number):
    kept, good, bad, words = LIMITS[number]
    copy_check(kept)(good, seed=7)
    report = refusal(copy_check(kept), bad)
    assert "COPY: the numbers are right, but a limit of the task is not met" in report
    assert all(word in report for word in words), report


def test_what_was_looked_at_is_said(cpu, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    loaded = at_most("bytes", lambda launch: 1024, op="load", space="global")
    well = limit("own things")(lambda *_: None)
    limits = [
        *(
            loaded,
            well,
            mentions("copy", "", least=1),
            no_bank_conflicts(),
            lambda *_: None,
            loads_each_once("x"),
        ),
        *(
            at_most("bytes", 1024, array="y"),
            at_most_sectors("x", "load", 4),
            at_most("requests", 0, op="atomic"),
        ),
    ]
    copy_check(*limits)(PLAIN, seed=7)
    said = "bytes of global memory, x, y, own things, bank conflicts, sectors per request of x and atomics"
    assert f"silent; within limits: {said} (seed 7)\n" in capsys.readouterr().out


# What an author may ask for ----------------------------------------------------------------------------------------


def test_two_outputs_in_place_null_symbols_and_dynamic_shared_memory(engine):
    source = """
__constant__ float scale[2];
__global__ void both(int n, const float *none, const float *c, float *d, int *count)
{
    extern __shared__ float part[];
    part[threadIdx.x] = none ? none[0] : c[threadIdx.x] * scale[1];
    __syncthreads();
    d[threadIdx.x] = part[n - 1 - threadIdx.x];
    if (d[threadIdx.x] > 0) atomicAdd(count, 1);
}
"""

    def cases(rng):
        D = normal(rng, 32)
        args = {"n": np.int32(32), "none": None, "c": D, "d": D, "count": np.zeros(1, np.int32)}
        return [
            Launch(
                1, 32, args, inout=("d", "count"), shared=128, symbols={"scale": np.float32([1, 3])}
            )
        ]

    def reference(n, none, c, d, count):
        return 3 * d[::-1], np.array([(d > 0).sum()])

    check = KernelCheck("BOTH", "both", cases, reference)
    check(source, seed=7)
    off = source.replace("atomicAdd(count, 1)", "atomicAdd(count, 2)")
    assert in_order(refusal(check, off), "1 of 1 elements of count is wrong", "count[0]")
    assert "d[0]" in refusal(check, source.replace("scale[1]", "scale[0]"))


def test_nan_is_never_right(cpu):
    check = copy_check()
    assert "256 of 256 elements of y are wrong" in refusal(
        check, copy(f"{LOOP} y[i] = x[i] * (0.0f / (n - 256));")
    )
    some = refusal(check, copy(f'{LOOP} y[i] = i == 70 ? nanf("") : x[i];'))
    assert in_order(some, "1 of 256", "y[70]", "got nan", "wanted")
    assert "1 of 256 elements of y was never written" in refusal(
        check, copy(f"{LOOP} if (i != 70) y[i] = x[i];")
    )


@pytest.mark.parametrize("scale", [None, "entry"])
def test_small_entries_may_matter(cpu, scale):
    wrong = copy(f"{LOOP} y[i] = i == 5 ? 0 : x[i];")
    x = np.float32([*range(1, 6), 1e-8, *range(7, 65)])
    launch = Launch(1, 64, {"n": np.int32(64), "x": x, "y": x}, out=("y",), scale=scale)
    check = KernelCheck("COPY", "copy", lambda rng: [launch], lambda n, x, y: x)
    if scale is None:
        check(wrong, seed=7)
    else:
        assert in_order(refusal(check, wrong), "1 of 64", "y[5]")


BROKEN = {
    "cases that raise": (lambda rng: 1 / 0, lambda **_: 0, "its cases raise ZeroDivisionError"),
    "no cases": (lambda rng: [], lambda **_: 0, "must be a list of Launch"),
    "no such output": (
        lambda rng: [Launch(1, 1, {"x": np.zeros(1)}, out=("y",))],
        lambda **_: 0,
        "'y' is an output",
    ),
    "no output": (lambda rng: [Launch(1, 1, {"x": np.zeros(1)})], lambda **_: 0, "name the arrays"),
    "a Python number": (
        lambda rng: [Launch(1, 1, {"x": np.zeros(1), "n": 1}, out=("x",))],
        lambda **_: 0,
        "np.int32",
    ),
    "a reference that raises": (
        None,
        lambda n, x, y: x + np.ones(3),
        "its reference raises ValueError",
    ),
    "a reference of another size": (
        None,
        lambda n, x, y: np.ones(300),
        "its reference gives y (300,)",
    ),
    "a reference that reads the output": (
        None,
        lambda n, x, y: y,
        "NaN in y: does it read what is in out?",
    ),
}


@pytest.mark.parametrize("which", BROKEN)
def test_an_authors_mistake_is_not_the_students(cpu, which):
    cases, reference, words = BROKEN[which]
    check = copy_check(reference=reference)
    check = KernelCheck("COPY", "copy", cases or check.cases, reference)
    with pytest.raises(CheckBroken, match=re.escape(words)):
        check(PLAIN, seed=7)


def test_a_limit_that_raises_is_the_authors(cpu):
    with pytest.raises(CheckBroken, match="a limit raises ZeroDivisionError"):
        copy_check(lambda report, launch: 1 / 0)(PLAIN, seed=7)


def test_the_seed_decides_the_inputs(cpu, monkeypatch):
    wrong = copy(f"{LOOP} y[i] = 2 * x[i];")
    check = copy_check()
    assert (
        refusal(check, wrong, seed=1)
        == refusal(check, wrong, seed=1)
        != refusal(check, wrong, seed=2)
    )
    monkeypatch.setenv("COURSE_SEED", "41")
    with pytest.raises(CheckFailed, match="seed=41"):
        check(wrong)


def test_lines_are_those_of_the_string(cpu):
    report = refusal(copy_check(), copy(f"{LOOP}", "    y[i] = x[i + 1];  // mark"))
    assert (
        f"line {line(copy(LOOP, '    y[i] = x[i + 1];  // mark'), 'mark')}: y[i] = x[i + 1];"
        in report
    )


def test_nothing_is_started_for_what_is_no_kernel(monkeypatch):
    monkeypatch.setattr(
        "course_lib.checks.kit.kernels.check.on_engine",
        lambda *_: pytest.fail("something was launched"),
    )
    for source, *_ in [*NO_KERNEL.values()][:6]:
        refusal(check_saxpy, source)


# On a GPU ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def agreeable(cpu, monkeypatch):
    """The CPU engine in the place of a GPU: `device` says that it is one, and launches through the same surface."""
    monkeypatch.setattr("course_lib.checks.kit.kernels.check.gpu_at_hand", lambda: True)
    return monkeypatch


def test_a_gpu_runs_it_as_well(agreeable, capsys):
    check_saxpy(SAXPY, seed=7)
    check_transpose(TRANSPOSE, seed=7)
    assert capsys.readouterr().out.count("launches right, and the GPU agrees; memcheck") == 2


def test_a_gpu_that_disagrees_is_told(agreeable):
    both = "#ifdef COURSE_TRACE\n#define ON_GPU 0\n#else\n#define ON_GPU 1\n#endif"
    source = both + SAXPY.replace("a * x", "(1 + ON_GPU) * a * x")
    assert in_order(
        refusal(check_saxpy, source),
        "elements of y are wrong on the GPU, and right on the CPU engine",
        "y[0]",
    )
    source = "#ifndef COURSE_TRACE\n#error only here\n#endif" + SAXPY
    assert in_order(
        refusal(check_saxpy, source), "SAXPY does not compile for the GPU", "only here", "line 2"
    )
    source = both + SAXPY.replace("{\n", '{ while (ON_GPU) asm volatile("");\n')
    agreeable.setenv("COURSE_GPU_SECONDS", "2")
    assert in_order(
        refusal(check_saxpy, source),
        "right on the CPU engine, but the launch fails on the GPU",
        "did not finish",
    )


FAKE_CELL = f"""
import numpy as np
from course_lib.checks.kit.kernels.check import KernelCheck, Launch
source = {PLAIN!r}
args = {{"n": np.int32(64), "x": np.ones(64, np.float32), "y": np.empty(64, np.float32)}}
check = KernelCheck("COPY", "copy", lambda rng: [Launch(1, 64, args, out=("y",))], lambda n, x, y: x)
check(source, seed=7)
"""


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ("", "64 of 64 elements of y were never written on the GPU, and right on the CPU engine"),
        (
            "bad-source",
            'does not compile for the GPU\n  what      identifier "y"\n  at        line 2',
        ),
        ("no-nvcc", "nvcc was not found"),
        ("launch", "but the launch fails on the GPU"),
        ("later", "an illegal memory"),
    ],
)
def test_pycuda_is_asked_and_what_it_says_is_told(scene, said):
    """Against a stand-in for PyCUDA that launches nothing."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join(
        [
            str(root),
            str(root / "tests" / "support" / "fake_pycuda"),
            os.environ.get("PYTHONPATH", ""),
        ]
    )
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "FAKE_PYCUDA": scene,
        "COURSE_GPU": "auto",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", FAKE_CELL], env=environment, capture_output=True, text=True
    )
    assert said in done.stderr and not done.stdout and done.returncode == 1, (
        done.stdout + done.stderr
    )


def test_the_row_and_column_of_a_race_are_told(cpu):
    args = {"n": np.int32(5), "x": np.ones((8, 5), np.float32), "y": np.empty((8, 5), np.float32)}
    launch = Launch((1, 8), (8, 1), args, out=("y",), owner=x_across)
    check = KernelCheck("COPY", "copy", lambda rng: [launch], lambda n, x, y: x)
    flat = copy("int i = blockIdx.y * n + threadIdx.x;", "if (i < 8 * n) y[i] = x[i];")
    words = (
        "the numbers are right, but racecheck: y[5]",
        "y[5] is element (1, 0) of y (8, 5), the element of thread (0, 0, 0)",
    )
    assert in_order(refusal(check, flat), *words, "of block (0, 1, 0)")


def test_causes_speak_of_c(cpu):
    assert "an integer division" in refusal(copy_check(), copy(f"{LOOP} y[i] = (int)x[i];"))
    for zero, said in (
        ("0.0f", "NaN comes from 0 / 0"),
        ("1.0f", "infinity comes from a division by zero"),
    ):
        divided = refusal(copy_check(), copy(f"{LOOP} y[i] = x[i] + {zero} / (n - 256);"))
        assert in_order(divided, said, "a variable that was never initialised")


def test_owners_of_one_to_three_numbers(cpu):
    args = {"n": np.int32(64), "x": np.arange(64, dtype=np.float32), "y": np.empty(64, np.float32)}
    wrong = copy(INDEX, "y[i] = i % 32 ? x[i] : -9;")
    for owner, said in {
        lambda launch, i: (
            (i // 32,),
            (i % 32,),
        ): "y[0], the element of thread (0, 0, 0) of block (0, 0, 0)",
        lambda launch, i: ((0, 0), (i, 0)): "of thread (0, 0, 0)",
        lambda launch, i: ((9, 0, 0), (i, 0, 0)): "where y[0] got",
        lambda launch, i, j: ((0,), (0,)): "where y[0] got",
        lambda launch, i: None: "where y[0] got",
    }.items():
        launch = Launch(2, 32, args, out=("y",), owner=owner)
        check = KernelCheck("COPY", "copy", lambda rng, launch=launch: [launch], lambda n, x, y: x)
        assert said in refusal(check, wrong)
