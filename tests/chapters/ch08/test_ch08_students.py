"""The checks of chapter 08 against what students write: other right ways pass, wrong ones are refused with a cause."""

from math import ceil
from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler, skip_unless_variables_are_filled

from course_lib.checks import ch08
from course_lib.checks.kit.core import CheckFailed
from course_tools.build import source

CHAPTER = Path(__file__).parents[3] / "chapters" / "08-gemm-register-tiled"
CHECKS = {
    "kernel-16x4": ch08.check_gemm_16x4,
    "kernel-4x4": ch08.check_gemm_4x4,
    "copy-tile": ch08.check_copy_tile,
    "two-buffers": ch08.check_two_buffers,
}


def written(task, body):
    """The task's string with `body` in the place of the solution."""
    made = {}
    cell = next(cell for cell in source.read(CHAPTER / "exercise.md").tasks if cell.name == task)
    exec(source.split(cell.source).filled(body), made)
    return next(value for name, value in made.items() if name.isupper() and isinstance(value, str))


def told(check, wrong, seed=1):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return " ".join(str(failure.value).split())


ALL_THE_SAME = r"""
    const int t = threadIdx.x + 16 * threadIdx.y, i = blockIdx.x * 64 + t;
    float d[16], a0, a1, a2, a3;
    for (int j = 0; j < 16; j++) d[j] = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 4) {
        const int k = k0 + (t & 3), j = blockIdx.y * 16 + (t >> 2);
        const float *column = A + (size_t)k0 * M + i;
        a0 = a1 = a2 = a3 = 0;
        if (i < M) {
            a0 = column[0];
            if (k0 + 1 < K) a1 = column[M];
            if (k0 + 2 < K) a2 = column[2 * M];
            if (k0 + 3 < K) a3 = column[3 * M];
        }
        (&b_tile[0][0])[t] = 0;
        if (k < K && j < N) (&b_tile[0][0])[t] = B[j * K + k];
        __syncthreads();
        for (int n = 0; n < 16; n++) {
            const float *b = b_tile[n];
            d[n] = fmaf(a0, b[0], fmaf(a1, b[1], fmaf(a2, b[2], fmaf(a3, b[3], d[n]))));
        }
        __syncthreads();
    }
    if (i >= M) return;
    for (int n = 0; n < 16 && blockIdx.y * 16 + n < N; n++) D[(blockIdx.y * 16 + n) * M + i] = d[n];
"""
OWN_COPIES = r"""
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    float sums[16] = {0};
    for (int step = 0; step < (K + 15) / 16; step++) {
        for (int n = 0; n < 4; n++) {
            const int i = blockIdx.y * 64 + y + 16 * n, k = step * 16 + x;
            a_tile[y + 16 * n][x] = i < M && k < K ? A[i * K + k] : 0.0f;
            const int kb = step * 16 + t / 64 + 4 * n, j = blockIdx.x * 64 + t % 64;
            b_tile[t / 64 + 4 * n][t % 64] = kb < K && j < N ? B[kb * N + j] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            const float b0 = b_tile[k][x], b1 = b_tile[k][x + 16], b2 = b_tile[k][x + 32], b3 = b_tile[k][x + 48];
            for (int r = 0; r < 4; ++r) {
                const float a = a_tile[16 * r + y][k];
                sums[4 * r] += a * b0, sums[4 * r + 1] += a * b1, sums[4 * r + 2] += a * b2, sums[4 * r + 3] += a * b3;
            }
        }
        __syncthreads();
    }
    for (int n = 0; n < 16; n++) {
        const int i = blockIdx.y * 64 + y + n / 4 * 16, j = blockIdx.x * 64 + x + n % 4 * 16;
        if (i < M && j < N) D[i * N + j] = sums[n];
    }
"""
FOUR_SIDE_BY_SIDE = r"""
    const int tx = threadIdx.x, ty = threadIdx.y, i0 = blockIdx.y * 64, j = blockIdx.x * 64 + 4 * tx;
    float4 d[4] = {};
    for (int k0 = 0; k0 < K; k0 += 16) {
        copy_tile(A, M, K, i0, k0, &a_tile[0][0], 16);
        copy_tile(B, K, N, k0, blockIdx.x * 64, &b_tile[0][0], 64);
        __syncthreads();
        for (int k = 0; k < 16; k++) {
            const float4 b = *(const float4 *)&b_tile[k][4 * tx];
            for (int r = 0; r < 4; r++) {
                const float a = a_tile[ty + 16 * r][k];
                d[r].x += a * b.x, d[r].y += a * b.y, d[r].z += a * b.z, d[r].w += a * b.w;
            }
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++) {
        const int i = i0 + ty + 16 * r;
        if (i >= M) continue;
        if (N % 4 == 0 && j < N) *(float4 *)&D[i * N + j] = d[r];
        else
            for (int c = 0; c < 4; c++)
                if (j + c < N) D[i * N + j + c] = c == 0 ? d[r].x : c == 1 ? d[r].y : c == 2 ? d[r].z : d[r].w;
    }
"""
CASTS = r"""
    const unsigned t = threadIdx.y * blockDim.x + threadIdx.x;
    const int per_row = width / 4, i = row + t / per_row, j = column + t % per_row * 4;
    float4 *to = reinterpret_cast<float4 *>(tile);
    if (i >= rows || j >= columns) to[t] = make_float4(0.f, 0.f, 0.f, 0.f);
    else to[t] = reinterpret_cast<const float4 *>(X + (size_t)i * columns)[j / 4];
"""
FETCH_AHEAD = r"""
    float a = i < M && x < K ? A[i * K + x] : 0, b = y < K && j < N ? B[y * N + j] : 0;
    a_tile[0][y][x] = a, b_tile[0][y][x] = b;
    __syncthreads();
    const int steps = (K + 15) / 16;
    for (int s = 0; s < steps; s++) {
        const int next = (s + 1) * 16;
        a = i < M && next + x < K ? A[i * K + next + x] : 0;
        b = next + y < K && j < N ? B[(next + y) * N + j] : 0;
        for (int k = 0; k < 16; k++) sum += a_tile[s & 1][y][k] * b_tile[s & 1][k][x];
        a_tile[1 - (s & 1)][y][x] = a, b_tile[1 - (s & 1)][y][x] = b;
        __syncthreads();
    }
"""
TWO_STEPS = r"""
    for (int k0 = 0; k0 < K;) {
        #pragma unroll
        for (int now = 0; now < 2; now++) {
            a_tile[now][y][x] = i < M && k0 + x < K ? A[i * K + k0 + x] : 0;
            b_tile[now][y][x] = k0 + y < K && j < N ? B[(k0 + y) * N + j] : 0;
            __syncthreads();
            for (int k = 0; k < 16; k++) sum = fmaf(a_tile[now][y][k], b_tile[now][k][x], sum);
            k0 += 16;
            if (k0 >= K) break;
        }
    }
"""
CLAMPED = r"""
    const int t = threadIdx.x + 16 * threadIdx.y, i = blockIdx.x * 64 + t, j0 = blockIdx.y * 16;
    float d[16] = {0}, a[4];
    for (int k0 = 0; k0 < K; k0 += 4) {
        const int k = k0 + t % 4, j = j0 + t / 4;
        const float b = B[min(k, K - 1) + min(j, N - 1) * K];
        b_tile[t / 4][t % 4] = k < K && j < N ? b : 0;
        for (int n = 0; n < 4; n++) a[n] = k0 + n < K ? A[min(i, M - 1) + (k0 + n) * M] : 0;
        __syncthreads();
        for (int n = 0; n < 64; n++) d[n / 4] += a[n % 4] * b_tile[n / 4][n % 4];
        __syncthreads();
    }
    for (int n = 0; n < 16; n++)
        if (i < M && j0 + n < N) D[i + (j0 + n) * M] = d[n];
"""
A_DOWN_ITS_COLUMNS = (
    OWN_COPIES.replace(
        "const int i = blockIdx.y * 64 + y + 16 * n, k = step * 16 + x;",
        "const int i = blockIdx.y * 64 + t % 64, k = step * 16 + t / 64 + 4 * n;",
    )
    .replace("a_tile[y + 16 * n][x]", "a_turned[t / 64 + 4 * n][t % 64]")
    .replace("a_tile[16 * r + y][k]", "a_turned[k][16 * r + y]")
    .replace("float sums", "__shared__ float a_turned[16][64];\n    float sums")
)
DIAGONAL = r"""
    const int t = threadIdx.y * 16 + threadIdx.x, high = 1024 / width, r = t % high, q = (t / high + r) % (width / 4);
    const int i = row + r, j = column + 4 * q;
    const bool inside = i < rows && j < columns;
    *(float4 *)(tile + r * width + 4 * q) = inside ? *(const float4 *)(X + i * columns + j) : make_float4(0, 0, 0, 0);
"""
ONE_BUFFER = r"""
    for (int k0 = 0; k0 < K; k0 += 16) {
        a_tile[0][y][x] = i < M && k0 + x < K ? A[i * K + k0 + x] : 0;
        b_tile[0][y][x] = k0 + y < K && j < N ? B[(k0 + y) * N + j] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a_tile[0][y][k] * b_tile[0][k][x];
        __syncthreads_count(1);
    }
"""
RIGHT = [
    ("kernel-16x4", ALL_THE_SAME),
    ("kernel-16x4", CLAMPED),
    ("kernel-4x4", FOUR_SIDE_BY_SIDE),
    ("kernel-4x4", OWN_COPIES),
    ("copy-tile", CASTS),
    ("two-buffers", FETCH_AHEAD),
    ("two-buffers", TWO_STEPS),
]


@needs_compiler
@pytest.mark.parametrize(("task", "body"), RIGHT)
def test_another_right_kernel_passes(task, body, capsys):
    for seed in (1, 2):
        CHECKS[task](written(task, body), seed=seed)
    assert capsys.readouterr().out.count("✔") == 2


WRONG = [
    ("kernel-16x4", ALL_THE_SAME.replace("t & 3", "t >> 4").replace("t >> 2", "t & 15"), "wrong"),
    ("kernel-16x4", ALL_THE_SAME.replace("if (i < M) {", "{"), "memcheck"),
    ("kernel-16x4", ALL_THE_SAME.replace("(&b_tile[0][0])[t] = 0;", ""), "initcheck"),
    ("kernel-16x4", "D[0] = 0;", "never written"),
    ("kernel-4x4", OWN_COPIES.replace("(K + 15) / 16", "K / 16"), "a partial tile"),
    ("kernel-4x4", OWN_COPIES.replace("step * 16 + t / 64", "t / 64"), "wrong"),
    ("kernel-4x4", A_DOWN_ITS_COLUMNS, "32 sectors per request in the loads of A"),
    (
        "kernel-4x4",
        FOUR_SIDE_BY_SIDE.replace("N % 4 == 0", "N > 64"),
        "not a multiple of the access size",
    ),
    ("kernel-4x4", FOUR_SIDE_BY_SIDE.replace("N % 4 == 0", "N < 0"), "stored as one float4"),
    ("copy-tile", DIAGONAL, "32 sectors per request in the loads of X"),
    (
        "copy-tile",
        CASTS.replace("threadIdx.y * blockDim.x + threadIdx.x", "threadIdx.x * 16 + threadIdx.y"),
        "consecutive float4",
    ),
    ("two-buffers", ONE_BUFFER, "8 barriers for 4 steps"),
    ("copy-tile", CASTS.replace("i >= rows ||", ""), "memcheck"),
    ("copy-tile", CASTS.replace("column + t", "t"), "wrong"),
    ("two-buffers", FETCH_AHEAD.replace("1 - (s & 1)", "(s & 1)"), "racecheck"),
    ("two-buffers", "for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];", "memcheck"),
    (
        "two-buffers",
        "if (i < M && j < N) for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];",
        "bytes",
    ),
]


@needs_compiler
@pytest.mark.parametrize(("task", "body", "words"), WRONG)
def test_wrong_kernels_are_refused(task, body, words):
    assert words in told(CHECKS[task], written(task, body))


SLIPS = [  # one slip in the solution: what stood there, what stands there now, words of the cause
    ("kernel-16x4", "b_tile[j][k]", "b_tile[k][j]", "swapped indices"),
    (
        "kernel-16x4",
        "threadIdx.y * 16 + threadIdx.x",
        "threadIdx.x",
        "b_tile[4][0], which nothing has written",
    ),
    ("kernel-16x4", "A[i + (k0 + k) * M]", "A[i * K + k0 + k]", "A(i, k) is A[i + k * M]"),
    ("kernel-16x4", "(j0 + tj) * K]", "(j0 + tj) * N]", "B(k, j) is B[k + j * K]"),
    ("kernel-16x4", "k0 += 4", "k0 += 16", "steps of 4"),
    (
        "copy-tile",
        "*(const float4 *)(X + i * columns + j)",
        "((const float4 *)X)[i * columns + j]",
        "counts in float4",
    ),
    ("copy-tile", "i = row + n", "i = n", "start in row 0"),
    ("copy-tile", "j = column + n", "j = n", "start in column 0"),
    ("two-buffers", "now ^= 1", "now++", "the buffer is 0 or 1"),
    ("two-buffers", "A[i * K + k0 + x]", "A[i * K + x]", "the first tile of A"),
    ("two-buffers", "B[(k0 + y) * N + j]", "B[y * N + j]", "the first tile of B"),
]


@needs_compiler
@pytest.mark.parametrize(("task", "was", "now", "words"), SLIPS)
def test_a_slip_is_told_its_cause(task, was, now, words):
    cell = next(cell for cell in source.read(CHAPTER / "exercise.md").tasks if cell.name == task)
    solution = source.split(cell.source).text
    assert solution.count(was) == 1
    assert words in told(CHECKS[task], written(task, solution.replace(was, now)))


UNSET = [
    ("kernel-16x4", "d[16] = {0};", "d[16];"),
    ("kernel-4x4", "d[4][4] = {};", "d[4][4];"),
    ("copy-tile", "v = make_float4(0, 0, 0, 0);", "v;"),
]


@needs_compiler
@pytest.mark.parametrize(("task", "was", "now"), UNSET)
def test_a_variable_without_a_first_value_is_told(task, was, now):
    skip_unless_variables_are_filled()
    test_a_slip_is_told_its_cause(task, was, now, "a variable that was never initialised")


def test_a_blank_kernel_is_not_written_yet():
    for task, check in CHECKS.items():
        assert "not written yet" in told(
            check, written(task, f'#error "write {task}: about 9 lines, 9 minutes"')
        )


def sectors_by_numpy(first, stride):
    return np.unique((first + stride * np.arange(32)) * 4 // 32).size


def turned_flat(A, B):
    return [B.shape[1], len(A), len(B), B.ravel(), A.reshape(-1)]


def turned_by_names(A, B):
    return B.T.shape[0], A.T.shape[1], A.shape[1], B.T, A.T


def advantage_in_floats(M, N, K):
    block_steps = M / 64 * N / 16 * K / 4
    return {
        "flops": 2.0 * M * N * K,
        "loads_1": M * N * K / 16,
        "sectors_1": M * N * K * 5 / 32,
        "loads_42": block_steps * 10,
        "sectors_42": block_steps * 48,
        "wavefronts_2": M / 32 * N / 32 * K / 32 * 32 * 66,
        "wavefronts_42": block_steps * 130,
        "more": None,
    }


def blocks_by_ceil(threads, registers, shared, sm):
    each = ceil(registers / 8) * 256
    fits = 4 * (sm["registers"] // 4 // each) // (threads // 32)
    memory = sm["shared"] / (shared + sm["reserved"]) if shared or sm["reserved"] else float("inf")
    return int(min(sm["blocks"], sm["threads"] / threads, fits, memory))


def choose_by_sorting(tiles, sm, at_least):
    good = [
        (TM * TN / (TM + TN), [TM, TN])
        for TM, TN in tiles
        if TM * TN + TM + TN + 30 < 256
        and blocks_by_ceil(256, TM * TN + TM + TN + 30, 2048 * (TM + TN), sm) >= at_least
    ]
    return sorted(good)[-1][1]


@needs_compiler
@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("sectors_of_load", sectors_by_numpy),
        ("turned", turned_flat),
        ("turned", turned_by_names),
        ("advantage", advantage_in_floats),
        ("blocks_per_sm", blocks_by_ceil),
        ("choose_tile", choose_by_sorting),
    ],
)
def test_another_right_function_passes(name, right, capsys):
    for seed in range(3):
        getattr(ch08, f"check_{name}")(right, seed=seed)
    assert capsys.readouterr().out.count("✔") == 3


def one_kib_everywhere(threads, registers, shared, sm):
    return blocks_by_ceil(threads, registers, shared, sm | {"reserved": 1024})


def any_registers(tiles, sm, at_least):
    fit = [tile for tile in tiles if blocks_by_registers(*tile, sm) >= at_least]
    return max(fit, key=lambda tile: tile[0] * tile[1] / sum(tile))


def blocks_by_registers(TM, TN, sm, rest=30):
    each = ceil((TM * TN + TM + TN + rest) / 8) * 256
    return min(
        4 * (sm["registers"] // 4 // each) // 8, sm["shared"] // (2048 * (TM + TN) + sm["reserved"])
    )


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        (
            "sectors_of_load",
            lambda first, stride: len({(first + t * stride) % 8 for t in range(32)}),
            "element // 8",
        ),
        ("blocks_per_sm", one_kib_everywhere, "use sm['reserved']"),
        ("choose_tile", any_registers, "at most 255 registers"),
    ],
)
def test_a_limit_left_out_is_refused(name, wrong, words):
    for seed in range(5):
        assert words in told(getattr(ch08, f"check_{name}"), wrong, seed)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda A, B: (len(A), B.shape[1], len(B), A.T, B.T), "Which matrix is on the left now?"),
        (lambda A, B: (B.shape[1], len(A), len(B), B, A.copy()), "right is a copy"),
        (lambda A, B: (B.shape[1], len(A), len(B), B[:, :-1], A), "gaps"),
        (lambda A, B: None, "five things"),
        (lambda A, B: None, "no `return` was reached"),
        (lambda A, B: (B.shape[1], len(A), len(B), B.tolist(), A), "NumPy arrays"),
    ],
)
def test_wrong_ways_to_turn_are_refused(wrong, words):
    assert words in told(ch08.check_turned, wrong)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"flops": None}, "flops must be a number"),
        ({"loads_1": 0}, "loads_1 is not right"),
        ({"wavefronts_2": float("nan")}, "wavefronts_2 is not right"),
    ],
)
def test_wrong_advantages_are_refused(change, words):
    assert words in told(
        ch08.check_advantage, lambda M, N, K: advantage_in_floats(M, N, K) | change
    )
    assert "no `return` was reached" in told(ch08.check_advantage, lambda M, N, K: None)
    assert "missing from the dict" in told(
        ch08.check_advantage, lambda M, N, K: {"flops": 2 * M * N * K}
    )
