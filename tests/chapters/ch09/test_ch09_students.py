"""Chapter 09: right answers in other styles pass, and wrong ones of students get words that help."""

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib.checks import ch09
from course_lib.checks.kit.core import CheckFailed
from course_lib.gpu.mlp import Activation


def told(check, answer, seed=1):
    with pytest.raises(CheckFailed) as failure:
        check(answer, seed=seed)
    return " ".join(str(failure.value).split())


def kernel(head, body, before=""):
    return f"{before}__global__ void {head}\n{{\n{body}\n}}\n"


def hidden(body):
    head = "hidden_delta(int M, int N, int K, const float *dZ, const float *W, const float *A, float *D)"
    return kernel(head, body, "__device__ float df(float a) { return 1 - a * a; }\n")


def bias(body):
    return kernel("bias_step(int M, int N, float eta, const float *dZ, float *b)", body)


def softmax(body):
    head = "softmax_delta(int M, int N, float scale, const float *Z, const float *Y, float *dZ)"
    return kernel(head, "const int i = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;" + body)


INDICES = """
    const int x = threadIdx.x, y = threadIdx.y, i = blockIdx.y * 32 + y, j0 = blockIdx.x * 32, j = j0 + x;
    float sum = 0;
    for (int k0 = 0; k0 < K; k0 += 32) {
        d[y][x] = i < M && k0 + x < K ? dZ[i * K + k0 + x] : 0;
"""

RIGHT = {
    "hidden delta, the tile of W as it lies, read down a padded column": (
        ch09.check_hidden_delta,
        hidden(
            "__shared__ float d[32][32], w[32][33];"
            + INDICES
            + """
        w[y][x] = j0 + y < N && k0 + x < K ? W[(j0 + y) * K + k0 + x] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += d[y][k] * w[x][k];
        __syncthreads();
    }
    if (i < M && j < N) { const float a = A[i * N + j]; D[i * N + j] = df(a) * sum; }"""
        ),
    ),
    "hidden delta, the slope written out, flat tiles": (
        ch09.check_hidden_delta,
        hidden(
            "__shared__ float d[32][33], w[32 * 33];"
            + INDICES
            + """
        w[33 * x + y] = j0 + y < N && k0 + x < K ? W[(j0 + y) * K + k0 + x] : 0;
        __syncthreads();
        for (int k = 0; k < 32 && k0 + k < K; k++) sum += d[y][k] * w[33 * k + x];
        __syncthreads();
    }
    if (i < M && j < N) D[i * N + j] = sum * (1 - A[i * N + j] * A[i * N + j]);"""
        ),
    ),
    "hidden delta, swizzled": (
        ch09.check_hidden_delta,
        hidden(
            "__shared__ float d[32][32], w[32][32];"
            + INDICES
            + """
        w[x][y ^ x] = j0 + y < N && k0 + x < K ? W[(j0 + y) * K + k0 + x] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += d[y][k] * w[k][x ^ k];
        __syncthreads();
    }
    if (i < M && j < N) D[i * N + j] = sum * df(A[i * N + j]);"""
        ),
    ),
    "bias step, a tree": (
        ch09.check_bias_step,
        bias("""
    __shared__ float part[8][32];
    const int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 32 + x;
    float sum = 0;
    for (int i = y; i < M && j < N; i += 8) sum += dZ[i * N + j];
    part[y][x] = sum;
    for (int half = 4; half > 0; half /= 2) {
        __syncthreads();
        if (y < half) part[y][x] += part[y + half][x];
    }
    if (y == 0 && j < N) b[j] = b[j] - eta * part[0][x];"""),
    ),
    "softmax, the sum by shuffling down and a broadcast": (
        ch09.check_softmax_delta,
        softmax("""
    if (i < M) {
        float m = -3.4028235e38f, s = 0;
        for (int j = lane; j < N; j += 32) m = max(m, Z[i * N + j]);
        for (int far = 16; far > 0; far >>= 1) m = max(m, __shfl_down_sync(0xffffffff, m, far));
        m = __shfl_sync(0xffffffff, m, 0);
        for (int j = lane; j < N; j += 32) s += expf(Z[i * N + j] - m);
        for (int far = 16; far > 0; far >>= 1) s += __shfl_down_sync(0xffffffff, s, far);
        s = __shfl_sync(0xffffffff, s, 0);
        for (int j = lane; j < N; j += 32) dZ[i * N + j] = (expf(Z[i * N + j] - m) / s - Y[i * N + j]) * scale;
    }"""),
    ),
}


@needs_compiler
@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_in_other_styles_pass(name, capsys):
    check, text = RIGHT[name]
    check(text, seed=2)
    assert "✔" in capsys.readouterr().out


WRONG = {
    "each thread all rows": (
        ch09.check_bias_step,
        bias("""
    const int j = blockIdx.x * 32 + threadIdx.x;
    if (j >= N || threadIdx.y) return;
    float sum = 0;
    for (int i = 0; i < M; i++) sum += dZ[i * N + j];
    b[j] -= eta * sum;"""),
        "one warp for all rows leaves seven idle",
    ),
    "an atomicAdd for each warp, in shared memory": (
        ch09.check_bias_step,
        bias("""
    __shared__ float total[32];
    const int x = threadIdx.x, j = blockIdx.x * 32 + x;
    if (threadIdx.y == 0) total[x] = 0;
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.y; i < M && j < N; i += 8) sum += dZ[i * N + j];
    atomicAdd(total + x, sum);
    __syncthreads();
    if (threadIdx.y == 0 && j < N) b[j] -= eta * total[x];"""),
        "change from run to run",
    ),
    "one atomicAdd for each thread": (
        ch09.check_bias_step,
        bias("""
    const int j = blockIdx.x * 32 + threadIdx.x;
    if (j >= N) return;
    float sum = 0;
    for (int i = threadIdx.y; i < M; i += 8) sum += dZ[i * N + j];
    atomicAdd(b + j, -eta * sum);"""),
        "meet in shared memory",
    ),
    "a read and a write for each row": (
        ch09.check_bias_step,
        bias("""
    const int j = blockIdx.x * 32 + threadIdx.x;
    if (j < N)
        for (int i = threadIdx.y; i < M; i += 8) b[j] -= eta * dZ[i * N + j];"""),
        "racecheck: b[0]",
    ),
    "one warp for all rows, through shared memory": (
        ch09.check_bias_step,
        bias("""
    __shared__ float part[32];
    const int x = threadIdx.x, j = blockIdx.x * 32 + x;
    float sum = 0;
    if (threadIdx.y == 0 && j < N)
        for (int i = 0; i < M; i++) sum += dZ[i * N + j];
    if (threadIdx.y == 0) part[x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && j < N) b[j] -= eta * part[x];"""),
        "each of the eight warps adds every eighth row",
    ),
    "a lane without outputs leaves": (
        ch09.check_softmax_delta,
        softmax("""
    if (i >= M || lane >= N) return;
    float m = -INFINITY, s = 0;
    for (int j = lane; j < N; j += 32) m = fmaxf(m, Z[i * N + j]);
    for (int far = 16; far > 0; far /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, far));
    for (int j = lane; j < N; j += 32) s += expf(Z[i * N + j] - m);
    for (int far = 16; far > 0; far /= 2) s += __shfl_xor_sync(~0u, s, far);
    for (int j = lane; j < N; j += 32) dZ[i * N + j] = scale * (expf(Z[i * N + j] - m) / s - Y[i * N + j]);"""),
        "all 32 lanes",
    ),
    "one thread, one element, no tiles": (
        ch09.check_hidden_delta,
        hidden("""
    const int i = blockIdx.y * 32 + threadIdx.y, j = blockIdx.x * 32 + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += dZ[i * K + k] * W[j * K + k];
    D[i * N + j] = sum * df(A[i * N + j]);"""),
        "its threads share them in shared memory",
    ),
}


@needs_compiler
@pytest.mark.parametrize("name", WRONG)
def test_wrong_kernels_get_words_that_help(name):
    check, text, words = WRONG[name]
    assert words in told(check, text)


EXCHANGES = softmax("""
    if (i >= M) return;
    float m = -INFINITY, s = 0;
    for (int j = lane; j < N; j += 32) m = fmaxf(m, Z[i * N + j]);
    for (int far = 16; far > 0; far /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, far));
    for (int j = lane; j < N; j += 32) s += expf(Z[i * N + j] - m);
    for (int far = 16; far > 0; far /= 2) s += __shfl_xor_sync(~0u, s, far);
    for (int j = lane; j < N; j += 32) dZ[i * N + j] = scale * (expf(Z[i * N + j] - m) / s - Y[i * N + j]);""")


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("-INFINITY", "0", "start from -INFINITY"),
        (
            "-INFINITY",
            "1.17549435e-38f",
            "start from -INFINITY",
        ),  # FLT_MIN, which is not the smallest float
        ("s += __shfl_xor_sync(~0u, s, far)", "", "divides by its own sum"),
        ("m = fmaxf(m, __shfl_xor_sync(~0u, m, far))", "", "subtracts its own maximum"),
        ("far = 16", "far = 8", "start with far = 16"),
        ("far > 0", "far > 1", "the last far must be 1"),
        ("xor", "down", "only lane 0 knows the result"),
        ("= scale * (", "= scale / M * (", "scale already contains 1/B"),
        ("= scale * (", "= 1.0f / M * (", "1/M is used in place of scale"),
        ("-INFINITY", "-1e25f", "some finite z are below"),
        (
            "for (int j = lane; j < N; j += 32) m = fmaxf(m, Z[i * N + j])",
            "m = Z[i * N]",
            "first z",
        ),
        ("j < N; j += 32) m", "j < N && j < 32; j += 32) m", "first 32 outputs"),
        ("/ s -", "/ (s + 1e-4f) -", "a small number is added"),
    ],
)
def test_slips_of_the_softmax_are_named(old, new, words):
    for seed in range(3):
        assert words in told(ch09.check_softmax_delta, EXCHANGES.replace(old, new), seed)


TILED = hidden(
    "__shared__ float d[32][33], w[32][33];"
    + INDICES
    + """
        w[x][y] = j0 + y < N && k0 + x < K ? W[(j0 + y) * K + k0 + x] : 0;
        __syncthreads();
        for (int k = 0; k < 32; k++) sum += d[y][k] * w[k][x];
        __syncthreads();
    }
    if (i < M && j < N) D[i * N + j] = sum * df(A[i * N + j]);"""
)
MEETING = bias("""
    __shared__ float part[8][32];
    const int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 32 + x;
    float sum = 0;
    if (j < N)
        for (int i = y; i < M; i += 8) sum += dZ[i * N + j];
    part[y][x] = sum;
    __syncthreads();
    if (y > 0 || j >= N) return;
    for (int p = 1; p < 8; p++) sum += part[p][x];
    b[j] -= eta * sum;""")


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("p = 1", "p = 0", "counts twice"),
        ("p < 8", "p < 7", "the last warp's sum is missing"),
        (
            "int i = y; i < M; i += 8",
            "int i = 8 * y; i < M && i < 8 * y + 8; i++",
            "only the first 64 rows",
        ),
        ("dZ[i * N + j]", "dZ[j * M + i]", "as if it were N x M"),
        ("eta * sum", "sum", "eta is missing"),
    ],
)
def test_slips_of_the_bias_step_are_named(old, new, words):
    for seed in range(3):
        assert words in told(ch09.check_bias_step, MEETING.replace(old, new), seed)


STORED_ACROSS = """__shared__ float turned[32][33];
    turned[x][y] = i < M && j < N ? sum * df(A[i * N + j]) : 0;
    __syncthreads();
    if (blockIdx.y * 32 + x < M && j0 + y < N) D[(blockIdx.y * 32 + x) * N + j0 + y] = turned[y][x];"""


@needs_compiler
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("w[x][y] =", "w[y][x] =", "Store it as a column"),
        ("df(A[i * N + j])", "A[i * N + j]", "multiply by df(A), the slope"),
        ("df(A[i * N + j])", "df(tanhf(A[i * N + j]))", "tanh is applied once more"),
        (
            "if (i < M && j < N) D[i * N + j] = sum * df(A[i * N + j]);",
            STORED_ACROSS,
            "sectors per request",
        ),
    ],
)
def test_slips_of_the_hidden_delta_are_named(old, new, words):
    assert words in told(ch09.check_hidden_delta, TILED.replace(old, new))


# NumPy tasks and the activation ---------------------------------------------------------------------------------------


def test_numpy_answers_in_other_styles_pass(capsys):
    ch09.check_output_delta(
        lambda A, Y, loss: (
            (2 * (A - Y) * (A - A**2) if loss == "mse" else A - Y) / np.float32(len(Y))
        ),
        seed=1,
    )
    ch09.check_loss_of_eq8(
        lambda Z, Y: np.float32(np.mean(np.sum(np.logaddexp(0, Z) - Y * Z, axis=1))), seed=1
    )
    ch09.check_layer_step(
        lambda A, W, b, dZ, slope, eta: (
            W - eta * np.einsum("bi,bj->ij", A, dZ),
            b - eta * np.ones(len(A), "f4") @ dZ,
            slope * (W @ dZ.T).T,
        ),
        seed=1,
    )
    ch09.check_scales(
        lambda delta, eta, lam, B: (-eta if delta == "gradient" else eta / B, 1 - lam * eta, 1),
        seed=1,
    )
    assert capsys.readouterr().out.count("✔") == 4


def sigmoid(Z):
    return 1 / (1 + np.exp(-Z))


def of_outputs(Z, A, Y):
    return float((-Y * np.log(A) - (1 - Y) * np.log(1 - A)).sum() / len(Z))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (
            ch09.check_output_delta,
            lambda A, Y, loss: (
                (2 * (A - Y) * A * (1 - A) if loss != "mse" else A - Y) / np.float32(len(Y))
            ),
            "mixed up",
        ),
        (
            ch09.check_output_delta,
            lambda A, Y, loss: 2 * (A - Y) * A * (1 - A) / np.float32(len(Y)),
            "for both losses",
        ),
        (
            ch09.check_loss_of_eq8,
            lambda Z, Y: of_outputs(Z, np.clip(sigmoid(Z), 1e-7, 1 - 1e-7), Y),
            "cut off",
        ),
        (
            ch09.check_loss_of_eq8,
            lambda Z, Y: float((np.log1p(np.exp(np.clip(Z, -80, 80))) - Y * Z).sum() / len(Z)),
            "cut off",
        ),
        (
            ch09.check_loss_of_eq8,
            lambda Z, Y: float((np.log1p(np.exp(Z.astype(float))) - Y * Z).sum() / len(Z)),
            "at z = 1000 in float64",
        ),
        (
            ch09.check_scales,
            lambda delta, eta, lam, B: (
                -eta if delta == "gradient" else eta / B,
                1 - eta * lam / B,
                1,
            ),
            "no 1/B",
        ),
        (
            ch09.check_scales,
            lambda delta, eta, lam, B: (
                -eta if delta == "gradient" else eta / B,
                1 - 2 * eta * lam,
                1,
            ),
            "an extra 2",
        ),
        (
            ch09.check_scales,
            lambda delta, eta, lam, B: (
                (-eta, 1 - eta * lam, 1) if delta == "gradient" else (eta / B, 1 + eta * lam, 1)
            ),
            "for either D",
        ),
        (
            ch09.check_scales,
            lambda delta, eta, lam, B: (-eta if delta == "gradient" else eta / B, 1 - eta * lam, 0),
            "multiplies the old b",
        ),
    ],
)
def test_slips_in_numpy_are_named(check, answer, words):
    for seed in range(3):
        assert words in told(check, answer, seed)


def test_a_count_from_ceil_is_a_count(capsys):
    def wanted(B, n_in, n_out):
        tiles = np.ceil(B / 32) * np.ceil(n_out / 32)
        return B * n_in * n_out / (tiles * np.ceil(n_in / 32) * 32**3), tiles * 1024 - B * n_out

    ch09.check_wanted(wanted, seed=1)
    assert "✔" in capsys.readouterr().out


@needs_compiler
@pytest.mark.parametrize("df", ["1 - expf(-a)", "1 - 1 / (1 + expf(z))"])
def test_a_slope_that_cancels_is_named(df):
    f = "fmaxf(z, 0) + log1pf(expf(-fabsf(z)))"
    assert "right on paper" in told(ch09.check_softplus, lambda: Activation("softplus", f, df))


def test_a_step_in_place_is_refused():
    def layer_step(A, W, b, dZ, slope, eta):
        below = dZ @ W.T * slope
        W -= eta * (A.T @ dZ)
        b -= eta * dZ.sum(axis=0)
        return W, b, below

    assert "changes its argument" in told(ch09.check_layer_step, layer_step)


@needs_compiler
def test_activations_in_other_styles(capsys):
    f, df = (
        "z > 0 ? z + log1pf(expf(-z)) : log1pf(expf(z))",
        "z > 0 ? 1 / (1 + expf(-z)) : expf(z) / (1 + expf(z))",
    )
    ch09.check_softplus(lambda: Activation("softplus", f, df), seed=1)
    assert "✔" in capsys.readouterr().out
    assert "must return an Activation" in told(ch09.check_softplus, lambda: ("z", "1"))
    assert "it does not compile" in told(
        ch09.check_softplus, lambda: Activation("softplus", "log1p(exp(z)", "1")
    )
