"""The GEMM ladder: right against float64, clean under the tracer, and as costly as its arithmetic says."""

import itertools

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.errors import BadInput
from course_lib.gpu import device, gemm_cost, trace_gemm
from course_lib.gpu.gemm import RUNGS, gemm, gemm_numpy
from course_lib.machines.cpu_engine import trace

pytest_plugins = ["gpu_engine"]  # the fixture `engine`
SHAPES = [
    (1, 1, 1),
    (2, 3, 5),
    (70, 50, 37),
    (1, 130, 9),
    (130, 1, 33),
    (65, 17, 4),
    (64, 16, 8),
    (63, 15, 3),
]
EDGES = {
    "naive": (8, 32, 1),
    "shared": (32, 32, 32),
    "register_16x4": (64, 16, 4),
    "register_8x8": (128, 128, 8),
    "vector_8x8": (128, 128, 8),
    "buffered_8x8": (128, 128, 8),
    "warptile": (128, 128, 16),
    "async": (128, 128, 16),
}
ORDERS = ["".join(orders) for orders in itertools.product("CF", repeat=3)]


def matrices(M, N, K, seed=0):
    """A, B, C: float32, random."""
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))


def check(D, A, B, C=None, alpha=1, beta=0):
    """Each sum of K products is rounded K + 2 times at most, by half a unit in the last place.  NaN fails."""
    wide = [X if X is None else X.astype(np.float64) for X in (A, B, C)]
    expected = gemm_numpy(*wide, alpha, beta)
    size = abs(alpha) * (np.abs(wide[0]) @ np.abs(wide[1])) + (abs(beta * wide[2]) if beta else 0)
    assert D.shape == expected.shape and D.dtype == np.float32
    assert (np.abs(D - expected) <= (A.shape[1] + 3) * 2.0**-23 * size).all()


@pytest.mark.parametrize("kernel", RUNGS)
def test_right_for_ragged_shapes_and_around_the_tile(engine, kernel):
    m, n, k = EDGES[kernel]
    around = [
        (m + dm, n + dn, k + dk)
        for dm, dn, dk in ((0, 0, 0), (1, 1, 1), (-1, -1, -1), (1, -1, 0), (-1, 1, 1))
    ]
    for M, N, K in SHAPES + [shape for shape in around if 0 not in shape]:
        A, B, C = matrices(M, N, K)
        check(gemm(A, B, kernel=kernel), A, B)
        check(gemm(A, B, C, 1.5, -0.5, kernel), A, B, C, 1.5, -0.5)


@pytest.mark.parametrize("kernel", RUNGS)
def test_right_for_every_order_transposed_and_cut_out(engine, kernel):
    A, B, C = matrices(75, 41, 39)
    for a, b, c in ORDERS:
        check(
            gemm(
                np.asarray(A, order=a), np.asarray(B, order=b), np.asarray(C, order=c), 2, 1, kernel
            ),
            A,
            B,
            C,
            2,
            1,
        )
    check(gemm(B.T, A.T, kernel=kernel), B.T, A.T)
    check(gemm(A[3:20, 5:], B[5:, ::2], kernel=kernel), A[3:20, 5:], B[5:, ::2])


@pytest.mark.parametrize("kernel", RUNGS)
def test_beta_zero_does_not_read_c(engine, kernel):
    A, B, C = matrices(33, 47, 21)
    on_device = device.gpuarray.to_gpu(np.full_like(C, np.nan))
    D = gemm(device.gpuarray.to_gpu(A), device.gpuarray.to_gpu(B), on_device, kernel=kernel)
    assert D is on_device
    check(D.get(), A, B)
    check(gemm(A, B, np.full_like(C, np.nan), kernel=kernel), A, B)


@pytest.mark.parametrize("kernel", RUNGS)
def test_device_arrays_stay_and_c_becomes_d(engine, kernel):
    A, B, C = matrices(20, 30, 40)
    left, right, onto = (device.gpuarray.to_gpu(X) for X in (A, B, C))
    D = gemm(left, right, onto, 0.5, 2, kernel)
    assert D is onto
    check(D.get(), A, B, C, 0.5, 2)
    check(gemm(right.T, left.T, kernel=kernel).get(), B.T, A.T)
    check(
        gemm(left, right, device.gpuarray.to_gpu(np.asfortranarray(C)), 1, 1, kernel).get(),
        A,
        B,
        C,
        1,
        1,
    )
    assert (left.get() == A).all() and (right.get() == B).all()


def test_host_c_is_not_changed(engine):
    A, B, C = matrices(5, 6, 7)
    before = C.copy()
    gemm(A, B, C, 1, 1)
    assert (before == C).all()


@pytest.mark.parametrize("kernel", RUNGS)
def test_not_a_number_stays_in_its_row_and_column(engine, kernel):
    A, B, _ = matrices(37, 35, 13)
    A[7], B[:, 9] = np.nan, np.inf
    D = gemm(A, B, kernel=kernel)
    kept = np.delete(np.delete(D, 7, 0), 9, 1)
    assert np.isnan(D[7]).all() and not np.isfinite(D[:, 9]).any()
    check(kept, np.delete(A, 7, 0), np.delete(B, 9, 1))


def stored(X, order, pad):
    """(memory, stride of rows, stride of columns): gaps of `pad` between rows (columns), where NaN lies."""
    lines = X if order == "C" else X.T
    memory = np.full((lines.shape[0], lines.shape[1] + pad), np.nan, np.float32)
    memory[:, : lines.shape[1]] = lines
    strides = (memory.shape[1], 1) if order == "C" else (1, memory.shape[1])
    return memory.ravel(), *strides


def seen(memory, shape, order, pad):
    lines = memory.reshape(shape[0 if order == "C" else 1], -1)
    assert pad == 0 or np.isnan(lines[:, -pad:]).all(), "something was written between the rows"
    lines = lines[:, : lines.shape[1] - pad]
    return lines if order == "C" else lines.T


@pytest.mark.parametrize("kernel", RUNGS)
def test_leading_dimensions(engine, kernel):
    A, B, C = matrices(21, 34, 19)
    for (a, b, c), pad in zip(ORDERS, (0, 1, 2, 3, 4, 5, 8, 0), strict=True):
        on_device = [stored(X, order, pad) for X, order in ((A, a), (B, b), (C, c))]
        left, right, onto = [
            (device.gpuarray.to_gpu(memory), *strides) for memory, *strides in on_device
        ]
        out = device.gpuarray.to_gpu(np.full_like(on_device[2][0], np.nan))
        RUNGS[kernel].launch(21, 34, 19, 1.5, left, right, 0.25, onto, (out, *onto[1:]))
        check(np.array(seen(out.get(), C.shape, c, pad)), A, B, C, 1.5, 0.25)


def traced(kernel, M, N, K, orders, beta=0.0, pad=None):
    """The tracer's report of one launch. Without `pad`, every row or column begins on a sector of 32 bytes."""
    rung, (A, B, C) = RUNGS[kernel], matrices(M, N, K)
    lines = [X if order == "C" else X.T for X, order in zip((A, B, C), orders, strict=True)]
    gaps = [-X.shape[1] % 8 if pad is None else pad for X in lines]
    a, b, c = (stored(X, order, gap) for X, order, gap in zip((A, B, C), orders, gaps, strict=True))
    D, numbers = np.full_like(c[0], np.nan), lambda X: (X[0], *map(np.int32, X[1:]))
    if not beta:
        c[0][:] = np.nan
    sizes, scales = map(np.int32, (M, N, K)), (np.float32(1.5), np.float32(beta))
    args = [*sizes, scales[0], *numbers(a), *numbers(b), scales[1], c[0], *numbers((D, *c[1:]))]
    report = trace(rung.source, f"gemm_{kernel}", rung.grid(M, N), rung.block, args)
    check(np.array(seen(D, (M, N), orders[2], gaps[2])), A, B, C, 1.5, beta)
    return report


@needs_compiler
@pytest.mark.parametrize("kernel", RUNGS)
def test_the_tracer_finds_nothing(kernel):
    """No race, no access outside, nothing read unset (C with beta = 0!), and no bank conflict, in any storage order."""
    for number, orders in enumerate(ORDERS):
        report = traced(kernel, 66, 35, 21, orders, beta=number % 2, pad=number % 5)
        assert report.ok, f"{orders}: {report}"
        assert {row["max_way"] for row in report.accesses if row["space"] == "shared"} <= {1}, (
            f"{orders}: {report}"
        )


@needs_compiler
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (64, 32, 8), (70, 50, 37), (130, 133, 21), (33, 131, 66), (257, 128, 112)]
)
@pytest.mark.parametrize("kernel", RUNGS)
def test_cost_model_is_what_the_engine_counts(kernel, shape):
    orders = "FFF" if RUNGS[kernel].by_columns else "CCC"
    for beta in (0.0, 0.5):
        report, cost = traced(kernel, *shape, orders, beta), gemm_cost(kernel, *shape, beta)
        for array in ("A", "B", "D", *(["C"] if beta else [])):
            assert (
                report.total("requests", space="global", array=array) == cost["requests"][array]
            ), array
            assert report.total("sectors", space="global", array=array) == cost["sectors"][array], (
                array
            )
        assert report.total("sectors", space="global") * 32 == cost["bytes"]
        assert report.total("wavefronts", space="shared") == cost["wavefronts"]


def sectors_a_request(report, array):
    return report.total("sectors", array=array) / report.total("requests", array=array)


@needs_compiler
def test_section_4_2_wants_its_operands_by_columns():
    """[003] 4.2: neighbouring threads own neighbouring rows of A. By rows, these lie apart: 32 sectors, not 4."""
    by_rows, by_columns = (traced("register_16x4", 128, 32, 16, order * 3) for order in "CF")
    assert sectors_a_request(by_rows, "A") == 32 and sectors_a_request(by_columns, "A") == 4
    assert sectors_a_request(by_rows, "D") == 32 and sectors_a_request(by_columns, "D") == 4
    assert (
        by_rows.total("requests", array="A")
        == by_columns.total("requests", array="A")
        == 4 * 16 * 2
    )


def test_gemm_gives_each_rung_the_order_that_it_wants(monkeypatch):
    """For arrays stored by rows the operands of register_16x4 change places, so that its loads of A are coalesced."""
    asked = {}
    monkeypatch.setattr(device, "_engine", lambda: Recorder(asked))
    A, B, _ = matrices(6, 5, 4)
    for kernel in RUNGS:
        gemm(A, B, kernel=kernel)
    assert asked["gemm_naive"] == asked["gemm_warptile"] == (6, 5, 4, (4, 1), (5, 1), (5, 1))
    assert asked["gemm_register_16x4"] == (5, 6, 4, (1, 5), (1, 4), (1, 5))


class Recorder:
    """An engine that notes what a kernel is launched with, and computes nothing."""

    def __init__(self, asked):
        self.asked, self.NAMESPACES, self.NAME = asked, (self,), "recorder"
        self.SourceModule, self.gpuarray = lambda source: self, self

    def get_function(self, name):
        def launch(M, N, K, alpha, A, ar, ac, B, br, bc, beta, C, D, cr, cc, block, grid):
            self.asked[name] = (M, N, K, (ar, ac), (br, bc), (cr, cc))

        return launch

    def to_gpu(self, X):
        return X

    def empty(self, shape, dtype):
        return On(np.empty(shape, dtype))


class On:
    def __init__(self, X):
        self.strides, self.get = X.strides, lambda: X


def needed(report, kernel, *sizes):
    cost = gemm_cost(kernel, *sizes)
    return {name: report.total("sectors", space="global", array=name) for name in "ABD"} == cost[
        "sectors"
    ]


@needs_compiler
@pytest.mark.parametrize("kernel", RUNGS)
def test_trace_gemm_is_gemm_with_a_report(kernel):
    A, B, C = matrices(40, 24, 16)
    D, report = trace_gemm(A, B, kernel=kernel)
    check(D, A, B)
    assert report.ok and D.flags.c_contiguous
    assert needed(report, kernel, *((24, 40, 16) if RUNGS[kernel].by_columns else (40, 24, 16)))
    kept = C.copy()
    D, report = trace_gemm(A, B, C, 1.5, -0.5, kernel)
    check(D, A, B, C, 1.5, -0.5)
    assert report.ok and (kept == C).all()
    assert report.total("bytes", array="C") == report.total("bytes", array="D") == C.nbytes
    D, report = trace_gemm(A.T.copy().T, B[:, ::-1], np.asfortranarray(C), kernel=kernel)
    check(D, A, B[:, ::-1])
    assert report.ok and D.flags.f_contiguous and not D.flags.c_contiguous


@needs_compiler
def test_trace_gemm_without_changing_places():
    """Where D is stored by columns, register_16x4 gets A as A: 4 sectors by columns, 32 by rows ([003] 4.2)."""
    A, B, C = (np.asfortranarray(X) for X in matrices(64, 16, 8))
    assert sectors_a_request(trace_gemm(A, B, C)[1], "A") == 4
    assert sectors_a_request(trace_gemm(np.ascontiguousarray(A), B, C)[1], "A") == 32


@needs_compiler
def test_trace_gemm_of_one_matrix_with_itself():
    A = matrices(9, 9, 9)[0]
    D, report = trace_gemm(A, A.T, kernel="naive")
    check(D, A, A.T)
    assert {row["array"] for row in report.accesses} == {"A", "B", "D"}


def test_trace_gemm_takes_numpy_arrays():
    A, B, _ = matrices(2, 3, 4)
    with pytest.raises(BadInput, match="there is no kernel 'fast'"):
        trace_gemm(A, B, kernel="fast")
    with pytest.raises(BadInput, match="not device arrays"):
        trace_gemm(A, On(B))


WRONG = [
    ({"kernel": "fast"}, "no kernel 'fast'"),
    ({"A": np.ones((2, 3))}, "A must be a float32 matrix"),
    ({"B": np.ones(3, np.float32)}, "B must be a float32 matrix"),
    ({"B": np.ones((4, 2), np.float32)}, "A has 3 columns and B 4 rows"),
    ({"C": np.ones((3, 2), np.float32), "beta": 1}, r"C must have shape \(2, 2\)"),
    ({"beta": 1}, "there is no C"),
    ({"A": [[1.0]]}, "A must be a NumPy array or a device array"),
    ({"A": np.ones((0, 3), np.float32)}, "elements in it"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_bad_input(change, words):
    good = {"A": np.ones((2, 3), np.float32), "B": np.ones((3, 2), np.float32)}
    with pytest.raises(BadInput, match=words):
        gemm(**{**good, **change})


def test_d_may_not_be_written_over_a_or_b(engine):
    square = device.gpuarray.to_gpu(np.eye(3, dtype=np.float32))
    other = device.gpuarray.to_gpu(np.eye(3, dtype=np.float32))
    for A, B in ((square, other), (other, square.T)):
        with pytest.raises(BadInput, match="shares its memory"):
            gemm(A, B, square)


def test_too_large_for_32_bits():
    class Large:
        shape, strides, dtype, gpudata = (2**24, 2**24), (2**26, 4), np.float32, None

    with pytest.raises(BadInput, match="too large"):
        gemm(Large(), Large(), Large())


PLANTED = [  # kernel, what is replaced, with what, the tool that must find it
    ("naive", "k < K", "k <= K", "memcheck"),
    ("naive", "i >= M || j >= N", "i > M || j > N", "memcheck"),
    ("naive", "beta == 0 ?", "beta > 9 ?", "initcheck"),
    ("shared", "__syncthreads();  // read", "// read", "racecheck"),
    ("shared", "__syncthreads();  // write", "// write", "racecheck"),
    ("shared", "k0 + ak < K", "k0 + ak <= K", "memcheck"),
    ("register_16x4", "__syncthreads();  // read", "// read", "racecheck"),
    ("register_16x4", "__syncthreads();  // write", "// write", "racecheck"),
    ("register_16x4", "if (j0 + j < N)", "if (j0 + j <= N)", "memcheck"),
    ("register_8x8", "__syncthreads();  // read", "// read", "racecheck"),
    ("register_8x8", "__syncthreads();  // write", "// write", "racecheck"),
    ("register_8x8", "i0 + i < M && k0 + k < K", "i0 + i <= M && k0 + k < K", "memcheck"),
    ("register_8x8", "if (i < M && j < N)", "if (i < M && j <= N)", "memcheck"),
    ("register_8x8", "beta == 0 ?", "beta > 9 ?", "initcheck"),
    ("vector_8x8", "__syncthreads();  // read", "// read", "racecheck"),
    ("vector_8x8", "__syncthreads();  // write", "// write", "racecheck"),
    ("vector_8x8", "left >= 4 && (size_t)p % 16 == 0", "left >= 4", "memcheck"),
    ("vector_8x8", "if (beta != 0)", "if (beta != 1)", "initcheck"),
    ("buffered_8x8", "__syncthreads();", "", "racecheck"),
    ("buffered_8x8", "now ^= 1", "now ^= 0", "racecheck"),
    ("buffered_8x8", "if (beta != 0)", "if (beta != 1)", "initcheck"),
    ("warptile", "__syncthreads();  // read", "// read", "racecheck"),
    ("warptile", "a_tile[now ^ 1], A + next", "a_tile[now], A + next", "racecheck"),
    ("warptile", "if (beta != 0)", "if (beta != 1)", "initcheck"),
    ("async", "__syncthreads();  // read", "// read", "racecheck"),
    ("async", "b_tile[now ^ 1], A + next", "b_tile[now], A + next", "racecheck"),
    ("async", "beta == 0 ?", "beta > 9 ?", "initcheck"),
    ("async", "ai < rows && ak < ks", "ai <= rows && ak < ks", "memcheck"),
]
WALKS = [  # the same, in the loop for whole tiles
    ("warptile", "if (h == 0) __syncthreads();", "", "racecheck"),
    ("warptile", "a_tile[now ^ 1], a, t", "a_tile[now], a, t", "racecheck"),
    ("async", "__pipeline_wait_prior(0);  // for this", "// for this", "initcheck"),
    ("async", "__syncthreads();           // as", "// as", "racecheck"),
    ("async", "copy16(a_tile[now ^ 1]", "copy16(a_tile[now]", "racecheck"),
]


@needs_compiler
@pytest.mark.parametrize(("kernel", "old", "new", "tool"), PLANTED)
def test_planted_mistakes_are_found(monkeypatch, kernel, old, new, tool):
    source = RUNGS[kernel].source
    assert source.count(old) == 1
    monkeypatch.setattr(type(RUNGS[kernel]), "source", source.replace(old, new))
    monkeypatch.setitem(
        globals(), "check", lambda *result: None
    )  # many of them compute right numbers
    report = traced(kernel, 65, 33, 37, "FFF" if RUNGS[kernel].by_columns else "CCC", pad=0)
    assert tool in {error["tool"] for error in report.errors}, str(report)


@needs_compiler
@pytest.mark.parametrize(("kernel", "old", "new", "tool"), WALKS)
def test_planted_mistakes_are_found_in_the_loop_for_whole_tiles(
    monkeypatch, kernel, old, new, tool
):
    source = RUNGS[kernel].source
    assert source.count(old) == 1
    monkeypatch.setattr(type(RUNGS[kernel]), "source", source.replace(old, new))
    monkeypatch.setitem(globals(), "check", lambda *result: None)
    report = traced(kernel, 128, 128, 64, "CCC", pad=0)
    assert tool in {error["tool"] for error in report.errors}, str(report)


@needs_compiler
@pytest.mark.parametrize("kernel", ["warptile", "async"])
def test_whole_tiles_in_every_order(kernel):
    """K long enough for the loop that asks nothing: right, clean, and as costly by columns as by rows."""
    for orders in ("CCC", "CFC", "FCC", "FFF"):
        report = traced(kernel, 128, 256, 72, orders, beta=0.5)
        assert report.ok, f"{orders}: {report}"
        shared = [row["max_way"] for row in report.accesses if row["space"] == "shared"]
        assert set(shared) == {1}, f"{orders}: {report}"
        if kernel == "warptile":
            moved = [report.total("sectors", space="global", array=array) for array in "AB"]
            assert moved == [128 * 9 * 2, 72 * 32]


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "old", "new", "orders"),
    [
        ("shared", "[32][33]", "[32][32]", "FCC"),
        ("register_8x8", "WIDTH 132", "WIDTH 128", "CCC"),
        ("vector_8x8", "WIDTH 132", "WIDTH 128", "CCC"),
        ("buffered_8x8", "WIDTH 132", "WIDTH 128", "CCC"),
        ("warptile", "WIDTH 132", "WIDTH 128", "CCC"),
        ("async", "LONG 24", "LONG 16", "CCC"),
        ("register_16x4", "(tk & 2)", "(tk & 0)", "FFF"),
    ],
)
def test_without_its_padding_a_rung_has_bank_conflicts(monkeypatch, kernel, old, new, orders):
    source = (
        RUNGS[kernel]
        .source.replace(old, new)
        .replace("(k & 2)", "(k & 0)" if "tk" in old else "(k & 2)")
    )
    monkeypatch.setattr(type(RUNGS[kernel]), "source", source)
    report = traced(kernel, 65, 33, 37, orders)
    assert (
        report.ok and max(row["max_way"] for row in report.accesses if row["space"] == "shared") > 1
    ), str(report)
