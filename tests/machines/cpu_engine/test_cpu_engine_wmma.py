"""Fragments of tensor cores: every type, shape and layout bit for bit; shares of lanes; what moves; what is told."""

import re

import numpy as np
import pytest
from engine_runs import line, needs_compiler, run

from course_lib.errors import BadInput
from course_lib.machines.cpu_engine import CompileError, trace

pytestmark = needs_compiler
ways = pytest.mark.parametrize("how", ["plain", "traced"])
f2, f4, u2, u4 = np.float16, np.float32, np.uint16, np.uint32
HEAD = "#include <mma.h>\nusing namespace nvcuda;\n"
PRODUCT = """
template <int M, int N, int K, class T, class S, class LA, class LB>
__device__ void product(const typename wmma::fragment<wmma::matrix_a, M, N, K, T, LA>::storage_element_type *A,
                        const typename wmma::fragment<wmma::matrix_b, M, N, K, T, LB>::storage_element_type *B,
                        const S *C, S *D, int lda, int ldb, int ldc, int ldd, wmma::layout_t c, wmma::layout_t d)
{
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> a;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> b;
    wmma::fragment<wmma::accumulator, M, N, K, S> sum;
    wmma::load_matrix_sync(a, A, lda);
    wmma::load_matrix_sync(b, B, ldb);
    wmma::load_matrix_sync(sum, C, ldc, c);
    wmma::mma_sync(sum, a, b, sum);
    wmma::store_matrix_sync(D, sum, ldd, d);
}
"""
TYPES = {  # CUDA's names of an element, in memory and as a fragment, and the accumulators
    "half": ("half", "half", "float"),
    "half into half": ("half", "half", "half"),
    "bfloat16": ("__nv_bfloat16", "__nv_bfloat16", "float"),
    "tf32": ("float", "wmma::precision::tf32", "float"),
}
SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]


def stored(X, order, pad=0):
    """X as rows or columns with a gap of `pad` elements between them, and their distance."""
    rows = X if order == "r" else X.T
    memory = np.zeros((rows.shape[0], rows.shape[1] + pad), X.dtype)
    memory[:, : rows.shape[1]] = rows
    return memory, np.int32(memory.shape[1])


def shortened(X, bits):
    """float32 without its last bits: bfloat16 keeps 16 of 32, tf32 19."""
    return (np.asarray(X, f4).view(u4) >> bits << bits).view(f4)


def summed(A, B, C):
    """C + a1 b1 + a2 b2 + ..., each sum rounded to float32."""
    D = np.array(C, f4)
    for k in range(A.shape[1]):
        D = (D.astype(float) + np.outer(A[:, k].astype(float), B[k].astype(float))).astype(f4)
    return D


def given(kind, M, N, K, seed):
    """A, B, C as float32 that the types hold exactly, and what they are in memory."""
    rng = np.random.default_rng(seed)
    A, B, C = (rng.standard_normal(shape, f4) for shape in ((M, K), (K, N), (M, N)))
    if kind.startswith("half"):
        memory = A, B, C = A.astype(f2), B.astype(f2), C.astype(f2 if kind != "half" else f4)
        return (A.astype(f4), B.astype(f4), C.astype(f4)), memory
    A, B = (shortened(X, 16 if kind == "bfloat16" else 13) for X in (A, B))
    packed = [(X.view(u4) >> 16).astype(u2) for X in (A, B)] if kind == "bfloat16" else [A, B]
    return (A, B, C), (*packed, C)


@ways
@pytest.mark.parametrize("kind", TYPES)
def test_every_shape_and_layout_bit_for_bit(how, kind):
    memory, T, S = TYPES[kind]
    shapes = [(16, 16, 8)] if kind == "tf32" else SHAPES
    name = {"r": "row_major", "c": "col_major"}
    calls, source = [], HEAD + PRODUCT
    for M, N, K in shapes:
        for a, b, c, d in ("rrrr", "rccr", "crrc", "cccc"):
            calls.append((f"k{len(calls)}", (M, N, K), a, b, c, d))
            arguments = f"A, B, C, D, lda, ldb, ldc, ldd, wmma::mem_{name[c]}, wmma::mem_{name[d]}"
            source += f"""extern "C" __global__ void {calls[-1][0]}(const {memory} *A, const {memory} *B, const {S} *C,
                {S} *D, int lda, int ldb, int ldc, int ldd)
            {{ product<{M}, {N}, {K}, {T}, {S}, wmma::{name[a]}, wmma::{name[b]}>({arguments}); }}\n"""
    for seed, (kernel, (M, N, K), a, b, c, d) in enumerate(calls):
        values, raw = given(kind, M, N, K, seed)
        wanted = summed(*values).astype(raw[2].dtype)
        (A, lda), (B, ldb), (C, ldc) = (
            stored(X, o, 8) for X, o in zip(raw, (a, b, c), strict=True)
        )
        D, ldd = stored(np.zeros((M, N), raw[2].dtype), d, 16)
        run(how, source, kernel, 1, 32, [A, B, C, D, lda, ldb, ldc, ldd], no_extern_c=True)
        got = (D if d == "r" else D.T)[:M, :N]
        np.testing.assert_array_equal(got, wanted, err_msg=f"{kernel} {M}x{N}x{K} {a}{b}{c}{d}")
        assert not (D[:, -16:]).any()


@ways
def test_every_element_is_the_share_of_one_lane(how):
    source = HEAD + """
    extern "C" __global__ void k(const half *A, float *seen, int *many)
    {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::load_matrix_sync(a, A, 16);
        for (int i = 0; i < a.num_elements; i++) seen[threadIdx.x * a.num_elements + i] = a.x[i];
        many[threadIdx.x] = a.num_elements;
    }"""  # fmt: skip
    seen, many = np.zeros(256, f4), np.zeros(32, np.int32)
    run(how, source, "k", 1, 32, [np.arange(256, dtype=f2), seen, many], no_extern_c=True)
    assert sorted(seen) == list(range(256)) and (many == 8).all()
    assert list(seen[:8]) == [0, 1, 128, 129, 8, 9, 136, 137]  # lane 0 in PTX's mma.m16n8k16
    assert list(seen[8 * 5 : 8 * 5 + 2]) == [18, 19]  # lane 5: row 1, columns 2 and 3


@ways
def test_rounding_to_tf32(how):
    source = HEAD + """extern "C" __global__ void k(float *x) {
        x[threadIdx.x] = wmma::__float_to_tf32(x[threadIdx.x]);
    }"""  # fmt: skip
    x = np.random.default_rng(2).standard_normal(32, f4)
    x[:6] = 1 + 2.0**-11, 1 + 2.0**-11 - 2.0**-23, -1 - 2.0**-11, np.inf, 0, np.nan
    rounded = ((x.view(u4) + 0x1000) & ~u4(0x1FFF)).view(f4)
    rounded[5] = np.nan
    run(how, source, "k", 1, 32, [x], no_extern_c=True)
    np.testing.assert_array_equal(x, rounded)
    assert list(x[:4]) == [1 + 2.0**-10, 1, -1 - 2.0**-10, np.inf]  # a tie goes away from 0


def test_what_moves():
    """8 rows of 16 bytes are a request: 8 sectors of global memory; of shared memory 1 wavefront, or 8 of one bank."""
    source = HEAD + """
    extern "C" __global__ void k(const half *A, const half *B, float *D, float *E)
    {
        __shared__ __align__(32) half wide[16][64], padded[16][72];
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        for (int t = threadIdx.x; t < 1024; t += 32) wide[t / 64][t % 64] = padded[t / 64][t % 64] = A[t];
        __syncwarp();
        wmma::load_matrix_sync(a, A, 64);  // A
        wmma::load_matrix_sync(b, B, 64);  // B
        wmma::load_matrix_sync(b, &wide[0][0], 64);  // wide
        wmma::load_matrix_sync(b, &padded[0][0], 72);  // padded
        wmma::fill_fragment(sum, 0.0f);
        wmma::mma_sync(sum, a, b, sum);
        wmma::store_matrix_sync(D, sum, 16, wmma::mem_row_major);  // rows
        wmma::store_matrix_sync(E, sum, 16, wmma::mem_col_major);  // columns
    }"""  # fmt: skip
    A = np.ones((16, 64), f2)
    report = trace(source, "k", 1, 32, [A, A.copy(), np.zeros(256, f4), np.zeros(256, f4)])
    assert report.ok, str(report)
    counts = {}
    for mark in ("A", "B", "wide", "padded", "rows", "columns"):
        (row,) = (row for row in report.accesses if row["line"] == line(source, mark))
        counts[mark] = [
            row[what] for what in ("requests", "bytes", "sectors", "wavefronts", "max_way")
        ]
    assert counts["A"] == counts["B"] == [4, 512, 32, 0, 0]
    assert counts["wide"] == [4, 512, 0, 32, 8] and counts["padded"] == [4, 512, 0, 4, 1]
    assert counts["rows"] == [4, 1024, 32, 0, 0]  # 8 rows of 32 bytes
    assert counts["columns"] == [8, 1024, 32, 0, 0]  # one float a lane: 4 columns of 32 bytes


BUGGY = HEAD + """
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> TileA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> TileB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> Sum;
extern "C" __global__ void k(const half *A, float *D, int which)
{
    __shared__ __align__(32) half tile[16][24];
    TileA a;
    TileB b;
    Sum sum;
    wmma::fill_fragment(sum, 0.0f);
    if (which == 0) wmma::mma_sync(sum, a, b, sum);  // unset
    if (which == 1 && threadIdx.x < 40) wmma::load_matrix_sync(a, A, 16);  // divergent
    if (which == 2) wmma::load_matrix_sync(a, A, 20);  // leading
    if (which == 3) wmma::load_matrix_sync(a, A + 8, 16);  // aligned
    if (which == 4) wmma::load_matrix_sync(a, A + 512, 16);  // outside
    if (which == 5) wmma::load_matrix_sync(a, A + threadIdx.x % 2 * 16, 16);  // lanes
    if (which == 6) {
        for (int t = threadIdx.x; t < 256; t += 64) tile[t / 16][t % 16] = A[t];
        wmma::load_matrix_sync(a, &tile[0][0], 24);  // race
    }
    D[threadIdx.x] = sum.x[0];
}
"""  # fmt: skip
TOLD = [
    ("unset", "initcheck", "a", 64, r"the fragment `a` \(matrix_a\), which was never loaded"),
    ("divergent", "synccheck", "", 24, "24 threads of block .* have returned when the others reach "
     "this warp-wide call|24 threads of block .* went past this warp-wide call"),
    ("leading", "memcheck", "A", 64, "leading dimension for a fragment of `A`"),
    ("aligned", "memcheck", "A", 64, r"address of A\[8\] for a fragment: .* multiple of 32 bytes"),
    ("outside", "memcheck", "A", None, r"A\[512\], which has 512 elements: outside of it"),
    ("lanes", "memcheck", "A", 64, "another address or leading dimension for a fragment of `A`"),
    ("race", "racecheck", "tile", None, "tile.* is read by thread .* and written in line"),
]  # fmt: skip


@pytest.mark.parametrize("which", range(len(TOLD)))
def test_misuse_is_told_with_tool_line_array_and_lanes(which):
    mark, tool, array, count, words = TOLD[which]
    report = trace(BUGGY, "k", 1, 64, [np.ones(512, f2), np.zeros(64, f4), np.int32(which)])
    first = report.errors[0]
    assert (first["tool"], first["array"], first["line"]) == (tool, array, line(BUGGY, mark))
    assert count is None or first["count"] == count
    assert re.search(words, first["message"]), first["message"]


def test_lanes_apart_end_and_do_not_crash():
    """Of a warp whose lanes call different functions nobody goes on; the warp beside it does."""
    source = HEAD + """
    extern "C" __global__ void k(const half *A, float *D)
    {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::fill_fragment(sum, 1.0f);
        wmma::load_matrix_sync(b, A, 16);
        if (threadIdx.x < 5) wmma::load_matrix_sync(a, A, 16); else wmma::mma_sync(sum, a, b, sum);
        D[threadIdx.x] = sum.x[0];
    }"""  # fmt: skip
    D = np.zeros(32, f4)
    report = trace(source, "k", 1, 32, [np.ones(256, f2), D])
    assert {error["tool"] for error in report.errors} == {"synccheck", "initcheck"} and not D.any()


REFUSED = {
    "wmma::mma_sync(sum, b, a, sum);": "wants an accumulator, a matrix_a, a matrix_b and an accumulator, in this order",
    "wmma::mma_sync(sum, tall, b, sum);": "wants four fragments of the same M, N, K",
    "wmma::mma_sync(sum, brain, b, sum);": "wants A and B of one type",
    "wmma::mma_sync(small, brain, brains, small);": "wants A and B of one type; but for half, C and D are float",
    "wmma::load_matrix_sync(sum, D, 16);": "an accumulator is loaded with a layout",
    "wmma::load_matrix_sync(a, A, 16, wmma::mem_row_major);": "has its layout in its type",
    "wmma::store_matrix_sync(H, a, 16, wmma::mem_row_major);": "only an accumulator can be stored",
    "wmma::fragment<wmma::matrix_a, 16, 16, 8, half, wmma::row_major> x; x.x[0] = 0;": "fragments of the shapes",
    "wmma::fragment<wmma::matrix_a, 16, 16, 16, half> x; x.x[0] = 0;": "has a layout, row_major or col_major",
    "wmma::fragment<wmma::accumulator, 16, 16, 16, short> x; x.x[0] = 0;": "accumulators of float or half",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_a_wrong_fragment_does_not_compile_and_the_message_says_why(statement):
    source = HEAD + """extern "C" __global__ void k(const half *A, half *H, float *D)
    {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_a, 32, 8, 16, half, wmma::row_major> tall;
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> brain;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> brains;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::fragment<wmma::accumulator, 16, 16, 16, half> small;
""" + f"        {statement}\n    }}"  # fmt: skip
    number = source.count("\n")
    with pytest.raises(CompileError, match=rf"kernel\.cu:{number}:.*{REFUSED[statement]}"):
        trace(source, "k", 1, 32, [None, None, None])


@pytest.mark.parametrize(
    "fragment",
    [
        "wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> a;",
        "wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;",
        "wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> a;",
    ],
)
def test_what_the_engine_lacks_is_named(fragment):
    source = HEAD + f'extern "C" __global__ void k(int *p)\n{{\n    {fragment}\n}}'
    with pytest.raises(BadInput, match="line 5: the CPU engine has no tensor-core fragments of"):
        trace(source, "k", 1, 32, [None])
