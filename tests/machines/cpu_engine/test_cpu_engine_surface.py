"""CUDA C that people write: intrinsics against Python, vector types, shared memory of every form, templates, files as
they are published. Each kernel runs plain and traced."""

import numpy as np
import pytest
from engine_runs import needs_compiler, run

from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.machines.cpu_engine import CompileError, trace
from course_lib.machines.cuda_c.rewrite import rewrite

pytestmark = needs_compiler
N = 64
ways = pytest.mark.parametrize("how", ["plain", "traced"])
f4, f8 = np.float32, np.float64


def bits(value, width):
    return f"{int(value) & (1 << width) - 1:0{width}b}"


def signed(value, width=32):
    value = int(value) & (1 << width) - 1
    return value - (1 << width) if value >> width - 1 else value


def low24(value):
    return signed(int(value) << 8) >> 8


def dot4(a, b, c, sign):
    def part(v, i):
        byte = int(v) >> 8 * i & 255
        return byte - 256 if sign and byte > 127 else byte

    return signed(sum(part(a, i) * part(b, i) for i in range(4)) + int(c))


def permuted(a, b, s):
    both = (int(b) & 0xFFFFFFFF) << 32 | int(a) & 0xFFFFFFFF
    return sum((both >> 8 * (int(s) >> 4 * i & 7) & 255) << 8 * i for i in range(4))


WIDE = (1 << 32) - 1
# of i, j (int), u, v (unsigned), p, q (long long), x (float), d (double): the CUDA C, and what it gives
INTEGERS = {
    "__mul24(i, j)": lambda i, j, **_: signed(low24(i) * low24(j)),
    "__umul24(u, v)": lambda u, v, **_: (u & 0xFFFFFF) * (v & 0xFFFFFF) & WIDE,
    "__mulhi(i, j)": lambda i, j, **_: i * j >> 32,
    "__umulhi(u, v)": lambda u, v, **_: u * v >> 32,
    "__mul64hi(p, q)": lambda p, q, **_: p * q >> 64,
    "__popc(u)": lambda u, **_: bits(u, 32).count("1"),
    "__popcll(p)": lambda p, **_: bits(p, 64).count("1"),
    "__clz(i)": lambda i, **_: (bits(i, 32) + "1").index("1"),
    "__clzll(p)": lambda p, **_: (bits(p, 64) + "1").index("1"),
    "__clzll(0)": lambda **_: 64,
    "__ffs(i)": lambda i, **_: bits(i, 32)[::-1].find("1") + 1,
    "__ffsll(p)": lambda p, **_: bits(p, 64)[::-1].find("1") + 1,
    "__brev(u)": lambda u, **_: int(bits(u, 32)[::-1], 2),
    "__brevll(p)": lambda p, **_: signed(int(bits(p, 64)[::-1], 2), 64),
    "umin(u, v)": lambda u, v, **_: min(u, v),
    "umax(u, v)": lambda u, v, **_: max(u, v),
    "llmin(p, q)": lambda p, q, **_: min(p, q),
    "llmax(p, q)": lambda p, q, **_: max(p, q),
    "__sad(i, j, u)": lambda i, j, u, **_: abs(i - j) + u & WIDE,
    "__usad(u, v, 7)": lambda u, v, **_: abs(u - v) + 7 & WIDE,
    "__hadd(i, j)": lambda i, j, **_: i + j >> 1,
    "__uhadd(u, v)": lambda u, v, **_: u + v >> 1,
    "__rhadd(i, j)": lambda i, j, **_: i + j + 1 >> 1,
    "__urhadd(u, v)": lambda u, v, **_: u + v + 1 >> 1,
    "__byte_perm(u, v, 0x5140)": lambda u, v, **_: permuted(u, v, 0x5140),
    "__byte_perm(u, v, v)": lambda u, v, **_: permuted(u, v, v),
    "__dp4a(i, j, 5)": lambda i, j, **_: dot4(i, j, 5, True),
    "__dp4a(u, v, 5u)": lambda u, v, **_: dot4(u, v, 5, False) & WIDE,
    "__funnelshift_l(u, v, i)": lambda u, v, i, **_: (v << 32 | u) << (i & 31) >> 32 & WIDE,
    "__funnelshift_r(u, v, i)": lambda u, v, i, **_: (v << 32 | u) >> (i & 31) & WIDE,
    "__funnelshift_lc(u, v, 40)": lambda u, **_: u,
    "__funnelshift_rc(u, v, 40)": lambda v, **_: v,
    "__float2int_rn(x)": lambda x, **_: int(np.rint(x)),
    "__float2int_rz(x)": lambda x, **_: int(np.trunc(x)),
    "__float2int_ru(x)": lambda x, **_: int(np.ceil(x)),
    "__float2int_rd(x)": lambda x, **_: int(np.floor(x)),
    "__float2int_rn(2.5f)": lambda **_: 2,
    "__float2int_rz(1e30f)": lambda **_: 2**31 - 1,
    "__float2int_rz(-1e30f)": lambda **_: -(2**31),
    "__float2int_rz(NAN)": lambda **_: 0,
    "__float2uint_rd(x)": lambda x, **_: max(int(np.floor(x)), 0),
    "__float2ll_rn(x)": lambda x, **_: int(np.rint(x)),
    "__double2int_rn(d)": lambda d, **_: int(np.rint(d)),
    "__double2ll_ru(d)": lambda d, **_: int(np.ceil(d)),
    "__double2ull_rz(1e30)": lambda **_: -1,
    "__double2hiint(d)": lambda d, **_: signed(int(f8(d).view(np.uint64)) >> 32),
    "__double2loint(d)": lambda d, **_: signed(int(f8(d).view(np.uint64))),
    "__float_as_int(x)": lambda x, **_: int(f4(x).view(np.int32)),
    "isnan(x) + 2 * isinf(x) + 4 * (isfinite(x) != 0) + 8 * (signbit(x) != 0)":
        lambda x, **_: 4 + 8 * bool(x < 0),
    "isnan(x - INFINITY * 0.0f) + 2 * (isinf(x / 0.0f) != 0)": lambda **_: 3,
    "(uint)u + (uchar)u + (ushort)u + (ulong)0": lambda u, **_: u + (u & 255) + (u & 65535),
}  # fmt: skip
FLOATS = {
    "__fadd_rn(x, y)": lambda x, y, **_: x + y,
    "__fsub_rn(x, y)": lambda x, y, **_: x - y,
    "__fmul_rn(x, y)": lambda x, y, **_: x * y,
    "__fdiv_rn(x, y)": lambda x, y, **_: x / y,
    "__frcp_rn(y)": lambda y, **_: f4(1) / y,
    "__fsqrt_rn(y)": lambda y, **_: np.sqrt(y),
    "__fmaf_rn(x, y, 0.1f)": lambda x, y, **_: f4(f8(x) * f8(y) + f8(f4(0.1))),
    "__dadd_rn(d, x)": lambda d, x, **_: d + f8(x),
    "__dmul_rn(d, x)": lambda d, x, **_: d * f8(x),
    "__ddiv_rn(d, y)": lambda d, y, **_: d / f8(y),
    "__dsqrt_rn(y)": lambda y, **_: np.sqrt(f8(y)),
    "__int2float_rn(i)": lambda i, **_: f4(i),
    "__uint2float_rn(u)": lambda u, **_: f4(u),
    "__ll2float_rn(p)": lambda p, **_: f4(p),
    "__int2double_rn(i)": lambda i, **_: f8(i),
    "__double2float_rn(d)": lambda d, **_: f4(d),
    "__hiloint2double(__double2hiint(d), __double2loint(d))": lambda d, **_: d,
    "__int_as_float(__float_as_int(x))": lambda x, **_: x,
    "__saturatef(x)": lambda x, **_: np.clip(x, f4(0), f4(1)),
    "min(x, y) + max(i, j)": lambda x, y, i, j, **_: f4(min(x, y)) + f4(max(i, j)),
}
NEAR = {
    "__frsqrt_rn(y)": lambda y, **_: 1 / np.sqrt(f8(y)),
    "rsqrtf(y)": lambda y, **_: 1 / np.sqrt(f8(y)),
    "exp10f(y)": lambda y, **_: 10.0**y,
    "__exp10f(y)": lambda y, **_: 10.0**y,
    "__expf(y) + __logf(y) + __log2f(y) + __log10f(y) + __powf(y, 0.5f)":
        lambda y, **_: np.exp(y) + np.log(y) + np.log2(y) + np.log10(y) + np.sqrt(y),
    "rcbrtf(y)": lambda y, **_: 1 / np.cbrt(f8(y)),
    "rhypotf(x, y)": lambda x, y, **_: 1 / np.hypot(f8(x), f8(y)),
    "1 / rnorm3df(x, y, x)": lambda x, y, **_: np.sqrt(2 * f8(x) ** 2 + f8(y) ** 2),
    "sinpif(y)": lambda y, **_: np.sin(np.pi * f8(y)),
    "cospif(y)": lambda y, **_: np.cos(np.pi * f8(y)),
    "both(y)": lambda y, **_: np.sin(f8(y)) + 2 * np.cos(f8(y)),
    "fdividef(x, y)": lambda x, y, **_: f8(x) / y,
    "normcdff(0 * x)": lambda **_: 0.5,
}  # fmt: skip
DOWN = {  # each in the directions to zero, up, down
    "__fadd_{}(x, y)": lambda x, y: f8(x) + f8(y),
    "__fmul_{}(x, y)": lambda x, y: f8(x) * f8(y),
    "__fdiv_{}(x, y)": lambda x, y: f8(x) / f8(y),
    "__fsqrt_{}(y)": lambda x, y: np.sqrt(f8(y)),
    "__double2float_{}((double)x * y)": lambda x, y: f8(x) * f8(y),
}


def numbers():
    rng = np.random.default_rng(15)
    whole = [rng.integers(np.iinfo(t).min, np.iinfo(t).max, N, t, endpoint=True)
             for t in (np.int32, np.int32, np.uint32, np.uint32, np.int64, np.int64)]  # fmt: skip
    real = rng.uniform(-50, 50, N).astype(f4), rng.uniform(0.1, 3, N).astype(f4)
    return dict(zip("ijuvpqxyd", [*whole, *real, rng.uniform(-99, 99, N)], strict=True))


def measured(how, kind, expressions):
    """{expression: its values}, all in one kernel."""
    given = numbers()
    names = dict(zip("ijuvpqxyd", ("int", "int", "uint", "uint", "long long", "long long", "float",
                                   "float", "double"), strict=True))  # fmt: skip
    rows = [f"    out[{k * N} + t] = {e};" for k, e in enumerate(expressions)]
    heads = [f"const {c} *{name}_" for name, c in names.items()]
    takes = [f"    {c} {name} = {name}_[t];" for name, c in names.items()]
    source = "\n".join([
        "__device__ float both(float y) { float s, c; __sincosf(y, &s, &c); return s + 2 * c; }",
        f"__global__ void k({', '.join(heads)}, {kind} *out) {{ int t = threadIdx.x;", *takes, *rows, "}"
    ])  # fmt: skip
    out = np.zeros((len(expressions), N), {"long long": np.int64, "double": f8}[kind])
    run(how, source, "k", 1, N, [*given.values(), out], no_extern_c=True)
    cases = [{name: given[name][t] for name in given} for t in range(N)]
    return given, cases, dict(zip(expressions, out, strict=True))


@ways
def test_integer_intrinsics(how):
    _, cases, out = measured(how, "long long", INTEGERS)
    whole = [{k: v if k in "xyd" else int(v) for k, v in case.items()} for case in cases]
    for expression, wanted in INTEGERS.items():
        assert out[expression].tolist() == [wanted(**case) for case in whole], expression


@ways
def test_floating_point_intrinsics(how):
    _, cases, out = measured(how, "double", [*FLOATS, *NEAR])
    for expression, wanted in FLOATS.items():
        assert out[expression].tolist() == [float(wanted(**case)) for case in cases], expression
    for expression, wanted in NEAR.items():
        np.testing.assert_allclose(out[expression], [wanted(**case) for case in cases], 2e-6, 1e-6)


@ways
def test_directed_roundings(how):
    asked = [e.format(way) for e in DOWN for way in ("rz", "ru", "rd")]
    given, _, out = measured(how, "double", asked)
    for pattern, wanted in DOWN.items():
        exact = wanted(given["x"], given["y"])
        near = exact.astype(f4)
        lower = np.where(near > exact, np.nextafter(near, f4(-np.inf)), near)
        upper = np.where(near < exact, np.nextafter(near, f4(np.inf)), near)
        ways = {"rd": lower, "ru": upper, "rz": np.where(exact < 0, upper, lower)}
        for way, values in ways.items():
            assert (out[pattern.format(way)] == values).all(), pattern.format(way)


VECTORS = r"""
#include <cuda_runtime.h>
inline __host__ __device__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
inline __host__ __device__ float4 &operator*=(float4 &a, float s) { a.x *= s; a.y *= s; a.z *= s; a.w *= s; return a; }
inline __host__ __device__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
inline __device__ float4 make_float4(float s) { return make_float4(s, s, s, s); }
__constant__ float4 table[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
__global__ void all(float4 *A, const uchar4 *bytes, const double4 *wide, float *out)
{
    int t = threadIdx.x;
    float4 v = {0, 0, 0, 0}, w = {}, list[2] = {{1, 2, 3, 4}, float4{5, 6, 7, 8}}, none[2] = {0};
    v = v + w + list[1] + none[1] + make_float4(1.0f) + table[1];
    float &r = v.x;
    r += t;
    float *p = &v.x;
    for (int i = 1; i < 4; i++) p[i] *= 2;
    v *= 2;
    reinterpret_cast<float4 *>(A)[t] = v;
    float3 three = make_float3(3, 2, 1) - float3{1, 1, 1};
    int2 pair = {t, 1};
    ulonglong2 large = make_ulonglong2(1, 2);
    short4 small = make_short4(1, 2, 3, 4);
    char3 chars = {1, 2, 3};
    uchar4 b = bytes[t];
    double4 d = __ldg(wide + t);
    out[t] = three.x + pair.x + large.y + small.w + chars.z + b.x + 2 * b.w + d.x + d.w;
}
"""


@ways
def test_vector_types(how):
    A, out = np.zeros((8, 4), f4), np.zeros(8, f4)
    bytes, wide = (np.arange(32, dtype=t).reshape(8, 4) for t in (np.uint8, f8))
    run(how, VECTORS, "all", 1, 8, [A, bytes, wide, out], no_extern_c=True)
    t = np.arange(8)
    assert (A[:, 0] == 2 * (11 + t)).all() and (A[:, 1:] == [52, 60, 68]).all()
    assert (
        out == 2 + t + 2 + 4 + 3 + bytes[:, 0] + 2 * bytes[:, 3] + wide[:, 0] + wide[:, 3]
    ).all()


MOVES = {  # of a vector: bytes of an access, accesses of a copy
    "char2": (2, 1), "uchar4": (4, 1), "short2": (4, 1), "ushort4": (8, 1), "int2": (8, 1), "uint4": (16, 1),
    "longlong2": (16, 1), "double2": (16, 1), "double4": (8, 4), "float3": (4, 3), "float4": (16, 1),
}  # fmt: skip


def test_vectors_move_whole():
    kernels = "\n".join(
        f"__global__ void k_{name}(const {name} *A, {name} *B) {{ {name} v = A[threadIdx.x]; B[threadIdx.x] = v; }}"
        for name in MOVES
    )
    for name, (size, times) in MOVES.items():
        A = np.arange(32 * size * times, dtype=np.uint8)
        B = np.zeros_like(A)
        report = trace(kernels, f"k_{name}", 1, 32, [A, B])
        assert report.ok and (A == B).all(), name
        for op in ("load", "store"):
            assert report.total("requests", op=op) == times, (name, op)
            assert report.total("bytes", op=op) == A.nbytes, (name, op)


def test_loads_and_stores_with_a_hint_are_charged_to_their_line():
    source = """__global__ void k(const float4 *A, float4 *B) {
        int t = threadIdx.x;
        float4 v = __ldcs(&A[t]);
        float *a = (float *)A; v.x +=\
           __ldcg(a + t) + __ldca(&A[31 - t].y) + __ldcv(a) + __ldlu(a + 4 * t + 2);
        __stcs(B + t, v);
        __stwt((float *)B + 4 * t + 1, 2.0f), __stcg((float *)B + 4 * t + 2, 3), __stwb((float *)B + 4 * t + 3, v.x);
    }"""
    A, B = np.arange(128, dtype=f4).reshape(32, 4), np.zeros((32, 4), f4)
    report = trace(source, "k", 1, 32, [A, B])
    assert report.ok and (B[:, 1:3] == [2, 3]).all() and (B[:, 3] == B[:, 0]).all()
    assert (B[:, 0] == A[:, 0] + A.ravel()[:32] + A[::-1, 1] + A[0, 0] + A[:, 2]).all()
    rows = [(row["line"], row["op"], row["requests"], row["bytes"]) for row in report.accesses]
    assert sorted(rows) == [(3, "load", 1, 512), (4, "load", 4, 512), (5, "store", 1, 512),
                            (6, "store", 3, 384)]  # fmt: skip


SHARED = r"""
namespace tools { __device__ float twice(float x) { return 2 * x; } }  // closed: what follows is outside of it
typedef struct { float v; int i; } Pair;
#define LOCAL __shared__
#define AT(i, j) ((i) * 33 + (j))
__shared__ float tile[32];
static __shared__ int flag, other[2];
extern __shared__ float dynamic[];
__device__ void put(float v) { tile[threadIdx.x] = v; }
struct Getter { __device__ float get(int i) const { return tile[i]; } };
__global__ void every(float *A)
{
    float __shared__ a[32]; static __shared__ float b[32], b2[2][16]; __shared__ volatile float c[32];
    __align__(16) __shared__ float d[32];
    volatile __shared__ int q; __shared__ const float *where; __shared__ float4 vectors[32];
    __shared__ Pair pairs[32]; LOCAL float macro[33 * 32];
    __shared__ union {
        float f[32];
        int i[32];
    } either;
    const int t = threadIdx.x;
    a[t] = A[t]; b[t] = a[t]; c[t] = b[t]; d[t] = c[t]; pairs[t].v = d[t]; pairs[t].i = t;
    vectors[t] = make_float4(pairs[t].v, t, 0, 0);
    macro[AT(t, t)] = vectors[t].x;
    either.f[t] = macro[AT(t, t)];
    b2[t / 16][t % 16] = __int_as_float(either.i[t]);
    dynamic[t] = tools::twice(b2[t / 16][t % 16]);
    put(dynamic[t]);
    if (t == 0) { flag = 1; other[1] = 2; q = 3; where = A; }
    __syncthreads();
    A[t] = Getter().get(31 - t) + flag + other[1] + q + (where == A);  // last
}
__global__ void own(float *tile) { float dynamic = 3; tile[threadIdx.x] = dynamic; }
"""


@ways
def test_shared_memory_of_every_form(how):
    A = np.arange(32, dtype=f4)
    run(how, SHARED, "every", 1, 32, [A], shared=128, no_extern_c=True)
    assert (2 * np.arange(31, -1, -1) + 7 == A).all()
    run(how, SHARED, "own", 1, 32, [A], no_extern_c=True)
    assert (A == 3).all()


def test_a_race_on_shared_memory_of_the_file_is_found():
    source = SHARED.replace("__syncthreads();", "")
    report = trace(source, "every", 1, 64 // 2, [np.arange(32, dtype=f4)], shared=128)
    assert {e["array"] for e in report.errors if e["tool"] == "racecheck"} == {
        "tile",
        "flag",
        "other",
        "q",
        "where",
    }


TEMPLATES = r"""
template <class T, int n> __device__ T total(const T *s)
{ T sum = 0; for (int i = 0; i < n; i++) sum += s[i]; return sum; }
template <class T, unsigned blockSize>
__global__ void __launch_bounds__(blockSize * (1 + 0), 2) reduce(const T *A, T *out)
{
    __shared__ T s[blockSize];
    extern __shared__ T more[];
    s[threadIdx.x] = A[threadIdx.x];
    more[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = total<T, blockSize>(s) + more[1];
}
namespace deep { namespace er {
struct Scale { float by; };
__device__ float offset = 1;
template <class T> __global__ void scale(T *A, Scale s) { A[threadIdx.x] *= s.by; }
__global__ static void plain(float *A, int n = 3) { A[threadIdx.x] = n + offset; }
} }
extern "C" __global__ void first(float *A);
extern "C" __global__ void first(float *A) { A[0] = 1; }
__global__ void index(float (*A)[16], float B[], const float *__restrict__ const C) { A[1][threadIdx.x] = B[0] + C[0]; }
#ifdef NEVER
__global__ void chosen(double *A) {
#else
__global__ void chosen(float *A, float by) {
#endif
    A[threadIdx.x] *= by;
}
"""


@ways
def test_kernels_of_templates_and_namespaces(how):
    A, out = np.arange(64, dtype=f8), np.zeros(1)
    launch = lambda name, block, args, **more: _instance(how, TEMPLATES, name, block, args, **more)  # noqa: E731
    launch("reduce<double, 64>", 64, [A, out], shared=512)
    assert out == A.sum() + 1
    A, out = np.arange(32, dtype=np.int32), np.zeros(1, np.int32)
    launch("reduce<int,32>", 32, [A, out], shared=128)
    assert out == A.sum() + 1
    F = np.ones(16, f4)
    launch("deep::er::scale<float>", 16, [F, np.array((3,), [("by", f4)])])
    assert (F == 3).all()
    for name in ("plain", "deep::er::plain"):
        launch(name, 16, [F, np.int32(7)])
        assert (F == 8).all()
    launch("first", 1, [F])
    launch("chosen", 16, [F, f4(2)])
    B = np.zeros((2, 16), f4)
    launch("index", 16, [B, F, F])
    assert F[0] == 2 and (F[1:] == 16).all() and (B[1] == 4).all()


def _instance(how, source, name, block, args, shared=0):
    if how == "traced":
        report = trace(source, name, 1, block, args, shared)
        assert report.ok, str(report)
        return
    held = [
        device.gpuarray.to_gpu(a) if isinstance(a, np.ndarray) and a.dtype.names is None else a
        for a in args
    ]
    function = device.SourceModule(source, no_extern_c=True).get_function(name)
    function(*held, grid=(1, 1), block=(block, 1, 1), shared=shared)
    for array, there in zip(args, held, strict=True):
        if there is not array:
            array[...] = there.get()


def test_an_instance_keeps_what_stands_in_variables(monkeypatch):
    source = "__device__ int x[2] = {1, 2};\n__global__ void one(int *A) { x[0] = 5; A[0] = x[1]; }\n" \
        "template <int n> __global__ void many(int *A) { A[0] = x[0] + n; }"  # fmt: skip
    A = device.gpuarray.to_gpu(np.zeros(1, np.int32))
    module = device.SourceModule(source, no_extern_c=True)
    one = module.get_function("one")
    one(A, block=(1, 1, 1))
    two, three = module.get_function("many<2>"), module.get_function("many<3>")
    for function, value in ((two, 7), (three, 8), (one, 2), (two, 7)):
        function(A, block=(1, 1, 1))
        assert A.get() == value


def test_a_template_is_named_with_its_arguments():
    with pytest.raises(BadInput, match=r"line 5: reduce is a template: .*reduce<float>"):
        trace(TEMPLATES, "reduce", 1, 64, [])
    with pytest.raises(CompileError, match=r"kernel.cu:5:\d+: error"):
        trace(TEMPLATES, "reduce<float>", 1, 64, [])
    with pytest.raises(BadInput, match="there is no kernel 'sum<float>'"):
        trace(TEMPLATES, "sum<float>", 1, 64, [])


FILE = r"""#include <stdio.h>
#include <cuda_runtime.h>
#include <helper_cuda.h>
#define CHECK(call) do { cudaError_t e = call; if (e) { printf("%s\n", cudaGetErrorString(e)); return 1; } } while (0)
__global__ void add(const float *A, const float *B, float *C, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
struct Timer { cudaEvent_t start; void begin() { cudaEventRecord(start); } };
static cudaStream_t streams[4];
void launch(float *d, int n);
cudaError_t checked(cudaError_t e, const char *file);
float reference(const float *A, int i) { return A[i]; }
void launch(float *d, int n) { add<<<(n + 255) / 256, 256>>>(d, d, d, n); }
static int twice(float *d) { launch(d, 1); launch(d, 2); return 0; }
int main(int argc, char **argv)
{
    float *d;
    CHECK(cudaMalloc(&d, 400));
    Timer timer;
    twice(d);
    return 0;
}
__noinline__ __device__ float late(float x) { __builtin_assume(x > 0); return x; }
__device__ __managed__ int total;
__global__ void after(float *A, const __grid_constant__ int n)
{ A[threadIdx.x] = late(n); if (threadIdx.x == 0) total = 1; }
"""


@ways
def test_a_whole_file_with_its_host(how):
    A, C = np.arange(8, dtype=f4), np.zeros(8, f4)
    run(how, FILE, "add", 1, 8, [A, A, C, np.int32(8)], no_extern_c=True)
    assert (C == 2 * A).all()
    run(how, FILE, "after", 1, 8, [A, np.int32(5)], no_extern_c=True)
    assert (A == 5).all()


LACKING = {
    "asm": ('asm("mov.u32 %0, %laneid;" : "=r"(n));', "inline PTX: asm"),
    "a launch": ("k<<<1, 1>>>(x, n);", "dynamic parallelism.*<<<"),
    "a texture": ("x[0] = tex2D<float>(t, 0, 0);", "textures and surfaces: tex2D"),
    "wmma of double": (
        "wmma::fragment<wmma::accumulator, 8, 8, 4, double> f;",
        "tensor-core fragments of double",
    ),
    "wmma of bits": ("wmma::experimental::precision::b1 b;", "tensor-core fragments of .*bits"),
    "thrust": ("thrust::sort(x, x + n);", "thrust"),
}


@pytest.mark.parametrize("what", LACKING)
def test_what_is_lacking_is_named_with_its_line(what):
    row, words = LACKING[what]
    with pytest.raises(BadInput, match=f"line 3: the CPU engine has no .*{words}"):
        rewrite(f"// asm <<<\n__global__ void k(float *x, int n) {{\n{row}\n}}")
    for head in (
        "#include <cub/cub.cuh>",
        "__cluster_dims__(2) __global__ void c() {}",
    ):
        with pytest.raises(BadInput, match="line 2: the CPU engine has no "):
            rewrite(f"\n{head}\n__global__ void k() {{}}")


def test_shared_memory_that_cannot_be():
    with pytest.raises(
        BadInput, match="line 2: shared memory has no first value: __shared__ int x = 0;"
    ):
        rewrite("__global__ void k() {\n__shared__ int x = 0;\n}")
    with pytest.raises(BadInput, match="line 2: extern __shared__ memory is an array: x"):
        rewrite("__global__ void k() {\nextern __shared__ int x;\n}")
