"""Half precision on tensor cores: right against float64, clean under the tracer, as costly as its arithmetic says."""

from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.errors import BadInput
from course_lib.gpu import device, gemm_half, half_cost, half_step, trace_half
from course_lib.gpu.data_sheets import DATA_SHEETS
from course_lib.gpu.gemm_half import HALF_RUNGS, _function
from course_lib.gpu.inspect import available, headers, inspect

pytest_plugins = ["gpu_engine"]  # the fixture `engine`
SHAPES = [
    (1, 1, 1),
    (16, 16, 16),
    (2, 3, 5),
    (15, 17, 33),
    (32, 20, 24),
    (33, 20, 7),
    (64, 64, 64),
    (65, 72, 40),
    (70, 129, 63),
]
kernels = pytest.mark.parametrize("kernel", HALF_RUNGS)


def matrices(M, N, K, seed=0):
    """A, B (float16) and C (float32), random."""
    rng = np.random.default_rng(seed)
    A, B, C = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    return A.astype(np.float16), B.astype(np.float16), C


def check(D, A, B, C=None, alpha=1, beta=0):
    """Products of half are exact in float32; each of K + 2 roundings errs by a unit in the last place at most.

    Not by half a unit: a tensor core may round towards zero (Fasi et al. 2021). NaN fails.
    """
    wide = [X if X is None else X.astype(np.float64) for X in (A, B, C)]
    old = beta * wide[2] if beta else 0
    size = abs(alpha) * (np.abs(wide[0]) @ np.abs(wide[1])) + np.abs(old)
    assert D.dtype == np.float32 and D.shape == (A.shape[0], B.shape[1])
    wanted = alpha * (wide[0] @ wide[1]) + old
    assert (np.abs(D - wanted) <= (A.shape[1] + 3) * 2.0**-23 * size).all()


@kernels
def test_right_for_whole_and_ragged_shapes(engine, kernel):
    for M, N, K in SHAPES:
        A, B, C = matrices(M, N, K)
        check(gemm_half(A, B, kernel=kernel), A, B)
        check(gemm_half(A, B, C, 1.5, -0.5, kernel), A, B, C, 1.5, -0.5)


@kernels
def test_right_for_drawn_shapes(engine, kernel):
    rng = np.random.default_rng(9)
    for seed in range(8):
        M, N, K = rng.integers(1, 140, 3)
        A, B, C = matrices(M, N, K, seed)
        check(gemm_half(A, B, C, -2, 3, kernel), A, B, C, -2, 3)


@kernels
def test_beta_zero_does_not_read_c(engine, kernel):
    for shape in ((32, 32, 16), (33, 47, 21)):
        A, B, C = matrices(*shape)
        on_device = device.gpuarray.to_gpu(np.full_like(C, np.nan))
        left, right = device.gpuarray.to_gpu(A), device.gpuarray.to_gpu(B)
        D = gemm_half(left, right, on_device, kernel=kernel)
        assert D is on_device and (left.get() == A).all() and (right.get() == B).all()
        check(D.get(), A, B)
        check(gemm_half(A, B, np.full_like(C, np.nan), kernel=kernel), A, B)


@kernels
def test_device_arrays_stay_and_c_becomes_d(engine, kernel):
    A, B, C = matrices(20, 30, 40)
    left, right, onto = (device.gpuarray.to_gpu(X) for X in (A, B, C))
    assert gemm_half(left, right, onto, 0.5, 2, kernel) is onto
    check(onto.get(), A, B, C, 0.5, 2)
    check(gemm_half(left, right, kernel=kernel).get(), A, B)
    with pytest.raises(BadInput, match="A must be stored by rows on the device"):
        gemm_half(right.T, left.T, kernel=kernel)


def test_host_arrays_of_any_order(engine):
    A, B, C = matrices(37, 21, 19)
    before = C.copy()
    check(gemm_half(np.asfortranarray(A), B, C, 1, 1), A, B, C, 1, 1)
    check(gemm_half(B.T, A.T), B.T, A.T)
    check(gemm_half(A[3:20, 5:], B[5:, ::2]), A[3:20, 5:], B[5:, ::2])
    assert (before == C).all()


@kernels
def test_large_sums_do_not_overflow_as_half_would(engine, kernel):
    A = np.full((16, 64), 200, np.float16)
    D = gemm_half(A, A.T, kernel=kernel)
    assert (D == 64 * 200 * 200).all() and D[0, 0] > np.finfo(np.float16).max


@needs_compiler
@kernels
def test_the_tracer_finds_nothing(kernel):
    """No race, no access outside, nothing read unset; and no bank conflict but where floats leave over an edge."""
    for number, shape in enumerate(SHAPES):
        A, B, C = matrices(*shape)
        D, report = trace_half(A, B, C, 2, number % 2, kernel)
        check(D, A, B, C, 2, number % 2)
        assert report.ok, str(report)
        ways = {(row["array"], row["op"]): row["max_way"] for row in report.accesses}
        assert all(
            way <= 1 or (where[0] in ("staged", "d_staged") and where[1] == "load" and way == 2)
            for where, way in ways.items()
        ), str(report)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "shape"),
    [
        ("wmma", (16, 16, 16)),
        ("wmma", (48, 32, 80)),
        ("wmma_shared", (64, 64, 64)),
        ("wmma_shared", (128, 64, 192)),
    ],
)
def test_cost_model_is_what_the_engine_counts(kernel, shape):
    A, B, C = matrices(*shape)
    for beta in (0, 0.5):
        report, cost = trace_half(A, B, C, 1, beta, kernel)[1], half_cost(kernel, *shape, beta)
        for name in cost["sectors"]:
            for what in ("requests", "sectors"):
                found = report.total(what, space="global", array=name)
                assert found == cost[what][name], (name, what)
        assert report.total("sectors") * 32 == cost["bytes"]
        assert report.total("wavefronts") == cost["wavefronts"]
    M, N, K = shape
    assert cost["flops"] == 2 * M * N * K == cost["mma"] * 2 * 16**3


def test_a_step_is_a_part_of_the_launch():
    for kernel in HALF_RUNGS:
        step = half_step(kernel)
        cost = half_cost(kernel, step["tile"], step["tile"], step["k"])
        assert cost["flops"] == step["flops"] and cost["wavefronts"] == step["wavefronts"]
        assert cost["bytes"] == step["bytes"] + 4 * step["tile"] ** 2
    assert half_step("wmma_shared")["flops"] / half_step("wmma_shared")["bytes"] == 32
    with pytest.raises(BadInput, match="must be multiples of 64, not 64, 65, 64"):
        half_cost("wmma_shared", 64, 65, 64)


PLANTED = [  # kernel, what is replaced, with what, the tool that must find it
    ("wmma", "__syncwarp();  // read after write: no lane", "// no lane", "racecheck"),
    ("wmma", "__syncwarp();  // write after read: no lane", "// no lane", "racecheck"),
    ("wmma", "__syncwarp();  // read after write: other", "// other", "racecheck"),
    ("wmma", "i < rows && j < columns", "i < rows && j <= columns", "memcheck"),
    ("wmma", " && columns % 8 == 0", "", "memcheck"),
    ("wmma", "i0 + 16 <= rows &&", "", "memcheck"),
    ("wmma", "wmma::fill_fragment(sum, 0.0f);", "", "initcheck"),
    ("wmma", "beta == 0 ?", "beta > 9 ?", "memcheck"),  # C is a null pointer
    ("wmma", "staged, WIDE);", "staged, WIDE - 4);", "memcheck"),
    ("wmma", "wmma::mma_sync", "if (threadIdx.x < 24) wmma::mma_sync", "synccheck"),
    ("wmma_shared", "__syncthreads();  // read", "// read", "racecheck"),
    ("wmma_shared", "__syncthreads();  // write", "// write", "racecheck"),
    ("wmma_shared", "__syncwarp();  // read", "// read", "racecheck"),
    ("wmma_shared", "__syncwarp();  // write", "// write", "racecheck"),
    ("wmma_shared", "if (i < rows && j + e < columns)", "if (i < rows)", "memcheck"),
    ("wmma_shared", "if (i >= M || j >= N) continue;", "if (i >= M) continue;", "memcheck"),
    ("wmma_shared", "(TILE + 8)", "(TILE + 4)", "memcheck"),
]


@needs_compiler
@pytest.mark.parametrize(("kernel", "old", "new", "tool"), PLANTED)
def test_planted_mistakes_are_found(monkeypatch, kernel, old, new, tool):
    source = HALF_RUNGS[kernel].source
    assert source.count(old) == 1
    monkeypatch.setattr(type(HALF_RUNGS[kernel]), "source", source.replace(old, new))
    shapes = (
        (33, 36, 136),
        (33, 33, 70),
    )  # tiles whole and over an edge; rows of 16 bytes, of 8, and of none of these
    found = [trace_half(*matrices(*shape)[:2], kernel=kernel)[1] for shape in shapes]
    assert tool in {error["tool"] for report in found for error in report.errors}, str(found)


@needs_compiler
@pytest.mark.parametrize(
    ("kernel", "old", "new"),
    [("wmma", "WIDE 24", "WIDE 16"), ("wmma_shared", "(TILE + 8)", "(TILE)")],
)
def test_without_its_padding_a_kernel_has_bank_conflicts(monkeypatch, kernel, old, new):
    source = HALF_RUNGS[kernel].source.replace(old, new)
    monkeypatch.setattr(type(HALF_RUNGS[kernel]), "source", source)
    report = trace_half(*matrices(33, 33, 33)[:2], kernel=kernel)[1]
    loads = [
        row for row in report.accesses if row["op"] == "load" and row["array"][:2] in ("a_", "b_")
    ]
    ways = {row["max_way"] for row in loads if row["space"] == "shared"}
    assert report.ok and ways == {2 if kernel == "wmma" else 8}, str(report)


WRONG = [
    ({"kernel": "fast"}, "no kernel 'fast': it may be wmma, wmma_shared"),
    (
        {"A": np.ones((2, 3), np.float32)},
        "A must be a float16 matrix with elements in it, not float32",
    ),
    ({"B": np.ones(3, np.float16)}, "B must be a float16 matrix"),
    ({"B": np.ones((4, 2), np.float16)}, "A has 3 columns and B 4 rows"),
    ({"C": np.ones((3, 2), np.float32), "beta": 1}, r"C must have shape \(2, 2\)"),
    ({"C": np.ones((2, 2), np.float16), "beta": 1}, "C must be a float32 matrix"),
    ({"beta": 1}, "there is no C"),
    ({"A": [[1.0]]}, "A must be a NumPy array or a device array"),
    ({"A": np.ones((0, 3), np.float16)}, "elements in it"),
]


@pytest.mark.parametrize(("change", "words"), WRONG)
def test_bad_input(change, words):
    good = {"A": np.ones((2, 3), np.float16), "B": np.ones((3, 2), np.float16)}
    for function in (gemm_half, trace_half):
        with pytest.raises(BadInput, match=words):
            function(**{**good, **change})


def test_a_gpu_without_tensor_cores_is_told_so(monkeypatch):
    class Old:
        NAME, NAMESPACES = "cuda", ()

        @staticmethod
        def attributes():
            return {"name": "Tesla P100", "compute_capability": (6, 0)}

    Old.NAMESPACES = (Old,)
    monkeypatch.setattr(device, "_engine", lambda: Old)
    _function.cache_clear()
    with pytest.raises(BadInput, match=r"Tesla P100 has compute capability 6\.0: .* 7\.0 or newer"):
        gemm_half(*matrices(2, 2, 2)[:2])


def test_ridges_with_tensor_cores():
    ridges = {name: sheet.tensor_ridge() for name, sheet in DATA_SHEETS.items()}
    assert all(ridge > 8 * DATA_SHEETS[name].ridge * 0.9 for name, ridge in ridges.items())
    assert ridges["A100"] == DATA_SHEETS["A100"].tensor_ridge("bfloat16") == 312e12 / 1555e9
    assert DATA_SHEETS["H100"].tensor_ridge("tf32") == ridges["H100"] / 2
    with pytest.raises(BadInput, match="tensor cores of NVIDIA V100 SXM2 multiply half, not tf32"):
        DATA_SHEETS["V100"].tensor_ridge("tf32")
    with pytest.raises(BadInput, match="not flops"):
        DATA_SHEETS["A100"].tensor_ridge("flops")


def has_mma():
    """nvcc, or NVRTC and <mma.h> of the packages nvidia-cuda-runtime and nvidia-cuda-crt."""
    with_nvcc = "nvrtc" not in (available() or "nvrtc")
    return with_nvcc or any((Path(folder) / "mma.h").exists() for folder in headers())


@pytest.mark.skipif(not (available() and has_mma()), reason="no compiler of NVIDIA's with mma.h")
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
def test_nvidia_compiles_the_kernels_without_spilling(arch):
    for kernel, rung in HALF_RUNGS.items():
        found = inspect(rung.source, arch, no_extern_c=True)[f"gemm_{kernel}"]
        assert found["spilled_bytes"] == 0 and found["registers"] <= 128
        assert found["shared_bytes"] <= 48 * 1024
