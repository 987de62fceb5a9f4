"""Chapter 07: right answers in other styles pass, and wrong ones of students get words that help."""

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.checks import ch07
from course_lib.checks.kit.core import CheckFailed

pytestmark = needs_compiler


def told(check, answer, seed=1):
    with pytest.raises(CheckFailed) as failure:
        check(answer, seed=seed)
    return " ".join(str(failure.value).split())


def kernel(head, body):
    return f"__global__ void {head}\n{{\n{body}\n}}\n"


def differences(body):
    return kernel(
        "differences(const float *x, float *y)",
        "const int t = threadIdx.x, i = blockIdx.x * 96 + t;" + body,
    )


def smooth(body):
    return kernel("smooth(int n, const float *x, float *y)", body)


def transpose(body):
    head = "const int x = threadIdx.x, y = threadIdx.y, i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;"
    return kernel("transpose(int M, int N, const float *A, float *D)", head + body)


def gemm(body):
    head = "const int x = threadIdx.x, y = threadIdx.y, i0 = blockIdx.y * 32, i = i0 + y, j = blockIdx.x * 32 + x;"
    arguments = "int M, int N, int K, float alpha, const float *A, const float *B, float beta, const float *C, float *D"
    return kernel(f"gemm_tiled({arguments})", head + body)


def row_sum(body):
    return kernel(
        "row_sum(int n, const float *x, float *y)",
        "const int t = threadIdx.x, row = blockIdx.x;" + body,
    )


FILL = """
    __shared__ float a[32][33], b[32][33];
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[y][x] = k0 + y < K && i0 + x < M ? A[(k0 + y) * M + i0 + x] : 0;
        b[y][x] = k0 + y < K && j < N ? B[(k0 + y) * N + j] : 0;
"""
STORE = """
    if (i < M && j < N) {
        D[i * N + j] = alpha * sum + (beta != 0 ? beta * C[i * N + j] : 0);
    }
"""
PARTIAL = """
    __shared__ float s[256];
    float sum = 0;
    for (int k = t; k < n; k += blockDim.x) sum += x[row * n + k];
"""
TREE = """
    s[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) y[row] = s[0];
"""


# Right answers in other styles -------------------------------------------------------------------------------------

RIGHT = {
    "differences by a register": (
        ch07.check_differences,
        differences("""
        __shared__ float s[97];
        const float mine = x[i];
        s[t + 1] = mine;
        if (t == 0) s[0] = 0;
        __syncthreads();
        y[i] = mine - s[t];"""),
    ),
    "differences, one barrier too many": (
        ch07.check_differences,
        differences("""
        __shared__ float s[96];
        s[t] = x[i];
        __syncthreads();
        if (t == 0) y[i] = s[0]; else y[i] = s[t] - s[t - 1];
        __syncthreads();"""),
    ),
    "smooth, the first two threads fetch the halo": (
        ch07.check_smooth,
        smooth("""
        __shared__ float s[66];
        const int t = threadIdx.x, first = blockIdx.x * 64 - 1;
        for (int k = t; k < 66; k += 64) s[k] = first + k >= 0 && first + k < n ? x[first + k] : 0;
        __syncthreads();
        if (first + t + 1 < n) y[first + t + 1] = (s[t] + s[t + 1] + s[t + 2]) * (1.0f / 3);"""),
    ),
    "smooth, halo apart": (
        ch07.check_smooth,
        smooth("""
        __shared__ float s[64], left, right;
        const int t = threadIdx.x, i = blockIdx.x * 64 + t;
        s[t] = i < n ? x[i] : 0;
        if (t == 0) left = i > 0 ? x[i - 1] : 0;
        if (t == 63) right = i + 1 < n ? x[i + 1] : 0;
        __syncthreads();
        if (i < n) y[i] = ((t > 0 ? s[t - 1] : left) + s[t] + (t < 63 ? s[t + 1] : right)) / 3;"""),
    ),
    "transpose, flat tile": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32 * 33];
        if (i0 + y < M && j0 + x < N) tile[33 * y + x] = A[(i0 + y) * N + j0 + x];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * M + i0 + x] = tile[33 * x + y];"""),
    ),
    "transpose, turned on filling": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][33];
        if (i0 + y < M && j0 + x < N) tile[x][y] = A[(i0 + y) * N + j0 + x];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * M + i0 + x] = tile[y][x];"""),
    ),
    "transpose, swizzled": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][32];
        if (i0 + y < M && j0 + x < N) tile[y][x ^ y] = A[(i0 + y) * N + j0 + x];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * M + i0 + x] = tile[x][y ^ x];"""),
    ),
    "gemm, the last barrier only where a step follows": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        if (k0 + 32 < K) __syncthreads();
    }"""
            + STORE
        ),
    ),
    "gemm, two pairs of tiles, one barrier": (
        ch07.check_gemm_tiled,
        gemm(
            """
    __shared__ float a[2][32][32], b[2][32][32];
    float sum = 0;
    for (int k0 = 0, now = 0; k0 < K; k0 += 32, now ^= 1) {
        a[now][y][x] = k0 + y < K && i0 + x < M ? A[(k0 + y) * M + i0 + x] : 0;
        b[now][y][x] = k0 + y < K && j < N ? B[(k0 + y) * N + j] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[now][k][y] * b[now][k][x];
    }"""
            + STORE
        ),
    ),
    "gemm, a turned and padded": (
        ch07.check_gemm_tiled,
        gemm(
            FILL.replace("a[y][x]", "a[x][y]")
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }"""
            + STORE
        ),
    ),
    "row sum, the end by shuffles": (
        ch07.check_row_sum,
        row_sum(
            PARTIAL
            + """
    s[t] = sum;
    __syncthreads();
    for (int half = 128; half > 16; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t < 32) {
        sum = s[t];
        for (int half = 16; half > 0; half >>= 1) sum += __shfl_down_sync(~0u, sum, half);
        if (t == 0) y[row] = sum;
    }"""
        ),
    ),
    "row sum, warps first": (
        ch07.check_row_sum,
        row_sum(
            PARTIAL.replace("s[256]", "s[8]")
            + """
    for (int half = 16; half > 0; half >>= 1) sum += __shfl_down_sync(~0u, sum, half);
    if (t % 32 == 0) s[t / 32] = sum;
    __syncthreads();
    if (t == 0) {
        sum = 0;
        for (int w = 0; w < 8; w++) sum += s[w];
        y[row] = sum;
    }"""
        ),
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_in_other_styles_pass(name, capsys):
    check, text = RIGHT[name]
    for seed in (1, 2):
        check(text, seed=seed)
    assert capsys.readouterr().out.count("✔") == 2


def ways_by_sets(rows, columns, width):
    banks = [set() for _ in range(32)]
    for row, column in zip(rows, columns, strict=True):
        w = int(row) * width + int(column)
        banks[w & 31].add(w)
    return max(map(len, banks))


def test_right_functions_in_other_styles_pass(capsys):
    ch07.check_ways(
        lambda rows, columns, width: np.bincount(np.unique(rows * width + columns) % 32).max(),
        seed=1,
    )
    ch07.check_ways(ways_by_sets, seed=2)
    ch07.check_hazards(
        lambda: dict(zip("ABCDE", ["RAW", "WAR", "RAW", "WAR", "none"], strict=True)), seed=1
    )
    ch07.check_tile_cost(
        lambda M, N, K, T: (M * N * K / T / 16, M * N * K / T / 4, T / 4, T**2, 8 * T**2), seed=1
    )
    assert capsys.readouterr().out.count("✔") == 4


# Wrong answers of students, and what they are told ------------------------------------------------------------------

WRONG = {
    "differences in place": (
        ch07.check_differences,
        differences("""
        __shared__ float s[96];
        s[t] = x[i];
        __syncthreads();
        if (t > 0) s[t] -= s[t - 1];
        y[i] = s[t];"""),
        "racecheck",
    ),
    "smooth in place": (
        ch07.check_smooth,
        smooth("""
        __shared__ float s[66];
        const int t = threadIdx.x, i = blockIdx.x * 64 + t;
        s[t + 1] = i < n ? x[i] : 0;
        if (t == 0) s[0] = i > 0 ? x[i - 1] : 0;
        if (t == 63) s[65] = i + 1 < n ? x[i + 1] : 0;
        __syncthreads();
        s[t + 1] = (s[t] + s[t + 1] + s[t + 2]) / 3;
        __syncthreads();
        if (i < n) y[i] = s[t + 1];"""),
        "racecheck",
    ),
    "smooth writes behind n": (
        ch07.check_smooth,
        smooth("""
        __shared__ float s[66];
        const int t = threadIdx.x, i = blockIdx.x * 64 + t;
        s[t + 1] = i < n ? x[i] : 0;
        if (t == 0) s[0] = i > 0 ? x[i - 1] : 0;
        if (t == 63) s[65] = i + 1 < n ? x[i + 1] : 0;
        __syncthreads();
        y[i] = (s[t] + s[t + 1] + s[t + 2]) / 3;"""),
        "y",
    ),
    "transpose with a square grid in mind": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][33];
        if (i0 + y < M && j0 + x < N) tile[y][x] = A[(i0 + y) * M + j0 + x];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * M + i0 + x] = tile[x][y];"""),
        "TRANSPOSE",
    ),
    "transpose without a turn": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][33];
        if (i0 + y < M && j0 + x < N) tile[y][x] = A[(i0 + y) * N + j0 + x];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * M + i0 + x] = tile[y][x];"""),
        "TRANSPOSE",
    ),
    "gemm, barrier inside the inner loop's if": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        if (i < M && j < N) {
            for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
            __syncthreads();
        }
    }"""
            + STORE
        ),
        "inside an `if`",
    ),
    "gemm, sum set to 0 in each step": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        sum = 0;
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }"""
            + STORE
        ),
        "set the sum to 0 once, before the loop",
    ),
    "gemm, tiles mixed up": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][x] * b[k][y];
        __syncthreads();
    }"""
            + STORE
        ),
        "GEMM_TILED",
    ),
    "gemm, D promised to be alone": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }"""
            + STORE
        ).replace("float *D", "float *__restrict__ D"),
        "C or D is declared __restrict__",
    ),
    "gemm, atomics": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }
    if (i < M && j < N) atomicAdd(&D[i * N + j], alpha * sum);"""
        ),
        "D",
    ),
    "row sum, a serial tree without the ends": (
        ch07.check_row_sum,
        row_sum(
            PARTIAL
            + """
    s[t] = sum;
    __syncthreads();
    for (int half = 128; half > 1; half >>= 1) {
        if (t < half) s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0) y[row] = s[0];"""
        ),
        "the last round is missing",
    ),
    "differences, one thread copies": (
        ch07.check_differences,
        differences("""
        __shared__ float s[96];
        if (t == 0) for (int k = 0; k < 96; k++) s[k] = x[i + k];
        __syncthreads();
        y[i] = t > 0 ? s[t] - s[t - 1] : s[t];"""),
        "let each thread copy its own element",
    ),
    "differences, all on one line": (
        ch07.check_differences,
        differences("""
        __shared__ float s[96]; s[t] = x[i]; y[i] = t > 0 ? s[t] - s[t - 1] : s[t];"""),
        "the barrier is missing",
    ),
    "differences, a barrier for two warps of three": (
        ch07.check_differences,
        differences("""
        __shared__ float s[96];
        s[t] = x[i];
        if (t < 64) __syncthreads();
        y[i] = t > 0 ? s[t] - s[t - 1] : s[t];
        __syncthreads();"""),
        "keep it outside any `if`",
    ),
    "smooth, one thread copies": (
        ch07.check_smooth,
        smooth("""
        __shared__ float s[66];
        const int t = threadIdx.x, i = blockIdx.x * 64 + t;
        if (t == 0) for (int k = 0; k < 66; k++) s[k] = i + k > 0 && i + k - 1 < n ? x[i + k - 1] : 0;
        __syncthreads();
        if (i < n) y[i] = (s[t] + s[t + 1] + s[t + 2]) / 3;"""),
        "let each thread copy its own element",
    ),
    "smooth, the mean of those that exist": (
        ch07.check_smooth,
        smooth("""
        __shared__ float s[66];
        const int t = threadIdx.x, i = blockIdx.x * 64 + t;
        s[t + 1] = i < n ? x[i] : 0;
        if (t == 0) s[0] = i > 0 ? x[i - 1] : 0;
        if (t == 63) s[65] = i + 1 < n ? x[i + 1] : 0;
        __syncthreads();
        if (i < n) y[i] = (s[t] + s[t + 1] + s[t + 2]) / (3 - (i == 0) - (i == n - 1));"""),
        "count as 0",
    ),
    "transpose, one thread reads a row": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][33];
        if (x == 0 && i0 + y < M) for (int c = 0; c < 32 && j0 + c < N; c++) tile[y][c] = A[(i0 + y) * N + j0 + c];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * M + i0 + x] = tile[x][y];"""),
        "one thread, or a few, load what a warp can",
    ),
    "transpose, one thread writes a row": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][33];
        if (i0 + y < M && j0 + x < N) tile[y][x] = A[(i0 + y) * N + j0 + x];
        __syncthreads();
        if (x == 0 && j0 + y < N) for (int c = 0; c < 32 && i0 + c < M; c++) D[(j0 + y) * M + i0 + c] = tile[c][y];"""),
        "one thread, or a few, store what a warp can",
    ),
    "transpose, rows of D of the wrong length": (
        ch07.check_transpose,
        transpose("""
        __shared__ float tile[32][33];
        if (i0 + y < M && j0 + x < N) tile[y][x] = A[(i0 + y) * N + j0 + x];
        __syncthreads();
        if (j0 + y < N && i0 + x < M) D[(j0 + y) * N + i0 + x] = tile[x][y];"""),
        "rows of `N` numbers, where they have `M`",
    ),
    "gemm, row y of the tile of A": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }"""
            + STORE
        ),
        "needs column y of it",
    ),
    "gemm, one thread copies a row": (
        ch07.check_gemm_tiled,
        gemm(
            """
    __shared__ float a[32][33], b[32][33];
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        if (x == 0) for (int c = 0; c < 32; c++) a[y][c] = k0 + y < K && i0 + c < M ? A[(k0 + y) * M + i0 + c] : 0;
        b[y][x] = k0 + y < K && j < N ? B[(k0 + y) * N + j] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }"""
            + STORE
        ),
        "one thread, or a few, do what a warp can do at once",
    ),
    "gemm, one thread sums a row": (
        ch07.check_gemm_tiled,
        gemm(
            FILL.replace("float sum", "float sums[32]").replace("sums[32] = 0", "sums[32] = {}")
            + """
        __syncthreads();
        if (x == 0) for (int c = 0; c < 32; c++) for (int k = 0; k < 32; k++) sums[c] += a[k][y] * b[k][c];
        __syncthreads();
    }
    if (x == 0 && i < M) for (int c = 0; c < 32 && j + c < N; c++)
        D[i * N + j + c] = alpha * sums[c] + (beta != 0 ? beta * C[i * N + j + c] : 0);"""
        ),
        "one thread, or a few, do what a warp can do at once",
    ),
    "gemm, x down the columns of D": (
        ch07.check_gemm_tiled,
        gemm("""
    __shared__ float a[32][33], b[32][33];
    float sum = 0;
    const int j0 = blockIdx.x * 32, row = i0 + x, column = j0 + y;
    for (int k0 = 0; k0 < K; k0 += 32) {
        a[y][x] = k0 + y < K && i0 + x < M ? A[(k0 + y) * M + i0 + x] : 0;
        b[y][x] = k0 + y < K && j < N ? B[(k0 + y) * N + j] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][x] * b[k][y];
        __syncthreads();
    }
    if (row < M && column < N) {
        const float old = beta != 0 ? beta * C[row * N + column] : 0;
        D[row * N + column] = alpha * sum + old;
    }"""),
        "let threadIdx.x run along",
    ),
    "gemm, three steps and no more": (
        ch07.check_gemm_tiled,
        gemm(
            FILL.replace("k0 < K; k0", "k0 < 96; k0")
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }"""
            + STORE
        ),
        "K = ",
    ),
    "gemm, the guard of the row alone": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }
    if (i < M) D[i * N + j] = beta == 0 ? alpha * sum : alpha * sum + beta * C[i * N + j];"""
        ),
        "half of the guard is missing, the one with `N`",
    ),
    "gemm, beta times D": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }
    if (i < M && j < N) D[i * N + j] = beta == 0 ? alpha * sum : alpha * sum + beta * D[i * N + j];"""
        ),
        "beta multiplies C",
    ),
    "row sum, one thread": (
        ch07.check_row_sum,
        row_sum("""
    __shared__ float s[256];
    s[t] = 0;
    if (t == 0) {
        float sum = s[0];
        for (int k = 0; k < n; k++) sum += x[row * n + k];
        y[row] = sum;
    }"""),
        "only some threads load the row",
    ),
    "row sum, a piece for each thread": (
        ch07.check_row_sum,
        row_sum(
            """
    __shared__ float s[256];
    float sum = 0;
    const int piece = (n + 255) / 256;
    for (int k = t * piece; k < n && k < (t + 1) * piece; k++) sum += x[row * n + k];"""
            + TREE
        ),
        "neighbours load neighbours",
    ),
    "row sum, 256 elements and no more": (
        ch07.check_row_sum,
        row_sum(
            """
    __shared__ float s[256];
    const float sum = t < n ? x[row * n + t] : 0;"""
            + TREE
        ),
        "only the first 256 elements",
    ),
    "row sum, three elements a thread and no more": (
        ch07.check_row_sum,
        row_sum(
            """
    __shared__ float s[256];
    float sum = 0;
    for (int k = t; k < min(n, 768); k += 256) sum += x[row * n + k];"""
            + TREE
        ),
        "ROW_SUM",
    ),
    "row sum, half from 64": (
        ch07.check_row_sum,
        row_sum(PARTIAL + TREE.replace("half = 128", "half = 64")),
        "begins at 64, not at 128",
    ),
    "gemm, no alpha and no beta": (
        ch07.check_gemm_tiled,
        gemm(
            FILL
            + """
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += a[k][y] * b[k][x];
        __syncthreads();
    }
    if (i < M && j < N) D[i * N + j] = sum;"""
        ),
        "alpha and beta C are missing: only the product",
    ),
    "row sum, all blocks to y[0]": (
        ch07.check_row_sum,
        row_sum(PARTIAL + TREE.replace("y[row]", "y[t]")),
        "`threadIdx.x` is used where `blockIdx.x` belongs",
    ),
    "row sum, neighbours that step apart": (
        ch07.check_row_sum,
        row_sum(
            PARTIAL
            + TREE.replace(
                "half = 128; half > 0; half >>= 1", "half = 1; half < 256; half *= 2"
            ).replace("t < half", "t % (2 * half) == 0")
        ),
        "more warps than needed",
    ),
    "row sum, an atomic on the table": (
        ch07.check_row_sum,
        row_sum(
            PARTIAL.replace("s[256]", "s")
            + """
    if (t == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, sum);
    __syncthreads();
    if (t == 0) y[row] = s;"""
        ),
        "no atomic",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_are_told_why(name):
    check, text, words = WRONG[name]
    for seed in (1, 2):
        assert words in told(check, text, seed)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda: None, "returns a dict"),
        (lambda: {"A": "RAW"}, "the keys A, B, C, D, E"),
        (lambda: dict.fromkeys("ABCDE", "WAR"), "barrier A does not stop write after read"),
        (lambda: dict.fromkeys("ABCDE", "raw"), 'the answers are "RAW"'),
    ],
)
def test_hazards_told(answer, words):
    assert words in told(ch07.check_hazards, answer)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda rows, columns, width: None, "returned None"),
        (lambda rows, columns, width: 1.0, "whole number"),
        (lambda rows, columns, width: 32, "as the engine counts"),
        (
            lambda rows, columns, width: max(np.bincount((rows * width + columns) % 32)),
            "share it",
        ),
        (lambda rows, columns, width: 32 // np.gcd(width, 32), "as the engine counts"),
        (
            lambda rows, columns, width: 32 // len(set((rows * width + columns) % 32)),
            "divided evenly",
        ),
    ],
)
def test_ways_told(answer, words):
    assert words in told(ch07.check_ways, answer)


@pytest.mark.parametrize("name", ch07.__all__)
def test_nonsense_is_refused_and_breaks_nothing(name):
    for value in (None, 3, [1, 2], "", "__global__ void k() {}"):
        with pytest.raises(CheckFailed):
            getattr(ch07, name)(value, seed=1)


@pytest.mark.parametrize("seed", range(12))
def test_no_draw_of_rows_hides_a_sum_of_256(seed):
    """What a check allows must grow with the additions that a number goes through, not with the length of the row."""
    wrong = row_sum("__shared__ float s[256]; const float sum = t < n ? x[row * n + t] : 0;" + TREE)
    assert "only the first 256 elements" in told(ch07.check_row_sum, wrong, seed)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda r, s, f, t, b, T: (r, s, f, t, 8 * T * (T + 1)), "no padding"),
        (lambda r, s, f, t, b, T: (32 * r // T, s, f, t, b), "a warp of a T x T block covers"),
    ],
)
def test_tile_cost_told(answer, words):
    def tile_cost(M, N, K, T):
        loaded = M * K * N // T + K * N * M // T
        return answer(loaded // 32, loaded // 8, T / 4, T * T, 8 * T * T, T)

    assert words in told(ch07.check_tile_cost, tile_cost)
