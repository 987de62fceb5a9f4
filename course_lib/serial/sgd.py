"""Gradient descent: the step, and the training loop around it (Kamra 2016, algorithms 1 and 2)."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from course_lib.data import one_hot
from course_lib.errors import BadInput, check_array, check_count, check_number
from course_lib.serial.evaluate import accuracy, check_labels, loss_value
from course_lib.serial.minibatch import gradients_and_loss
from course_lib.serial.network import Network, check_grads, check_params
from course_lib.serial.optimiser import Optimiser
from course_lib.serial.progress import TrainingProgress


def sgd_step(params, grads, eta):
    """theta := theta - eta dL/dtheta, in place (Kamra 2016, algorithms 1 and 2, Darve 2019, eq. 2). Returns params.

    grads: list of (dW, db), shapes and dtype of params, left as they are. Raises BadInput where they do not fit.
    """
    check_grads(grads, params, params[0][0].dtype)
    eta = float(eta)  # a Python float leaves float32 as float32; np.float64(eta) would not
    for (W, b), (dW, db) in zip(params, grads, strict=True):
        W -= eta * dW
        b -= eta * db
    return params


@dataclass
class History:
    """What training did, one entry an epoch; `stopped` says why it ended early, or is None.

    loss: mean over the epoch's examples of the loss that each batch had just before its step.
    val_accuracy: on the validation set, after the epoch. seconds: the epoch's steps, without that evaluation.
    """

    loss: list[float] = field(default_factory=list)
    val_accuracy: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    stopped: str | None = None

    def __str__(self):
        rows = [f"{'epoch':>5}  {'loss':>10}  {'validation':>10}  {'seconds':>7}"]
        columns = zip(self.loss, self.val_accuracy, self.seconds, strict=True)
        for epoch, (loss, right, seconds) in enumerate(columns, start=1):
            rows.append(f"{epoch:5d}  {loss:10.6f}  {right:10.2%}  {seconds:7.2f}")
        return "\n".join(rows + ([f"stopped: {self.stopped}"] if self.stopped else []))

    __repr__ = __str__


def train(
    net,
    params,
    dataset,
    epochs,
    batch_size,
    eta,
    seed=0,
    gradients=None,
    progress=True,
    shuffle=True,
    max_examples=None,
):
    """Mini-batch gradient descent, Kamra 2016, algorithm 2; changes `params` in place and returns a `History`.

    dataset: x_train (N, n0) of the dtype of params, y_train (N,) integer labels, x_val, y_val.
    batch_size: examples a step. The last batch of an epoch may be smaller: its gradient is the mean over
        its own examples. None takes all N in one step: batch gradient descent, Kamra 2016, algorithm 1.
    eta: the learning rate of sgd_step, or an Optimiser with its own, such as Adam(0.001), whose state goes on.
    seed: epoch e (from 0) visits the examples in the order default_rng([seed, e]).permutation(N).
    gradients: callable (net, params, X, Y) -> (grads, loss of the batch), to train with threads, a GPU or MPI; grads as
        from `backward`. Where the loss is None, it costs a forward pass, which is not timed: `without_loss(f)` makes
        such a callable of an f that returns grads alone.
    progress: one updating line on standard output. max_examples: only the first so many training examples.
    Ends early, and says so in history.stopped, when the loss or a parameter is NaN or infinite.
    Raises BadInput for settings that cannot be and for data that does not fit the network.
    """
    X, Y = _training_set(net, params, dataset, max_examples)
    epochs, (update, eta) = check_count("epochs", epochs), _rule(eta)
    size = len(X) if batch_size is None else check_count("batch_size", batch_size, 1, len(X))
    history, seed = History(), check_count("seed", seed, low=0)
    step = _Step(net, params, eta, gradients or gradients_and_loss, update)
    report = TrainingProgress(progress, epochs, math.ceil(len(X) / size))
    with np.errstate(over="ignore", invalid="ignore"):  # divergence is caught below, by its name
        for epoch in range(epochs):
            order = None
            if shuffle and size < len(X):
                order = np.random.default_rng([seed, epoch]).permutation(len(X))
            history.stopped = _epoch(step, X, Y, order, size, report, epoch, history)
            if history.stopped:
                break
            history.val_accuracy.append(accuracy(net, params, dataset.x_val, dataset.y_val))
            report.epoch_done(history)
    report.close(history)
    return history


def _rule(eta):
    """(what makes a step of (params, grads), its learning rate)."""
    if isinstance(eta, Optimiser):
        return eta.step, eta.eta
    eta = check_number("eta", eta)
    return partial(sgd_step, eta=eta), eta


def targets(net, y, dtype):
    """Labels (N,) as what the network should put out, (N, nL): one-hot; with a single output, 0 or 1."""
    if net.sizes[-1] == 1:
        return y.reshape(-1, 1).astype(dtype)
    return one_hot(y, net.sizes[-1], dtype)


def _epoch(step, X, Y, order, size, report, epoch, history):
    """One pass over the examples. Adds loss and seconds to history, or returns why training must stop."""
    total = seconds = 0.0
    starts = range(0, len(X), size)
    for number, start in enumerate(starts, start=1):
        rows = slice(start, start + size) if order is None else order[start : start + size]
        loss, spent = step(X, Y, rows)
        seconds += spent
        if not math.isfinite(loss):
            where = f"step {number} of {len(starts)}"
            return _diverged(f"the training loss is {loss}", epoch, where, step.eta)
        total += loss * len(X[start : start + size])
        report.step(epoch, number, loss)
    if not all(np.isfinite(W).all() and np.isfinite(b).all() for W, b in step.params):
        return _diverged("a parameter is NaN or infinite", epoch, "the last step", step.eta)
    history.loss.append(total / len(X))
    history.seconds.append(seconds)
    return None


def _diverged(what, epoch, where, eta):
    return (
        f"{what} in epoch {epoch + 1}, {where}, with eta = {eta:g}. Try a smaller eta, say {eta / 10:g}; "
        "start again from init_params, since these parameters are spoilt; pixels belong in [0, 1]"
    )


@dataclass
class _Step:
    """One timed step: the gradient of one batch, then the update. Returns (loss before the step, seconds)."""

    net: Network
    params: list
    eta: float
    gradients: Callable
    update: Callable

    def __call__(self, X, Y, rows):
        start = time.perf_counter()
        X, Y = X[rows], Y[rows]
        grads, loss = check_pair(self.gradients(self.net, self.params, X, Y))
        spent = time.perf_counter() - start
        if loss is None:
            loss = loss_value(self.net, self.params, X, Y)
        start = time.perf_counter()
        if math.isfinite(loss):
            self.update(self.params, grads)
        return loss, spent + time.perf_counter() - start


def check_pair(found):
    """(grads, loss) as a `gradients=` must return them, loss a number or None. Raises BadInput for anything else."""
    is_pair = isinstance(found, tuple) and len(found) == 2
    if not is_pair or not (found[1] is None or np.isscalar(found[1])):
        advice = "wrap a function f that returns the gradients alone, as serial.without_loss(f)"
        raise BadInput(f"gradients must return the pair (grads, loss): {advice}")
    return found


def _training_set(net, params, dataset, max_examples):
    if not all(hasattr(dataset, name) for name in ("x_train", "y_train", "x_val", "y_val")):
        wanted = "a Dataset, such as load_mnist() returns"
        raise BadInput(f"dataset must be {wanted}, not {type(dataset).__name__}")
    check_params(params, net)
    dtype = params[0][0].dtype
    X = check_array("dataset.x_train", dataset.x_train, ("N", net.sizes[0]), dtype)
    check_array("dataset.x_val", dataset.x_val, ("N", net.sizes[0]), dtype)
    for name in ("y_train", "y_val"):
        check_labels(net, getattr(dataset, name), f"dataset.{name}")
    if len(X) != len(dataset.y_train) or len(X) == 0:
        counts = f"dataset.x_train has {len(X)} rows and y_train {len(dataset.y_train)}"
        raise BadInput(f"{counts}: they must be as many")
    if max_examples is not None:
        X = X[: check_count("max_examples", max_examples)]
    return X, targets(net, dataset.y_train[: len(X)], dtype)
