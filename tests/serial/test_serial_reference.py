"""course_lib.serial against values that others computed: PyTorch's autograd (stored) and scikit-learn (live)."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import serial
from course_lib.serial import Network

STORED = np.load(Path(__file__).parent / "reference" / "serial_torch.npz", allow_pickle=False)
HEAD = json.loads(str(STORED["head"]))


def by_name(kind):
    return pytest.mark.parametrize("case", HEAD[kind], ids=lambda case: case["name"])


def load(case, dtype):
    """net, params, X, Y of a stored case."""
    net = Network(tuple(case["sizes"]), case["activation"], case["loss"], case["lam"])
    get = lambda name: STORED[f"{case['name']}/{name}"].astype(dtype)  # noqa: E731
    params = [(get(f"W{layer}"), get(f"b{layer}")) for layer in range(net.n_layers)]
    return net, params, get("X"), get("Y")


def tolerance(net, B, dtype, steps=1):
    """Each value comes out of chains of at most K additions, K the widest sum in the network; its terms are of order
    ten at most. Every layer and every step hands on the error of the one before: 10 K eps (2 n_layers) steps."""
    return 10 * max(*net.sizes, B) * np.finfo(dtype).eps * 2 * net.n_layers * steps


def assert_close(got, want, atol, what):
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    diff = np.max(np.abs(got - want) / np.maximum(1, np.abs(want)))
    assert diff <= atol, f"{what}: off by {diff:.2e}, allowed {atol:.2e}"


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@by_name("cases")
def test_forward_loss_and_gradient_equal_pytorch(case, dtype):
    net, params, X, Y = load(case, dtype)
    atol = tolerance(net, len(X), dtype)
    cache = serial.forward(params, X, net)
    grads = serial.backward(params, cache, Y)
    assert_close(
        np.array(serial.loss_value(net, params, X, Y)), STORED[f"{case['name']}/loss"], atol, "loss"
    )
    assert cache.A[0] is X and len(cache.Z) == net.n_layers and cache.net is net
    for layer, (dW, db) in enumerate(grads):
        for name, got in (
            (f"A{layer + 1}", cache.A[layer + 1]),
            (f"dW{layer}", dW),
            (f"db{layer}", db),
        ):
            assert got.dtype == dtype, f"{name} was cast to {got.dtype}"
            assert_close(got, STORED[f"{case['name']}/{name}"], atol, name)


def test_the_reference_covers_every_activation_loss_and_penalty():
    seen = {(c["activation"], c["loss"], c["lam"] > 0) for c in HEAD["cases"]}
    assert len(seen) == 16
    assert {len(c["sizes"]) for c in HEAD["cases"]} == {2, 3, 4, 5}


@by_name("training")
def test_training_equals_torch_sgd_after_every_epoch(case):
    net, params, X, Y = load(case, np.float64)
    y = Y.argmax(axis=1) if net.sizes[-1] > 1 else Y[:, 0].astype(np.int64)
    data = SimpleNamespace(x_train=X, y_train=y, x_val=X, y_val=y)
    steps = -(-len(X) // case["batch_size"])
    for epoch in range(case["epochs"]):
        history = serial.train(
            net, params, data, 1, case["batch_size"], case["eta"], progress=False, shuffle=False
        )
        atol = tolerance(net, len(X), np.float64, steps * (epoch + 1))
        stored = f"{case['name']}/epoch{epoch}"
        assert_close(
            np.array(history.loss[0]), STORED[f"{stored}/loss"], atol, f"loss of epoch {epoch}"
        )
        for layer, (W, b) in enumerate(params):
            assert_close(W, STORED[f"{stored}/W{layer}"], atol, f"W{layer} after epoch {epoch}")
            assert_close(b, STORED[f"{stored}/b{layer}"], atol, f"b{layer} after epoch {epoch}")


@pytest.mark.parametrize(
    "activation, theirs", [("sigmoid", "logistic"), ("tanh", "tanh"), ("relu", "relu")]
)
def test_three_steps_equal_scikit_learns_mlp(activation, theirs):
    neural_network = pytest.importorskip("sklearn.neural_network")
    rng = np.random.default_rng(5)
    X, y, lam, eta = rng.normal(size=(12, 6)), np.arange(12) % 3, 0.04, 0.2
    net = Network((6, 5, 4, 3), activation, "cross_entropy", lam)
    params = [(W, b + rng.normal(size=b.shape)) for W, b in net.init_params(1, np.float64)]
    model = neural_network.MLPClassifier(
        (5, 4),
        activation=theirs,
        solver="sgd",
        alpha=lam * 12,
        batch_size=12,  # alpha is divided by the batch
        learning_rate_init=eta,
        momentum=0,
        shuffle=False,
    )
    model.partial_fit(X, y, classes=[0, 1, 2])
    for ours, coefs, intercepts in zip(params, model.coefs_, model.intercepts_, strict=True):
        coefs[:], intercepts[:] = ours
    for step in range(3):
        loss = serial.loss_value(net, params, X, np.eye(3)[y])
        serial.sgd_step(params, serial.gradients(net, params, X, np.eye(3)[y]), eta)
        model.partial_fit(X, y)
        atol = tolerance(net, 12, np.float64, step + 1)
        assert_close(np.array(loss), np.array(model.loss_), atol, f"loss before step {step}")
        for (W, b), coefs, intercepts in zip(params, model.coefs_, model.intercepts_, strict=True):
            assert_close(W, coefs, atol, f"W after step {step}")
            assert_close(b, intercepts, atol, f"b after step {step}")


def test_log_loss_accuracy_and_confusion_equal_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(8)
    net = Network((7, 9, 4), "tanh", "cross_entropy")
    params = net.init_params(3, np.float64)
    X, y = (
        rng.normal(size=(2345, 7)),
        rng.integers(0, 3, size=2345),
    )  # class 3 never occurs; more rows than one chunk
    guess = serial.predict(net, params, X)
    assert guess.dtype == np.int64 and len(np.unique(guess)) == 4
    counts = serial.confusion(net, params, X, y)
    assert counts.dtype == np.int64
    assert np.array_equal(counts, metrics.confusion_matrix(y, guess, labels=range(4)))
    assert abs(serial.accuracy(net, params, X, y) - metrics.accuracy_score(y, guess)) <= 1e-12
    P = serial.forward(params, X, net).A[-1]
    want = metrics.log_loss(y, P, labels=range(4))
    assert abs(serial.loss_value(net, params, X, np.eye(4)[y]) - want) <= 1e-12 * 2345
