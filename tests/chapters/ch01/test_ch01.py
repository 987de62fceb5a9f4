"""Chapter 01's checks: the truth passes, other right ways as well, and what nobody knows gets no wrong cause."""

import numpy as np
import pytest

from course_lib.checks import ch01
from course_lib.checks.kit.core import CheckFailed

CHECKS = {name: check for name, check in vars(ch01).items() if name.startswith("check_")}
SEEDS = range(5)


def in_the_dtype_of_the_inputs(function):
    """The reference, which counts in float64, as a student's function that keeps float32."""

    def answer(*args):
        value = function(*args)
        dtype = next((arg.dtype for arg in args if isinstance(arg, np.ndarray)), None)
        return value.astype(dtype) if isinstance(value, np.ndarray) else value

    return answer


def words(text):
    return " ".join(str(text).split())


@pytest.mark.parametrize("name", CHECKS)
def test_the_truth_passes(name, capsys):
    check = CHECKS[name]
    for seed in SEEDS:
        check(in_the_dtype_of_the_inputs(check.reference), seed=seed)
    assert capsys.readouterr().out.count("✔") == len(SEEDS)


def test_an_unknown_wrong_answer_fails_without_a_wrong_cause():
    causes = [words(cause) for _, cause in ch01.check_backward_skip.diagnoses]
    with pytest.raises(CheckFailed) as failure:
        ch01.check_backward_skip(
            lambda params, Z, A, delta, skips: [(W + 1, b + 1) for W, b in params], seed=1
        )
    assert not any(cause in words(failure.value) for cause in causes)


@pytest.mark.parametrize("name", ["check_softmax", "check_smoothed_cross_entropy"])
def test_a_formula_good_to_half_precision_only_fails(name):
    check = CHECKS[name]
    with pytest.raises(CheckFailed):
        check(lambda *args: np.float32(check.reference(*args)) * np.float32(1.001), seed=1)


def test_the_stable_forms_that_lose_the_shift_to_rounding_still_pass(capsys):
    """m + log sum exp(z - m) - z[c] cancels near |z| = 1000; float32 allows no better, so it is right."""

    def unshifted(z, c, smooth):
        m = z.max()
        return m + np.log(np.exp(z - m).sum()) - (1 - smooth) * z[c] - smooth * z.mean()

    for seed in range(50):
        ch01.check_smoothed_cross_entropy(unshifted, seed=seed)
    assert capsys.readouterr().out.count("✔") == 50


def test_new_arrays_put_into_the_lists_are_an_update_in_place(capsys):
    def momentum_epoch(params, velocity, X, Y, eta, beta, order, gradients):
        for i in order:
            grads = gradients(params, X[i], Y[i])
            velocity[:] = [
                (beta * vW + dW, beta * vb + db)
                for (vW, vb), (dW, db) in zip(velocity, grads, strict=True)
            ]
            params[:] = [
                (W - eta * vW, b - eta * vb)
                for (W, b), (vW, vb) in zip(params, velocity, strict=True)
            ]
        return params

    ch01.check_momentum_epoch(momentum_epoch, seed=1)
    assert "✔" in capsys.readouterr().out
