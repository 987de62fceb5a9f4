"""half and bfloat16: conversions and arithmetic are rounded once, to the nearest, as NumPy rounds float16."""

import numpy as np
import pytest
from engine_runs import needs_compiler, run

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import trace

pytestmark = needs_compiler
ways = pytest.mark.parametrize("how", ["plain", "traced"])
f2, f4, f8, u2 = np.float16, np.float32, np.float64, np.uint16
HEAD = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def bf16(values):
    """float32 values rounded to bfloat16, and back."""
    bits = np.asarray(values, f4).view(np.uint32).astype(np.uint64)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16 << 16).astype(np.uint32).view(f4)


def from_bits(stored):
    return (stored.astype(np.uint32) << 16).view(f4)


@pytest.mark.parametrize("how", ["plain", "traced", "without _Float16"])
def test_every_half_and_many_floats(how):
    source = HEAD + """__global__ void k(const half *A, float *wide, half *again, const float *F, half *H,
                                     __nv_bfloat16 *B, int n)
    {
        for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
            wide[i] = __half2float(A[i]);
            again[i] = wide[i];
            H[i] = __float2half_rn(F[i]);
            B[i] = __float2bfloat16(F[i]);
        }
    }"""  # fmt: skip
    n = 65536
    if how != "plain":
        n = 4096
    rng = np.random.default_rng(3)
    A = np.arange(65536, dtype=u2)[:: 65536 // n].view(f2)
    F = (rng.uniform(-2, 2, n) * 2.0 ** rng.integers(-30, 20, n)).astype(f4)
    F[: n // 4] = (A[: n // 4].astype(f8) + A[1 : n // 4 + 1].astype(f8)) / 2  # halfway
    F[:5] = 65519.9, 65520, -np.inf, np.nan, 2.0**-25
    wide, again, H, B = np.zeros(n, f4), np.zeros(n, f2), np.zeros(n, f2), np.zeros(n, u2)
    args = [A, wide, again, F, H, B, np.int32(n)]
    if how == "without _Float16":
        assert trace(source, "k", 16, 256, args, options=("-U__FLT16_MANT_DIG__",)).ok
    else:
        run(how, source, "k", 16, 256, args, no_extern_c=True)
    np.testing.assert_array_equal(wide, A.astype(f4))
    np.testing.assert_array_equal(again, A)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(H, F.astype(f2))
    finite = np.isfinite(F)
    np.testing.assert_array_equal(from_bits(B)[finite], bf16(F[finite]))
    assert np.isnan(from_bits(B)[3]) and np.isneginf(from_bits(B)[2])


OPERATIONS = {  # of a, b, c: the CUDA C, and what it gives, exact or as float
    "a + b": lambda a, b, c: a + b,
    "a - b": lambda a, b, c: a - b,
    "a * b": lambda a, b, c: a * b,
    "a / b": lambda a, b, c: a.astype(f4) / b.astype(f4),
    "-a": lambda a, b, c: -a,
    "__hadd(a, b)": lambda a, b, c: a + b,
    "__hmul(a, 0.5f)": lambda a, b, c: a * 0.5,
    "__hfma(a, b, c)": lambda a, b, c: a * b + c,
    "__hmax(a, b)": lambda a, b, c: np.maximum(a, b),
    "__hmin(a, b)": lambda a, b, c: np.minimum(a, b),
    "max(a, b)": lambda a, b, c: np.maximum(a, b),
    "__habs(__hneg(a))": lambda a, b, c: np.abs(a),
    "hsqrt(__habs(a))": lambda a, b, c: np.sqrt(np.abs(a).astype(f4)),
    "hexp(a)": lambda a, b, c: np.exp(a),
    "hrcp(a)": lambda a, b, c: 1 / a.astype(f4),
    "htrunc(a)": lambda a, b, c: np.trunc(a),
    "T(a < b) + T(a == b) + T(__hge(a, c))": lambda a, b, c: (a < b) * 1.0 + (a == b) + (a >= c),
    "__hlt(a, b) ? a : b": lambda a, b, c: np.where(a < b, a, b),
    "T((int)a)": lambda a, b, c: np.trunc(a),
    "x": lambda a, b, c: a,
    "__low2float(two) + __high2float(two)": lambda a, b, c: a.astype(f4) + b.astype(f4),
    "(two + two2).y": lambda a, b, c: b + a,
    "__hmul2(two, two2).x": lambda a, b, c: a * b,
    "__hfma2(two, two2, two).y": lambda a, b, c: a * b + b,
    "h2exp(two).x": lambda a, b, c: np.exp(a),
    "sum(a, b)": lambda a, b, c: a + b,
}


def computed(how, kind, stored):
    """{expression: its values as bits}."""
    rows = [f"out[{k} * n + t] = {e};" for k, e in enumerate(OPERATIONS)]
    source = HEAD + f"""typedef {kind} T;
    typedef {kind}2 T2;
    __device__ T sum(T a, T b) {{ T s = 0; s += a; s += b; return s; }}
    __global__ void k(const T *A, const T *B, const T *C, T *out, int n)
    {{
        int t = threadIdx.x;
        T a = A[t], b = B[t], c = C[t];
        float x = a;
        T2 two = {{a, b}}, two2(b, a);
        {' '.join(rows)}
    }}"""  # fmt: skip
    out = np.zeros((len(OPERATIONS), stored[0].size), u2)
    run(
        how,
        source,
        "k",
        1,
        stored[0].size,
        [*stored, out, np.int32(stored[0].size)],
        no_extern_c=True,
    )
    return dict(zip(OPERATIONS, out, strict=True))


@ways
@pytest.mark.parametrize("kind", ["__half", "__nv_bfloat16"])
def test_arithmetic(how, kind):
    rng = np.random.default_rng(5)
    real = (rng.uniform(-9, 9, (3, 64)) * 2.0 ** rng.integers(-4, 1, (3, 64))).astype(f4)
    real[:, 0] = 1.5, 683 / 1024, 2.0**-24  # just above halfway: two roundings would go down
    real[1, 1] = real[0, 1]
    small = kind == "__half"
    values = real.astype(f2).astype(f8) if small else bf16(real).astype(f8)
    stored = [
        row.astype(f2).view(u2) if small else (row.astype(f4).view(np.uint32) >> 16).astype(u2)
        for row in values
    ]
    got = computed(how, kind, stored)
    for expression, wanted in OPERATIONS.items():
        want = np.asarray(wanted(*values))
        want = want.astype(f2).astype(f8) if small else bf16(want.astype(f4)).astype(f8)
        value = got[expression].view(f2) if small else from_bits(got[expression])
        close = 2.0**-10 if "exp" in expression else 0
        np.testing.assert_allclose(value.astype(f8), want, close, 0, err_msg=expression)


PAIRS = (
    HEAD
    + """
__global__ void k(const half2 *A, half2 *B, half *sum, half2 *both, __nv_bfloat162 *C, half scale)
{
    int t = threadIdx.x;
    half2 v = A[t];
    float2 f = __half22float2(v);
    B[t] = __hmul2(__float22half2_rn(make_float2(f.y, f.x)), __half2half2(scale));
    atomicAdd(sum, __low2half(v));
    atomicAdd(both, __halves2half2(__high2half(v), 1));
    C[t] = __floats2bfloat162_rn(f.x, f.y) + __float2bfloat162_rn(1.0f);
    half s = v.x;
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (t == 0 && s != half(0)) B[32] = half2(s, __int2half_rn(__half2int_rn(s)));
}
"""
)


@ways
def test_pairs_atomics_and_scalars(how):
    A = np.arange(64, dtype=f2).reshape(32, 2)
    B, total, both, C = (
        np.zeros((33, 2), f2),
        np.zeros(1, f2),
        np.zeros(2, f2),
        np.zeros((32, 2), u2),
    )
    run(how, PAIRS, "k", 1, 32, [A, B, total, both, C, f2(3)], no_extern_c=True)
    assert (B[:32] == 3 * A[:, ::-1]).all() and (B[32] == A[:, 0].sum()).all()
    assert total == A[:, 0].sum() and (both == [A[:, 1].sum(), 32]).all()
    assert (from_bits(C) == A.astype(f4) + 1).all()


def test_a_pair_moves_as_one_access():
    A = np.arange(64, dtype=f2).reshape(32, 2)
    report = trace(
        PAIRS,
        "k",
        1,
        32,
        [A, np.zeros((33, 2), f2), np.zeros(1, f2), np.zeros(2, f2), np.zeros((32, 2), u2), f2(3)],
    )
    rows = {(row["array"], row["op"]): (row["requests"], row["bytes"]) for row in report.accesses}
    assert rows["A", "load"] == (1, 128) and rows["C", "store"] == (1, 128)
    assert rows["sum", "atomic"] == (1, 64) and rows["both", "atomic"] == (1, 128)


def test_a_scalar_half_is_a_float16():
    with pytest.raises(
        BadInput, match=r"scale is a floating-point number of 2 bytes: pass np.float16\(...\)"
    ):
        trace(PAIRS, "k", 1, 32, [None] * 5 + [f4(3)])
