# ruff: noqa: E501 (the tables hold CUDA C)
"""CUDA C that has code for the host in it, in many spellings, and CUDA C that is unusual and has none."""

K = "\n__global__ void k(float *x) { x[0] = 1; }\n"
# name -> CUDA C: refused each
HOST = {
    "a function": "int f() { return 1; }" + K,
    "noexcept": "int f() noexcept { return 1; }" + K,
    "a return type behind": "auto f() -> int { return 1; }" + K,
    "digraphs": "int f() <% return 1; %>" + K,
    "a lambda at the top": "auto f = []() { return 1; };\nint n = f();" + K,
    "an initialiser that calls a lambda": "int n = [] { volatile int i = 3; return i; }();" + K,
    "a method": "struct S { int f() { return 1; } };\n__global__ void k(float *x) { S s; x[0] = s.f(); }",
    "a method, const noexcept": "struct S { int f() const noexcept { return 1; } };\n"
    "__global__ void k(float *x) { S s; x[0] = s.f(); }",
    "a constructor of a global": "struct S { int n; S() { n = 1; } };\nS s;" + K,
    "a constructor with a list": "struct S { volatile int n; S() : n(1) { n = 2; } } s;" + K,
    "a destructor of a global": "struct S { volatile int n = 1; ~S() { n = 2; } };\nS s;" + K,
    "a device constructor of a global": "struct S { volatile int n; __device__ S() { n = 1; } };\nS s;"
    + K,
    "an initialiser of a global": "__device__ int f() { volatile int i = 2; return i; }\nint n = f();"
    + K,
    "an initialiser of a device variable": "__device__ int f() { volatile int i = 2; return i; }\n"
    "__device__ int n = f();" + K,
    "a static member": "__device__ int f() { volatile int i = 2; return i; }\n"
    "struct S { static int n; };\nint S::n = f();" + K,
    "an inline static member": "__device__ int f() { volatile int i = 2; return i; }\n"
    "struct S { static inline int n = f(); };" + K,
    "a template that is used": "template <int N> int f() { return N; }\n__global__ void k(float *x) { x[0] = f<3>(); }",
    "an initialiser by a template": "template <int N> __device__ int f() { volatile int i = N; return i; }\n"
    "int n = f<3>();" + K,
    "a template of a variable": "__device__ int f() { volatile int i = 2; return i; }\n"
    "template <int N> int v = f() + N;\n__global__ void k(float *x) { x[0] = v<3>; }",
    "an operator": "struct S { int n; };\nint operator+(S a, S b) { return a.n + b.n; }" + K,
    "a function with macros": "#define BODY { return 1; }\nint f() BODY" + K,
    "a function by a macro": "#define FUN(n) int n() { return 1; }\nFUN(f)" + K,
    "the attribute of a constructor": "__attribute__((constructor)) int f() { return 1; }" + K,
    "an attribute in brackets": "[[gnu::constructor]] int f() { return 1; }" + K,
    "an attribute in digraphs": "<:<:gnu::constructor:>:> __device__ void f() { }" + K,
    "an attribute on a device function": "__device__ __attribute__((constructor)) void f() { }" + K,
    "__device__ redefined": "#undef __device__\n#define __device__\n__device__ int f() { return 1; }"
    + K,
    "only with the tracer": "__device__ int f() { volatile int i = 2; return i; }\n"
    "#ifdef __SANITIZE_THREAD__\nint n = f();\n#endif" + K,
    "only without": "__device__ int f() { volatile int i = 2; return i; }\n"
    "#ifdef __OPTIMIZE__\nint n = f();\n#endif" + K,
}
# name -> CUDA C: nobody is refused
DEVICE = {
    "plain": K,
    "a device function": "__device__ float f(float x) { return 2 * x; }\n"
    "__global__ void k(float *x) { x[0] = f(x[0]); }",
    "the words the other way": "float __device__ f(float x) { return 2 * x; }\n"
    "void __global__ k(float *x) { x[0] = f(x[0]); }",
    "static inline": "static inline __device__ float f(float x) { return 2 * x; }\n"
    "__global__ void k(float *x) { x[0] = f(x[0]); }",
    "forceinline": "__device__ __forceinline__ float f(float x) { return 2 * x; }\n"
    "__global__ void k(float *x) { x[0] = f(x[0]); }",
    "host and device": "__host__ __device__ float f(float x) { return 2 * x; }\n"
    "__global__ void k(float *x) { x[0] = f(x[0]); }",
    "declared before": "__device__ float f(float x);\n__global__ void k(float *x) { x[0] = f(x[0]); }\n"
    "__device__ float f(float x) { return 2 * x; }",
    "a struct": "struct P { float a, b; };\n__global__ void k(float *x) { P p = {1, 2}; x[0] = p.a + p.b; }",
    "a struct with device methods": "struct P { float a; __device__ float f() const { return 2 * a; } };\n"
    "__global__ void k(float *x) { P p = {x[0]}; x[0] = p.f(); }",
    "a device constructor": "struct P { float a; __device__ P(float v) : a(v) {} };\n"
    "__global__ void k(float *x) { P p(x[0]); x[0] = p.a; }",
    "first values of members": "struct P { float a = 1, b = 2; };\n__global__ void k(float *x) { P p; x[0] = p.a; }",
    "a lambda in a kernel": "__global__ void k(float *x) { auto f = [](float v) { return 2 * v; }; x[0] = f(x[0]); }",
    "a lambda that captures": "__global__ void k(float *x) { float s = 2; auto f = [&](int i) { x[i] *= s; }; f(0); }",
    "a template": "template <int N> __device__ float f(const float *x) { return x[N]; }\n"
    "__global__ void k(float *x) { x[0] = f<1>(x); }",
    "a constant table": "__constant__ float c[3] = {1, 2, 3};\n__global__ void k(float *x) { x[0] = c[1]; }",
    "a device table": "__device__ float c[3] = {1, 2, 3};\n__global__ void k(float *x) { x[0] = c[1]; }",
    "a constant of the file": "const int N = 3 * 7;\nconstexpr float S = 1.0f / N;\n"
    "__global__ void k(float *x) { x[0] = S; }",
    "a root of the file": "const float R = sqrtf(2.0f) / 3;\n__global__ void k(float *x) { x[0] = R; }",
    "a condition": "#if 3 > 2\n#define A 1\n#endif\n__global__ void k(float *x) { x[0] = A; }",
    "an enum and macros": "enum { TILE = 32 };\n#define AT(i, j) ((i) * TILE + (j))\n"
    "__global__ void k(float *x) { x[AT(0, 0)] = TILE; }",
    "shared memory and barriers": "__global__ void k(float *x) { __shared__ float s[32]; s[threadIdx.x] = x[threadIdx.x];"
    " __syncthreads(); x[threadIdx.x] = s[31 - threadIdx.x]; }",
    "float4": "__global__ void k(float *x) { float4 v = ((const float4 *)x)[0]; x[0] = v.x + v.w; }",
    "warp shuffles": "__device__ float sum(float v) { for (int o = 16; o; o /= 2) v += __shfl_down_sync(~0u, v, o);"
    " return v; }\n__global__ void k(float *x) { x[0] = sum(x[threadIdx.x]); }",
    "launch bounds": "__global__ void __launch_bounds__(64) k(float *x) { x[0] = 1; }",
    "an overloaded operator": "struct P { float a; };\n__device__ P add(P l, P r) { return P{l.a + r.a}; }\n"
    "__global__ void k(float *x) { x[0] = add(P{1}, P{2}).a; }",
}
