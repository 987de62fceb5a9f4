"""[000] and [001] on MNIST: is accuracy kept when examples are shared out, and what does a larger batch cost?"""

import contextlib
from typing import Any

import numpy as np

from course_lib import serial
from course_lib.data import load_mnist
from course_lib.measure import blas_threads
from course_tools.bench.frame import Progress
from course_tools.bench.papers.settings import Settings
from course_tools.bench.training.catalogue import NETS
from course_tools.bench.training.desk import differences

# learning rates to choose from, as in section 5.3 of [000]; it names none
GRID = (0.02, 0.05, 0.1, 0.2, 0.5)
GRID_BATCH, GRID_EXAMPLES = 64, 10_000
BATCHES = (64, 256, 1024, None)  # None: all examples in one step, algorithm 1 of [000]
SHARED = 256  # the batch size at which the threads' training is compared with the serial one


def sizes_of(data: Any) -> dict[str, int]:
    """How many examples are for training, validation and testing, and of how many pixels."""
    parts = {"train": data.y_train, "val": data.y_val, "test": data.y_test}
    return {name: len(y) for name, y in parts.items()} | {"pixels": data.n_features}


def digits(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Sizes of the data; test accuracy by batch size, serial; the same with threads; the gradient check."""
    data, net = load_mnist(), serial.Network(NETS["Net-1h"])
    eta, grid = _grid(net, data, settings)
    runs = {B: _run(net, data, settings, eta, B) for B in BATCHES}
    together = _run(net, data, settings, eta, SHARED, settings.threads)
    return {
        "eta": eta,
        "grid": grid,
        "epochs": settings.epochs,
        "examples": settings.examples,
        "grid_examples": GRID_EXAMPLES,
        "sizes": sizes_of(data),
        "runs": [{"B": B, **told} for B, (told, _) in runs.items()],
        "compared": _compared(runs[SHARED], together),
        "gradient_errors": _gradients(),
    }


Run = tuple[dict[str, Any], Any]  # accuracies and seconds, parameters


def _compared(alone: Run, together: Run) -> dict[str, Any]:
    """Trained alone, and with each batch shared out over threads: accuracies, and how far the parameters differ."""
    found = {"B": SHARED, "serial": alone[0]["test"], "threads": together[0]["test"]}
    return {**found, "largest_difference": float(max(differences(alone[1], together[1])))}


def _grid(net: Any, data: Any, settings: Settings) -> tuple[float, list[list[float | None]]]:
    """(the best learning rate, [rate, accuracy on the validation images] of each), after one epoch of fewer images."""
    how = {"progress": False, "max_examples": min(settings.examples, GRID_EXAMPLES)}
    with blas_threads(1):
        found = serial.grid_search(net, data, GRID, 1, GRID_BATCH, 0, **how)
    tried = [[eta, None if stopped else right] for eta, right, _, stopped in found.rows]
    return found.best_eta, tried


def _run(
    net: Any, data: Any, settings: Settings, eta: float, B: int | None, threads: int | None = None
) -> Run:
    """One training; with threads: examples of each batch shared out."""
    from course_lib.threads import DataParallel

    params, epochs = net.init_params(0), settings.epochs
    how: dict[str, Any] = {"progress": False, "max_examples": settings.examples}
    with contextlib.ExitStack() as stack:
        stack.enter_context(blas_threads(1))
        if threads is not None:
            workers = DataParallel(net, params, B, threads, body="numpy")
            how["gradients"] = serial.without_loss(stack.enter_context(workers))
        history = serial.train(net, params, data, epochs, B, eta, **how)
    n = min(settings.examples, len(data.y_train))
    return {
        "test": serial.accuracy(net, params, data.x_test, data.y_test),
        "loss": history.loss[-1],
        "seconds": sum(history.seconds),
        "steps": epochs * (1 if B is None else -(-n // B)),
    }, params


def _gradients() -> dict[str, float]:
    """The largest relative error of our gradients against differences: [000] algorithm 5, [003] eq. 3 to 7."""
    nets = {
        "[000]": serial.Network((6, 5, 4, 3)),
        "[003]": serial.Network((6, 5, 3), loss="cross_entropy", lam=0.1),
    }
    rng, found = np.random.default_rng(0), {}
    for text, net in nets.items():
        X, Y = rng.random((7, 6)), np.eye(3)[rng.integers(0, 3, 7)]
        report = serial.gradient_check(net, net.init_params(0, np.float64), X, Y)
        if not report.ok:
            raise ArithmeticError(f"the gradients of {text} do not pass: {report}")
        found[text] = report.max_relative_error
    return found
