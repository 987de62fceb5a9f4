"""`course trace`: a kernel of one's own from the command line; what it prints, writes, and exits with."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.errors import BadInput
from course_lib.machines.cuda_c.outside import without_host
from course_lib.machines.trace_page import bare
from course_tools.__main__ import main
from course_tools.trace.arguments import arguments, numbers
from course_tools.trace.kernel_file import read

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) exit(1); } while (0)
#ifndef STEP
#define STEP 1
#endif
__constant__ float factors[4];

template <typename T> __device__ T twice(T v) { return v + v; }

/* main(): { */
__global__ void add(int n, const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += twice(x[i * STEP]);
}

void launch(int n, float *x, float *y) {
    add<<<(n + 127) / 128, 128>>>(n, x, y);
}

__global__ void careless(int n, const float *__restrict__ x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] += x[i];
}

__global__ void __launch_bounds__(64) scale(double by, unsigned int *count, float *y) {
    extern __shared__ float s[];
    s[threadIdx.x] = y[threadIdx.x] * float(by) * factors[1];
    y[threadIdx.x] = s[threadIdx.x];
    atomicAdd(count, 1u);
}

static void both(int n, float *x, float *y) { launch(n, x, y); launch(n, y, x); }

int main(int argc, char **argv) {
    std::vector<float> h(100);
    float *x, *y;
    CHECK(cudaMalloc(&x, 400));
    CHECK(cudaMalloc(&y, 400));
    both(100, x, y);
    printf("done {\\n");
    return 0;
}
"""
ADD = [
    "--block",
    "128",
    "--arg",
    "100",
    "--arg",
    "float32[100]=ones",
    "--arg",
    "float32[100]=zeros",
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text(SOURCE)
    return str(path)


@pytest.fixture
def course(file, capsys):
    def run(*words, file=file):
        status = main(["trace", file, *words])
        out, err = capsys.readouterr()
        return status, out, err

    return run


# The file ----------------------------------------------------------------------------------------------------------


def test_kernels_and_their_parameters(file):
    kernels = read(file).kernels
    assert list(kernels) == ["add", "careless", "scale"]
    found = [(one.name, one.is_pointer, one.dtype) for one in kernels["scale"]]
    assert found == [("by", False, np.float64), ("count", True, np.uint32), ("y", True, np.float32)]


def test_functions_of_the_host_become_empty_lines(file):
    source, left_out = without_host(SOURCE, bare(SOURCE))
    assert left_out == [(18, 20), (34, 34), (36, 44)]
    assert source.count("\n") == SOURCE.count("\n")
    assert not re.search(r"<<<|int main|both|std::", source)
    assert all(word in source for word in ("twice", "#define CHECK", "careless", "factors"))


@pytest.mark.parametrize(
    "text, kept",
    [
        ("#define N 3\nvoid f() { g<<<1, 1>>>(); }\n", "#define N 3\n"),
        ("struct S { __device__ void f() {} };\nint main() {}", "struct S"),
        (
            "namespace a {\nvoid f() { cudaFree(0); }\n__device__ int g() { return 1; }\n}",
            "int g()",
        ),
        ('extern "C" {\n__global__ void k() {}\n}\nint main() { k<<<1, 1>>>(); }', "void k()"),
        ("__device__ int f(int i) { if (i) { return 1; } return 0; }", "return 0; }"),
        ("float table[] = {1, 2, 3};\nint main() { cudaFree(0); }", "{1, 2, 3}"),
    ],
)
def test_what_is_no_function_of_the_host_stays(text, kept):
    source, left_out = without_host(text, bare(text))
    assert kept in source and not re.search(r"<<<|cudaFree|main", source)
    assert bool(left_out) == bool(re.search(r"<<<|cudaFree|main", text))


# The arguments -----------------------------------------------------------------------------------------------------


@pytest.fixture
def given(file):
    parameters = read(file).kernels["add"]
    return lambda *specs: arguments("add", parameters, specs, 3)


def test_arguments_in_order_and_by_name(given, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(5, dtype=np.float32)[::-1])
    n, x, y = given(f"x={tmp_path}/x.npy", "5", "float32[2,3]=arange")
    assert type(n) is np.int32 and n == 5
    assert x.tolist() == [4, 3, 2, 1, 0] and x.flags.c_contiguous
    assert y.dtype == np.float32 and y.tolist() == [[0, 1, 2], [3, 4, 5]]
    n, x, y = given("y=float[2]=-1.5", "int32=0x10", "null")
    assert n == 16 and x is None and y.tolist() == [-1.5, -1.5]


def test_what_fills_an_array(given):
    filled = {
        fill: given("1", "null", f"float32[4]{fill}")[2]
        for fill in ("", "=random", "=nan", "=unset")
    }
    assert (filled[""] == filled["=random"]).all() and (abs(filled[""]) < 1).all()
    assert len(set(filled[""].tolist())) == 4
    assert np.isnan(filled["=nan"]).all() and np.isnan(filled["=unset"]).all()
    assert given("1", "null", "float32[2]=ones")[2].tolist() == [1, 1]


@pytest.mark.parametrize(
    "specs, words",
    [
        ((), r"needs 3 arguments; not given: int n; const float \*__restrict__ x; float \*y"),
        (("1", "float32[3]"), r"not given: float \*y"),
        (("1", "null", "null", "null"), "takes 3 arguments .n, x, y.: null is too many"),
        (("m=1",), "add has no parameter 'm'; it has n, x, y"),
        (("n=1", "n=2"), "n is given twice"),
        (("many", "null", "null"), "n: many is not understood"),
        (("n=1.5", "null", "null"), "'1.5' is no int32"),
        (("n=99999999999", "null", "null"), "no int32"),
        (("int64=1", "null", "null"), "n is `int n`: give int32=..., not a scalar of int64"),
        (("int32[3]", "null", "null"), "not an array of int32"),
        (("null", "null", "null"), "n is `int n`: give int32=..., not null"),
        (("1", "float32=1", "null"), r"give float32\[...\], not a scalar of float32"),
        (("1", "float64[3]", "null"), "not an array of float64"),
        (("1", "3", "null"), "x: 3 is not understood"),
        (("1", "float32[3", "null"), "not understood"),
        (("1", "float32[-3]", "null"), "is no shape"),
        (("1", "float32[]", "null"), "is no shape"),
        (("1", "float32[3]=many", "null"), "must be one of random, zeros, .*, not 'many'"),
        (("1", "float33[3]", "null"), "not understood"),
        (("1", "float32[1000000,1000000]", "null"), "too many"),
        (("1", "none.npy", "null"), "none.npy cannot be read"),
    ],
)
def test_arguments_that_do_not_fit(given, specs, words):
    with pytest.raises(BadInput, match=words):
        given(*specs)


@pytest.mark.parametrize("text, wanted", [("4", (4,)), ("4,2", (4, 2)), ("32x8x1", (32, 8, 1))])
def test_shapes_of_a_launch(text, wanted):
    assert numbers("--grid", text) == wanted


# Runs --------------------------------------------------------------------------------------------------------------


@needs_compiler
def test_a_right_kernel(course):
    status, out, err = course("--kernel", "add", *ADD)
    assert status == 0 and out.startswith("no check found anything")
    assert err == "host code is left out: lines 18 to 20, 34 to 34, 36 to 44\n"
    assert re.search(r"\b15 +global +load +x +4 +400\b", out)


@needs_compiler
def test_a_kernel_with_a_mistake(course, tmp_path):
    page = tmp_path / "sub/report.html"
    status, out, _ = course("--kernel", "careless", *ADD, "--html", str(page))
    assert status == 1 and out.startswith("memcheck, line 24: thread (100, 0, 0)")
    text = page.read_text()
    assert text.startswith("<!doctype html>") and "mine.cu: careless" in text and "memcheck" in text
    assert '<html lang="en">' in text and "<script" not in text


@needs_compiler
def test_as_json(course):
    status, out, _ = course("--kernel", "careless", *ADD, "--json")
    told = json.loads(out)
    assert status == 1 and not told["ok"] and (told["grid"], told["block"]) == ([1], [128])
    assert [(error["tool"], error["line"], error["array"]) for error in told["errors"]] == [
        ("memcheck", 24, "y")
    ]
    assert {"requests", "sectors", "ideal_sectors", "wavefronts", "lanes"} <= set(
        told["accesses"][0]
    )


@needs_compiler
def test_a_macro_a_symbol_shared_memory_and_what_is_written_back(course, tmp_path):
    words = [
        "--kernel",
        "scale",
        "--block",
        "64",
        "--shared",
        "256",
        "--out",
        str(tmp_path / "out"),
    ]
    words += [
        "-a",
        "2",
        "-a",
        "uint32[1]=zeros",
        "-a",
        "float32[64]=ones",
        "--symbol",
        "factors=float32[4]=arange",
    ]
    assert course(*words)[0] == 0
    assert (np.load(tmp_path / "out/y.npy") == 2).all() and np.load(
        tmp_path / "out/count.npy"
    ).tolist() == [64]
    status, out, _ = course("--kernel", "add", *ADD, "-D", "STEP=2")
    assert status == 1 and "x[100]" in out


@needs_compiler
def test_two_kernels_side_by_side(course):
    status, out, _ = course("--kernel", "add", "--against", "careless", *ADD)
    assert status == 1 and "careless / add" in out and "add: no check found anything" in out
    told = json.loads(course("--kernel", "add", "--against", "careless", *ADD, "--json")[1])
    assert [report["kernel"] for report in told["reports"]] == ["add", "careless"]
    assert {"space": "global", "op": "load", "count": "requests", "values": [8, 8]} in told["rows"]


@needs_compiler
def test_headers_beside_the_file_are_read_anew(course, tmp_path):
    kernel, header = tmp_path / "k.cu", tmp_path / "n.cuh"
    kernel.write_text('#include "n.cuh"\n__global__ void k(float *y) { y[N] = 1; }\n')
    header.write_text("#define N 3\n")
    assert course("--block", "1", "-a", "float32[4]", file=str(kernel))[0] == 0
    header.write_text("#define N 4\n")
    assert course("--block", "1", "-a", "float32[4]", file=str(kernel))[0] == 1


@needs_compiler
def test_what_a_kernel_prints(course, tmp_path):
    kernel = tmp_path / "k.cu"
    kernel.write_text('__global__ void k() { if (threadIdx.x == 0) printf("hello\\n"); }\n')
    status, out, _ = course(file=str(kernel))
    assert status == 0 and out.endswith("printed by k:\nhello\n")


# Wrong calls -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "has add, careless, scale: choose one with --kernel"),
        (["--kernel", "scales"], "has no kernel 'scales', but .*; did you mean scale?"),
        (["--kernel", "add", "--against", "ad", *ADD], "has no kernel 'ad'"),
        (["--kernel", "add", *ADD, "--grid", "0"], r"grid\[0\] must be a whole number from 1"),
        (["--kernel", "add", *ADD, "--grid", "a"], "--grid a: give whole numbers"),
        (["--kernel", "add", *ADD, "--symbol", "other=float32[4]"], "no variable 'other'; the source has factors"),
        (["--kernel", "add", *ADD, "-D", "STEP=(", ], r"does not compile:\n.*\n?kernel.cu:15"),
        (["--kernel", "add", *ADD, "--out", "/dev/null/x"], "x.npy cannot be written"),
        (["--kernel", "add", *ADD, "--seed", "-1"], "--seed must be a whole number of at least 0, not -1"),
        (["--kernel", "add", *ADD, "--symbol", "factors"], "--symbol 'factors': give NAME=SPEC"),
        (["--kernel", "add", *ADD, "--symbol", "=5"], "--symbol '=5': give NAME=SPEC"),
        (["--kernel", "add", *ADD, "-D", ""], "--define '': give NAME or NAME=VALUE"),
        (["--kernel", "add", *ADD, "-D", "2X=1"], "--define '2X=1': give NAME or NAME=VALUE"),
    ],
)  # fmt: skip
@needs_compiler
def test_a_wrong_call(course, words, said):
    status, out, err = course(*words)
    assert status == 2 and out == "" and re.search(said, err), err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "content, said",
    [
        (b"A text, and no CUDA.\n", "has no kernel: no function that is __global__ void"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "cannot be read: it is no text"),
        (b"", "has no kernel"),
        (b"int main() { return 0; }\n", "has no kernel"),
    ],
)
def test_a_file_that_is_no_cuda(course, tmp_path, content, said):
    path = tmp_path / "some.cu"
    path.write_bytes(content)
    status, out, err = course(file=str(path))
    assert (status, out) == (2, "") and said in err


def test_no_file(course, tmp_path):
    for path in (tmp_path / "none.cu", tmp_path):
        status, out, err = course(file=str(path))
        assert (status, out) == (2, "") and f"{path} cannot be read" in err


def test_without_arguments_it_says_what_they_are(course):
    status, out, err = course("--kernel", "add")
    assert (status, out) == (2, "")
    assert "add takes 3 arguments: int n; const float *__restrict__ x; float *y" in err
    call = err.splitlines()[-1]
    assert call.startswith("for example: course trace ") and "--arg 'x=float32[512]'" in call


@needs_compiler
def test_the_example_runs(course):
    call = shlex.split(course("--kernel", "add")[2].splitlines()[-1].partition("course trace ")[2])
    assert course(*call[1:], file=call[0])[0] == 0


def run_alone(*words, **variables):
    return subprocess.Popen(
        [sys.executable, "-m", "course_lib", "trace", *words],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_no_compiler(file):
    done = run_alone(file, "--kernel", "add", *ADD, COURSE_CXX="no-such-compiler")
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out) == (2, "")
    wanted = (
        "course trace: the compiler no-such-compiler cannot be started (No such file or directory)"
    )
    assert err.splitlines()[-1] == f"{wanted}: is $COURSE_CXX right?"


@needs_compiler
@pytest.mark.skipif(os.name != "posix", reason="an interrupt as a signal")
def test_an_interrupt_ends_it_in_one_line(tmp_path):
    kernel = tmp_path / "k.cu"
    kernel.write_text("__global__ void k(float *y) { while (y[0] < 5) y[1] += 1; }\n")
    run = run_alone(str(kernel), "-a", "float32[2]=zeros", "--timeout", "3600")
    time.sleep(4)  # to be amid the launch; earlier would do as well
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out, err) == (130, "", "course trace: stopped\n")


def test_help_says_how_arguments_are_written(course, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["trace", "--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0 and "float32[64,64]=ones" in text and "exit status: 0" in text
