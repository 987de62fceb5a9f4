"""CUDA C while it is graded: the language of the lessons passes, words that reach past it do not."""

import ast
from pathlib import Path

import pytest

from course_tools.build import source
from course_tools.grading.sandbox.cuda_words import refused

ROOT = Path(__file__).resolve().parents[2]
KERNEL = "__global__ void k(float *x) {{ {} }}\n"


def kernels_of(text):
    return [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and "__global__" in node.value
    ]


def test_all_answers_of_the_course_may_be_said():
    seen = 0
    for path in source.find(ROOT, ["05", "06", "07", "08", "09", "15"]):
        for cell in source.read(path).tasks if path.stem == "exercise" else ():
            region = source.split(cell.source)
            for text in (
                region.text,
                cell.task.blank,
                *(m.apply(region.text) for m in cell.task.mutants),
            ):
                for kernel in kernels_of(region.filled(text)):
                    assert refused(kernel) is None, (cell.name, kernel)
                    seen += 1
    assert seen > 100


@pytest.mark.parametrize(
    "text",
    [
        "#include <cuda_runtime.h>\n#define TILE 16\n" + KERNEL.format("x[0] = TILE;"),
        'extern "C" __global__ void k(float *x) { extern __shared__ float s[]; s[0] = x[0]; }',
        'extern "C" {\n__device__ float f(float x) { return x; }\n'
        + KERNEL.format("x[0] = f(x[0]);")
        + "}",
        "struct pair { float a, b; };\n"
        + KERNEL.format("pair p = {1, 2}; x[0] = p.a; // std::course asm"),
        KERNEL.format(
            'float4 v = ((const float4 *)x)[0]; int time = 3, read = 4; printf("course::%d", time + read);'
        ),
        KERNEL.format("printf(\"don't\\n\"); char c = 'a'; // it's 3'5, R\"(\n x[0] = (float)(c);")
        + "/* can't */",
        "typedef struct { float x, y; } pair;\nusing real = float;\n"
        + KERNEL.format("if ((x[0]) > (1)) x[0] = 2;"),
        KERNEL.format("\n#pragma unroll\n for (int i = 0; i < 4; i++) x[i] = 0;"),
        "template <int N> __device__ float f(float *x) { return x[N]; }\n"
        + KERNEL.format("x[0] = f<1>(x);"),
        "#include <mma.h>\nusing namespace nvcuda;\n"
        + KERNEL.format("wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;"),
        "  #include <mma.h>  // fragments\n"
        + KERNEL.format("nvcuda::wmma::fill_fragment(f, x[0]); wmma::precision::tf32 *y;"),
    ],
)
def test_may_be_said(text):
    assert refused(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "#include <unistd.h>\n" + KERNEL.format(""),
        "#pragma GCC push_options\n" + KERNEL.format(""),
        KERNEL.format('asm volatile("");'),
        KERNEL.format("course::thread_idx();"),
        "using namespace course;" + KERNEL.format(""),
        "__attribute__((constructor)) __device__ void f() {}" + KERNEL.format(""),
        KERNEL.format("__builtin_trap();"),
        'extern "C" int system(const char *);' + KERNEL.format(""),
        "extern int counted;" + KERNEL.format(""),
        KERNEL.format("co\\\nurse::x();"),
        "#define G(a, b) a##b\n" + KERNEL.format(""),
        KERNEL.format('popen("id", "r");'),
        KERNEL.format("auto f = &fopen (0, 0);"),
        KERNEL.format('fprintf(stderr, "");'),
        "int at_start() { return 1; }\n" + KERNEL.format(""),
        "struct S { S() {} };\n" + KERNEL.format("[[gnu::used]] int i;"),
        KERNEL.format('const char *s = R"(\\")"; asm(""); s = "";'),
        'const char *s = R"(\n" asm(""); //")";' + KERNEL.format(""),
        KERNEL.format("int a = 1'0; asm(\"\"); int b = 1'0;"),
        KERNEL.format("int a = 1'0; x[0] = a;"),
        '\f#include "/etc/passwd"\n' + KERNEL.format(""),
        '\r#include "/etc/passwd"\n' + KERNEL.format(""),
        '\v#include "/etc/passwd"\n' + KERNEL.format(""),
        '#if __has_include("/etc/passwd")\n#endif\n' + KERNEL.format(""),
        KERNEL.format("printf(__FILE__);"),
        KERNEL.format('system("id");'),
        KERNEL.format('printf("%s", getenv("HOME"));'),
        KERNEL.format('auto f = fopen; f("x", "w");'),
        KERNEL.format("(exit)(0);"),
        KERNEL.format("quick_exit(0);"),
        'int n = [] { return system("id"); }();\n' + KERNEL.format(""),
        KERNEL.format("void (&f)(int) = x;"),
        "typedef int F(const char *); F open;\n" + KERNEL.format('auto f = open; f("x");'),
        "using F = int(const char *); F open;\n" + KERNEL.format('auto f = open; f("x");'),
        KERNEL.format("int \\u0061 = 0;"),
        KERNEL.format("__tsan_read4(x);"),
        KERNEL.format("int a<::>= {1};"),
        KERNEL.format("((void (*)(int))x)(1);"),
        KERNEL.format("*(uintptr_t *)x = 1;"),
        "#include <mma.h>\n" + KERNEL.format("nvcuda::wmma::course_move<true>(f, x, 16, true, 1);"),
        "#include <mma.h>\nusing namespace nvcuda::wmma;" + KERNEL.format("course::x();"),
        "#include <mma.h>\nusing namespace std;" + KERNEL.format(""),
        "#include <mma.h> <unistd.h>\n" + KERNEL.format(""),
        "#include <mma.h>\n#include <unistd.h>\n" + KERNEL.format(""),
        "#include <mma.h>\n" + KERNEL.format("wmma::std::ignore; wmma::__tsan_read4(x);"),
        "namespace nvcuda { int system; }" + KERNEL.format(""),
    ],
)
def test_may_not_be_said(text):
    assert refused(text)
