"""What the kit reads in a kernel's own source, told only where the launches bear it out."""

import pytest

from course_lib.checks import ch05, ch06, ch15
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.slips import cuda

SEED = 20160501


def told(check, source):
    with pytest.raises(CheckFailed) as failure:
        check(source, seed=SEED)
    return " ".join(str(failure.value).split())


GEMM = """
__global__ void gemm(int M, int N, int K, float alpha, const float *A, int a_row, int a_col, const float *B,
                     int b_row, int b_col, float beta, const float *C, float *D, int c_row, int c_col)
{
    const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[i * a_row + k] * B[k * b_row + j * b_col];
    const int at = i * c_row + j * c_col;
    D[at] = beta == 0 ? sum : sum + beta * C[at];
}
"""


def test_parameters_that_are_never_used_are_named():
    assert "`alpha` and `a_col` are never used" in told(ch06.check_gemm, GEMM)


LEFT_OVER = """
__global__ void max_plus(int M, int N, int K, const float *A, const float *B, float *D)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M || j >= N) return;
    float most = -INFINITY;
    for (int k = 0; k + 1 < K; k += 2)
        for (int half = 0; half < 2; half++) most = fmaxf(most, A[i * K + k + half] + B[(k + half) * N + j]);
    D[i * N + j] = most;
}
"""


def test_a_loop_that_takes_two_at_a_time_leaves_one_over():
    assert "the loop up to `K` takes 2 at a time" in told(ch06.check_max_plus, LEFT_OVER)


def test_a_step_of_0_in_a_loop_that_never_runs_is_no_division_by_0():
    """A cause that raises must not decide: the check once ended with a ZeroDivisionError."""
    idle = "float most = -INFINITY;\n    for (int u = 0; u < K && u < 0; u += 0) most = 0;"
    source = LEFT_OVER.replace("float most = -INFINITY;", idle)
    assert "the loop up to `K` takes 2 at a time" in told(ch06.check_max_plus, source)


def test_nothing_is_left_over_where_the_rest_is_done():
    rest = "    if (K % 2) most = fmaxf(most, A[i * K + K - 1] + B[(K - 1) * N + j]);\n    D[i"
    ch06.check_max_plus(LEFT_OVER.replace("    D[i", rest), seed=SEED)


BESIDE = """
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int k = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (k < n) {
        y[k] += a * x[k];
        y[k + 1] += a * x[k + 1];
    }
}
"""


def test_a_guard_of_the_first_of_two():
    assert "`k < n` is asked of k, but this access goes on to k + 1" in told(
        ch05.check_saxpy, BESIDE
    )


def test_a_slip_uses_only_what_the_answer_uses():
    solution = "__global__ void f(int n, float *x) { for (int i = 0; i < n; i += 256) x[i] += 1; }"
    tried = [slip.says for slip in cuda.hinted(solution, {"values"}, 99, solution)]
    assert tried and not any("is used where 256 belongs" in says for says in tried)
    other = [slip.says for slip in cuda.hinted(solution, {"values"}, 99, solution + "// 64")]
    assert other[0].startswith("64 is used where 256 belongs")


def test_two_planted_mistakes_are_named_where_results_are_small():
    def scale_step(scale, good, grads, n):
        import numpy as np

        if any(np.isinf(g).any() for g in grads):
            return False, max(scale / 2, 1.0), 0
        return (True, 2 * scale, 0) if good == n else (True, scale, good + 1)

    said = told(ch15.check_scale_step, scale_step)
    assert "two mistakes: NaN is not seen" in said
