"""Training in 16 bits: which numbers are rounded, what the loss scale does, and what is lost without master weights."""

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import LossScale, MixedPrecision, Network, half, rounded
from course_lib.serial.optimiser import Adam

NET = Network((13, 9, 7, 4), "relu", "cross_entropy")


def batch(net=NET, B=11, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.random((B, net.sizes[0]), np.float32)
    return X, np.eye(net.sizes[-1], dtype=np.float32)[rng.integers(0, net.sizes[-1], B)]


def arrays(pairs):
    return [array for pair in pairs for array in pair]


def same(ours, theirs):
    return all(np.array_equal(a, b) for a, b in zip(arrays(ours), arrays(theirs), strict=True))


@pytest.mark.parametrize("loss", ["mse", "cross_entropy"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu"])
def test_in_float32_it_is_the_serial_step_to_the_bit(activation, loss):
    net = Network((13, 9, 4), activation, loss, 0.01)
    mixed, params = MixedPrecision(net, net.init_params(1), 0.3, "float32"), net.init_params(1)
    for seed in range(4):
        X, Y = batch(net, seed=seed)
        wanted = serial.loss_value(net, params, X, Y) - half_penalty(net, params)
        assert mixed.step(X, Y) == pytest.approx(wanted, rel=1e-6)
        serial.sgd_step(params, serial.gradients(net, params, X, Y), 0.3)
        assert same(mixed.params, params)


def half_penalty(net, params):
    return net.lam / 2 * sum(float((W * W).sum()) for W, _ in params)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "TF32"])
def test_all_that_is_stored_is_in_the_format(name):
    X, Y = batch()
    params = half.copy_of(NET.init_params(2), name)
    cache = half.forward(params, X, NET, name)
    grads = half.backward(params, cache, Y, name, 8.0)
    stored = [*arrays(params), *cache.Z, *cache.A[:-1], *arrays(grads)]
    assert all(a.dtype == np.float32 and np.array_equal(a, rounded(a, name)) for a in stored)
    exact = arrays(serial.gradients(NET, params, X, Y))
    far = [abs(g / 8 - e).max() / abs(e).max() for g, e in zip(arrays(grads), exact, strict=True)]
    assert 0 < max(far) < 40 * serial.FORMATS[name].unit


def test_a_sum_is_not_rounded_on_its_way():
    """4096 times 1 + 0: in float16 a running sum stalls at 2048, in float32 it does not."""
    net = Network((4096, 2), "relu", "cross_entropy")
    params = [(np.ones((4096, 2), np.float32), np.zeros(2, np.float32))]
    Z = half.forward(params, np.ones((1, 4096), np.float32), net, "float16").Z[0]
    assert (Z == 4096).all()


def test_scaling_by_a_power_of_two_keeps_what_would_be_lost():
    """Y is so near to the output that dZ / B is below float16's smallest number."""
    net = Network((3, 2), "identity", "cross_entropy")
    params = [(np.zeros((3, 2), np.float32), np.zeros(2, np.float32))]
    X, Y = np.ones((4, 3), np.float32), np.full((4, 2), 0.5, np.float32) + np.float32([1e-7, -1e-7])
    cache = half.forward(params, X, net, "float16")
    plain = half.backward(params, cache, Y, "float16")
    scaled = half.unscaled(half.backward(params, cache, Y, "float16", 1024.0), 1024.0)
    assert not any(a.any() for a in arrays(plain))
    exact = arrays(serial.backward(params, serial.forward(params, X, net), Y))
    assert all(
        np.allclose(a, e, rtol=2e-3, atol=0) for a, e in zip(arrays(scaled), exact, strict=True)
    )


def test_the_loss_scale_doubles_and_halves():
    fine, bad = [(np.ones((2, 2), np.float32), np.ones(2, np.float32))], np.float32([1, np.inf])
    scale = LossScale(start=8, every=3)
    values = []
    for overflow in (0, 0, 0, 1, 0, 0, 1, 0, 0, 0):
        taken = scale.take([(fine[0][0], bad)] if overflow else fine)
        assert taken is not bool(overflow)
        values.append(scale.value)
    assert values == [8, 8, 16, 8, 8, 8, 4, 4, 4, 8] and scale.skipped == 2
    assert not LossScale().take([(np.float32([[np.nan]]), np.float32([0]))])


def test_a_step_that_overflows_is_left_out():
    X, Y = batch()
    mixed = MixedPrecision(NET, NET.init_params(1), Adam(0.01), scale=LossScale(2.0**30, every=5))
    before = half.copy_of(mixed.params, "float32")
    mixed.step(X, Y)
    assert same(mixed.params, before) and mixed.scale.value == 2.0**29 and mixed.rule.t == 0
    for _ in range(30):
        mixed.step(X, Y)
    assert mixed.rule.t == 31 - mixed.scale.skipped > 5
    assert half.all_finite(mixed.params) and not same(mixed.params, before)
    fixed = MixedPrecision(NET, NET.init_params(1), 0.1, scale=2.0**30)
    fixed.step(X, Y)
    assert not half.all_finite(fixed.params)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_without_master_weights_a_small_step_is_lost(name):
    X, Y = batch()
    eta = 1e-6
    start = [(np.full_like(W, 0.5), b) for W, b in NET.init_params(1)]
    with_master = MixedPrecision(NET, start, eta, name)
    without = MixedPrecision(NET, start, eta, name, master=False)
    for _ in range(3):
        with_master.step(X, Y)
        without.step(X, Y)
    assert all((W == 0.5).all() for W, _ in without.params)
    assert any((W != 0.5).any() for W, _ in with_master.params)
    assert all((W == 0.5).all() for W, _ in start)


def test_train_takes_the_batches_of_serial_train():
    rng = np.random.default_rng(7)
    X, y = rng.random((50, 13), np.float32), rng.integers(0, 4, 50)
    data = type("Data", (), {"x_train": X, "y_train": y, "x_val": X, "y_val": y})
    params = NET.init_params(3)
    history = serial.train(NET, params, data, 3, 16, 0.2, seed=4, progress=False)
    mixed = MixedPrecision(NET, NET.init_params(3), 0.2, "float32")
    assert mixed.train(X, y, 3, 16, seed=4) == pytest.approx(history.loss, rel=1e-6)
    assert same(mixed.params, params)


def test_bad_input():
    X, _ = batch()
    with pytest.raises(BadInput, match="name must be one of"):
        MixedPrecision(NET, NET.init_params(1), 0.1, "half")
    with pytest.raises(BadInput, match="scale"):
        MixedPrecision(NET, NET.init_params(1), 0.1, scale=0)
    with pytest.raises(BadInput, match="as many"):
        MixedPrecision(NET, NET.init_params(1), 0.1).train(X, np.zeros(3, int), 1, 2)
    with pytest.raises(BadInput, match="shape"):
        half.forward(NET.init_params(1), X[:, :5], NET, "float16")
