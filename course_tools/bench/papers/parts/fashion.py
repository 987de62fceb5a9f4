"""[004] on Fashion-MNIST: learning rate 0.01, 60 iterations, sigmoid; sequential, and data parallel on two processes.

[004] does not give the layers' sizes; its figure 1 draws two hidden layers. We take 784-128-128-10 and [000]'s squared
error, and both readings of "iteration": a step over all images, or a pass over them in mini-batches.
"""

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from course_lib import serial
from course_lib.data import load_fashion_mnist
from course_lib.measure import blas_threads
from course_tools.bench.frame import Progress, Series, WorkerError, clear
from course_tools.bench.mpi.catalogue import EXAMPLES
from course_tools.bench.mpi.ranks import SETTLE, Ranks, save
from course_tools.bench.papers.parts.digits import sizes_of
from course_tools.bench.papers.settings import FASHION_ITERATIONS, FASHION_SIZES, Settings

ETA = 0.01  # "Learning rate: 0.01"
GROUPS = {"serial": 1, "data-mpi": 2, "master": 2}  # two ranks by allreduce, and as [004] words it
BATCHES = (64, 1024, EXAMPLES)


def fashion(settings: Settings, progress: Progress) -> dict[str, Any]:
    """Sizes of the data, accuracies after 60 iterations in both readings, and the times of both programs."""
    data = load_fashion_mnist()
    iterations = 3 if settings.quick else FASHION_ITERATIONS
    with blas_threads(1):
        learned = {
            name: _accuracy(data, iterations, B) for name, B in (("steps", None), ("passes", 64))
        }
    return {
        "sizes": list(FASHION_SIZES),
        "eta": ETA,
        "iterations": iterations,
        "classes": list(data.class_names),
        "data": {**sizes_of(data), "name": data.name},
        "learned": learned,
        "times": _times(data, settings),
    }


def _accuracy(data: Any, iterations: int, B: int | None) -> dict[str, Any]:
    net = serial.Network(FASHION_SIZES)
    params = net.init_params(0)
    before = serial.accuracy(net, params, data.x_test, data.y_test)
    history = serial.train(net, params, data, iterations, B, ETA, progress=False)
    after = serial.accuracy(net, params, data.x_test, data.y_test)
    return {"B": B, "before": before, "test": after, "loss": [history.loss[0], history.loss[-1]]}


def _times(data: Any, settings: Settings) -> list[dict[str, Any]]:
    """Seconds for 50,000 images of each program, by batch size, in rounds; the images are the sample's, repeated."""
    batches = BATCHES[:1] if settings.quick else BATCHES
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fashion")))
        rows = np.arange(EXAMPLES) % len(data.y_train)
        save(folder, data.x_train[rows], data.y_train[rows])
        groups = {p: stack.enter_context(Ranks("mpi", p)) for p in sorted(set(GROUPS.values()))}
        try:
            for group in groups.values():
                group.connect()
                group.ask("load", folder=str(folder))
            return [_case(groups, B, settings) for B in batches]
        except WorkerError as error:
            return [{"error": f"not measured: {error}"}]


def _case(groups: dict[int, Ranks], B: int, settings: Settings) -> dict[str, Any]:
    """One batch size: each program is held against the serial library, then timed."""
    series = Series()
    how: dict[str, Any] = {"sizes": FASHION_SIZES, "B": B, "seconds": settings.seconds / 2}
    for key, p in GROUPS.items():
        series.make(key, {}, groups[p], check=B < EXAMPLES, **how)
    series.run(settings.rounds, SETTLE)
    clear(groups.values())
    return {"B": B, "ways": series.rows}
