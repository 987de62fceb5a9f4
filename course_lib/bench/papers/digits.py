"""[000] and [001] on MNIST: is accuracy kept when examples are shared out, and what does a larger batch cost?"""

from typing import Any

import numpy as np

from course_lib import serial
from course_lib.bench.catalogue import NETS
from course_lib.bench.desk_ranks import differences
from course_lib.bench.papers.settings import Settings
from course_lib.bench.progress import Progress
from course_lib.data import load_mnist
from course_lib.measure import blas_threads

GRID = (
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
)  # learning rates to choose from, as in section 5.3 of [000]; it names none
GRID_BATCH, GRID_EXAMPLES = 64, 10_000
BATCHES = (64, 256, 1024, None)  # None: all examples in one step, algorithm 1 of [000]
SHARED = 256  # the batch size at which the threads' training is compared with the serial one


def digits(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Sizes of the data; test accuracy by batch size, serial; the same with threads; the gradient check."""
    data = load_mnist()
    sizes = {
        "train": len(data.y_train),
        "val": len(data.y_val),
        "test": len(data.y_test),
        "pixels": data.n_features,
    }
    net = serial.Network(NETS["Net-1h"])
    eta, grid = _grid(net, data, settings)
    runs = [{"B": B, **_run(net, data, settings, eta, B)[0]} for B in BATCHES]
    first, alone = _run(net, data, settings, eta, SHARED)
    shared, together = _run(net, data, settings, eta, SHARED, settings.threads)
    apart = max(differences(alone, together))
    compared = {
        "B": SHARED,
        "serial": first["test"],
        "threads": shared["test"],
        "largest_difference": float(apart),
    }
    how = {
        "eta": eta,
        "grid": grid,
        "epochs": settings.epochs,
        "examples": settings.examples,
        "grid_examples": GRID_EXAMPLES,
    }
    return {
        **how,
        "sizes": sizes,
        "runs": runs,
        "compared": compared,
        "gradient_errors": _gradients(),
    }


def _grid(net: Any, data: Any, settings: Settings) -> tuple[float, list[list[float | None]]]:
    """(the best learning rate, [rate, accuracy on the validation images] of each), after one epoch of fewer images."""
    most = min(settings.examples, GRID_EXAMPLES)
    with blas_threads(1):
        found = serial.grid_search(
            net, data, GRID, 1, GRID_BATCH, 0, progress=False, max_examples=most
        )
    return found.best_eta, [
        [eta, None if stopped else right] for eta, right, _, stopped in found.rows
    ]


def _run(
    net: Any, data: Any, settings: Settings, eta: float, B: int | None, threads: int | None = None
) -> tuple[dict[str, Any], Any]:
    """(accuracies and seconds, parameters) of one training; with threads: examples of each batch shared out."""
    from course_lib.threads import DataParallel

    params = net.init_params(0)
    how = {"progress": False, "max_examples": settings.examples}
    with blas_threads(1):
        if threads is None:
            history = serial.train(net, params, data, settings.epochs, B, eta, **how)
        else:
            with DataParallel(net, params, B, threads, body="numpy") as workers:
                history = serial.train(
                    net,
                    params,
                    data,
                    settings.epochs,
                    B,
                    eta,
                    gradients=serial.without_loss(workers),
                    **how,
                )
    right = serial.accuracy(net, params, data.x_test, data.y_test)
    steps = settings.epochs * (
        1 if B is None else -(-min(settings.examples, len(data.y_train)) // B)
    )
    return {
        "test": right,
        "loss": history.loss[-1],
        "seconds": sum(history.seconds),
        "steps": steps,
    }, params


def _gradients() -> dict[str, float]:
    """The largest relative error of our gradients against differences: [000] algorithm 5, [003] eq. 3 to 7."""
    rng, found = np.random.default_rng(0), {}
    for text, net in {
        "[000]": serial.Network((6, 5, 4, 3)),
        "[003]": serial.Network((6, 5, 3), loss="cross_entropy", lam=0.1),
    }.items():
        X, Y = rng.random((7, 6)), np.eye(3)[rng.integers(0, 3, 7)]
        report = serial.gradient_check(net, net.init_params(0, np.float64), X, Y)
        if not report.ok:
            raise ArithmeticError(f"the gradients of {text} do not pass: {report}")
        found[text] = report.max_relative_error
    return found
