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


def _delta_with(sign=1.0, factor=2.0, slope=True, soft_slope=False, over=len):
    """The reference, or a known wrong one."""

    def output_delta(A, Y, loss):
        D = sign * (A - Y) / over(A)
        if loss == "mse":
            D, bent = D * factor, slope
        else:
            bent = soft_slope
        return D * A * (1 - A) if bent else D

    return output_delta


check_output_delta = Check(
    "output_delta",
    _delta_cases,
    _delta_with(),
    axes=("example", "neuron"),
    diagnoses=[
        (
            lambda A, Y, loss: _delta_with()(
                A, Y, "mse" if loss == "cross_entropy" else "cross_entropy"
            ),
            "the two losses are mixed up: the MSE has the 2 and the slope, the cross-entropy neither",
        ),
        (
            lambda A, Y, loss: _delta_with()(A, Y, "mse"),
            "the MSE's delta for both losses: with softmax and cross-entropy the slopes cancel, A - Y over B is left",
        ),
        (
            _delta_with(over=lambda A: A.shape[1]),
            "divided by the number of outputs; 1/B is meant, the number of rows",
        ),
    ],
)

# loss_of_eq8 ----------------------------------------------------------------------------------------------------------


def _softplus(Z):
    return np.maximum(Z, 0) + np.log1p(np.exp(-np.abs(Z)))


def _loss_with(entry=lambda Z, Y: _softplus(Z) - Y * Z, over=len):
    return lambda Z, Y: float(entry(Z, Y).sum() / over(Z))


def _loss_cases(rng):
    B, n = ragged(rng, 2)

    def case(rows, columns, spread, label):
        Z = normal(rng, rows, columns) * np.float32(spread)
        Y = _outputs(rng, rows, columns)[1]
        if spread > 100:
            Z[0, 0], Z[1, 0] = 1000, -1000  # where float64 overflows as well
        return Case((Z, Y), label, scale=float(columns * (spread + 1)))

    return [
        case(B, n, 1, "a batch"),
        case(1, 5, 2, "one example"),
        case(n, 3, 300, "large z, both signs"),
    ]


CLIPPED = (
    "cut off at the ends: that hides the overflow, but then an output that is surely wrong costs the same at any z, "
    "and the loss no longer has the slope A - Y. log(1 + exp(z)) = max(z, 0) + log1p(exp(-|z|)) needs no cutting"
)


def _clipped(least):
    def entry(Z, Y):
        A = np.clip(1 / (1 + np.exp(-Z.astype(np.float32))), least, 1 - least)
        return -Y * np.log(A) - (1 - Y) * np.log(1 - A)

    return entry


check_loss_of_eq8 = Check(
    "loss_of_eq8",
    _loss_cases,
    _loss_with(),
    dtype=None,
    K=40,
    diagnoses=[
        *(
            (_loss_with(_clipped(least)), CLIPPED)
            for least in (1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-15)
        ),
        *(
            (
                _loss_with(
                    lambda Z, Y, most=most: np.log1p(np.exp(np.clip(Z, -most, most))) - Y * Z
                ),
                CLIPPED,
            )
            for most in (20, 30, 50, 80, 88, 100, 500, 700)
        ),
        (
            _loss_with(lambda Z, Y: (1 / (1 + np.exp(-Z)) - Y) ** 2),
            "this is the MSE, [000] eq. 6: its delta has f'(z_L)",
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


def _step_with(
    weights=lambda W, new: W,
    turned=True,
    bend=True,
    sign=-1.0,
    over=lambda A: 1,
    bias=lambda dZ: dZ.sum(axis=0),
):
    """The reference, or a known wrong one."""

    def layer_step(A, W, b, dZ, slope, eta):
        new = W + sign * eta * (A.T @ dZ) / over(A)
        used = weights(W, new)
        below = (dZ @ (used.T if turned else used)) * (slope if bend else 1)
        return new, b + sign * eta * bias(dZ) / over(A), below

    return layer_step


check_layer_step = Check(
    "layer_step",
    _step_cases,
    _step_with(),
    parts=("W", "b", "dZ_below"),
    K=24,
    diagnoses=[
        (
            _step_with(turned=False),
            "W where W^T belongs (it fits where the layer is square, and is wrong there)",
        ),
    ],
)
