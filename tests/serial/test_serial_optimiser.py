"""The rules of update, against PyTorch's numbers (stored, see reference/make_optimiser_torch.py)."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import SGD, Adam, Network

STORED = json.loads(
    (Path(__file__).parent / "reference" / "optimiser_torch.json").read_text(encoding="utf-8")
)
RULES = {
    "sgd": lambda: SGD(0.1),
    "momentum": lambda: SGD(0.1, mu=0.9),
    "adam": lambda: Adam(0.1),
    "adam, other settings": lambda: Adam(0.02, beta1=0.5, beta2=0.9, eps=0.01),
}
NET = Network((5, 4, 3), "sigmoid", "cross_entropy", 0.01)


def batch(dtype=np.float32):
    rng = np.random.default_rng(1)
    return rng.standard_normal((7, 5)).astype(dtype), np.eye(3, dtype=dtype)[np.arange(7) % 3]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_step_equals_pytorch(name, dtype):
    """A step has at most 20 roundings of numbers up to 2, and makes the error before at most 4 times larger: the loss
    has second derivatives up to 9.5, times eta = 0.1; momentum doubles it; Adam's by eta/|g|, below 1.
    But for the last number: there g is 5e-4 all the way, with roundings as small as it is."""
    a, theta = np.array(STORED["a"], dtype), np.array(STORED["start"], dtype)
    rule = RULES[name]()
    for step, want in enumerate(STORED["after"][name]):
        rule.update([theta], [theta / 2 - a * np.sin(a * theta)])
        allowed = 20 * 4**step * np.finfo(dtype).eps
        assert theta.dtype == dtype and (abs(theta - want) <= allowed).all(), (step, theta - want)


def test_the_stored_numbers_tell_the_rules_apart():
    ends = [np.array(after[-1]) for after in STORED["after"].values()]
    assert set(STORED["after"]) == set(RULES)
    assert all(abs(one - other).max() > 0.01 for n, one in enumerate(ends) for other in ends[:n])


def test_without_momentum_it_is_sgd_step_to_the_bit():
    X, Y = batch()
    mine, theirs, rule = NET.init_params(1), NET.init_params(1), SGD(0.3)
    for _ in range(3):
        assert rule.step(mine, serial.gradients(NET, mine, X, Y)) is mine
        serial.sgd_step(theirs, serial.gradients(NET, theirs, X, Y), 0.3)
    assert all(
        np.array_equal(p, q)
        for P, Q in zip(mine, theirs, strict=True)
        for p, q in zip(P, Q, strict=True)
    )
    assert rule.t == 3 and rule.nbytes == 0


@pytest.mark.parametrize("name", RULES)
def test_a_shard_is_updated_as_the_whole_is_to_the_bit(name):
    """What sharding the state rests on: no number's update looks at another number."""
    rng = np.random.default_rng(2)
    whole = rng.standard_normal(1001).astype(np.float32)
    parts = [part.copy() for part in np.array_split(whole, 3)]
    one, several = RULES[name](), [RULES[name]() for _ in parts]
    for _ in range(4):
        g = rng.standard_normal(1001).astype(np.float32)
        one.update([whole], [g])
        for rule, part, mine in zip(several, parts, np.array_split(g, 3), strict=True):
            rule.update([part], [mine])
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert one.nbytes == sum(rule.nbytes for rule in several) == 4 * 1001 * one.slots


@pytest.mark.parametrize("name", RULES)
def test_training_a_network_lowers_its_loss(name):
    params, rule, (X, Y) = NET.init_params(3), RULES[name](), batch()
    before = serial.loss_value(NET, params, X, Y)
    for _ in range(20):
        grads = serial.gradients(NET, params, X, Y)
        kept = [(dW.copy(), db.copy()) for dW, db in grads]
        rule.step(params, grads)
        assert all(
            np.array_equal(a, b)
            for P, Q in zip(grads, kept, strict=True)
            for a, b in zip(P, Q, strict=True)
        )
    assert serial.loss_value(NET, params, X, Y) < before
    assert all(array.dtype == np.float32 for arrays in rule.state for array in arrays)


def test_train_takes_a_rule_in_the_place_of_eta():
    X, Y = batch()
    data = SimpleNamespace(x_train=X, y_train=Y.argmax(1), x_val=X, y_val=Y.argmax(1))
    mine, theirs, one, two = NET.init_params(1), NET.init_params(1), Adam(0.01), Adam(0.01)
    for epochs in (1, 2):  # the state goes on
        serial.train(NET, mine, data, epochs, None, one, progress=False)
    for _ in range(3):
        two.step(theirs, serial.gradients(NET, theirs, X, Y))
    assert one.t == 3 and all(
        np.array_equal(p, q)
        for P, Q in zip(mine, theirs, strict=True)
        for p, q in zip(P, Q, strict=True)
    )


def test_bad_input_is_refused_in_words():
    for make, what in (
        (lambda: SGD(0), "eta"),
        (lambda: SGD(0.1, mu=1), "mu must be below 1"),
        (lambda: SGD(0.1, mu=-0.1), "mu"),
        (lambda: Adam(float("nan")), "eta"),
        (lambda: Adam(beta1=1.0), "beta1 must be below 1"),
        (lambda: Adam(beta2="half"), "beta2"),
        (lambda: Adam(eps=0), "eps"),
    ):
        with pytest.raises(BadInput, match=what):
            make()
    params, rule = NET.init_params(1), Adam()
    rule.step(params, serial.gradients(NET, params, *batch()))
    other = Network((5, 3)).init_params(1)
    with pytest.raises(BadInput, match="make a new Adam"):
        rule.step(other, [(W, b) for W, b in other])
    with pytest.raises(BadInput, match="the gradient of array 0"):
        rule.update([W for W, _ in params] + [b for _, b in params], [np.zeros(1)] * 4)
    wide = Network((4, 4, 3)).init_params(1)
    with pytest.raises(BadInput, match="the state of array 0"):
        rule.step(wide, [(W, b) for W, b in wide])
    with pytest.raises(BadInput):
        rule.step(params, serial.gradients(NET, params, *batch())[:1])
    assert rule.t == 1
