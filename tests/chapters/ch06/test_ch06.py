"""The checks of chapter 06: other right ways pass on many seeds, no diagnosis is like the truth, and its facts hold.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler
from kernel_tasks import kernel_of

from course_lib.checks import ch06
from course_lib.checks.ch06 import rounding as ch06_rounding
from course_lib.checks.ch06 import traffic as ch06_traffic
from course_lib.checks.ch06.intensity import intensities
from course_lib.checks.kit.core import CheckFailed
from course_lib.checks.kit.kernels.running import on_gpu
from course_lib.checks.kit.kernels.values import wrongs
from course_lib.gpu import gemm_cost, trace_gemm
from course_lib.gpu.gemm import RUNGS
from course_lib.machines.cpu_engine import trace
from course_tools.build import source

pytest_plugins = ["gpu_engine"]  # the fixture `cpu`
pytestmark = needs_compiler
EXERCISE = Path(__file__).parents[3] / "chapters" / "06-gemm-naive" / "exercise.md"
CHECKS = [name for name in vars(ch06) if name.startswith("check_")]
HEAD = "__global__ void max_plus(int M, int N, int K, const float *A, const float *B, float *D)\n"
GEMM_HEAD = """__global__ void gemm(int M, int N, int K, float alpha, const float *A, int a_row, int a_col,
    const float *B, int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)\n"""
PLACE = """int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
"""

WAYS = {
    "flat": HEAD
    + """{
        int block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
        int t = block * blockDim.x * blockDim.y + thread;
        if (t >= M * N) return;
        float most = -INFINITY;
        for (int k = 0; k < K; k++) most = fmaxf(most, A[t / N * K + k] + B[k * N + t % N]);
        D[t] = most; }""",
    "all in one if": HEAD
    + "{"
    + PLACE
    + """if (i < M && j < N) {
        float most = A[i * K] + B[j];
        for (int k = 1; k < K; ++k) most = max(A[i * K + k] + B[k * N + j], most);
        D[i * N + j] = most; } }""",
    "downwards in double": HEAD
    + "{"
    + PLACE
    + """if (i >= M || j >= N) return;
        double most = -INFINITY;
        for (int k = K; k-- > 0;) most = fmax(most, (double)A[i * K + k] + B[k * N + j]);
        D[i * N + j] = (float)most; }""",
    "pointers": HEAD
    + "{"
    + PLACE
    + """if (i < M) if (j < N) {
        const float *a = A + (size_t)i * K, *b = B + j;
        float most = -INFINITY;
        while (a < A + (size_t)(i + 1) * K) { most = fmaxf(most, *a++ + *b); b += N; }
        D[(size_t)i * N + j] = most; } }""",
    "two maxima": HEAD
    + "{"
    + PLACE
    + """if (i >= M || j >= N) return;
        float even = -INFINITY, odd = -INFINITY;
        for (int k = 0; k + 1 < K; k += 2) {
            even = fmaxf(even, A[i * K + k] + B[k * N + j]);
            odd = fmaxf(odd, A[i * K + k + 1] + B[(k + 1) * N + j]); }
        if (K % 2) even = fmaxf(even, A[i * K + K - 1] + B[(K - 1) * N + j]);
        D[i * N + j] = fmaxf(even, odd); }""",
}
GEMMS = {
    "if and else": GEMM_HEAD
    + "{"
    + PLACE
    + """if (i < M && j < N) {
        float sum = 0;
        for (int k = 0; k < K; k++) sum += A[i * a_row + k * a_col] * B[k * b_row + j * b_col];
        float *d = D + i * c_row + j * c_col;
        if (beta != 0.0f) *d = alpha * sum + beta * C[i * c_row + j * c_col];
        else *d = alpha * sum; } }""",
    "alpha inside, C first": GEMM_HEAD
    + "{"
    + PLACE
    + """if (i >= M || j >= N) return;
        float sum = 0;
        if (beta != 0) sum = beta * C[i * c_row + j * c_col];
        for (int k = 0; k < K; k++) sum += alpha * A[i * a_row + k * a_col] * B[k * b_row + j * b_col];
        D[i * c_row + j * c_col] = sum; }""",
    "pointers": GEMM_HEAD
    + "{"
    + PLACE
    + """if (i >= M || j >= N) return;
        const float *a = A + i * a_row, *b = B + j * b_col;
        double sum = 0;
        for (int k = 0; k < K; k++, a += a_col, b += b_row) sum += *a * *b;
        const int at = i * c_row + j * c_col;
        D[at] = (float)(alpha * sum) + (beta ? beta * C[at] : 0); }""",
}


def grid_by_divmod(M, N, block):
    import math

    down = math.ceil(M / block[1])
    if down >= 2**16:
        raise ValueError("too tall")
    across = (N + block[0] - 1) // block[0]
    return [across, down], block[0] * across * block[1] * down - M * N


def layer_by_numpy_strides(launch, A_prev, W, dZ, Z, dW, dA):
    def product(X, Y, out):
        steps = [tuple(step // 4 for step in M.strides) for M in (X, Y, out)]
        launch(*out.shape, X.shape[1], X, steps[0], Y, steps[1], out, steps[2])

    product(A_prev, W, Z)
    product(A_prev.T, dZ, dW)
    product(W, dZ.T, dA.T)  # dA^T = W dZ^T


def traffic_by_cases(M, N, K, w):
    warps = M // (32 // w) * (N // w)
    loads, width = warps * K // 4, max(1, w // 8)
    return {
        "B": [loads, loads * w],
        "D": (warps, 32 // w * width * warps),
        "A": (loads, loads * (32 // w)),
    }


def width_from_a_table(a_by_rows, b_by_rows):
    return {(True, True): 16, (False, True): 4, (True, False): 4, (False, False): 2}[
        a_by_rows, b_by_rows
    ]


def intensities_by_parts(M, N, K, reads_c):
    c = M * N if reads_c else 0
    threads, flops = M * N, 2.0 * M * N * K
    return (
        flops / (threads * 8 * K + 4 * threads + 4 * c),
        flops / (32 * (threads / 32 * 5 * K + (threads + c) / 8)),
        np.float64(flops / (4 * M * K + 4 * K * N + 4 * (M * N + c))),
    )


def verdict_by_times(flops, moved, gpu):
    busy, fed = flops / gpu.flops, moved / gpu.memory
    return flops / max(busy, fed), busy / max(busy, fed), "memory" if fed > busy else "arithmetic"


def accepts_by_slices(D, A, B):
    D, A, B = (X.astype(np.float64) for X in (D, A, B))
    K, u = len(B), np.finfo(np.float32).eps / 2
    size = np.einsum("ik,kj->ij", abs(A), abs(B))
    off = np.abs(D - A.dot(B)) > K * u / (1 - K * u) * size
    return not (off.any() or np.isnan(D).any())


RIGHT = [
    ("grid_for", grid_by_divmod),
    *(("max_plus", source) for source in WAYS.values()),
    *(
        ("gemm", source)
        for source in (*GEMMS.values(), RUNGS["naive"].source.replace("gemm_naive", "gemm"))
    ),
    ("layer_products", layer_by_numpy_strides),
    ("wide_traffic", traffic_by_cases),
    ("best_width", width_from_a_table),
    ("intensities", intensities_by_parts),
    ("verdict", verdict_by_times),
    ("accepts", accepts_by_slices),
]
NAMES = [*(f"{name}-{i}" for i, (name, _) in enumerate(RIGHT))]


@pytest.mark.parametrize("name, right", RIGHT, ids=NAMES)
def test_another_right_way_passes_on_many_seeds(name, right, capsys):
    seeds = range(3 if name in ("max_plus", "gemm", "layer_products", "wide_traffic") else 20)
    for seed in seeds:
        getattr(ch06, f"check_{name}")(right, seed=seed)
    assert capsys.readouterr().out.count("✔") == len(seeds)


def test_every_check_has_a_right_way_above():
    assert {f"check_{name}" for name, _ in RIGHT} == set(CHECKS)


@pytest.mark.parametrize("name", ["intensities", "verdict"])
def test_no_diagnosis_is_like_the_truth_or_like_another(name):
    check = getattr(ch06, f"check_{name}")
    for seed in range(10):
        cases = check.draw(seed)
        truth, *others = (
            [check.truth(fn, case) for case in cases]
            for fn in (check.reference, *(wrong for wrong, _ in check.diagnoses))
        )
        assert all(value != truth for value in others), seed


@pytest.mark.parametrize("name", CHECKS)
def test_what_is_no_answer_is_told(name):
    for wrong in (None, 7, "not C"):
        with pytest.raises(CheckFailed, match=r"must be a|does not compile|no kernel"):
            getattr(ch06, name)(wrong, seed=1)


# Right numbers, and wrong all the same ----------------------------------------------------------------------------

UNSEEN = {
    "max-plus": (
        ch06.check_max_plus,
        [
            "i-along-x",
            "guard-for-the-store-alone",
            "clamped",
            "wrapped-around",
            "maximum-in-global-memory",
            "one-thread-a-column",
        ],
    ),
    "gemm-kernel": (
        ch06.check_gemm,
        ["reads-c-that-is-there", "guard-for-the-store-alone", "sum-in-d", "atomics"],
    ),
}


@pytest.mark.parametrize("task", UNSEEN)
def test_wrong_answers_whose_numbers_are_right_without_the_tracer(task, cpu):
    """Run plainly, as a GPU would: every element is right in every launch. What is wrong only the tracer can tell."""
    check, names = UNSEEN[task]
    (cell,) = [cell for cell in source.read(EXERCISE).tasks if cell.name == task]
    region, mutants = (
        source.split(cell.source),
        {mutant.name: mutant for mutant in cell.task.mutants},
    )
    for name in names:
        kernel = kernel_of(region.filled(mutants[name].apply(region.text)))
        for launch in check.draw(1):
            before, after = launch.prepared(), on_gpu(kernel, check.kernel, launch)
            want = check.reference(**_wide(before))
            want = want if isinstance(want, dict) else {"D": want}
            assert not wrongs(check, launch, before, after, want), (name, launch.label)


def _wide(args):
    return {
        name: X.astype(np.float64) if getattr(X, "dtype", None) == np.float32 else X
        for name, X in args.items()
    }


# Facts ------------------------------------------------------------------------------------------------------------


def traffic(M, N, K, w):
    """The model of the task."""
    warps, h, across = M * N // 32, 32 // w, -(-w // 8)
    loads = warps * K // 4
    return {"A": (loads, loads * h), "B": (loads, loads * w), "D": (warps, warps * h * across)}


@pytest.mark.parametrize(
    "sizes",
    [
        (64, 64, 8, 32),
        (64, 32, 16, 16),
        (96, 64, 8, 8),
        (64, 96, 8, 4),
        (128, 64, 8, 2),
        (256, 32, 24, 1),
    ],
)
def test_the_traffic_model_is_what_the_engine_counts(sizes):
    assert traffic(*sizes) == ch06_traffic.counted(*sizes)


def test_fours_is_the_product_that_its_first_line_says():
    rng = np.random.default_rng(1)
    A, B = rng.random((20, 24), np.float32), rng.random((33, 24), np.float32)
    D = np.full((20, 33), np.nan, np.float32)
    args = [*map(np.int32, (20, 33, 24)), A, B, D]
    report = trace(ch06_traffic.FOURS, "fours", (2, 3), (32, 8), args)
    assert report.ok and np.allclose(D, A @ B.T, rtol=1e-5)


@pytest.mark.parametrize("a_by_rows, b_by_rows", ch06_traffic.ORDERS)
def test_sectors_of_a_step_in_every_storage_order(a_by_rows, b_by_rows):
    """The strides say how A and B lie; 64 numbers from line to line, so each line begins on a sector."""
    source = RUNGS["naive"].source
    a, b = ((64, 1) if rows else (1, 64) for rows in (a_by_rows, b_by_rows))
    A, B, D = (
        np.ones(4096, np.float32),
        np.ones(4096, np.float32),
        np.full(4096, np.nan, np.float32),
    )
    n, (one, zero), i32 = np.int32(64), np.float32([1, 0]), np.int32
    for w in ch06_traffic.WIDTHS:
        args = [n, n, n, one, A, *map(i32, a), B, *map(i32, b), zero, None, D, i32(64), i32(1)]
        report = trace(source, "gemm_naive", (64 // w, -(-64 * w // 256)), (w, 256 // w), args)
        found = sum(
            report.total("sectors", array=X) / report.total("requests", array=X) for X in "AB"
        )
        assert found == ch06_traffic.step_sectors(w, a_by_rows, b_by_rows), w


@pytest.mark.parametrize("reads_c", [False, True])
def test_the_intensities_are_those_of_the_course_kernel(reads_c):
    M, N, K, beta = 37, 64, 24, 0.5 * reads_c
    rng = np.random.default_rng(1)
    A, B, C = (rng.standard_normal(shape, np.float32) for shape in ((M, K), (K, N), (M, N)))
    report, flops = trace_gemm(A, B, C, 1, beta, kernel="naive")[1], 2 * M * N * K
    asked, sectors, least = intensities(M, N, K, reads_c)
    assert asked == pytest.approx(flops / report.total("bytes", space="global"))
    assert sectors == pytest.approx(report.intensity(flops))
    assert sectors == pytest.approx(flops / gemm_cost("naive", M, N, K, beta)["bytes"])
    assert least == pytest.approx(flops / (A.nbytes + B.nbytes + C.nbytes * (1 + reads_c)))


def test_the_bound_holds_and_is_met_to_a_half():
    """gamma_K: no order exceeds it, and the stagnating sum uses half of it."""
    for seed in range(20):
        for label, D, A, B in ch06_rounding._right(np.random.default_rng(seed)):
            off, limit = (
                abs(D - A.astype(np.float64) @ B.astype(np.float64)),
                ch06_rounding.bound(A, B),
            )
            assert (off <= limit).all(), label
            used = off[limit > 0] / limit[limit > 0]
            assert label != "all roundings in one direction" or 0.49 < used.max() < 0.51


def test_the_wrong_products_are_wrong():
    for seed in range(50):
        for label, D, A, B in ch06_rounding._wrong(np.random.default_rng(seed)):
            off = abs(D - A.astype(np.float64) @ B.astype(np.float64))
            assert not (off <= ch06_rounding.bound(A, B)).all(), (seed, label)
