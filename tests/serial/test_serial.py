"""course_lib.serial: networks, activations, losses, forward and backward, and what bad input gets."""

import subprocess
import sys

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import Network, backward, forward
from course_lib.serial.losses import LOSSES

pytestmark = pytest.mark.filterwarnings("error")
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])


def batch(net, B, dtype=np.float64, seed=0):
    """Asymmetric random X, one-hot Y and params with non-zero b."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(B, net.sizes[0])).astype(dtype)
    Y = np.eye(net.sizes[-1], dtype=dtype)[rng.integers(0, net.sizes[-1], B)]
    params = [
        (W, (b + rng.normal(size=b.shape)).astype(dtype)) for W, b in net.init_params(seed, dtype)
    ]
    return params, X, Y


def test_importing_the_room_needs_numpy_alone():
    heavy = "numba, sklearn, matplotlib, scipy, threadpoolctl, jupytext, IPython"
    code = f"import sys, course_lib.serial; print([m for m in {heavy.split(', ')} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_init_is_seeded_by_layer_and_scaled_by_fan_in():
    params = serial.init_params((400, 400, 400, 7), seed=3)
    (W0, b0), (W1, _), (W2, _) = params
    assert W0.dtype == b0.dtype == np.float32 and not b0.any()
    assert not np.array_equal(W0, W1), "equal layers must start differently"
    assert abs(W0.std() * 20 - 1) <= 0.02 and W2.shape == (400, 7)
    again = serial.init_params((400, 400, 9), seed=3)
    assert np.array_equal(again[0][0], W0), "a layer's draw must not depend on the other layers"
    assert not np.array_equal(serial.init_params((400, 400), seed=4)[0][0], W0)
    wide = serial.init_params((400, 400), seed=3, dtype=np.float64)[0][0]
    assert wide.dtype == np.float64 and np.array_equal(wide.astype(np.float32), W0)


def test_counts_of_net_1h():
    net = Network((784, 1024, 10))
    assert net.n_layers == 2 and net.n_params == 784 * 1024 + 1024 + 1024 * 10 + 10
    assert net == Network([784, 1024, 10]) and hash(net) is not None


@DTYPES
def test_sigmoid_and_softmax_hold_for_any_z(dtype):
    z = np.array([[-1e4, -80, -1, 0, 1, 80, 1e4]], dtype)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        a, p = serial.sigmoid(z), serial.softmax(z)
    assert a.dtype == p.dtype == dtype
    want = 1 / (1 + np.exp(-np.clip(z.astype(np.float64), -700, 700)))
    assert np.max(np.abs(a - want)) <= np.finfo(dtype).eps
    assert p[0, -1] == 1 and p[0, :-1].max() == 0
    shifted = serial.softmax(np.array([[3.0, 1.0, 2.0]], dtype) + dtype(1000))
    assert (
        np.max(np.abs(shifted - serial.softmax(np.array([[3.0, 1.0, 2.0]], dtype))))
        <= 1000 * np.finfo(dtype).eps
    )


@DTYPES
def test_cross_entropy_of_a_sure_mistake_is_finite_and_right(dtype):
    Z = np.array([[1e4, -1e4, 0], [-1e4, 1e4, 0]], dtype)
    Y = np.array([[0, 1, 0], [0, 1, 0]], dtype)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        A = LOSSES["cross_entropy"].output(Z)
        value, dZ = LOSSES["cross_entropy"].value(Z, A, Y), LOSSES["cross_entropy"].dZ(Z, A, Y)
    assert value == 1e4, "the first row costs 20,000, the second nothing"
    assert np.array_equal(dZ, np.array([[0.5, -0.5, 0], [0, 0, 0]], dtype))


@DTYPES
def test_a_saturated_network_gives_finite_loss_and_gradient(dtype):
    for loss in LOSSES:
        net = Network((3, 4, 2), "sigmoid", loss)
        params, X, Y = batch(net, 5, dtype)
        params = [(W * dtype(1e4), b) for W, b in params]
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            grads = serial.gradients(net, params, X, Y)
            assert np.isfinite(serial.loss_value(net, params, X, Y))
        assert all(np.isfinite(g).all() and g.dtype == dtype for pair in grads for g in pair)


def test_derivatives_are_those_of_their_functions():
    z = np.linspace(-3, 3, 61) + 0.013  # no entry at relu's kink
    h = 1e-6
    for name, (f, derivative) in serial.ACTIVATIONS.items():
        numeric = (f(z + h) - f(z - h)) / (2 * h)
        assert np.max(np.abs(derivative(z, f(z)) - numeric)) <= 1e-9, name
    assert serial.ACTIVATIONS["relu"].derivative(np.zeros(2), np.zeros(2)).tolist() == [0, 0]


def test_mse_is_kamras_equation_1_and_its_gradient_has_the_factor_2():
    net = Network((2, 1))
    params = [(np.array([[0.3], [-0.2]]), np.array([0.1]))]
    X, Y = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[1.0], [0.0]])
    a = 1 / (1 + np.exp(-(X @ params[0][0] + 0.1)))
    assert abs(serial.loss_value(net, params, X, Y) - np.mean((Y - a) ** 2)) <= 1e-15
    ((_, db),) = serial.gradients(net, params, X, Y)
    printed = np.mean((Y - a) * a * (1 - a))  # algorithms 1 to 3 as printed
    assert abs(db[0] + 2 * printed) <= 1e-15


def test_penalty_is_on_weights_only_and_added_to_either_loss():
    for loss in LOSSES:
        bare, with_lam = Network((4, 3, 2), "tanh", loss), Network((4, 3, 2), "tanh", loss, lam=0.5)
        params, X, Y = batch(bare, 3)
        extra = serial.loss_value(with_lam, params, X, Y) - serial.loss_value(bare, params, X, Y)
        assert abs(extra - 0.25 * sum((W**2).sum() for W, _ in params)) <= 1e-13
        pairs = zip(
            serial.gradients(bare, params, X, Y),
            serial.gradients(with_lam, params, X, Y),
            params,
            strict=True,
        )
        for (dW, db), (dW_lam, db_lam), (W, _) in pairs:
            assert np.max(np.abs(dW_lam - dW - 0.5 * W)) <= 1e-14
            assert np.array_equal(db, db_lam)


def test_the_gradient_of_a_batch_is_the_mean_over_its_examples():
    net = Network((5, 6, 3), "tanh", "cross_entropy")
    params, X, Y = batch(net, 7)
    whole = serial.gradients(net, params, X, Y)
    single = [serial.gradients(net, params, X[i : i + 1], Y[i : i + 1]) for i in range(7)]
    for layer in range(2):
        for which in range(2):
            mean = sum(g[layer][which] for g in single) / 7
            assert np.max(np.abs(whole[layer][which] - mean)) <= 7 * np.finfo(float).eps * 10


def test_nothing_passed_in_is_changed():
    net = Network((5, 6, 3), "identity", "cross_entropy", 0.1)
    params, X, Y = batch(net, 4)
    before = [X.copy(), Y.copy(), *[p.copy() for pair in params for p in pair]]
    cache = serial.forward(params, X, net)
    kept = [a.copy() for a in cache.A + cache.Z]
    grads = serial.backward(params, cache, Y)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(before, [X, Y, *[p for pair in params for p in pair]], strict=True)
    )
    assert all(np.array_equal(a, b) for a, b in zip(kept, cache.A + cache.Z, strict=True))
    again = serial.backward(params, serial.forward(params, X, net), Y)
    assert all(
        np.array_equal(g, h)
        for u, v in zip(grads, again, strict=True)
        for g, h in zip(u, v, strict=True)
    )


def test_without_a_network_forward_takes_sigmoid_and_mse():
    net = Network((5, 6, 3))
    params, X, _ = batch(net, 4)
    assert serial.forward(params, X).net == net


def test_sgd_step_moves_in_place_and_keeps_dtype_and_gradients():
    params, X, Y = batch(Network((5, 6, 3)), 4, np.float32)
    grads = serial.gradients(Network((5, 6, 3)), params, X, Y)
    want = [W - np.float32(0.25) * dW for (W, _), (dW, _) in zip(params, grads, strict=True)]
    kept, arrays = [dW.copy() for dW, _ in grads], [W for W, _ in params]
    assert serial.sgd_step(params, grads, np.float64(0.25)) is params
    for W, wanted, array, (dW, _), old in zip(
        [W for W, _ in params], want, arrays, grads, kept, strict=True
    ):
        assert (
            W is array
            and W.dtype == np.float32
            and np.array_equal(W, wanted)
            and np.array_equal(dW, old)
        )


def test_predict_with_one_output_asks_whether_it_exceeds_half():
    net = Network((1, 1))
    params = [(np.array([[1.0]]), np.array([0.0]))]
    X = np.array([[-2.0], [3.0], [0.0]])
    assert serial.predict(net, params, X).tolist() == [0, 1, 0]
    assert serial.confusion(net, params, X, np.array([0, 0, 1])).tolist() == [[1, 1], [1, 0]]
    assert serial.targets(net, np.array([0, 1]), np.float32).tolist() == [[0], [1]]


@pytest.mark.parametrize(
    "bad, says",
    [
        ({"sizes": (784,)}, "input and the output layer"),
        ({"sizes": ()}, "input and the output layer"),
        ({"sizes": 784}, "tuple such as"),
        ({"sizes": (784, 0, 10)}, r"sizes\[1\] must be a whole number of at least 1, not 0"),
        ({"sizes": (784, -3, 10)}, r"sizes\[1\]"),
        ({"sizes": (784, 10.0)}, r"sizes\[1\]"),
        ({"sizes": (True, 10)}, r"sizes\[0\]"),
        (
            {"activation": "swish"},
            "activation must be one of sigmoid, tanh, relu, identity, not 'swish'",
        ),
        ({"loss": "hinge"}, "loss must be one of mse, cross_entropy, not 'hinge'"),
        ({"lam": -0.1}, "lam must be a finite number of at least 0, not -0.1"),
        ({"lam": float("nan")}, "lam must be a finite number"),
        ({"lam": "much"}, "lam must be a finite number"),
        ({"sizes": (3, 1), "loss": "cross_entropy"}, "at least 2 outputs"),
    ],
)
def test_impossible_networks_get_one_clear_error(bad, says):
    with pytest.raises(BadInput, match=says):
        Network(**({"sizes": (4, 3, 2)} | bad))


@pytest.mark.parametrize(
    "seed, dtype, says", [(-1, np.float32, "seed"), (0.5, np.float32, "seed"), (0, int, "dtype")]
)
def test_impossible_init_gets_one_clear_error(seed, dtype, says):
    with pytest.raises(BadInput, match=says):
        serial.init_params((4, 2), seed, dtype)


NET = Network((4, 3, 2))
GOOD = NET.init_params(0)
X, Y = np.zeros((5, 4), np.float32), np.zeros((5, 2), np.float32)
WRONG_CALLS = [
    (lambda: serial.forward(GOOD, X[:, :3], NET), r"X must have shape \(B, 4\), not \(5, 3\)"),
    (lambda: serial.forward(GOOD, X[0], NET), r"X must have shape \(B, 4\), not \(4,\)"),
    (
        lambda: serial.forward(GOOD, X.astype(np.float64), NET),
        "X must have dtype float32, not float64",
    ),
    (lambda: serial.forward(GOOD, X.astype(np.int64), NET), "X must have dtype float32, not int64"),
    (lambda: serial.forward(GOOD, X.tolist(), NET), "X must be a NumPy array, not list"),
    (lambda: serial.forward(GOOD, X[:0], NET), "X has no rows"),
    (lambda: serial.forward(GOOD[:1], X, NET), "params must be a list of 2 pairs"),
    (lambda: serial.forward(None, X, NET), "params must be a list of 2 pairs .* not NoneType"),
    (lambda: serial.forward(None, X), "make them with init_params"),
    (
        lambda: serial.forward(GOOD[::-1], X, NET),
        r"params\[0\]\[0\] \(W\) must have shape \(4, 3\)",
    ),
    (
        lambda: serial.forward([(W.astype(int), b) for W, b in GOOD], X, NET),
        "must have dtype float32 or float64",
    ),
    (
        lambda: serial.forward([GOOD[0], (GOOD[1][0].astype(float), GOOD[1][1])], X, NET),
        r"params\[1\]\[0\] .* float32",
    ),
    (
        lambda: serial.backward(GOOD, serial.forward(GOOD, X, NET), Y[:4]),
        r"Y must have shape \(5, 2\), not \(4, 2\)",
    ),
    (
        lambda: serial.backward(GOOD, serial.forward(GOOD, X, NET), Y[:, 0]),
        r"Y must have shape \(5, 2\), not \(5,\)",
    ),
    (
        lambda: serial.backward(GOOD, serial.forward(GOOD, X, NET), Y.astype(int)),
        "Y must have dtype float32, not int64",
    ),
    (lambda: serial.loss_value(NET, GOOD, X, Y[:4]), "X has 5 rows and Y has 4"),
    (lambda: serial.predict(NET, GOOD, X[:0]), "X has no rows"),
    (lambda: serial.predict(NET, GOOD, None), "X must be a NumPy array"),
    (
        lambda: serial.accuracy(NET, GOOD, X, np.array([0, 1, 2, 0, 0])),
        "y holds the label 2.*from 0 to 1",
    ),
    (lambda: serial.accuracy(NET, GOOD, X, np.array([0, 1, -1, 0, 0])), "y holds the label -1"),
    (lambda: serial.accuracy(NET, GOOD, X, np.zeros(5)), "y must hold whole numbers"),
    (lambda: serial.accuracy(NET, GOOD, X, np.zeros(4, int)), "X has 5 rows and y has 4"),
    (lambda: serial.confusion(NET, GOOD, X, np.zeros((5, 1), int)), r"y must have shape \(N,\)"),
    (lambda: serial.sgd_step(GOOD, GOOD[:1], 0.1), "gradients must be a list of 2 pairs"),
    (
        lambda: serial.sgd_step(GOOD, None, 0.1),
        "gradients must be a list of 2 pairs .* not NoneType",
    ),
    (lambda: serial.sgd_step(GOOD, [W for W, _ in GOOD], 0.1), "must be a pair"),
    (
        lambda: serial.sgd_step(GOOD, [(W, b[:1]) for W, b in GOOD], 0.1),
        r"gradients\[0\]\[1\] \(db\) must have shape",
    ),
    (
        lambda: serial.sgd_step(GOOD, [(W.astype(float), b) for W, b in GOOD], 0.1),
        "must have dtype float32",
    ),
]


@pytest.mark.parametrize("call, says", WRONG_CALLS, ids=[says for _, says in WRONG_CALLS])
def test_input_that_does_not_fit_gets_one_clear_error(call, says):
    with pytest.raises(BadInput, match=says):
        call()


def test_labels_of_a_narrow_dtype_do_not_wrap_around():
    net = Network((2, 20), "sigmoid", "cross_entropy")
    params = net.init_params(0, np.float64)
    X, y = np.random.default_rng(0).normal(size=(50, 2)), (np.arange(50) % 20).astype(np.uint8)
    assert np.array_equal(
        serial.confusion(net, params, X, y).sum(axis=1), np.bincount(y, minlength=20)
    )


def test_a_network_runs_as_the_functions_do():
    net = Network((3, 4, 2), activation="tanh")
    params, X, Y = net.init_params(1), np.ones((5, 3), np.float32), np.ones((5, 2), np.float32)
    ours, cache = net.forward(params, X), forward(params, X, net)
    assert np.array_equal(ours.A[-1], cache.A[-1])
    pairs = zip(net.backward(params, ours, Y), backward(params, cache, Y), strict=True)
    assert all(np.array_equal(a, b) for got, want in pairs for a, b in zip(got, want, strict=True))
