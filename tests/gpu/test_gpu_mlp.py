"""Training on the device: every kernel against its line of NumPy, every gradient against the serial library in float64,
the counts of the tracer against arithmetic, and each copy accounted for."""

import itertools
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from engine_runs import needs_compiler

from course_lib import data, serial
from course_lib.checks.kit.rounding import Rounding
from course_lib.errors import BadInput
from course_lib.gpu import device
from course_lib.gpu.inspect import available, inspect
from course_lib.gpu.mlp import ACTIVATIONS, SPECIFICATIONS, Activation, Kernels, Mlp, source
from course_lib.machines.cpu_engine import CompileError, summary

pytest_plugins = ["gpu_engine"]  # the fixtures `engine` and `cpu`
NUMPY = {name: (f.f, f.derivative) for name, f in serial.ACTIVATIONS.items()}
SHAPES = [(1, 1, 1), (33, 31, 35), (5, 10, 70), (64, 32, 32), (1, 40, 3)]
PRODUCTS = ("forward", "transposed", "update")
SINGLE = (
    "output_delta",
    "hadamard",
    "gather",
    "column_sums",
    "row_max",
    "softmax",
    "row_loss",
    "sum",
)
U = 2.0**-24


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape, np.float32)


def put(*arrays, order="C"):
    return [device.gpuarray.to_gpu(np.asarray(array, order=order)) for array in arrays]


def unset(*shape, order="C"):
    return device.gpuarray.to_gpu(np.full(shape, np.nan, np.float32, order))


def wide(*arrays):
    return [array.astype(np.float64) for array in arrays]


def near(got, want, size, K):
    """K roundings of a sum whose terms have that size in all, 16 more for f and f'.  NaN fails."""
    got = got.get() if hasattr(got, "get") else got
    assert got.shape == want.shape and got.dtype == np.float32
    assert (np.abs(got - want) <= (K + 16) * U * (size + 1e-30)).all()


@pytest.mark.parametrize("each", [1, 4])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_forward(engine, name, each):
    kernels, f = Kernels(each), NUMPY[name][0]
    for (M, N, K), (a, w, z) in zip(SHAPES, ("CCC", "CFC", "FCC", "FFF", "CCF"), strict=True):
        A, W, b = normal(M, K), normal(K, N), normal(N)
        Z, F = unset(M, N, order=z), unset(M, N, order=z)
        kernels.forward(*put(A, order=a), *put(W, order=w), *put(b), Z, F, ACTIVATIONS[name])
        want = SPECIFICATIONS["forward"](*wide(A, W, b), f)
        size = abs(A) @ abs(W) + abs(b)
        near(Z, want[0], size, K)
        near(F, want[1], size + 1, K)
        only = unset(M, N)
        kernels.forward(*put(A, W, b), None, only, ACTIVATIONS[name])
        near(only, want[1], size + 1, K)


@pytest.mark.parametrize("each", [1, 2, 4, 8])
def test_products_of_the_backward_pass(engine, each):
    kernels = Kernels(each)
    for (M, N, K), (d, w, o) in zip(SHAPES, ("CCC", "CFC", "FCF", "FFF", "CCF"), strict=True):
        dZ, W, A, dA = normal(M, K), normal(N, K), normal(M, N, seed=1), unset(M, N, order=o)
        kernels.transposed(*put(dZ, order=d), *put(W, order=w), dA, ACTIVATIONS["tanh"])
        want, size = SPECIFICATIONS["transposed"](*wide(dZ, W)), abs(dZ) @ abs(W.T)
        near(dA, want, size, K)
        kernels.transposed(
            *put(dZ, W), fused := unset(M, N), ACTIVATIONS["tanh"], True, None, *put(A)
        )
        near(
            fused,
            SPECIFICATIONS["hadamard"](None, *wide(A), want, NUMPY["tanh"][1]),
            size * (1 + A * A),
            K,
        )
        X, D, before = normal(K, M), normal(K, N), normal(M, N)
        for alpha, beta in ((-0.5, 0.75), (1, 0)):
            want = SPECIFICATIONS["update"](*wide(X, D, before), alpha, beta)
            (V,) = put(before, order=o)
            kernels.update(*put(X, order=d), *put(D, order=w), V, V, alpha, beta)
            near(V, want, abs(X.T) @ abs(D) + abs(before), K)
        kernels.update(
            *put(X, D), unset(M, N), fresh := unset(M, N, order=o), 1, 0
        )  # beta = 0: W is not read
        near(fresh, want, abs(X.T) @ abs(D), K)


def test_elements_and_rows(engine):
    kernels = Kernels()
    for (M, N, _), order in itertools.product([*SHAPES, (9, 100, 0)], "CF"):
        Z, A, Y, dA = (
            put(X, order=order)[0]
            for X in (
                normal(M, N),
                normal(M, N, seed=1),
                normal(M, N, seed=2),
                normal(M, N, seed=3),
            )
        )
        z, a, y, da = wide(*(X.get() for X in (Z, A, Y, dA)))
        for slope, name in itertools.product((0, 1), ("sigmoid", "tanh")):
            out = unset(M, N, order=order)
            kernels.output_delta(None, A, Y, out, 0.25, slope, ACTIVATIONS[name])
            near(
                out,
                SPECIFICATIONS["output_delta"](z, a, y, 0.25, slope, NUMPY[name][1]),
                abs(a - y) * (1 + a * a),
                4,
            )
        kernels.hadamard(None, A, dA, dA, ACTIVATIONS["tanh"])  # in place
        near(dA, SPECIFICATIONS["hadamard"](z, a, da, NUMPY["tanh"][1]), abs(da) * (1 + a * a), 4)
        m, s, P, loss = unset(M), unset(M), unset(M, N, order=order), unset(M)
        kernels.row_max(Z, m)
        kernels.softmax(Z, m, P, s)
        p, log_sum = SPECIFICATIONS["softmax"](z, z.max(axis=1))
        assert (m.get() == SPECIFICATIONS["row_max"](z)).all()
        near(P, p, p * np.ptp(z, axis=1, keepdims=True) + p, N)
        near(s, log_sum, log_sum + 1, N)
        kernels.row_loss(Z, Y, loss, m, s)
        terms = abs(y) * (log_sum[:, None] + abs(z - z.max(axis=1, keepdims=True)))
        near(
            loss, SPECIFICATIONS["row_loss"](z, y, z.max(axis=1), log_sum), terms.sum(axis=1) + 1, N
        )
        kernels.row_loss(A, Y, loss)
        near(loss, SPECIFICATIONS["row_loss"](a, y), ((a - y) ** 2).sum(axis=1), N)


@pytest.mark.parametrize("shape", [(1, 1), (7, 33), (300, 500), (1, 4097)])
def test_sums(engine, shape):
    kernels, X, b = Kernels(), normal(*shape), normal(shape[1])
    for order, squared in itertools.product("CF", (False, True)):
        kernels.total(*put(X, order=order), unset(64), out := unset(3), 2, 0.5, squared)
        want, size = SPECIFICATIONS["total"](*wide(X), 0.5, squared), (abs(X) + X * X).sum()
        near(out.get()[2:], np.array([want]), size, 64)  # a tree: depth, not length
        assert np.isnan(out.get()[:2]).all()
        v = unset(shape[1])
        kernels.column_sums(
            *put(X, order=order), unset(shape[1]), v, -2, 0
        )  # beta = 0: b is not read
        near(v, SPECIFICATIONS["column_sums"](*wide(X, b), -2, 0), 2 * abs(X).sum(axis=0), shape[0])
        kernels.column_sums(*put(X, order=order), *put(b), v, -2, 1)
        near(
            v,
            SPECIFICATIONS["column_sums"](*wide(X, b), -2, 1),
            2 * abs(X).sum(axis=0) + abs(b),
            shape[0],
        )


def test_softmax_is_stable_for_any_z(engine):
    Z = np.float32([[1e4, 0, -1e4], [3e38, 3e38, -3e38], [-1e30, -1e30, -1e30], [np.nan, 0, 1]])
    kernels, P, m, s = Kernels(), unset(4, 3), unset(4), unset(4)
    kernels.row_max(*put(Z), m)
    kernels.softmax(*put(Z), m, P, s)
    np.testing.assert_allclose(P.get()[:3], [[1, 0, 0], [0.5, 0.5, 0], [1 / 3] * 3], rtol=1e-6)
    assert np.isnan(P.get()[3]).all()  # a NaN stays to be seen
    kernels.row_loss(*put(Z[:1], np.float32([[0, 1, 0]])), loss := unset(1), m, s)
    assert loss.get()[0] == 1e4  # log(0) would be infinite


def problem(sizes, activation, loss, lam=0.0, B=45, seed=0):
    """net, params, X, Y: float32; biases that are not zero."""
    net, rng = serial.Network(sizes, activation, loss, lam), np.random.default_rng(seed)
    params = [(W, rng.standard_normal(len(b), np.float32) / 2) for W, b in net.init_params(seed)]
    X, Y = rng.standard_normal((B, sizes[0]), np.float32), np.zeros((B, sizes[-1]), np.float32)
    Y[np.arange(B), rng.integers(0, sizes[-1], B)] = 1
    return net, params, X, Y


NETWORKS = [
    ((37, 33, 10), "sigmoid", "mse"), ((37, 33, 50, 10), "tanh", "cross_entropy", 0.01),
    ((5, 64, 1), "relu", "mse", 0.1), ((70, 32, 31, 9, 10), "relu", "cross_entropy"),
    ((20, 3), "sigmoid", "cross_entropy", 0.5), ((6, 7, 2), "identity", "mse"),
    ((33, 65, 40), "sigmoid", "cross_entropy", 0.02), ((12, 8, 8, 8, 8, 4), "tanh", "mse"),
]  # fmt: skip


def within(got, want, bounds):
    for pairs in zip(got, want, bounds, strict=True):
        for g, w, e in zip(*pairs, strict=True):
            assert g.dtype == np.float32 and g.shape == w.shape
            assert (np.abs(g - w) <= e).all(), np.max(np.abs(g - w) / e)


@pytest.mark.parametrize("B", [45, 1, 64])
@pytest.mark.parametrize("settings", NETWORKS)
def test_gradients_are_the_serial_ones(engine, settings, B):
    """Of every layer, within what float32 may lose in sums of n_in, n_out and B products: surely, and likely."""
    net, params, X, Y = problem(*settings, B=B)
    got = Mlp(net, params, 0.1).gradients(X, Y)
    for sure in (True, False):
        exact, bounds = Rounding(net, sure).gradients(params, X, Y)
        within(got, exact, bounds)
    for (dW, _), (e, _) in zip(exact, bounds, strict=True):  # a bound that forbids something
        assert e.max() <= 1e-3 * abs(dW).max()


@pytest.mark.parametrize(
    "how",
    [
        {"layout": "paper"},
        {"fused": True},
        {"recompute": True},
        {"kernels": 1},
        {"layout": "paper", "fused": True, "recompute": True, "kernels": 8},
    ],
)
def test_every_way_gives_the_same_gradients_and_steps(engine, how):
    how = dict(how, kernels=Kernels(how.get("kernels", 4)))
    from_z = Activation("tanh_from_z", "tanhf(z)", "1 - tanhf(z) * tanhf(z)")
    for settings, activation in zip(NETWORKS[:4], (None, from_z, None, None), strict=True):
        net, params, X, Y = problem(*settings)
        mlp = Mlp(net, params, 0.1, activation, **how)
        within(mlp.gradients(X, Y), *Rounding(net).gradients(params, X, Y))
        exact = [tuple(wide(*pair)) for pair in params]
        loss, errors = (
            serial.loss_value(net, exact, *wide(X, Y)),
            Rounding(net).step(exact, X, Y, 0.1),
        )
        assert mlp.step(X, Y) == pytest.approx(loss, rel=1e-5)
        within(mlp.get_params(), exact, errors)


def test_a_run_is_the_serial_run_within_its_rounding(engine):
    """36 steps, batches in the same order, the last one ragged; after each epoch within the bound, which grows."""
    net, params, X, Y = problem((19, 40, 30, 5), "sigmoid", "cross_entropy", 0.001, B=70)
    mlp, rounding, errors, before = Mlp(net, params, 0.5), Rounding(net), None, 0.0
    exact = [tuple(wide(*pair)) for pair in params]
    for epoch in range(12):
        order, losses = np.random.default_rng([3, epoch]).permutation(70), []
        for rows in (order[:32], order[32:64], order[64:]):
            losses.append(serial.loss_value(net, exact, *wide(X[rows], Y[rows])) * len(rows))
            errors = rounding.step(exact, X[rows], Y[rows], 0.5, errors)
        assert mlp.epoch(X, Y, 32, order) == pytest.approx(sum(losses) / 70, rel=1e-5)
        within(mlp.get_params(), exact, errors)
        assert before < (before := max(e.max() for pair in errors for e in pair)) < 1e-3


def test_train_is_serial_train(engine):
    mnist = data.load_mnist()
    net = serial.Network((784, 16, 10), "relu", "cross_entropy")
    params, mlp = net.init_params(0), Mlp(net, net.init_params(0), 0.2)
    history = mlp.train(mnist, 2, 64, seed=5, progress=False, max_examples=500)
    same = serial.train(net, params, mnist, 2, 64, 0.2, seed=5, progress=False, max_examples=500)
    np.testing.assert_allclose(history.loss, same.loss, rtol=1e-5)
    np.testing.assert_allclose(history.val_accuracy, same.val_accuracy, atol=2e-3)
    for pair, other in zip(mlp.get_params(), params, strict=True):
        for mine, its in zip(pair, other, strict=True):
            np.testing.assert_allclose(mine, its, atol=1e-5)
    again = Mlp(net, net.init_params(0), 0.2)
    assert (
        again.train(mnist, 2, 64, 5, False, 500).loss == history.loss
    )  # every bit: nothing is added in chance order
    assert all(
        (W == V).all() for (W, _), (V, _) in zip(again.get_params(), mlp.get_params(), strict=True)
    )
    assert (
        mlp.predict(mnist.x_test[:50]) == serial.predict(net, mlp.get_params(), mnist.x_test[:50])
    ).all()


def test_as_the_gradients_of_serial_train(engine):
    """The other way to use a GPU: the parameters travel in every step. The same numbers, many more bytes."""
    net, params, X, Y = problem((9, 8, 3), "tanh", "cross_entropy")
    got = serial.gradients(net, params, X, Y)
    for pair, same in zip(Mlp(net, params, 1.0).gradients(X, Y), got, strict=True):
        np.testing.assert_allclose(pair[0], same[0], atol=1e-6)


@pytest.mark.slow
def test_mnist_on_the_cpu_engine(cpu):
    mnist = data.load_mnist()
    net = serial.Network((784, 64, 10), "relu", "cross_entropy")
    mlp = Mlp(net, net.init_params(0), 0.2)
    history = mlp.train(mnist, 2, 100, seed=0, progress=False, max_examples=10_000)
    assert mlp.accuracy(mnist.x_test, mnist.y_test) >= 0.88, str(history)


def test_every_copy_is_counted(engine):
    net, params, X, Y = problem((20, 30, 4), "sigmoid", "mse", B=50)
    mlp, n_params = Mlp(net, params, 0.1), 20 * 30 + 30 + 30 * 4 + 4
    assert dict(mlp.transfers) == {
        "copies in": 4,
        "bytes in": 4 * n_params,
        "copies out": 0,
        "bytes out": 0,
    }
    mlp.epoch(X, Y, 16)
    assert mlp.transfers["copies in"] == 4 + 2 * 4 and mlp.transfers["bytes in"] == 4 * (
        n_params + 50 * (20 + 4)
    )
    assert (
        mlp.transfers["copies out"] == 1 and mlp.transfers["bytes out"] == 4 * 4
    )  # the losses of four steps
    mlp.get_params()
    assert mlp.transfers["copies out"] == 5 and mlp.transfers["bytes out"] == 4 * (4 + n_params)


def test_equation_8_is_the_delta_of_cross_entropy_with_a_sigmoid(engine):
    """[000] eq. 8 leaves f'(z_L) out. Then what is minimised is -sum y log a + (1 - y) log(1 - a), not eq. 6."""
    net, params, X, Y = problem((6, 5, 3), "sigmoid", "mse", B=7)
    literal = Mlp(net, params, 1.0, slope=False).gradients(X, Y)
    x, y = wide(X, Y)

    def entropy(params):
        A = serial.forward(params, x, net).A[-1]
        return -(y * np.log(A) + (1 - y) * np.log(1 - A)).sum() / 7

    exact, h = [tuple(wide(*pair)) for pair in params], 1e-6
    for l, which in itertools.product(range(2), range(2)):
        array, index = exact[l][which], (1,) * exact[l][which].ndim
        kept, values = array[index], []
        for array[index] in (kept + h, kept - h):
            values.append(entropy(exact))
        array[index] = kept
        assert literal[l][which][index] == pytest.approx(
            (values[0] - values[1]) / (2 * h), rel=1e-4
        )
    for pair, of_squares in zip(literal, serial.gradients(net, exact, x, y), strict=True):
        assert abs(pair[0] - of_squares[0]).max() > 0.1 * abs(of_squares[0]).max()


OWN = [
    (
        Activation("softplus", "log1pf(expf(z))", "1 / (1 + expf(-z))"),
        lambda z: np.log1p(np.exp(z)),
    ),
    (
        Activation("swish", "z / (1 + expf(-z))", "f(z) + (1 - f(z)) / (1 + expf(-z))"),
        lambda z: z / (1 + np.exp(-z)),
    ),
    (
        Activation("leaky", "z > 0 ? z : 0.1f * z  // leaks", "z > 0 ? 1 : 0.1f"),
        lambda z: np.where(z > 0, z, 0.1 * z),
    ),
    (
        Activation("root", "z / sqrtf(1 + z * z)", "(1 - a * a) * sqrtf(1 - a * a)"),
        lambda z: z / np.sqrt(1 + z * z),
    ),
]


@pytest.mark.parametrize(("own", "f"), OWN, ids=lambda value: getattr(value, "name", ""))
def test_an_activation_of_your_own(engine, own, f):
    """The gradient against central differences of a loss computed in NumPy."""
    net, params, X, Y = problem((6, 9, 4), "sigmoid", "cross_entropy", B=11)
    (W, b), (V, c) = (wide(*pair) for pair in params)
    x, y, h = *wide(X, Y), 1e-5

    def loss():
        Z = f(x @ W + b) @ V + c
        return (np.log(np.exp(Z).sum(axis=1)) - (y * Z).sum(axis=1)).mean()

    for mlp in (Mlp(net, params, 1, own), Mlp(net, params, 1, own, recompute=True, fused=True)):
        (dW, db), _ = mlp.gradients(X, Y)
        assert (mlp.forward(X).Z[0] is None) == (mlp.recompute or not own.from_z)
        for array, grad in ((W, dW), (b, db)):
            index = tuple(n // 2 for n in array.shape)
            kept, values = array[index], []
            for array[index] in (kept + h, kept - h):
                values.append(loss())
            array[index] = kept
            assert grad[index] == pytest.approx(
                (values[0] - values[1]) / (2 * h), rel=1e-3, abs=1e-6
            )


@pytest.mark.parametrize(
    ("f", "df", "where"),
    [
        ("1 / (1 + exq(-z))", "1", "f of mine:1:"),
        ("z", "a * (1 - a", "df of mine:1:"),
        ("z\n  + zz", "1", "f of mine:2:"),
        ("z", "1 - a a", "df of mine:1:"),
    ],
)
def test_a_wrong_activation_is_named_with_its_line(cpu, f, df, where):
    net, params, X, Y = problem((3, 4, 2), "sigmoid", "mse", B=2)
    with pytest.raises(CompileError, match=where):
        Mlp(net, params, 1, Activation("mine", f, df)).gradients(X, Y)


BAD = [
    ({"eta": 0}, "eta must be"),
    ({"layout": "columns"}, "layout must be ours or paper"),
    ({"params": [(np.ones((3, 2)), np.ones(2))]}, "dtype float32"),
    ({"params": []}, "list of 1 pairs"),
]


def test_bad_input(engine):
    net = serial.Network((3, 2), loss="mse")
    good = {"net": net, "params": net.init_params(0), "eta": 0.1}
    for change, words in BAD:
        with pytest.raises(BadInput, match=words):
            Mlp(**{**good, **change})
    mlp, X, Y = Mlp(**good), np.ones((4, 3), np.float32), np.ones((4, 2), np.float32)
    for call, words in (
        (lambda: mlp.step(X[:, :2], Y), "X must have shape"),
        (lambda: mlp.step(X, Y[:3]), "Y must have shape"),
        (lambda: mlp.forward(X[:0]), "no rows"),
        (lambda: mlp.epoch(X, Y, 2, [0, 4]), "from 0 to 3"),
        (lambda: mlp.epoch(X, Y, 0), "batch_size"),
        (lambda: mlp.forward(X.astype(float)), "dtype"),
        (lambda: mlp.backward(mlp.forward(X), Y[:2]), "Y must have shape"),
        (lambda: Kernels(3), "1, 2, 4 or 8"),
        (lambda: Activation("a b", "z", "1"), "needs a name"),
    ):
        with pytest.raises(BadInput, match=words):
            call()


def traced_step(settings, each=4, B=45, options=(), **how):
    kernels = Kernels(each, options, traced=True)
    net, params, X, Y = problem(*settings, B=B)
    mlp = Mlp(net, params, 0.1, kernels=kernels, **how)
    exact = [tuple(wide(*pair)) for pair in params]
    errors = Rounding(net).step(exact, X, Y, 0.1)
    mlp.step(X, Y)
    within(mlp.get_params(), exact, errors)
    return kernels.reports


TRACED = [
    (NETWORKS[0], 4, 45, {}),
    (NETWORKS[1], 1, 33, {"layout": "paper"}),
    (NETWORKS[2], 4, 1, {"fused": True}),
    (NETWORKS[3], 4, 40, {"layout": "paper", "fused": True}),
    (NETWORKS[4], 2, 1, {}),
    (NETWORKS[5], 1, 3, {}),
    (NETWORKS[6], 8, 32, {"layout": "paper"}),
]


@needs_compiler
@pytest.mark.parametrize(("settings", "each", "B", "how"), TRACED)
def test_the_tracer_finds_nothing(cpu, settings, each, B, how):
    """No bad access, race, unset value or wrong barrier, and no bank conflict, in any kernel of a step."""
    for kernel, report in traced_step(settings, each, B, **how):
        assert report.ok, f"{kernel}: {report}"
        assert all(row["max_way"] <= 1 for row in report.accesses), f"{kernel}: {report}"


@needs_compiler
def test_gradients_and_computing_again_are_clean_too(cpu):
    kernels, (net, params, X, Y) = (
        Kernels(4, traced=True),
        problem((37, 33, 34, 10), "sigmoid", "mse", 0.01),
    )
    own = Activation("from_z", "1 / (1 + expf(-z))", "f(z) * (1 - f(z))")
    within(
        Mlp(net, params, 0.1, own, recompute=True, kernels=kernels).gradients(X, Y),
        *Rounding(net).gradients(params, X, Y),
    )
    assert all(report.ok for _, report in kernels.reports)
    assert [name for name, _ in kernels.reports].count("forward") == 3 + 2  # twice once more


def launch(kernel, *args, each=1, options=(), **how):
    """The report of one traced launch."""
    kernels = Kernels(each, options, traced=True)
    getattr(kernels, kernel)(*args, **how)
    report = kernels.reports[0][1]
    assert report.ok, str(report)
    return report


def updated(B, M, N, order="C", **how):
    W = put(normal(M, N))[0]
    return launch("update", *put(normal(B, M), normal(B, N), order=order), W, W, -0.1, 1.0, **how)


@needs_compiler
def test_bank_conflicts_of_the_update_grow_with_the_batch_and_go_with_the_transposed_tile(cpu):
    """[000] section 4. A warp reads 32 neurons of one example: down a column of a tile that is kept as stored."""
    as_stored = ("-DAS_STORED", "-DPAD=0")
    for B in (32, 64, 96):
        blocks, steps = 2 * 1, B // 32
        loads, stores = (
            blocks * 32 * B,
            blocks * steps * 32,
        )  # of a tile: a warp a row; 32 warps read each example
        good, bad = (updated(B, 64, 32, options=options) for options in ((), as_stored))
        assert good.total("wavefronts", space="shared") == 2 * (loads + stores)
        assert bad.total("wavefronts", space="shared") == loads + 32 * loads + 2 * 32 * stores
        conflicts = bad.total("wavefronts", space="shared") - bad.total(
            "ideal_wavefronts", space="shared"
        )
        assert conflicts == B * 2108  # in proportion to the batch, so the same for each example
        columns = updated(
            B, 64, 32, "F", options=("-DPAD=0",)
        )  # examples side by side: the store of the tile pays
        assert columns.total("wavefronts", space="shared", op="store") == 32 * 2 * stores
        assert columns.total("wavefronts", space="shared", op="load") == 2 * loads


@needs_compiler
@pytest.mark.parametrize(("M", "N", "K"), [(64, 32, 96), (100, 10, 64), (33, 64, 784)])
def test_counts_of_the_forward_product(cpu, M, N, K):
    up = lambda n, size: -(-n // size)  # noqa: E731
    blocks, steps = up(M, 32) * up(N, 32), up(K, 32)
    for each in (1, 4):
        W, Z = put(normal(K, N), np.full((M, N), np.nan, np.float32))
        report = launch(
            "forward",
            *put(normal(M, K)),
            W,
            *put(normal(N)),
            Z,
            None,
            ACTIVATIONS["identity"],
            each=each,
        )
        warps, operands = (
            32 // each**2,
            2 * each,
        )  # of a block; numbers of the tiles that a thread reads for each k
        assert (
            report.total("wavefronts", space="shared", op="load")
            == blocks * steps * 32 * warps * operands
        )
        assert report.total("wavefronts", space="shared", op="store") == blocks * steps * 2 * 32
        if K % 8 == 0:  # each row of A begins on a sector; it is read once for each block across
            assert report.total("sectors", array="A") == M * K // 8 * up(N, 32)
        if N % 8 == 0:
            assert report.total("sectors", array="W") == K * N // 8 * up(M, 32)


@needs_compiler
def test_idle_threads_of_a_width_of_10(cpu):
    """[000] section 6: its 10-wide output uses 10 of the 32 columns of a tile: 22 of 32 threads store nothing."""
    Z = put(np.full((64, 10), np.nan, np.float32))[0]
    report = launch(
        "forward",
        *put(normal(64, 64), normal(64, 10), normal(10)),
        Z,
        None,
        ACTIVATIONS["identity"],
    )
    (store,) = [row for row in report.accesses if row["array"] == "Z"]
    assert (store["requests"], store["threads"]) == (
        64,
        640,
    )  # a warp's request has 10 threads, not 32
    busy = report.total("threads", space="shared", op="load")
    assert (
        busy == 2 * 2048 * 64
    )  # but all of them multiply: 64 x 64 x 32 products, of which 64 x 64 x 10 are wanted


@needs_compiler
def test_the_papers_layout_costs_no_more(cpu):
    """W by columns, as [000] has it, or by rows, as ours: the same sectors, as the kernel copies along memory."""
    settings = ((64, 64, 32), "sigmoid", "mse")
    ours, paper = (
        summary(traced_step(settings, B=64, layout=layout))[1] for layout in ("ours", "paper")
    )
    for mine, its in zip(ours, paper, strict=True):
        assert mine[:2] == its[:2] and (mine[3], mine[7]) == (its[3], its[7]), (mine, its)


PLANTED = [  # kernel, what is replaced, with what, the tool that must find it
    ("forward", "__syncthreads();  // read", "// read", "racecheck"),
    ("forward", "__syncthreads();  // write", "// write", "racecheck"),
    ("forward", "i0 + i < M && k0 + ak < K", "k0 + ak < K", "memcheck"),
    ("forward", "if (i >= M || j >= N) continue;", "if (i >= M) continue;", "memcheck"),
    ("transposed", "__syncthreads();  // read", "// read", "racecheck"),
    ("transposed", "j0 + j < N && k0 + wk < K", "k0 + wk < K", "memcheck"),
    ("update", "__syncthreads();  // write", "// write", "racecheck"),
    ("update", "k0 + ak < K && i0 + i < M", "i0 + i < M", "memcheck"),
    ("column_sums", "__syncthreads();", "", "racecheck"),
    ("sum", "__syncthreads();", "", "racecheck"),
    ("softmax", "if (i >= M) return;", "", "memcheck"),
    ("hadamard", "if (i < n)", "if (i <= n)", "memcheck"),
]


@needs_compiler
@pytest.mark.parametrize(("kernel", "old", "new", "tool"), PLANTED)
def test_planted_mistakes_are_found(cpu, monkeypatch, kernel, old, new, tool):
    def planted(name, activation=None):
        text = source(name, activation)
        assert name != kernel or text.count(old) == 1
        return text.replace(old, new) if name == kernel else text

    monkeypatch.setattr("course_lib.gpu.mlp.products.source", planted)
    monkeypatch.setitem(
        globals(), "within", lambda *result: None
    )  # many of them compute right numbers
    reports = traced_step(((70, 35, 10), "sigmoid", "cross_entropy"), B=41)
    assert tool in {
        error["tool"] for name, report in reports if name == kernel for error in report.errors
    }


@needs_compiler
def test_beta_zero_reads_neither_w_nor_b(cpu):
    nothing = device.gpuarray.empty((33, 35), np.float32)
    launch(
        "update",
        *put(normal(4, 33), normal(4, 35)),
        nothing,
        device.gpuarray.empty((33, 35), np.float32),
        1,
        0,
    )
    empty = (device.gpuarray.empty((35,), np.float32) for _ in "bv")
    launch("column_sums", *put(normal(4, 35)), *empty, 1, 0)


def test_a_gpu_copies_while_it_computes():
    """Which stream gets what, on a stand-in for PyCUDA: a copy waits until the batch two before has been used."""
    code = """
import numpy as np
from course_lib import serial
from course_lib.gpu.mlp import Mlp
from pycuda import driver
net = serial.Network((3, 2), loss="mse")
mlp = Mlp(net, net.init_params(0), 1.0)
X, Y = np.ones((12, 3), np.float32), np.ones((12, 2), np.float32)
driver.calls.clear(), driver.streams.clear()
mlp.epoch(X, Y, 3)
computing, copying = mlp.kernels.stream, mlp.feeds[0].copying
places = [place.memory for place in mlp.feeds[0].places]
copies = [n for n, call in enumerate(driver.calls) if call[0] == "copy" and call[2] is copying]
assert len(copies) == 4 and all(stream is computing for stream in driver.streams)
for number, at in enumerate(copies):
    kind, used, stream = driver.calls[at - 1]
    assert (kind, stream) == ("wait", copying)
    kind, copied, stream = driver.calls[at + 1]
    assert (kind, stream) == ("record", copying)
    assert driver.calls[at + 2] == ("wait", copied, computing)
    launches = [n for n, call in enumerate(driver.calls) if call[0] == "launch" and n > at]
    assert launches[0] > at + 2
    if number >= 2:
        recorded = [n for n, call in enumerate(driver.calls[:at]) if call[0] == "record" and call[1] is used]
        before = [n for n, call in enumerate(driver.calls) if call[0] == "launch" and n < copies[number - 1]]
        assert max(before) < recorded[-1] < at
assert len(places) == 2
print("done")
"""
    root = Path(__file__).parents[2]
    path = f"{root}:{root / 'tests' / 'support' / 'fake_pycuda'}"
    env = {"PYTHONPATH": path, "COURSE_GPU": "cuda", "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=env, capture_output=True, text=True
    )
    assert done.stdout.endswith("done\n"), done.stdout + done.stderr


@pytest.mark.skipif(
    not available(), reason="neither nvcc nor the package nvidia-cuda-nvrtc is here"
)
@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_nvidia_compiles_them_without_spilling(arch):
    for kernel in PRODUCTS + SINGLE:
        f = (
            ACTIVATIONS["sigmoid"]
            if kernel in ("forward", "output_delta", "transposed", "hadamard", "gather")
            else None
        )
        found = inspect(source(kernel, f), arch)[f"mlp_{kernel}"]
        assert found["spilled_bytes"] == 0 and found["registers"] <= 128


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc on the PATH")
@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["forward", "output_delta", "transposed", "hadamard", "gather"])
def test_nvcc_has_nothing_to_say(tmp_path, kernel):
    """Called as PyCUDA calls it, which shows a student all that nvcc says of a source that compiles."""
    text = f'extern "C" {{\n#line 1 "kernel.cu"\n{source(kernel, ACTIVATIONS["sigmoid"])}\n}}\n'
    (tmp_path / "kernel.cu").write_text(text, encoding="utf-8")
    command = ["nvcc", "--cubin", "-arch", "sm_80", "kernel.cu"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(
    not available(), reason="neither nvcc nor the package nvidia-cuda-nvrtc is here"
)
def test_nvidia_names_the_line_of_an_activation():
    with pytest.raises(CompileError, match=r'f of mine\(1\): error: identifier "zz" is undefined'):
        inspect(source("forward", Activation("mine", "z + zz", "1")))
