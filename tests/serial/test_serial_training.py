"""course_lib.serial: training loop, history, progress, early stop, grid search."""

import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from course_lib import serial
from course_lib.errors import BadInput
from course_lib.serial import Network

pytestmark = pytest.mark.filterwarnings("error")
NET = Network((3, 8, 3), "tanh", "cross_entropy")


def blobs(n_train=60, n_val=30, dtype=np.float32):
    """Three well separated clouds of points."""
    rng = np.random.default_rng(17)
    y = rng.integers(0, 3, size=n_train + n_val)
    x = (3 * np.eye(3)[y] + rng.normal(size=(len(y), 3))).astype(dtype)
    return SimpleNamespace(
        x_train=x[:n_train], y_train=y[:n_train], x_val=x[n_train:], y_val=y[n_train:]
    )


class Recorder:
    """A `gradients=` that notes the batches it gets."""

    def __init__(self, with_loss=False):
        self.batches, self.with_loss = [], with_loss

    def __call__(self, net, params, X, Y):
        self.batches.append((X.copy(), Y.copy()))
        grads = serial.gradients(net, params, X, Y)
        return grads, serial.loss_value(net, params, X, Y) if self.with_loss else None


def test_training_learns_and_the_history_says_so():
    params = NET.init_params(0)
    history = serial.train(NET, params, blobs(), 20, 8, 0.2, progress=False)
    assert (
        len(history.loss) == len(history.val_accuracy) == len(history.seconds) == 20
        and history.stopped is None
    )
    assert history.loss[-1] < 0.5 * history.loss[0] and history.val_accuracy[-1] >= 0.9
    assert all(s > 0 for s in history.seconds) and all(W.dtype == np.float32 for W, _ in params)
    lines = str(history).splitlines()
    assert lines[0].split() == ["epoch", "loss", "validation", "seconds"] and len(lines) == 21
    assert lines[20].split()[:3] == [
        "20",
        f"{history.loss[-1]:.6f}",
        f"{history.val_accuracy[-1]:.2%}",
    ]


def test_the_last_batch_is_ragged_and_the_order_is_the_promised_one():
    data, seen = blobs(11), Recorder()
    serial.train(NET, NET.init_params(0), data, 2, 4, 0.1, seed=5, gradients=seen, progress=False)
    assert [len(X) for X, _ in seen.batches] == [4, 4, 3, 4, 4, 3]
    for epoch in range(2):
        order = np.random.default_rng([5, epoch]).permutation(11)
        X = np.concatenate([X for X, _ in seen.batches[3 * epoch : 3 * epoch + 3]])
        Y = np.concatenate([Y for _, Y in seen.batches[3 * epoch : 3 * epoch + 3]])
        assert np.array_equal(X, data.x_train[order]) and np.array_equal(
            Y.argmax(axis=1), data.y_train[order]
        )


def test_the_history_loss_is_the_mean_over_examples_with_or_without_the_plugs_own_loss():
    plain = serial.train(NET, NET.init_params(0), blobs(11), 3, 4, 0.1, progress=False)
    for with_loss in (False, True):
        plug = Recorder(with_loss)
        other = serial.train(
            NET, NET.init_params(0), blobs(11), 3, 4, 0.1, gradients=plug, progress=False
        )
        assert (
            np.max(np.abs(np.subtract(other.loss, plain.loss)))
            <= 11 * np.finfo(np.float32).eps * 10
        )
        assert other.val_accuracy == plain.val_accuracy


def test_a_plug_may_return_its_gradients_as_a_tuple_and_without_a_loss():
    as_tuple = serial.without_loss(lambda *args: tuple(serial.gradients(*args)))
    params, plain = NET.init_params(0), NET.init_params(0)
    serial.train(NET, params, blobs(11), 1, 4, 0.1, gradients=as_tuple, progress=False)
    serial.train(NET, plain, blobs(11), 1, 4, 0.1, progress=False)
    assert all(np.array_equal(W, V) for (W, _), (V, _) in zip(params, plain, strict=True))


def test_batch_size_none_is_one_step_over_all_examples():
    data, seen = blobs(11, dtype=np.float64), Recorder()
    params, by_hand = NET.init_params(0, np.float64), NET.init_params(0, np.float64)
    serial.train(NET, params, data, 3, None, 0.1, gradients=seen, progress=False)
    assert [len(X) for X, _ in seen.batches] == [11, 11, 11]
    for _ in range(3):
        Y = serial.targets(NET, data.y_train, np.float64)
        serial.sgd_step(by_hand, serial.gradients(NET, by_hand, data.x_train, Y), 0.1)
    assert all(np.array_equal(W, V) for (W, _), (V, _) in zip(params, by_hand, strict=True))


def test_max_examples_takes_the_first_and_no_shuffle_keeps_their_order():
    data, seen = blobs(), Recorder()
    options = {"gradients": seen, "progress": False, "shuffle": False, "max_examples": 6}
    serial.train(NET, NET.init_params(0), data, 1, 4, 0.1, **options)
    assert np.array_equal(np.concatenate([X for X, _ in seen.batches]), data.x_train[:6])


def test_one_output_tells_two_classes_apart():
    data = blobs()
    two = SimpleNamespace(**{k: (v // 2 if k[0] == "y" else v) for k, v in vars(data).items()})
    net = Network((3, 6, 1))
    params = net.init_params(1)
    history = serial.train(net, params, two, 30, 8, 1.0, progress=False)
    assert history.val_accuracy[-1] >= 0.9


def test_divergence_stops_the_training_and_names_epoch_step_and_eta():
    net = Network((3, 8, 8, 3), "relu", "cross_entropy")
    params = net.init_params(0)
    history = serial.train(net, params, blobs(), 5, 8, 1e20, progress=False)
    assert (
        history.stopped is not None
        and len(history.loss) == len(history.val_accuracy) == len(history.seconds) < 5
    )
    for part in (
        "epoch 1",
        "step ",
        " of 8",
        "eta = 1e+20",
        "say 1e+19",
        "smaller eta",
        "init_params",
    ):
        assert part in history.stopped
    assert f"stopped: {history.stopped}" in str(history)


def test_a_parameter_that_overflows_in_the_last_step_is_noticed():
    broken = serial.without_loss(
        lambda net, params, X, Y: [(np.full_like(W, np.inf), b * 0) for W, b in params]
    )
    history = serial.train(
        NET, NET.init_params(0), blobs(), 2, None, 0.1, gradients=broken, progress=False
    )
    assert (
        "a parameter is NaN or infinite in epoch 1, the last step" in history.stopped
        and history.loss == []
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_in_a_terminal_is_one_line(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    serial.train(NET, NET.init_params(0), blobs(), 3, 8, 0.1)
    text = screen.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n") and "epoch 1/3  step 1/8  loss" in text
    shown = text.rstrip("\n").split("\r")[-1]
    assert shown.startswith("epoch 3/3  loss ") and "validation" in shown


def test_progress_in_a_log_is_one_line_an_epoch_and_can_be_silent(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    serial.train(NET, NET.init_params(0), blobs(), 3, 8, 0.1)
    out, err = capsys.readouterr()
    assert err == "" and "\r" not in out
    assert [line.split()[1] for line in out.splitlines()] == ["1/3", "2/3", "3/3"]
    serial.train(NET, NET.init_params(0), blobs(), 3, 8, 0.1, progress=False)
    assert capsys.readouterr() == ("", "")


def test_grid_search_finds_the_eta_that_learns_and_keeps_the_one_that_diverges():
    net = Network((3, 8, 3), "relu", "cross_entropy")
    result = serial.grid_search(net, blobs(), [1e-6, 0.2, 1e20], 10, 8, seed=0, progress=False)
    assert result.best_eta == 0.2 and [row[0] for row in result.rows] == [1e-6, 0.2, 1e20]
    assert result.rows[2][3] is not None and np.isnan(result.rows[2][1])
    alone = net.init_params(0)
    history = serial.train(net, alone, blobs(), 10, 8, 0.2, seed=0, progress=False)
    assert result.rows[1][1:3] == (history.val_accuracy[-1], history.loss[-1])
    lines = str(result).splitlines()
    assert lines[2].endswith("best") and lines[3].endswith("diverged") and len(lines) == 4


def test_a_grid_in_which_all_runs_diverge_has_no_best_eta():
    result = serial.grid_search(
        Network((3, 8, 3), "relu", "cross_entropy"), blobs(), [1e20], 2, 8, 0, progress=False
    )
    assert "diverged" in str(result)
    with pytest.raises(BadInput, match="try smaller ones"):
        _ = result.best_eta


@pytest.mark.parametrize(
    "bad, says",
    [
        ({"epochs": 0}, "epochs must be a whole number of at least 1, not 0"),
        ({"epochs": 1.5}, "epochs"),
        ({"batch_size": 0}, "batch_size must be a whole number from 1 to 60, not 0"),
        ({"batch_size": 61}, "batch_size must be a whole number from 1 to 60, not 61"),
        (
            {"batch_size": 7, "max_examples": 6},
            "batch_size must be a whole number from 1 to 6, not 7",
        ),
        ({"batch_size": -1}, "batch_size"),
        ({"eta": 0}, "eta must be a finite number above 0, not 0"),
        ({"eta": -0.1}, "eta"),
        ({"eta": float("nan")}, "eta"),
        ({"eta": float("inf")}, "eta"),
        ({"eta": None}, "eta"),
        ({"seed": -1}, "seed"),
        ({"seed": None}, "seed"),
        ({"max_examples": 0}, "max_examples"),
        (
            {"x_train": np.zeros((60, 4), np.float32)},
            r"dataset.x_train must have shape \(N, 3\), not \(60, 4\)",
        ),
        ({"x_train": np.zeros((60, 3))}, "dataset.x_train must have dtype float32, not float64"),
        (
            {"x_train": np.zeros((60, 3), np.uint8)},
            "dataset.x_train must have dtype float32, not uint8",
        ),
        ({"x_train": np.zeros((59, 3), np.float32)}, "59 rows and y_train 60"),
        ({"x_val": np.zeros((30, 2), np.float32)}, "dataset.x_val must have shape"),
        ({"y_train": np.full(60, 3)}, "dataset.y_train holds the label 3: .* from 0 to 2"),
        ({"y_val": np.full(30, -1)}, "dataset.y_val holds the label -1"),
        ({"y_train": np.zeros(60)}, "dataset.y_train must hold whole numbers"),
    ],
)
def test_impossible_settings_and_unfit_data_get_one_clear_error(bad, says):
    data = blobs()
    settings = {"epochs": 1, "batch_size": 8, "eta": 0.1, "progress": False}
    for name, value in bad.items():
        if name[:2] in ("x_", "y_"):
            setattr(data, name, value)
        else:
            settings[name] = value
    params = NET.init_params(0)
    with pytest.raises(BadInput, match=says):
        serial.train(NET, params, data, **settings)
    assert all(
        np.array_equal(W, V) for (W, _), (V, _) in zip(params, NET.init_params(0), strict=True)
    )


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (lambda *args: (None, None), r"gradients must be a list of 2 pairs .* not NoneType"),
        (lambda *args: None, r"gradients must return the pair \(grads, loss\)"),
        (serial.gradients, r"gradients must return the pair .* serial.without_loss\(f\)"),
        (lambda *args: tuple(serial.gradients(*args)), "gradients must return the pair"),
    ],
)
def test_a_plug_that_returns_something_else_gets_one_clear_error(returned, says):
    with pytest.raises(BadInput, match=says):
        serial.train(
            NET, NET.init_params(0), blobs(), 1, 8, 0.1, gradients=returned, progress=False
        )


def test_data_that_are_no_dataset_get_one_clear_error():
    with pytest.raises(BadInput, match="dataset must be a Dataset, such as load_mnist"):
        serial.train(NET, NET.init_params(0), (np.zeros((3, 3)), np.zeros(3)), 1, 8, 0.1)


def test_an_empty_grid_gets_one_clear_error():
    with pytest.raises(BadInput, match="etas is empty"):
        serial.grid_search(NET, blobs(), [], 1, 8, 0)
