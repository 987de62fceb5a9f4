"""Chapter 01's checks against what students write: wrong answers are refused with their cause, right ones are not."""

import math
from pathlib import Path

import numpy as np
import pytest

from course_lib.checks import ch01
from course_lib.checks.kit.core import CheckFailed
from course_tools.build import source

EXERCISE = Path(__file__).parents[3] / "chapters" / "01-serial-backprop" / "exercise.md"

SEEDS = range(1, 5)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def slope(z):
    return sigmoid(z) * (1 - sigmoid(z))


def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


def forward(params, x):
    Z, A = [], [x]
    for W, b in params:
        Z.append(A[-1] @ W + b)
        A.append(sigmoid(Z[-1]))
    return Z, A


def softmax_of(shift):
    def wrong(z):
        with np.errstate(all="ignore"):
            e = np.exp(z - shift(z))
            return e / e.sum()

    return wrong


# Task 1 to 3 ----------------------------------------------------------------------------------------------------


def neuron_abs(x, w, b):
    return float(sigmoid(x @ w + abs(b)))


def neuron_returns_inside(x, w, b):
    z = b
    for i in range(len(x)):
        z = z + x[i] * w[i]
        return 1 / (1 + math.exp(-z))


def neuron_brackets(x, w, b):
    return 1 / 1 + math.exp(-(x @ w + b))


def neuron_values(x, w, b):
    z = b
    for i in x:
        z = z + x[i] * w[i]
    return z


def forward_z_from_x(params, x):
    Z, A = forward(params, x)
    return [x, *Z], A


def forward_extends(params, x):
    Z, A = [], [x]
    for W, b in params:
        z = A[-1] @ W + b
        Z += list(z)
        A.append(sigmoid(z))
    return Z, A


def forward_extends_both(params, x):
    Z, A = [], [x]
    for W, b in params:
        Z.append(A[-1] @ W + b)
        A += list(sigmoid(Z[-1]))
    return Z, A


def forward_math(params, x):
    z = x @ params[0][0] + params[0][1]
    return [z], [x, 1 / (1 + math.exp(-z))]


def forward_with(f):
    def wrong(params, x):
        Z, A = [], [x]
        for W, b in params:
            Z.append(A[-1] @ W + b)
            A.append(f(Z[-1]))
        return Z, A

    return wrong


def forward_into_b(params, x):
    Z, A = [], [x]
    for W, b in params:
        z = b
        z += A[-1] @ W
        Z.append(z)
        A.append(sigmoid(z))
    return Z, A


def mse(X, y, w, b):
    r = X @ w + b - y
    return 2 / len(y) * (r @ X), 2 / len(y) * r.sum()


def mse_abs(X, y, w, b):
    return mse(X, y, w, abs(b))


def mse_floor(X, y, w, b):
    r = X @ w + b - y
    return 2 // max(len(y), 3) * (r @ X), 2 // max(len(y), 3) * r.sum()


def mse_column(X, y, w, b):
    r = X @ w.reshape(-1, 1) + b - y
    return 2 / len(y) * X.T @ r, 2 / len(y) * r.sum()


def mse_sigmoid(X, y, w, b):
    a = sigmoid(X @ w + b)
    r = (a - y) * a * (1 - a)
    return 2 / len(y) * (r @ X), 2 / len(y) * r.sum()


# Task 4 ---------------------------------------------------------------------------------------------------------


def numeric(f, theta, eps=1e-5):
    grad = np.empty_like(theta)
    for i in np.ndindex(theta.shape):
        keep = theta[i]
        theta[i] = keep + eps
        up = f(theta)
        theta[i] = keep - eps
        grad[i] = (up - f(theta)) / (2 * eps)
        theta[i] = keep
    return grad


def numeric_without_default(f, theta, eps):
    return numeric(f, theta, eps)


def numeric_default_1(f, theta, eps=1.0):
    return numeric(f, theta, eps)


def numeric_ignores(f, theta, eps=1e-5):
    return numeric(f, theta, 1e-5)


def numeric_adds(f, theta, eps=1e-5):
    grad = np.empty_like(theta)
    for i in np.ndindex(theta.shape):
        theta[i] += eps
        up = f(theta)
        theta[i] -= 2 * eps
        grad[i] = (up - f(theta)) / (2 * eps)
        theta[i] += eps
    return grad


def numeric_alias(f, theta, eps=1e-5):
    grad = np.empty_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta, theta
        up[i] += eps
        down[i] -= eps
        grad[i] = (f(up) - f(down)) / (2 * eps)
    return grad


def numeric_rows(f, theta, eps=1e-5):
    grad = np.empty_like(theta)
    for i in range(len(theta)):
        up, down = theta.copy(), theta.copy()
        up[i] += eps
        down[i] -= eps
        grad[i] = (f(up) - f(down)) / (2 * eps)
    return grad


def numeric_row_views(f, theta, eps=1e-5):
    grad = np.empty_like(theta)
    for i in range(len(theta)):
        keep = theta[i]
        theta[i] = keep + eps
        up = f(theta)
        theta[i] = keep - eps
        grad[i] = (up - f(theta)) / (2 * eps)
        theta[i] = keep
    return grad


# Task 5 to 7 ----------------------------------------------------------------------------------------------------


def clipped(z):
    e = np.exp(np.maximum(z - z.max(), -15))
    return e / e.sum()


def half_shifted(z):
    with np.errstate(all="ignore"):
        return np.exp(z - z.max()) / np.exp(z).sum()


def zeros_for_nan(z):
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.exp(z) / np.exp(z).sum())


def in_float64(z):
    with np.errstate(all="ignore"):
        e = np.exp(z.astype(np.float64))
        return e / e.sum()


def entropy(log_p):
    def answer(z, c, smooth):
        with np.errstate(all="ignore"):
            logs = log_p(z)
            return -((1 - smooth) * logs[c] + smooth * logs.mean())

    return answer


def log_softmax(z, shift=np.max, log=np.log):
    s = z - shift(z)
    return s - log(np.exp(s).sum())


def entropy_constant(z, c, smooth):
    p = softmax(z)
    return entropy(lambda z: np.where(p > 0, np.log(np.where(p > 0, p, 1)), -1000.0))(z, c, smooth)


# Task 7 to 9 ----------------------------------------------------------------------------------------------------


def tanh_backward(params, Z, A, y, output=lambda a: 1 - a**2, hidden=lambda z, a: 1 - a**2):
    grads, delta = [None] * len(params), 2 * (A[-1] - y) * output(A[-1])
    for l in down(len(params)):
        grads[l] = (np.outer(A[l], delta), delta)
        if l:
            delta = (params[l][0] @ delta) * hidden(Z[l - 1], A[l])
    return grads


def tanh_with(**parts):
    return lambda *args: tanh_backward(*args, **parts)


def backward_over(indices, start=lambda Z, delta: delta, past=lambda above, delta: above):
    def wrong(params, Z, A, delta, skips):
        grads, delta, above = [None] * len(params), start(Z, delta), 0.0
        for l in indices(len(params)):
            grads[l] = (np.outer(A[l], delta), delta)
            if l > 0:
                above = params[l][0] @ delta + (past(above, delta) if skips[l] else 0.0)
                delta = above * slope(Z[l - 1])
        return grads

    return wrong


def down(n):
    return range(n - 1, -1, -1)


def backward_swapped(*args):
    return [(db, dW) for dW, db in backward_over(down)(*args)]


def backward_entrywise(params, Z, A, delta, skips):
    return [
        (A[l] * db, db) for l, (_, db) in enumerate(backward_over(down)(params, Z, A, delta, skips))
    ]


def epoch(eta_of=lambda eta: eta, beta_of=lambda beta: beta, order_of=lambda order: order):
    def wrong(params, velocity, X, Y, eta, beta, order, gradients):
        for i in order_of(order):
            grads = gradients(params, X[i], Y[i])
            for pair, speeds, slopes in zip(params, velocity, grads, strict=True):
                for p, v, g in zip(pair, speeds, slopes, strict=True):
                    v[...] = beta_of(beta) * v + g
                    p -= eta_of(eta) * v

    return wrong


WRONG = [
    ("neuron", neuron_abs, None),
    ("neuron", neuron_returns_inside, "`return` is inside the loop"),
    ("neuron", neuron_brackets, "brackets"),
    ("neuron", neuron_values, "range(len(x))"),
    ("forward", forward_z_from_x, "Z starts with x"),
    ("forward", forward_extends, "append"),
    ("forward", forward_extends_both, "list += array"),
    ("forward", forward_math, "np.exp"),
    ("forward", forward_with(np.tanh), "tanh"),
    ("forward", forward_with(lambda z: np.maximum(z, 0)), "ReLU"),
    ("forward", forward_into_b, "b.copy()"),
    ("mse_gradient", mse_abs, None),
    ("mse_gradient", mse_floor, "all zeros"),
    ("mse_gradient", mse_column, "(N, 1) and (N,)"),
    ("mse_gradient", lambda *args: mse(*args)[::-1], "swapped: return dw, db"),
    ("mse_gradient", lambda *args: mse(*args)[0], "only dw is returned"),
    ("mse_gradient", mse_sigmoid, "no sigmoid"),
    (
        "mse_gradient",
        lambda *args: tuple(np.round(g, 4) for g in mse(*args)),
        "rounded to 4 decimals",
    ),
    ("neuron", lambda x, w, b: sigmoid(x * w + b), None),  # of one input it is right
    (
        "mse_gradient",
        lambda X, y, w, b: (2 / X.size * (X @ w + b - y) @ X, 2 / X.size * (X @ w + b - y).sum()),
        "only by N",
    ),
    (
        "numeric_gradient",
        lambda f, t, eps=1e-5: (f(t + eps) - f(t - eps)) / (2 * eps),
        "moved at once",
    ),
    ("numeric_gradient", numeric_without_default, "compare the call with its definition"),
    ("numeric_gradient", numeric_default_1, "default of eps"),
    ("numeric_gradient", numeric_ignores, "eps is ignored"),
    ("numeric_gradient", numeric_adds, "only up to rounding"),
    ("numeric_gradient", numeric_alias, "second name"),
    ("numeric_gradient", numeric_rows, "whole rows"),
    ("numeric_gradient", numeric_row_views, "whole rows"),
    ("softmax", softmax_of(lambda z: z[-1]), "subtract the maximum"),
    ("softmax", softmax_of(lambda z: z[0]), "subtracting z[0]"),
    ("softmax", clipped, None),
    ("softmax", half_shifted, "only in the numerator"),
    ("softmax", zeros_for_nan, "nan_to_num"),
    ("softmax", in_float64, "Subtract max(z) before"),
    ("softmax", lambda z: sigmoid(z) / sigmoid(z).sum(), "the sigmoid"),
    ("smoothed_cross_entropy", entropy(lambda z: log_softmax(z, lambda z: z[-1])), "the maximum"),
    ("smoothed_cross_entropy", entropy(lambda z: log_softmax(z, np.min)), "the maximum"),
    ("smoothed_cross_entropy", entropy_constant, None),
    ("smoothed_cross_entropy", entropy(lambda z: log_softmax(z) / np.log(2)), "nats"),
    ("smoothed_cross_entropy", entropy(lambda z: np.log(softmax(z))), "log(0)"),
    ("smoothed_cross_entropy", entropy(lambda z: np.log(softmax(z) + 1e-9)), "caps the loss"),
    ("repaired_backward", tanh_with(output=lambda a: (1 - a) ** 2), "at the output is still wrong"),
    ("repaired_backward", tanh_with(hidden=lambda z, a: 1 - z**2), "hidden layers is still wrong"),
    ("repaired_backward", tanh_with(hidden=lambda z, a: slope(z)), None),
    ("backward_skip", backward_over(lambda n: range(n - 1, 0, -1)), "stops before entry 0"),
    ("backward_skip", backward_over(lambda n: range(n - 1, 0)), "does not run at all"),
    ("backward_skip", backward_over(lambda n: [n - 1]), "`return` is inside the loop"),
    ("backward_skip", backward_over(down, past=lambda above, delta: 0.0), "without the skips"),
    (
        "backward_skip",
        backward_over(down, past=lambda above, delta: delta),
        "contains the slope of z",
    ),
    (
        "backward_skip",
        backward_over(down, lambda Z, delta: delta * slope(Z[-1])),
        "already contains",
    ),
    ("backward_skip", backward_swapped, "swapped in each pair"),
    ("backward_skip", backward_entrywise, None),
    ("momentum_epoch", epoch(order_of=lambda order: [order]), "one example"),
    ("momentum_epoch", epoch(eta_of=lambda eta: 1.0), "eta is missing"),
    ("momentum_epoch", epoch(eta_of=lambda eta: 0.1), "eta is not used"),
    ("momentum_epoch", epoch(beta_of=lambda beta: 0.95), "beta is not used"),
    ("momentum_epoch", epoch(beta_of=lambda beta: 1.0), "beta is missing"),
    ("momentum_epoch", epoch(order_of=np.unique), "more than once"),
    (
        "momentum_epoch",
        epoch(order_of=lambda order: list(dict.fromkeys(order.tolist()))),
        "more than once",
    ),
]


@pytest.mark.parametrize(
    ("task", "wrong", "cause"), WRONG, ids=[f"{t}-{i}" for i, (t, _, _) in enumerate(WRONG)]
)
def test_a_wrong_answer_of_a_student_is_refused_with_its_cause(task, wrong, cause):
    """Over 20 s of processor for some: the search for a cause tries many known mistakes."""
    for seed in SEEDS:
        with pytest.raises(CheckFailed) as failure:
            getattr(ch01, f"check_{task}")(wrong, seed=seed)
        if cause:
            told = dict(failure.value.report.rows).get("cause", "no cause named")
            assert cause in told, f"seed {seed}:\n{failure.value}"


def numeric_with_copies(f, theta, eps=1e-5):
    grad = np.zeros_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += eps
        down[i] -= eps
        grad[i] = (f(up) - f(down)) / 2 / eps
    return grad


def stable_in_logarithms(z):
    s = z - z.max()
    return np.exp(s - np.log(np.exp(s).sum()))


RIGHT = [
    ("neuron", lambda x, w, b: 1 - 1 / (1 + math.exp(sum(x * w) + b))),
    ("neuron", lambda x, w, b: 0.5 * (1 + math.tanh((x @ w + b) / 2))),
    ("numeric_gradient", numeric_with_copies),
    ("softmax", stable_in_logarithms),
    ("softmax", lambda z: softmax(z - z.max() / 2)),
    ("repaired_backward", tanh_backward),
    ("repaired_backward", tanh_with(hidden=lambda z, a: 1 / np.cosh(z) ** 2)),
    ("backward_skip", backward_over(down)),
    ("momentum_epoch", epoch()),
    ("smoothed_cross_entropy", entropy(lambda z: z - np.logaddexp.reduce(z))),
]


@pytest.mark.parametrize(("task", "right"), RIGHT)
def test_another_right_way_passes_on_many_seeds(task, right, capsys):
    for seed in range(200):
        getattr(ch01, f"check_{task}")(right, seed=seed)
    assert "warning" not in capsys.readouterr().out


@pytest.mark.parametrize("gradient", [numeric, numeric_with_copies])
def test_the_students_functions_judge_each_other_with_and_without_copies(gradient, capsys):
    """The cell judge-yourself: what it hands to numeric_gradient must read its argument."""
    scope: dict = {}
    for cell in source.read(EXERCISE).cells:
        if cell.kind == "code" and not cell.checks:
            exec(cell.source, scope)
            if cell.name == "numeric-gradient":
                scope["numeric_gradient"] = gradient
        if cell.name == "judge-yourself":
            break
    assert capsys.readouterr().out.count("agree to 7 digits") == 2
