"""Chapter 09: the facts that its text and checks rest on, and the mistakes that only the engine can see.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import numpy as np
import pytest
from engine_runs import needs_compiler
from kernel_tasks import (
    assert_the_engine_alone_sees_three,
    assert_the_solution_passes,
    kernel_of,
    tasks,
)

from course_lib import serial
from course_lib.checks import ch09
from course_lib.checks.ch09 import numpy as ch09_numpy
from course_lib.checks.ch09 import scales as ch09_scales
from course_lib.checks.kit.core import CheckFailed
from course_lib.gpu import device
from course_lib.gpu.mlp import ACTIVATIONS, Kernels, Mlp

CHAPTER = "09-gpu-backprop"
KERNELS = {
    "hidden-delta": ch09.check_hidden_delta,
    "bias-step": ch09.check_bias_step,
    "softmax-delta": ch09.check_softmax_delta,
}


@needs_compiler
@pytest.mark.parametrize("task", KERNELS)
def test_three_or_more_wrong_answers_compute_right_numbers(task):
    assert_the_engine_alone_sees_three(CHAPTER, task, KERNELS[task])


@needs_compiler
@pytest.mark.parametrize("task", KERNELS)
def test_the_solution_passes_with_other_seeds(task, capsys):
    assert_the_solution_passes(CHAPTER, task, KERNELS[task], capsys)


EARLY = {  # task: (what stands in the solution, the same with a load before its guard), part by part
    "hidden-delta": [
        ("    if (i < M && j0", "    float a = A[i * N + j0 + x];\n    if (i < M && j0"),
        ("df(A[i * N + j0 + x])", "df(a)"),
    ],
    "bias-step": [
        ("    if (y > 0", "    float old = b[j];\n    if (y > 0"),
        ("b[j] -= eta * sum", "b[j] = old - eta * sum"),
    ],
    "softmax-delta": [
        ("    if (i >= M)", "    float first = Z[i * N + lane];\n    if (i >= M)"),
        ("most = -INFINITY", "most = lane < N ? first : -INFINITY"),
        ("j = lane; j < N; j += 32) most", "j = lane + 32; j < N; j += 32) most"),
    ],
}


@needs_compiler
@pytest.mark.parametrize("task", EARLY)
def test_a_load_before_the_guard_is_found_in_every_kernel(task):
    """The engine's compiler moves it behind the guard, where all is well: every check traces once more without that."""
    region, _ = tasks(CHAPTER)[task]
    source = kernel_of(region.filled(region.text))
    for right, early in EARLY[task]:
        assert source.count(right) == 1
        source = source.replace(right, early)
    with pytest.raises(CheckFailed, match="the load stands before the guard"):
        KERNELS[task](source, seed=3)


def test_every_task_has_five_mutants_or_more():
    assert len(tasks(CHAPTER)) == 9 and all(
        len(mutants) >= 5 for _, mutants in tasks(CHAPTER).values()
    )


# Equations 8 to 10 --------------------------------------------------------------------------------------------------


def differences(loss, Z, h=1e-5):
    """The gradient of a loss of Z by central differences."""
    grad = np.empty_like(Z)
    for at in np.ndindex(Z.shape):
        moved = Z.copy(), Z.copy()
        moved[0][at] += h
        moved[1][at] -= h
        grad[at] = (loss(moved[0]) - loss(moved[1])) / (2 * h)
    return grad


def softmax(Z):
    return np.exp(Z) / np.exp(Z).sum(axis=1, keepdims=True)


def sigmoid(Z):
    return 1 / (1 + np.exp(-Z))


def example():
    rng = np.random.default_rng(3)
    return rng.standard_normal((5, 4)), np.eye(4)[rng.integers(0, 4, 5)]


@pytest.mark.parametrize(
    ("loss", "f", "of"),
    [
        ("mse", sigmoid, lambda A, Y: ((A - Y) ** 2).sum() / len(Y)),
        ("cross_entropy", softmax, lambda A, Y: -(Y * np.log(A)).sum() / len(Y)),
    ],
)
def test_the_output_delta_is_the_gradient_of_its_loss(loss, f, of):
    Z, Y = example()
    delta = ch09_numpy.check_output_delta.reference(f(Z), Y, loss)
    assert np.allclose(delta, differences(lambda Z: of(f(Z), Y), Z), atol=1e-8)


def test_equation_8_is_the_gradient_of_the_loss_of_task_2():
    Z, Y = example()
    loss = ch09_numpy.check_loss_of_eq8.reference
    assert np.allclose((sigmoid(Z) - Y) / len(Y), differences(lambda Z: loss(Z, Y), Z), atol=1e-8)


@needs_compiler
def test_scales_make_the_update_kernel_a_step():
    """Of task 8, with equation 8's delta and with the gradient: both are W - eta (dW + lam W)."""
    rng = np.random.default_rng(5)
    eta, lam, B = 0.3, 0.05, 37
    A, Y, F = (rng.standard_normal(shape).astype(np.float32) for shape in ((B, 20), (B, 6), (B, 6)))
    W = rng.standard_normal((20, 6)).astype(np.float32)
    wanted = W - eta * (A.T.astype(float) @ (F - Y) / B + lam * W)
    for delta, D in (("gradient", (F - Y) / np.float32(B)), ("eq8", Y - F)):
        alpha, beta, _ = ch09_scales.check_scales.reference(delta, eta, lam, B)
        put = [device.gpuarray.to_gpu(np.ascontiguousarray(X, np.float32)) for X in (A, D, W)]
        Kernels().update(*put, put[2], alpha, beta)
        assert np.allclose(put[2].get(), wanted, atol=1e-5)


# Counts -------------------------------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize(("B", "n_in", "n_out"), [(33, 40, 10), (5, 70, 45)])
def test_the_engine_counts_what_wanted_says(B, n_in, n_out):
    share, idle = ch09_scales.check_wanted.reference(B, n_in, n_out)
    shapes = ((B, n_in), (n_in, n_out), (n_out,), (B, n_out))
    arrays = [device.gpuarray.to_gpu(np.ones(shape, np.float32)) for shape in shapes]
    kernels = Kernels(each=1, traced=True)
    kernels.forward(*arrays[:3], None, arrays[3], ACTIVATIONS["identity"])
    report = kernels.reports[-1][1]
    stored = report.total("threads", array="F", op="store")
    threads = -(-B // 32) * -(-n_out // 32) * 1024
    assert threads - stored == idle
    multiplied = report.total(
        "threads", array="w_tile", op="load"
    )  # one load of W's tile for each multiply-add
    assert share == pytest.approx(B * n_in * n_out / multiplied)


@needs_compiler
def test_a_step_of_one_hidden_layer_has_the_launches_that_the_lecture_counts():
    net, kernels = serial.Network((20, 12, 5)), Kernels(traced=True)
    Mlp(net, net.init_params(0), 0.1, kernels=kernels).step(
        np.ones((4, 20), np.float32), np.ones((4, 5), np.float32)
    )
    assert (
        len(kernels.reports) == 12
        and sum(name in ("row_loss", "sum") for name, _ in kernels.reports) == 3
    )
