"""Chapter 01's checks against what students write: wrong answers are refused with their cause, right ones are not."""

import math
from pathlib import Path

import numpy as np
import pytest

from course_lib.checks import ch01
from course_lib.checks.kit.core import CheckFailed
from course_tools.build import source

EXERCISE = Path(__file__).parents[3] / "chapters" / "01-serial-backprop" / "exercise.md"

SEEDS = range(1, 13)


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


def entropy_shifted(shift):
    def wrong(z, c):
        with np.errstate(all="ignore"):
            s = z - shift(z)
            return np.log(np.exp(s).sum()) - s[c]

    return wrong


def entropy_constant(z, c):
    p = softmax(z)[c]
    return -np.log(p) if p > 0 else 1000.0


def entropy_log(log):
    def wrong(z, c):
        s = z - z.max()
        return log(np.exp(s).sum()) - s[c]

    return wrong


def delta_unshifted(z, y, loss):
    if loss == "mse":
        return 2 * (sigmoid(z) - y) * slope(z)
    with np.errstate(all="ignore"):
        return np.exp(z) / np.exp(z).sum() - y


def delta_swapped(z, y, loss):
    return 2 * (sigmoid(z) - y) * slope(z) if loss != "mse" else softmax(z) - y


# Task 8 and 9 ---------------------------------------------------------------------------------------------------


def backward_over(indices, start=lambda Z, delta: delta, always=False):
    def wrong(params, Z, A, delta):
        grads, delta = [None] * len(params), start(Z, delta)
        for l in indices(len(params)):
            grads[l] = (np.outer(A[l], delta), delta)
            if l > 0 or always:
                delta = (params[l][0] @ delta) * slope(Z[l - 1])
        return grads

    return wrong


def down(n):
    return range(n - 1, -1, -1)


def backward_first_three(params, Z, A, delta):
    return backward_over(down)(params, Z, A, delta)[:3]


def backward_swapped(params, Z, A, delta):
    return [(db, dW) for dW, db in backward_over(down)(params, Z, A, delta)]


def backward_entrywise(params, Z, A, delta):
    grads = []
    for l in reversed(range(len(params))):
        grads.insert(0, (A[l] * delta, delta))
        delta = (params[l][0] @ delta) * slope(Z[l - 1]) if l else delta
    return grads


def epoch(returns=lambda params, eta: params, eta_of=lambda eta: eta, order_of=lambda order: order):
    def wrong(params, X, Y, eta, order, gradients):
        for i in order_of(order):
            for (W, b), (dW, db) in zip(params, gradients(params, X[i], Y[i]), strict=True):
                W -= eta_of(eta) * dW
                b -= eta_of(eta) * db
        return returns(params, eta)

    return wrong


WRONG = [
    ("neuron", neuron_abs, None),
    ("neuron", neuron_returns_inside, "`return` stands inside the loop"),
    ("neuron", neuron_brackets, "brackets"),
    ("neuron", neuron_values, "range(len(x))"),
    ("forward", forward_z_from_x, "Z begins with x"),
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
        "N alone",
    ),
    (
        "numeric_gradient",
        lambda f, t, eps=1e-5: (f(t + eps) - f(t - eps)) / (2 * eps),
        "moved at once",
    ),
    ("numeric_gradient", numeric_without_default, "needs its default"),
    ("numeric_gradient", numeric_default_1, "default of eps"),
    ("numeric_gradient", numeric_ignores, "eps is ignored"),
    ("numeric_gradient", numeric_adds, "only up to rounding"),
    ("numeric_gradient", numeric_alias, "second name"),
    ("numeric_gradient", numeric_rows, "whole rows"),
    ("numeric_gradient", numeric_row_views, "whole rows"),
    ("softmax", softmax_of(lambda z: z[-1]), "subtract the maximum"),
    ("softmax", softmax_of(lambda z: z[0]), "subtracting z[0]"),
    ("softmax", clipped, None),
    ("softmax", half_shifted, "numerator alone"),
    ("softmax", zeros_for_nan, "nan_to_num"),
    ("softmax", in_float64, "Subtract max(z) before"),
    ("softmax", lambda z: sigmoid(z) / sigmoid(z).sum(), "the sigmoid"),
    ("cross_entropy", entropy_shifted(lambda z: z[-1]), "the maximum"),
    ("cross_entropy", entropy_shifted(lambda z: z[0]), "the maximum"),
    ("cross_entropy", entropy_constant, None),
    ("cross_entropy", entropy_log(np.log2), "nats"),
    ("cross_entropy", entropy_log(np.log10), "nats"),
    ("cross_entropy", lambda z, c: entropy_log(np.log)(z, c - 1), "c - 1"),
    ("output_delta", delta_unshifted, "exp overflows"),
    ("output_delta", delta_swapped, "the two losses are swapped"),
    ("backward", backward_over(lambda n: range(n - 1, 0, -1)), "stops before entry 0"),
    ("backward", backward_over(lambda n: range(n - 1, 0)), "does not run at all"),
    ("backward", backward_over(lambda n: [n - 1]), "`return` stands inside the loop"),
    ("backward", backward_over(down, always=True), "if l > 0"),
    ("backward", backward_over(down, lambda Z, delta: delta * slope(Z[-1])), "already holds"),
    ("backward", backward_first_three, None),
    ("backward", backward_swapped, "swapped in each pair"),
    ("backward", backward_entrywise, "np.outer(A[l], delta) makes all pairs"),
    ("sgd_epoch", epoch(lambda params, eta: None), "return params"),
    ("sgd_epoch", epoch(lambda params, eta: 42), "return params"),
    ("sgd_epoch", epoch(lambda params, eta: (params, eta)), "return params"),
    ("sgd_epoch", epoch(order_of=lambda order: [order]), "one example"),
    ("sgd_epoch", epoch(eta_of=lambda eta: 1.0), "eta is missing"),
    ("sgd_epoch", epoch(eta_of=lambda eta: 0.1), "eta is not used"),
    ("sgd_epoch", epoch(order_of=np.unique), "more than once"),
    (
        "sgd_epoch",
        epoch(order_of=lambda order: list(dict.fromkeys(order.tolist()))),
        "more than once",
    ),
]


@pytest.mark.parametrize(
    ("task", "wrong", "cause"), WRONG, ids=[f"{t}-{i}" for i, (t, _, _) in enumerate(WRONG)]
)
def test_a_wrong_answer_of_a_student_is_refused_with_its_cause(task, wrong, cause):
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
    ("backward", backward_over(down)),
    ("sgd_epoch", epoch()),
    (
        "output_delta",
        lambda z, y, loss: delta_unshifted(z, y, loss) if loss == "mse" else softmax(z) - y,
    ),
    ("cross_entropy", lambda z, c: np.logaddexp.reduce(z) - z[c]),
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
