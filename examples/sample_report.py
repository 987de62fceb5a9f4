"""The numbers of docs/sample-report.md: is data-parallel training with threads the same as serial training?

    .venv/bin/python examples/sample_report.py

prints them, in some seconds.
"""

import numpy as np

from course_lib import data, measure, serial, threads
from course_lib.checks.kit.rounding import Rounding
from course_lib.mpi.flat import pack

WORKERS, B, ETA = 3, 100, 0.5
NET = serial.Network((784, 300, 10), "sigmoid", "cross_entropy")


def batch_of(digits, step, rows=B):
    """X, Y of a step: rows of the training set in their order."""
    part = slice(step * B, step * B + rows)
    return digits.x_train[part], data.one_hot(digits.y_train[part], 10)


def ratio(got, params, X, Y):
    """The largest |float32 - float64| / bound over all entries of a gradient."""
    exact, bounds = Rounding(NET).gradients(params, X, Y)
    off = np.abs(pack(got) - pack(exact))
    return float(np.max(off[off > 0] / pack(bounds)[off > 0], initial=0.0))


def correctness(digits, later=50):
    """{what was compared: its largest ratio to the bound}."""
    params, found = NET.init_params(seed=1), {}
    for step in range(later):
        X, Y = batch_of(digits, step)
        got = threads.data_parallel_gradients(NET, params, X, Y, WORKERS)
        if step in (0, later - 1):
            found[f"step {step + 1}, B = {B}"] = ratio(got, params, X, Y)
        if step == 0:
            few_X, few_Y = batch_of(digits, step, rows=7)
            few = threads.data_parallel_gradients(NET, params, few_X, few_Y, WORKERS)
            found["step 1, B = 7"] = ratio(few, params, few_X, few_Y)
            lost = threads.data_parallel_gradients(NET, params, X[:-1], Y[:-1], WORKERS)
            found["planted: the last row is lost"] = ratio(lost, params, X, Y)
        serial.sgd_step(params, got, ETA)
    return found


def drift(digits, marks=(1, 4, 16, 64), dtype=np.float32):
    """[(steps, serial - float64, parallel - float64, serial - parallel, bound)]: each the largest of all parameters."""
    one, many, exact = (
        NET.init_params(1, dtype),
        NET.init_params(1, dtype),
        NET.init_params(1, np.float64),
    )
    bounds, rows = None, []
    for step in range(max(marks)):
        X, Y = (part.astype(dtype) for part in batch_of(digits, step))
        bounds = Rounding(NET).step(exact, X, Y, ETA, bounds)
        serial.sgd_step(one, serial.gradients(NET, one, X, Y), ETA)
        serial.sgd_step(many, threads.data_parallel_gradients(NET, many, X, Y, WORKERS), ETA)
        if step + 1 in marks:
            a, b, c = pack(one), pack(many), pack(exact)
            apart = [float(np.abs(x - y).max()) for x, y in ((a, c), (b, c), (a, b))]
            rows.append(
                (step + 1, *apart, float(max(part.max() for pair in bounds for part in pair)))
            )
    return rows


def main():
    """Print the numbers, with the machine."""
    digits = data.load_mnist()
    with measure.blas_threads(1):
        for what, value in correctness(digits).items():
            print(f"{what:30} {value:10.2g} times the bound")
        for dtype in (np.float32, np.float64):
            print(
                f"{dtype.__name__}: steps, serial, parallel, one from the other, bound of float32"
            )
            for steps, *values in drift(digits, dtype=dtype):
                print(f"{steps:4}", *(f"{value:9.1e}" for value in values))
    print(measure.machine())


if __name__ == "__main__":
    main()
