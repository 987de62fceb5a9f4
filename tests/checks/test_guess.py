"""A cause decides nothing: whatever raises while one is looked for, a wrong answer is refused."""

import numpy as np
import pytest

from course_lib.checks import ch06, ch10
from course_lib.checks.kit.kernels import explain, faults, reading, reporting, values
from course_lib.checks.kit.known.guess import guess
from course_lib.checks.kit.messages import CheckFailed
from course_lib.checks.kit.ranks import explain as ranks_explain
from course_lib.checks.kit.ranks import reporting as ranks_reporting

SEED = 20160501
NO_GUARD = """
__global__ void max_plus(int M, int N, int K, const float *A, const float *B, float *D)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    D[i * N + j] = A[i * K] + B[j];
}
"""
GUARDED = NO_GUARD.replace("    D[", "    if (i < M && j < N) D[")


def raises(*_, **__):
    raise ZeroDivisionError("in a cause")


@pytest.mark.parametrize("source", [NO_GUARD, GUARDED], ids=["found", "numbers"])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        (explain, "_hints"),
        (explain, "_is_telling"),
        (faults, "_outside"),
        (reading, "_unused"),
        (reporting, "CRASHES"),
        (values, "_everywhere"),
    ],
)
def test_a_kernel_is_refused_whatever_raises(module, name, source, monkeypatch):
    monkeypatch.setattr(module, name, raises)
    with pytest.raises(CheckFailed, match="max_plus"):
        ch06.check_max_plus(source, seed=SEED)


@pytest.mark.parametrize(
    ("module", "name"),
    [(ranks_explain, "_is_empty"), (ranks_explain, "_is_telling"), (ranks_reporting, "_of_ranks")],
)
def test_a_function_of_ranks_is_refused_whatever_raises(module, name, monkeypatch):
    monkeypatch.setattr(module, name, raises)

    def global_mean(comm, X):
        total = np.empty(X.shape[1])
        comm.Allreduce(X.sum(axis=0) * 3.7, total)
        return total / len(X) if len(X) else total

    with pytest.raises(CheckFailed, match="global_mean"):
        ch10.check_global_mean(global_mean, seed=SEED)


def test_a_guess_is_what_was_found_or_none():
    assert guess(lambda x: x + 1)(2) == 3
    assert guess(lambda: "")() is guess(raises)() is None


def test_where_planted_answers_are_tried_a_fault_in_a_cause_is_seen(monkeypatch):
    assert guess(raises)() is None
    monkeypatch.setenv("COURSE_CAUSES", "raise")
    with pytest.raises(ZeroDivisionError):
        guess(raises)()
