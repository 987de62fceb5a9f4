"""course_lib.serial.gradient_check: it passes what is right, fails what is wrong, and says where."""

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import Network, gradient_check

pytestmark = pytest.mark.filterwarnings("error")
NETS = [
    Network(sizes, activation, loss, lam)
    for sizes, lam in (((5, 4, 3), 0.0), ((4, 6, 5, 2), 0.03))
    for activation in serial.ACTIVATIONS
    for loss in serial.LOSSES
]


def batch(net, B=6, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    params = [
        (W, (b + rng.normal(size=b.shape)).astype(dtype)) for W, b in net.init_params(seed, dtype)
    ]
    Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
    return params, rng.normal(size=(B, net.sizes[0])).astype(dtype), Y


@pytest.mark.parametrize("net", NETS, ids=str)
def test_our_backward_passes_everywhere(net):
    report = gradient_check(net, *batch(net))
    assert report.ok, str(report)
    assert report.checked + report.skipped == report.n_params == net.n_params and "right" in str(
        report
    )


def test_float32_is_copied_to_float64_and_left_alone():
    net = NETS[0]
    params, X, Y = batch(net, dtype=np.float32)
    before = [p.copy() for pair in params for p in pair]
    assert gradient_check(net, params, X, Y).max_relative_error <= 1e-6
    assert all(
        np.array_equal(a, b)
        for a, b in zip(before, [p for pair in params for p in pair], strict=True)
    )


def wrong(change):
    def backward(params, cache, Y):
        return change(serial.backward(params, cache, Y))

    return backward


MISTAKES = {
    "no factor 2": lambda grads: [(dW / 2, db / 2) for dW, db in grads],
    "wrong sign": lambda grads: [(-dW, -db) for dW, db in grads],
    "sum instead of mean": lambda grads: [(dW * 6, db * 6) for dW, db in grads],
    "db zero": lambda grads: [(dW, 0 * db) for dW, db in grads],
    "off by one part in ten thousand": lambda grads: [(dW * 1.0001, db) for dW, db in grads],
    "NaN": lambda grads: [(dW * np.nan, db) for dW, db in grads],
    "infinite": lambda grads: [(dW, db + np.inf) for dW, db in grads],
}


@pytest.mark.parametrize("change", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("net", [NETS[0], NETS[-3]], ids=str)
def test_a_wrong_backward_fails(net, change):
    report = gradient_check(net, *batch(net), backward=wrong(change))
    assert not report.ok and "WRONG" in str(report)


@pytest.mark.parametrize(
    "where", [(0, "W", (4, 1)), (1, "W", (0, 2)), (0, "b", (3,)), (1, "b", (0,))], ids=str
)
@pytest.mark.parametrize("value", [0.7, np.nan])
def test_one_wrong_entry_is_found_and_located(where, value):
    layer, name, index = where

    def backward(params, cache, Y):
        grads = serial.backward(params, cache, Y)
        grads[layer]["Wb".index(name)][index] += value
        return grads

    report = gradient_check(NETS[0], *batch(NETS[0]), backward=backward)
    assert not report.ok and report.where == where
    assert f"layer {layer}, d{name}[{', '.join(map(str, index))}]" in str(report)


def test_missing_penalty_is_found():
    net = NETS[-1]

    def without(params, cache, Y):
        bare = Network(net.sizes, net.activation, net.loss)
        return serial.backward(params, serial.Cache(cache.A, cache.Z, bare), Y)

    report = gradient_check(net, *batch(net), backward=without)
    assert not report.ok and report.where[1] == "W"


def test_few_samples_reach_every_array_and_the_seed_decides_which():
    net = Network((30, 20, 10))
    seen = []
    for layer in range(2):
        for which in range(2):

            def backward(params, cache, Y, layer=layer, which=which):
                grads = serial.backward(params, cache, Y)
                grads[layer][which][...] = 1e3
                return grads

            report = gradient_check(net, *batch(net), samples=8, backward=backward)
            assert (
                not report.ok and report.where[:2] == (layer, "Wb"[which]) and report.checked == 8
            )
            seen.append(report.where)
    again = gradient_check(net, *batch(net), samples=8, seed=0)
    assert again == gradient_check(net, *batch(net), samples=8) and again.ok


def test_kinks_of_relu_are_skipped_and_counted_never_passed():
    net = Network((2, 3, 2), "relu", "cross_entropy")
    params, X, Y = batch(net, 4)
    params[0][1][:] = 0
    X[0] = 0  # z = b = 0 exactly: moving b crosses the kink, moving W does not
    report = gradient_check(net, params, X, Y)
    assert report.skipped == 3 and report.checked == net.n_params - 3 and report.ok, str(report)
    assert "3 more skipped" in str(report)
    params[0][0][:, :] = 0
    X[:] = np.abs(X) + 1
    nothing = gradient_check(Network((2, 3, 2), "relu"), params, X, Y, samples=1)
    assert nothing.skipped >= 1


def test_a_report_without_a_single_checked_entry_is_not_ok():
    nothing = serial.GradientReport(float("nan"), 1e-6, (), float("nan"), float("nan"), 0, 5, 5)
    assert not nothing.ok and "nothing could be checked" in str(nothing)


def test_a_coarser_step_of_the_students_own_still_tells_right_from_wrong():
    net = NETS[0]
    assert gradient_check(net, *batch(net), eps=1e-4).ok
    assert not gradient_check(
        net, *batch(net), eps=1e-4, backward=wrong(MISTAKES["no factor 2"])
    ).ok


@pytest.mark.parametrize(
    "backward, says",
    [
        (lambda p, c, Y: None, "gradients must be a list of 2 pairs .* not NoneType"),
        (lambda p, c, Y: serial.backward(p, c, Y)[:1], "not 1 entries"),
        (
            lambda p, c, Y: [dW for dW, _ in serial.backward(p, c, Y)],
            r"gradients\[0\] must be a pair",
        ),
        (
            lambda p, c, Y: [(dW.T, db) for dW, db in serial.backward(p, c, Y)],
            r"\(dW\) must have shape \(5, 4\)",
        ),
        (
            lambda p, c, Y: [(dW, 0.0) for dW, _ in serial.backward(p, c, Y)],
            r"\(db\) must be a NumPy array",
        ),
    ],
)
def test_a_backward_of_the_wrong_form_gets_one_clear_error(backward, says):
    with pytest.raises(BadInput, match=says):
        gradient_check(NETS[0], *batch(NETS[0]), backward=backward)


@pytest.mark.parametrize(
    "bad, says", [({"eps": 0}, "eps"), ({"samples": 0}, "samples"), ({"eps": np.nan}, "eps")]
)
def test_impossible_settings_get_one_clear_error(bad, says):
    with pytest.raises(BadInput, match=says):
        gradient_check(NETS[0], *batch(NETS[0]), **bad)


def test_a_nan_in_the_data_gets_one_clear_error():
    params, X, Y = batch(NETS[0])
    X[2, 1] = np.nan
    with pytest.raises(BadInput, match=r"X holds nan at index \(2, 1\)"):
        gradient_check(NETS[0], params, X, Y)
