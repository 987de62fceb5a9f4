"""The checks of chapter 09 in NumPy: the output delta, the loss that equation 8 descends, a layer's backward step."""

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged

# output_delta ---------------------------------------------------------------------------------------------------------


def _outputs(rng, B, n):
    A, Y = rng.uniform(0.05, 0.95, (B, n)).astype(np.float32), np.zeros((B, n), np.float32)
    Y[np.arange(B), rng.integers(0, n, B)] = 1
    return A, Y


def _delta_cases(rng):
    B, n = ragged(rng, 2)
    return [
        Case((*_outputs(rng, rows, columns), loss), f"{loss}, {label}", scale=1 / rows)
        for loss in ("mse", "cross_entropy")
        for rows, columns, label in ((B, n, "a batch"), (1, 7, "one example"))
    ]


def _output_delta(A, Y, loss):
    D = (A - Y) / len(A)
    return 2 * D * A * (1 - A) if loss == "mse" else D


check_output_delta = Check("output_delta", _delta_cases, _output_delta, axes=("example", "neuron"))

# loss_of_eq8 ----------------------------------------------------------------------------------------------------------


def _softplus(Z):
    return np.maximum(Z, 0) + np.log1p(np.exp(-np.abs(Z)))


def _loss_with(entry):
    return lambda Z, Y: float(entry(Z, Y).sum() / len(Z))


def _loss_cases(rng):
    B, n = ragged(rng, 2)

    def case(rows, columns, spread, label):
        Z = normal(rng, rows, columns) * np.float32(spread)
        Y = _outputs(rng, rows, columns)[1]
        if spread > 100:
            Z[0, 0], Z[1, 0] = 1000, -1000  # where float64 overflows as well
            Y[:2, 0] = 0, 1  # surely wrong, both: what is cut off shows
        return Case((Z, Y), label, scale=float(columns * (spread + 1)))

    return [
        case(B, n, 1, "a batch"),
        case(1, 5, 2, "one example"),
        case(n, 3, 300, "large z, both signs"),
    ]


CLIPPED = (
    "cut off at the ends, or a tiny number is added: that hides the overflow, but then an output that is surely wrong "
    "costs the same at any z, and the loss no longer has the slope A - Y. Work with z, and put logarithm and sigmoid "
    "together"
)


def _clip(A, least):
    A = np.clip(A, least, 1 - least)
    return A, 1 - A


def _raise(A, least):
    return np.maximum(A, least), np.maximum(1 - A, least)


def _add(A, least):
    return A + least, 1 - A + least


def _patched(least, patch, dtype):
    """From a sigmoid in that precision and the rest to 1, both kept away from 0."""

    def entry(Z, Y):
        A, rest = patch(1 / (1 + np.exp(-Z.astype(dtype))), least)
        return -Y * np.log(A) - (1 - Y) * np.log(rest)

    return _loss_with(entry)


def _z_clipped(most, everywhere):
    def entry(Z, Y):
        near = np.clip(Z, -most, most)
        return _softplus(near) - Y * (near if everywhere else Z)

    return _loss_with(entry)


LEAST = (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-20, 1e-30)

check_loss_of_eq8 = Check(
    "loss_of_eq8",
    _loss_cases,
    _loss_with(lambda Z, Y: _softplus(Z) - Y * Z),
    dtype=None,
    K=40,
    diagnoses=[
        *(
            (_patched(least, patch, dtype), CLIPPED)
            for least in LEAST
            for patch in (_clip, _raise, _add)
            for dtype in (np.float32, np.float64)
        ),
        *(
            (_z_clipped(most, everywhere), CLIPPED)
            for most in (10, 20, 30, 50, 80, 88, 100, 500, 700)
            for everywhere in (True, False)
        ),
    ],
)

# layer_step -----------------------------------------------------------------------------------------------------------


def _step_cases(rng):
    B, n_in, n_out = ragged(rng, 3)

    def case(B, n_in, n_out, label):
        A, W, b, dZ, slope = (
            normal(rng, *shape)
            for shape in ((B, n_in), (n_in, n_out), (n_out,), (B, n_out), (B, n_in))
        )
        return Case((A, W, b, dZ, slope, 0.25), label, scale=float(B + n_out))

    return [
        case(B, n_in, n_out, "a ragged layer"),
        case(9, 6, 6, "a square layer"),
        case(1, 5, 3, "one example"),
    ]


def _layer_step(A, W, b, dZ, slope, eta):
    return W - eta * (A.T @ dZ), b - eta * dZ.sum(axis=0), (dZ @ W.T) * slope


check_layer_step = Check("layer_step", _step_cases, _layer_step, parts=("W", "b", "dZ_below"), K=24)
