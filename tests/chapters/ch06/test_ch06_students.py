"""The checks of chapter 06 against what students write: refused with the cause, whatever the seed."""

import numpy as np
import pytest
from engine_runs import needs_compiler
from test_ch06 import GEMM_HEAD, HEAD, PLACE

from course_lib.checks import ch06
from course_lib.checks.ch06 import traffic as ch06_traffic
from course_lib.checks.ch06.intensity import intensities
from course_lib.checks.kit.core import CheckFailed

pytestmark = needs_compiler
GUARD = "if (i >= M || j >= N) return;\n"
MOST = (
    "float most = -INFINITY;\n"
    "for (int k = 0; k < K; k++) most = fmaxf(most, A[i * K + k] + B[k * N + j]);\n"
)
STORE = "D[i * N + j] = most;\n"


def told(check, wrong, seed):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return " ".join(str(failure.value).split())


def ways(*parts):
    return HEAD + "{\n" + "".join(parts) + "}\n"


WAYS = {
    "a barrier after the early return": (
        ways(PLACE, GUARD, MOST, STORE, "__syncthreads();\n"),
        "synccheck",
    ),
    "guard with M and N exchanged": (
        ways(PLACE, "if (i >= N || j >= M) return;\n", MOST, STORE),
        "not right yet",
    ),
    "no guard at all": (ways(PLACE, MOST, STORE), "memcheck"),
    "never stored": (ways(PLACE, GUARD, MOST), "never written"),
    "the maximum begins with D": (
        ways(PLACE, GUARD, MOST.replace("-INFINITY", "D[i * N + j]"), STORE),
        "D is uninitialised",
    ),
    "threadIdx alone": (
        ways("int i = threadIdx.y, j = threadIdx.x;\n", GUARD, MOST, STORE),
        "i and j ignore the block",
    ),
    "blockDim.x for both": (
        ways(PLACE.replace("blockDim.y", "blockDim.x"), GUARD, MOST, STORE),
        "not right yet",
    ),
    "one shared maximum": (
        ways(
            PLACE,
            "__shared__ float most;\nmost = -INFINITY;\n",
            GUARD,
            MOST.replace("float most = -INFINITY;\n", ""),
            STORE,
        ),
        "racecheck",
    ),
    "D by columns": (
        ways(PLACE, GUARD, MOST, "D[j * M + i] = most;\n"),
        "elements of D are wrong",
    ),
    "flat, down": (
        ways(
            """int t = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y
        + threadIdx.y * blockDim.x + threadIdx.x, i = t % M, j = t / M;\n""",
            GUARD,
            MOST,
            STORE,
        ),
        "let x run along",
    ),
    "A read twice": (
        ways(
            PLACE,
            GUARD,
            MOST.replace(
                "most = fmaxf(most, A", "if (A[i * K + k]) most = fmaxf(most, ((volatile float *)A)"
            ),
            STORE,
        ),
        "is something loaded that is not used, or twice",
    ),
    "rounded to whole numbers": (
        ways(PLACE, GUARD, MOST, "D[i * N + j] = (int)most;\n"),
        "not right yet",
    ),
    "one thread does all": (
        ways(
            PLACE,
            "if (i || j) return;\nfor (i = 0; i < M; i++) for (j = 0; j < N; j++) {",
            MOST,
            STORE,
            "}\n",
        ),
        "one thread computes several elements of D",
    ),
    "one thread a row": (
        ways(PLACE, "if (i >= M || j) return;\nfor (; j < N; j++) {", MOST, STORE, "}\n"),
        "several elements of a row",
    ),
    "one thread a column": (
        ways(PLACE, "if (i || j >= N) return;\nfor (; i < M; i++) {", MOST, STORE, "}\n"),
        "several elements of a column",
    ),
    "two columns a thread": (
        ways(
            PLACE,
            "int half = (N + 1) / 2;\nif (i >= M || j >= half) return;\n",
            "for (; j < N; j += half) {\n",
            MOST,
            STORE,
            "}\n",
        ),
        "several elements of a row",
    ),
    "the top row of a block does all rows": (
        ways(
            PLACE,
            "if (threadIdx.y || j >= N) return;\nfor (int y = 0; y < blockDim.y && i < M; y++, i++) {\n",
            MOST,
            STORE,
            "}\n",
        ),
        "several elements of a column",
    ),
    "A with the stride of B": (
        ways(PLACE, GUARD, MOST.replace("A[i * K", "A[i * N"), STORE),
        "memcheck",
    ),
    "D with the stride M": (
        ways(PLACE, GUARD, MOST, STORE.replace("i * N", "i * M")),
        "memcheck",
    ),
    "a template": (
        "template <class T> __device__ T twice(T x) { return x + x; }\n"
        + ways(PLACE, GUARD, MOST, STORE),
        "leave out templates",
    ),
    "loads in a function, before the guard": (
        "__device__ float longest(int N, int K, const float *A, const float *B, int i, int j)\n{\n"
        + MOST
        + "return most;\n}\n"
        + ways(
            PLACE,
            "float most = longest(N, K, A, B, i, j);\n",
            "if (i < M && j < N) D[i * N + j] = most;\n",
        ),
        "the load stands before the guard",
    ),
    "Python": ("for i in range(M): pass", "keep the line `__global__ void max_plus"),
    "parameters M and N exchanged": (
        ways(PLACE, GUARD, MOST, STORE).replace("int M, int N", "int N, int M"),
        "the order has changed",
    ),
}
LOOP = "float sum = 0;\nfor (int k = 0; k < K; k++) sum += A[i * a_row + k * a_col] * B[k * b_row + j * b_col];\n"
LAST = "int at = i * c_row + j * c_col;\nD[at] = beta == 0 ? alpha * sum : alpha * sum + beta * C[at];\n"


def gemm(*parts):
    return GEMM_HEAD + "{\n" + "".join(parts) + "}\n"


GEMMS = {
    "no c_col, and a guard whose halves are joined by &&": (
        gemm(
            PLACE,
            GUARD.replace("||", "&&"),
            LOOP,
            "int at = i * c_row + j;\nD[at] = beta == 0 ? alpha * sum : alpha * sum + beta * C[at];\n",
        ),
        "joined by `&&`, not by `||`; and the second stride of D and C is assumed to be 1",
    ),
    "C is read where alpha is 0": (
        gemm(
            PLACE,
            GUARD,
            "int at = i * c_row + j * c_col;\n",
            "if (alpha == 0) { D[at] = beta * C[at]; return; }\n",
            LOOP,
            "D[at] = alpha * sum;\nif (beta != 0) D[at] += beta * C[at];\n",
        ),
        "C is read even though beta = 0",
    ),
    "C instead of D": (
        gemm(PLACE, GUARD, LOOP, LAST.replace("beta * C[at]", "beta * D[at]")),
        "D is uninitialised",
    ),
    "the branch turned round": (
        gemm(PLACE, GUARD, LOOP, LAST.replace("beta == 0", "beta != 0")),
        "not right yet",
    ),
    "beta + C": (gemm(PLACE, GUARD, LOOP, LAST.replace("beta * C", "beta + C")), "not right yet"),
    "C asked whether it is there": (
        gemm(PLACE, GUARD, LOOP, LAST.replace("beta == 0", "C == 0")),
        "C is read even though beta = 0",
    ),
    "a stride of B for A": (
        gemm(PLACE, GUARD, LOOP.replace("k * a_col", "k * b_col"), LAST),
        "not right yet",
    ),
    "C without gaps": (
        gemm(PLACE, GUARD, LOOP, LAST.replace("i * c_row + j * c_col", "(i * N + j) * c_col")),
        "not right yet",
    ),
    "multiplied by zero": (
        gemm(
            PLACE,
            GUARD,
            LOOP,
            "int at = i * c_row + j * c_col;\nfloat c = C[at];\n"
            "D[at] = alpha * sum + (c == c ? beta * c : 0);\n",
        ),
        "C is read even though beta = 0",
    ),
    "one thread a column": (
        gemm(PLACE, "if (i || j >= N) return;\nfor (; i < M; i++) {", LOOP, LAST, "}\n"),
        "several elements of a column",
    ),
    "C restricted": (
        gemm(PLACE, GUARD, LOOP, LAST).replace("float *C", "float *__restrict__ C"),
        "__restrict__",
    ),
    "D restricted": (
        gemm(PLACE, GUARD, LOOP, LAST).replace("float *D", "float *__restrict__ D"),
        "__restrict__",
    ),
    "beta as a whole number": (
        gemm(PLACE, GUARD, LOOP, LAST.replace("beta == 0", "(int)beta == 0")),
        "converted to a whole number",
    ),
    "beta nearly 0": (
        gemm(PLACE, GUARD, LOOP, LAST.replace("beta == 0", "fabsf(beta) < 1e-3f")),
        "is treated as 0",
    ),
    "nothing done for alpha = 0": (
        gemm(PLACE, GUARD, "if (alpha == 0) return;\n", LOOP, LAST),
        "never written",
    ),
    "by rows or by columns alone": (
        gemm(
            PLACE,
            GUARD,
            LOOP.replace("i * a_row + k * a_col", "(a_col == 1 ? i * a_row + k : i + k * a_col)"),
            LAST,
        ),
        "was read where it holds no data",
    ),
    "stored twice": (
        gemm(
            PLACE,
            GUARD,
            LOOP,
            "int at = i * c_row + j * c_col;\nD[at] = alpha * sum;\n"
            "if (beta != 0 && C != D) D[at] = alpha * sum + beta * C[at];\n",
        ),
        "not right yet",
    ),
}
REFUSED = [(ch06.check_max_plus, name, *pair) for name, pair in WAYS.items()]
REFUSED += [(ch06.check_gemm, name, *pair) for name, pair in GEMMS.items()]


@pytest.mark.parametrize("check, name, source, words", REFUSED, ids=[row[1] for row in REFUSED])
def test_a_wrong_kernel_is_told_why(check, name, source, words):
    for seed in (1, 2):
        assert words in told(check, source, seed), name


def layer(**given):
    """The right launches, with one of them replaced."""

    def layer_products(launch, A_prev, W, dZ, Z, dW, dA):
        (B, n_in), n_out = A_prev.shape, W.shape[1]
        calls = {
            "Z": (B, n_out, n_in, A_prev, (n_in, 1), W, (n_out, 1), Z, (n_out, 1)),
            "dW": (n_in, n_out, B, A_prev, (1, n_in), dZ, (n_out, 1), dW, (n_out, 1)),
            "dA": (B, n_in, n_out, dZ, (n_out, 1), W, (1, n_out), dA, (n_in, 1)),
        }
        for name, call in calls.items():
            change = given.get(name)
            launch(*(change(call) if change else call))

    return layer_products


def put(position, value):
    return lambda call: (*call[:position], value(call[position]), *call[position + 1 :])


LAYERS = {
    "a Python list": (layer(dW=put(3, lambda X: X.tolist())), "are NumPy arrays"),
    "one stride for two": (layer(dA=put(6, lambda pair: pair[1])), "must be a pair"),
    "a stride of 0": (layer(dA=put(6, lambda pair: (0, pair[1]))), "from 1 on"),
    "K is None": (
        layer(Z=put(2, lambda K: None)),
        "K in the launch for Z = A_prev W must be a whole number",
    ),
    "too many rows": (layer(Z=put(0, lambda M: M + 9)), "memcheck"),
    "a row too few": (layer(dW=put(0, lambda M: M - 1)), "dW = A_prev^T dZ is not right"),
    "a transposed copy of W": (layer(dA=put(5, lambda W: W.T.copy())), "needs no copy"),
    "the strides of its shape": (layer(dA=put(6, lambda pair: (pair[1], 1))), "dA = dZ W^T"),
    "stored by columns": (layer(dA=put(8, lambda pair: (1, pair[0]))), "dA = dZ W^T"),
}


@pytest.mark.parametrize("name", LAYERS)
def test_wrong_launches_are_told(name):
    wrong, words = LAYERS[name]
    for seed in (1, 2):
        assert words in told(ch06.check_layer_products, wrong, seed)


def by_numpy(launch, A_prev, W, dZ, Z, dW, dA):
    """Three launches for show; NumPy does the work."""
    for out in (Z, dW, dA):
        launch(1, 1, 1, A_prev, (1, 1), W, (1, 1), out, (1, 1))
    Z[...], dW[...], dA[...] = A_prev @ W, A_prev.T @ dZ, dZ @ W.T


def spoils_an_input(launch, A_prev, *others):
    layer()(launch, A_prev, *others)
    A_prev[0] = 0


@pytest.mark.parametrize(
    "wrong, words", [(by_numpy, "was not filled by a launch"), (spoils_an_input, "it has changed")]
)
def test_what_happens_beside_the_launches_is_told(wrong, words):
    assert words in told(ch06.check_layer_products, wrong, 1)


def test_strides_may_be_an_array():
    ch06.check_layer_products(
        layer(dW=put(4, np.array), dA=put(8, lambda pair: np.int64(pair))), seed=1
    )


def test_launching_twice_is_told():
    def twice(launch, *arrays):
        layer()(launch, *arrays)
        layer()(launch, *arrays)

    assert "6 launches where three are enough" in told(ch06.check_layer_products, twice, 1)


def by_largest(D, A, B):
    exact = A.astype(np.float64) @ B
    return bool(np.abs(D - exact).max() <= 1e-5 * np.abs(exact).max())


def by_norm(D, A, B):
    wide, K = A.astype(np.float64), A.shape[1]
    return bool(
        np.linalg.norm(D - wide @ B) <= K * 2.0**-24 * np.linalg.norm(wide) * np.linalg.norm(B)
    )


def relative(D, A, B):
    exact = A.astype(np.float64) @ B.astype(np.float64)
    return bool((abs(D - exact) <= A.shape[1] * 2.0**-24 * abs(exact)).all())


def below_the_bound(D, A, B):
    A, B, K = A.astype(np.float64), B.astype(np.float64), A.shape[1]
    return bool((abs(D - A @ B) < K * 2.0**-24 / (1 - K * 2.0**-24) * (abs(A) @ abs(B))).all())


def as_generous_as_the_lecture(D, A, B):
    A, B = A.astype(np.float64), B.astype(np.float64)
    return bool((abs(D - A @ B) <= (A.shape[1] + 3) * 2.0**-23 * (abs(A) @ abs(B))).all())


def by_another_product(D, A, B):
    return bool(np.array_equal(D, A @ B))


@pytest.mark.parametrize(
    "wrong",
    [
        by_largest,
        by_norm,
        relative,
        by_another_product,
        below_the_bound,
        as_generous_as_the_lecture,
        lambda D, A, B: True,
        lambda D, A, B: False,
        lambda D, A, B: None,
        lambda D, A, B: 1,
    ],
)
def test_a_test_that_is_no_test_is_refused(wrong):
    for seed in range(20):
        told(ch06.check_accepts, wrong, seed)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda M, N, K, w: None, "is None"),
        (lambda M, N, K, w: {"A": 1, "B": 2, "D": 3}, "not a tuple of 2 parts"),
        (lambda M, N, K, w: {"A": (1, 1)}, "lacks the keys ['B', 'D']"),
        (lambda M, N, K, w: {"A": (1, 1), "B": (1, 1), "D": (1, 1)}, "6 of 6 cases not right yet"),
    ],
)
def test_a_wrong_prediction_is_told(wrong, words):
    assert words in told(ch06.check_wide_traffic, wrong, 1)


def test_a_prediction_that_asks_the_engine_is_refused():
    assert "a prediction comes before the count" in told(
        ch06.check_wide_traffic, ch06_traffic.counted, 1
    )
    assert ch06_traffic.counted(64, 32, 8, 32)["D"] == (64, 256)  # and the engine is open again


def test_a_width_may_be_a_float():
    ch06.check_best_width(
        lambda a, b: {(1, 1): 16.0, (0, 1): 4.0, (1, 0): 8.0, (0, 0): 2.0}[a, b], seed=1
    )


def test_the_verdict_may_ask_for_the_ridge():
    def by_ridge(flops, moved, gpu):
        share = min(1.0, flops / moved / gpu.ridge)
        return share * gpu.flops, share, "memory" if share < 1 else "arithmetic"

    for seed in range(20):
        ch06.check_verdict(by_ridge, seed=seed)


def flops_with_alpha_and_beta(M, N, K, c):
    return tuple(x * (1 + (3 if c else 1) / (2 * K)) for x in intensities(M, N, K, c))


@pytest.mark.parametrize(
    "check, wrong, words",
    [
        (ch06.check_intensities, flops_with_alpha_and_beta, "alpha and beta do not count"),
        (
            ch06.check_intensities,
            lambda M, N, K, c: intensities(M, N, K, False),
            "reads_c is not used",
        ),
        (
            ch06.check_grid_for,
            lambda M, N, b: (
                (-(-M // b[1]), -(-N // b[0])),
                -(-M // b[1]) * -(-N // b[0]) * 256 - M * N,
            ),
            "blocks along x (columns of D) come first",
        ),
        (
            ch06.check_grid_for,
            lambda M, N, block: (-(-N // block[0]), -(-M // block[1])),
            "grid_for",
        ),
        (ch06.check_grid_for, lambda M, N, block: None, "the result is None"),
        (ch06.check_best_width, lambda a, b: 64, "must be one of"),
        (ch06.check_best_width, lambda a, b: "16", "must be one of"),
        (ch06.check_intensities, lambda M, N, K, c: 0.25, "intensities"),
        (ch06.check_verdict, lambda f, m, gpu: (gpu.flops, 1.0, "compute"), "verdict"),
    ],
)
def test_a_wrong_answer_is_told(check, wrong, words):
    for seed in range(5):
        assert words in told(check, wrong, seed)
