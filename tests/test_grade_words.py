"""CUDA C while it is graded: the language of the lessons passes, words that reach past it do not."""

import ast
from pathlib import Path

import pytest

from course_lib.classroom import source
from course_lib.classroom.grading.words import refused

ROOT = Path(__file__).resolve().parents[1]
KERNEL = "__global__ void k(float *x) {{ {} }}\n"


def kernels_of(text):
    return [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)
            and isinstance(node.value, str) and "__global__" in node.value]  # fmt: skip


def test_all_answers_of_the_course_may_be_said():
    seen = 0
    for path in source.find(ROOT, ["05", "06", "07", "08", "09"]):
        for cell in source.read(path).tasks if path.stem == "exercise" else ():
            region = source.split(cell.source)
            for text in (region.text, cell.task.blank, *(m.apply(region.text) for m in cell.task.mutants)):
                for kernel in kernels_of(region.filled(text)):
                    assert refused(kernel) is None, (cell.name, kernel)
                    seen += 1
    assert seen > 100


@pytest.mark.parametrize("text", [
    "#include <cuda_runtime.h>\n#define TILE 16\n" + KERNEL.format("x[0] = TILE;"),
    'extern "C" __global__ void k(float *x) { extern __shared__ float s[]; s[0] = x[0]; }',
    'extern "C" {\n__device__ float f(float x) { return x; }\n' + KERNEL.format("x[0] = f(x[0]);") + "}",
    "struct pair { float a, b; };\n" + KERNEL.format("pair p = {1, 2}; x[0] = p.a; // std::course asm"),
    KERNEL.format("float4 v = ((const float4 *)x)[0]; int time = 3, read = 4; printf(\"course::%d\", time + read);"),
    KERNEL.format("\n#pragma unroll\n for (int i = 0; i < 4; i++) x[i] = 0;"),
    "template <int N> __device__ float f(float *x) { return x[N]; }\n" + KERNEL.format("x[0] = f<1>(x);"),
])  # fmt: skip
def test_may_be_said(text):
    assert refused(text) is None


@pytest.mark.parametrize("text", [
    "#include <unistd.h>\n" + KERNEL.format(""), "#pragma GCC push_options\n" + KERNEL.format(""),
    KERNEL.format('asm volatile("");'), KERNEL.format("course::thread_idx();"),
    "using namespace course;" + KERNEL.format(""),
    "__attribute__((constructor)) __device__ void f() {}" + KERNEL.format(""), KERNEL.format("__builtin_trap();"),
    'extern "C" int system(const char *);' + KERNEL.format(""), "extern int counted;" + KERNEL.format(""),
    KERNEL.format("co\\\nurse::x();"), "#define G(a, b) a##b\n" + KERNEL.format(""),
    KERNEL.format('popen("id", "r");'), KERNEL.format("auto f = &fopen (0, 0);"),
    KERNEL.format("fprintf(stderr, \"\");"),
    "int at_start() { return 1; }\n" + KERNEL.format(""),
    "struct S { S() {} };\n" + KERNEL.format("[[gnu::used]] int i;"),
    KERNEL.format("((void (*)(int))x)(1);"), KERNEL.format("*(uintptr_t *)x = 1;"),
])  # fmt: skip
def test_may_not_be_said(text):
    assert refused(text)
