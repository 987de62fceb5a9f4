"""The errata of the five texts (docs/errata.md): each test computes what the text prints and what is right."""

import math
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from course_lib import measure, serial, threads
from course_lib.data import kddcup_table, load_fashion_mnist, load_kddcup99, one_hot
from course_lib.errors import BadInput
from course_lib.gpu.gemm import RUNGS
from course_lib.mpi.flat import shard
from course_lib.serial.network import Network
from course_tools.bench.frame.document import written
from course_tools.bench.papers import ERRATA, tables
from course_tools.bench.papers.bench import ERRATA as ERRATA_DOCUMENT
from course_tools.bench.papers.parts.counting import update_wavefronts

ROOT = Path(__file__).resolve().parents[2]

NET = Network((6, 5, 4, 3))


def example(net=NET, B=7, seed=0):
    """(params, X, Y) in float64."""
    rng = np.random.default_rng(seed)
    return (
        net.init_params(seed, np.float64),
        rng.random((B, net.sizes[0])),
        np.eye(net.sizes[-1])[rng.integers(0, net.sizes[-1], B)],
    )


def slope(loss, theta, h=1e-6):
    """Central differences of a function of an array, entry by entry."""
    found = np.empty_like(theta)
    for i in np.ndindex(theta.shape):
        step = np.zeros_like(theta)
        step[i] = h
        found[i] = (loss(theta + step) - loss(theta - step)) / (2 * h)
    return found


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def fits(*shapes):
    """Can matrices of these shapes be multiplied in this order?"""
    return all(left[1] == right[0] for left, right in pairwise(shapes))


# [000] Kamra et al. --------------------------------------------------------------------------------------------------


def test_millions_of_neurons():
    least, most = Network((1000, 1000)).n_params, Network((10**6, 10**6)).n_params
    assert least == 1_001_000 and most == 10**12 + 10**6, "biases included"


def test_one_data_set():
    data = load_kddcup99(sample=True, categorical="codes")
    digits = Network((784, 1024, 10))
    rows = data.x_train[:3].astype(np.float32)
    assert rows.shape[1] == 41 != digits.sizes[0] and len(set(data.y_train.tolist())) == 2
    with pytest.raises(BadInput):
        serial.forward(digits.init_params(0), rows, digits)


def test_termed_backpropagation():
    """A step of gradient descent by difference quotients alone is the step by backpropagation."""
    params, X, Y = example()
    stepped = [(W.copy(), b.copy()) for W, b in params]

    def loss(theta, value):
        kept = theta.copy()
        theta[...] = value
        found = serial.loss_value(NET, params, X, Y)
        theta[...] = kept
        return found

    by_differences = [
        tuple(slope(partial(loss, theta), theta) for theta in pair) for pair in params
    ]
    serial.sgd_step(stepped, serial.gradients(NET, params, X, Y), 0.1)
    serial.sgd_step(params, by_differences, 0.1)
    for pair, other in zip(params, stepped, strict=True):
        assert all(np.allclose(a, b, atol=1e-7) for a, b in zip(pair, other, strict=True))


def linear_neuron(seed=0):
    rng = np.random.default_rng(seed)
    X, y, w = rng.standard_normal((9, 3)), rng.standard_normal(9), rng.standard_normal(3)
    return X, y, w, lambda w: float(np.mean((y - X @ w) ** 2))


def test_gradient_climbs():
    X, y, w, loss = linear_neuron()
    printed = np.mean((y - X @ w)[:, None] * X, axis=0)  # df/dw is x
    right = -2 * printed
    assert np.allclose(right, slope(loss, w), atol=1e-8) and not np.allclose(
        printed, slope(loss, w), atol=1e-2
    )
    assert loss(w - 0.1 * printed) > loss(w) > loss(w - 0.1 * right), "the printed update climbs"


def test_slides_gradient():
    test_gradient_climbs()  # the formula is the same, letter for letter


def test_squared_vector():
    params, X, Y = example()
    A = serial.forward(params, X, NET).A[-1]
    printed = np.mean((Y - A) ** 2, axis=0)
    right = np.mean(np.sum((Y - A) ** 2, axis=1))
    assert printed.shape == (3,) and np.ndim(right) == 0
    assert np.isclose(right, serial.loss_value(NET, params, X, Y)) and np.isclose(
        printed.sum(), right
    )


def test_loss_without_index():
    params, X, Y = example()
    A = serial.forward(params, X, NET).A[-1]
    printed = np.mean(
        [np.sum((Y[0] - A[0]) ** 2) for _ in X]
    )  # no i: whichever x and y, they stay the same
    right = np.mean([np.sum((y - a) ** 2) for y, a in zip(Y, A, strict=True)])
    assert np.isclose(printed, np.sum((Y[0] - A[0]) ** 2)) and not np.isclose(
        printed, right, rtol=0.01
    )


def test_ragged_batches():
    N, B = 50_000, 64
    assert (N / B) % 1 == 0.25, "not whole"
    printed, right = (N // B) * B, sum(len(range(s, min(s + B, N))) for s in range(0, N, B))
    assert (printed, right) == (49_984, 50_000)


def test_thread_batches():
    B, T = 64, 32
    printed, right = (B // T) * (B // T), T * (B // T)
    assert (printed, right) == (4, 64)


def test_useless_delta():
    def deltas(stop):
        """Layers l whose delta_(l-1) is computed: l = L down to `stop`, L = 3 layers as [000] counts them."""
        return [layer - 1 for layer in range(3, stop - 1, -1)]

    printed, right = deltas(2), deltas(3)
    assert printed == [2, 1] and right == [2], (
        "delta_1 belongs to the input, which has no W and no sigma"
    )
    n = (784, 1024, 10)
    needed = 2 * (n[0] * n[1] + n[1] * n[2]) + n[1] * n[2]  # forward, dW, and W_3 delta_3
    assert needed == measure.step_flops(n, 1).products / 2
    assert round(n[0] * n[1] / (needed + n[0] * n[1]), 2) == 0.33, (
        "a third of all multiplications, for nothing"
    )


def test_dummy_input():
    x = np.array([0.2, 0.7, 0.1])
    printed, right = np.full(3, len(x)), x  # each dummy neuron passes on its input
    assert not np.allclose(printed, right)
    assert np.array_equal(
        serial.forward(NET.init_params(0), np.ones((1, 6), np.float32), NET).A[0], np.ones((1, 6))
    )


def backward_with(output_delta):
    """Backpropagation through sigmoid layers with an output delta of one's choice."""

    def backward(params, cache, Y):
        dZ, grads = output_delta(cache.A[-1], Y), []
        for (W, _), A in zip(params[::-1], cache.A[-2::-1], strict=True):
            grads.append((A.T @ dZ, dZ.sum(axis=0)))
            dZ = dZ @ W.T * A * (1 - A)
        return grads[::-1]

    return backward


def test_output_delta():
    params, X, Y = example()
    printed = backward_with(
        lambda A, Y: (A - Y) / len(A)
    )  # minus eq. 8, over the batch as in eq. 10
    right = backward_with(lambda A, Y: 2 * (A - Y) * A * (1 - A) / len(A))
    assert not serial.gradient_check(NET, params, X, Y, backward=printed).ok
    assert serial.gradient_check(NET, params, X, Y, backward=right).ok

    def cross_entropy(W):
        Z = serial.forward([*params[:-1], (W, params[-1][1])], X, NET).Z[-1]
        return float((np.logaddexp(0, Z) - Y * Z).sum() / len(Y))

    found = printed(params, serial.forward(params, X, NET), Y)[-1][0]
    assert np.allclose(found, slope(cross_entropy, params[-1][0]), atol=1e-8), (
        "it is another loss's"
    )


def test_eq9_indices():
    n = {0: 5, 1: 4, 2: 3, 3: 2}  # all widths differ; W_i: n_(i+1) x n_i; A_i, D_i: n_i x B; i = 2
    W = {i: (n[i + 1], n[i]) for i in range(3)}
    column = {i: (n[i], 7) for i in range(4)}
    printed = fits(W[2][::-1], column[2]), fits(W[1], column[3])
    right = fits(W[2][::-1], column[3]), fits(W[1], column[1])
    assert printed == (False, False) and right == (True, True)
    beside = (
        W[2][0],
        n[2],
    )  # rows of W_i A_i, which the text recomputes, and of D_i, which they multiply
    assert fits(W[2], column[2]) and beside[0] != beside[1]


def test_eq9_runs_wrong_where_widths_are_equal():
    net = Network((8, 8, 8, 8))
    params, X, Y = example(net, 20)

    def printed(params, cache, Y):
        A, grads = cache.A, []
        dZ = 2 * (A[-1] - Y) * A[-1] * (1 - A[-1]) / len(Y)
        for i in reversed(range(len(params))):
            grads.insert(0, (A[i].T @ dZ, dZ.sum(axis=0)))
            if i:
                a = sigmoid(A[i + 1] @ params[i - 1][0] + params[i - 1][1])
                dZ = dZ @ params[i][0].T * a * (1 - a)
        return grads

    report = serial.gradient_check(net, params, X, Y, backward=printed)
    assert not report.ok and report.where[0] < 2 and serial.gradient_check(net, params, X, Y).ok


def test_eq7_range():
    L = 3  # matrices A_0, the input, to A_L
    printed, right = set(range(1, L)), set(range(L))
    assert 0 not in printed and right - printed == {0}, "A_1 = f(W_0 A_0 + b_0) is left out"


def test_embedded_bias():
    n_in, n_out, B = 4, 3, 5
    rng = np.random.default_rng(0)
    W, b, A = rng.random((n_out, n_in)), rng.random((n_out, 1)), rng.random((n_in, B))
    embedded = np.hstack([W, b])
    assert not fits(embedded.shape, A.shape), "a column too many"
    ones = np.vstack([A, np.ones((1, B))])
    right, printed = embedded @ ones, embedded @ ones + b
    assert np.allclose(right, W @ A + b) and np.allclose(printed - right, b), (
        "and with a row of ones b counts twice"
    )


def ways(words):
    """How many words of a request lie in one bank, at most: 1 is without conflict."""
    return int(np.bincount(np.unique(words) % 32).max())


def test_conflict_free():
    """W and A lie along k, D along i, and a warp along x: the tile of W is filled with x = k and used with x = i."""
    lane = np.arange(32)
    for pitch, wanted in ((32, 32), (33, 1)):
        as_loaded = (
            ways(lane),
            ways(lane * pitch),
        )  # (filled, used); row i: filled along it, used down a column
        turned = ways(lane * pitch), ways(lane)
        assert max(as_loaded) == max(turned) == wanted, f"rows of {pitch} words"


def test_conflicts_of_a_batch():
    found = {case["B"]: case["wavefronts"] for case in update_wavefronts()}
    total = [counts["neuron a row"] for counts in found.values()]
    each = [counts["neuron a row"] / B for B, counts in found.items()]
    assert total[2] == 3 * total[0], "the number, for three times the batch"
    assert len(set(each)) == 1, "an example's share"
    assert all(counts["neuron a row"] > 16 * counts["example a row"] for counts in found.values())


def test_blas_and_threads():
    rows = {T: [shard(1024, T, t) for t in range(T)] for T in (1, 2, 32)}
    longest = {T: max(each.stop - each.start for each in parts) for T, parts in rows.items()}
    assert longest == {1: 1024, 2: 512, 32: 32}, (
        "rows of one product, until whose end the slowest thread works"
    )


def test_exponentially():
    steps = {B: 12_288 / B for B in (64, 128, 192, 256)}
    ratios = [steps[a] / steps[b] for a, b in ((64, 128), (128, 192), (192, 256))]
    assert ratios == [2, 1.5, 4 / 3], "an exponential falls by one factor for each 64 more"
    assert len({steps[B] * B for B in steps}) == 1, "steps times B stays: 1/B"


def test_number_of_operations():
    alone, T = measure.step_flops((784, 1024, 10), 256).products, 4
    shared = [measure.step_flops((784, 1024, 10), 256 // T).products] * T
    assert sum(shared) == alone


def test_features_42():
    names, data = kddcup_table.FEATURES, load_kddcup99(sample=True, categorical="codes")
    assert len(names) == data.n_features == 41 and "label" not in names
    with_label = np.column_stack([data.x_train, data.y_train])
    assert with_label.shape[1] == 42 and np.array_equal(with_label[:, 41], data.y_train), (
        "the 42nd tells the answer"
    )


def test_four_million():
    data = load_kddcup99(
        sample=True, categorical="codes"
    )  # every tenth line of the file with every tenth record
    records = 100 * (len(data.y_train) + len(data.y_val) + len(data.y_test))
    assert round(records / 1e6) == 5 and abs(records / 4_898_431 - 1) < 0.01


def test_features_integer():
    assert sum("rate" in name for name in kddcup_table.FEATURES) == 15
    rates = [i for i, name in enumerate(kddcup_table.FEATURES) if "rate" in name]
    data = load_kddcup99(sample=True, categorical="codes")
    for column in rates:  # standardised, but integers would stay a whole number of steps apart
        values = np.unique(data.x_train[:, column].astype(np.float64))
        span = values.max() - values.min()
        assert len(values) > 2 and np.diff(values).min() < span / 2, "values between 0 and 1"


def test_one_hyperparameter():
    params, X, Y = example(B=8)

    def trained(B, epochs, eta):
        found = [(W.copy(), b.copy()) for W, b in params]
        for start in [*range(0, len(X), B)] * epochs:
            rows = slice(start, start + B)
            serial.sgd_step(found, serial.gradients(NET, found, X[rows], Y[rows]), eta)
        return serial.loss_value(NET, found, X, Y)

    found = {trained(*how) for how in ((4, 1, 0.1), (8, 1, 0.1), (4, 2, 0.1), (4, 1, 0.2))}
    assert len(found) == 4, "B, epochs, eta: each changes what comes out"


# [001] Goyal et al. --------------------------------------------------------------------------------------------------


def test_number_of_parameters():
    nets = {800_000: (784, 1024, 10), 1_860_000: (784, 1024, 1024, 10)}
    right = {said: Network(sizes).n_params for said, sizes in nets.items()}
    assert right == {800_000: 814_090, 1_860_000: 1_863_690}
    assert [sum(a * b for a, b in pairwise(sizes)) for sizes in nets.values()] == [
        813_056,
        1_861_632,
    ]


def test_vector_and_scalar():
    W, b = NET.init_params(0)[1]
    assert (W.ndim, b.ndim) == (2, 1), "called a vector (1) and a scalar (0)"


def test_smaller_is_faster():
    """What is paid once a step: steps of an epoch, and bytes of weights that they move."""
    steps = {B: -(-50_000 // B) for B in (64, 256, 1024)}
    moved = {B: steps[B] * measure.step_bytes((784, 1024, 10), B).total for B in steps}
    assert steps == {64: 782, 256: 196, 1024: 49}
    assert moved[64] > moved[256] > moved[1024], "smaller batches have more of both"


# [002] Saraiya -------------------------------------------------------------------------------------------------------


def test_missing_bias():
    rng = np.random.default_rng(0)
    W, a, y, b = rng.random((4, 3)), rng.random(3), rng.random(4), rng.random(4)

    def cost(z):
        return float(np.sum((sigmoid(z) - y) ** 2) / 2)

    def delta(z):
        return (sigmoid(z) - y) * sigmoid(z) * (1 - sigmoid(z))

    printed = slope(lambda b: cost(W @ a), b)
    right = slope(lambda b: cost(W @ a + b), b)
    assert np.array_equal(printed, np.zeros(4)) and np.allclose(right, delta(W @ a + b), atol=1e-8)


@pytest.mark.parametrize(("n", "k"), [(9, 3), (12, 2), (13, 5)])
def test_last_layer(n, k):
    """n: L as [002] counts, the input too. Line by line as printed."""
    parent = list(range(n - 1, n - k, -1))
    children = []
    for t in range(k):
        j = t
        while j < n - k - 1:
            children += [n - 1 - j - i for i in range(k) if i == k - 1]
            j += k
    printed = sorted(parent + children)
    assert printed == list(range(2, n)), "level n is missing, all others are there once"
    assert set(threads.leapfrog_schedule(n - 1, k).coverage().values()) == {1}, "repaired"
    assert threads.leapfrog_schedule(n - 1, k, form="algorithm 1").coverage()[n - 2] == 0


def test_three_schemes():
    n, k = 9, 3
    section_3 = [level for j in range(k) for level in range(j, n, k) if level < n - k - 1]
    algorithm_1 = [level for j in range(k) for level in range(n - k - j, 1, -k)]
    proof = [level for j in range(k) for level in range(n - 1 - j, 1, -k)]
    found = [sorted(levels) for levels in (section_3, algorithm_1, proof)]
    assert found == [[0, 1, 2, 3, 4], [2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 7, 8]]
    last = {
        "section 3": range(n - k + 1, n + 1),
        "proof": range(n - k + 1, n + 1),
    }  # what their parents do
    assert set(range(2, n + 1)) - {*section_3, *last["section 3"]} == {n - k - 1, n - k}
    assert {*proof} & {*last["proof"]} == set(range(n - k + 1, n)), "twice"


def smallest(eps):
    return next(k for k in range(1, 1000) if 1 - Fraction(1, k) > 1 - eps)


def test_smallest_k():
    printed = {q: math.ceil(Fraction(q)) for q in (2, 10, 20)}
    right = {q: smallest(Fraction(1, q)) for q in printed}
    assert right == {q: k + 1 for q, k in printed.items()}
    assert smallest(Fraction(3, 10)) == math.ceil(Fraction(10, 3)) == 4, (
        "right where 1/eps is not whole"
    )


def test_eps_is_the_rest():
    wanted = Fraction(9, 10)  # to be saved
    printed = math.ceil(1 / wanted)
    assert printed == 2 and 1 - Fraction(1, printed) == Fraction(1, 2)
    right = math.ceil(1 / (1 - wanted))
    assert 1 - Fraction(1, right) == wanted


def test_relative_speedup():
    old, k = Fraction(12), 4
    new = old / k
    assert (old - new) / old == 1 - Fraction(1, k) == Fraction(3, 4), (
        "printed: a share saved, below 1"
    )
    assert old / new == k, "a speed-up"


def test_cost_of_the_parent():
    for L in (13, 17, 25):  # levels, the input among them
        n = L - 1
        for k in (k for k in range(2, n + 1) if n % k == 0):
            printed = n + Fraction(n, k)  # f2 + f3/k, a unit a layer
            right = n * (1 + Fraction(k + n // k - 1, n))
            counted = threads.simulate(threads.leapfrog_schedule(n, k), 1, 1).makespan
            assert counted == right and right - printed == k - 1


def test_saving_has_a_limit():
    L = 37  # levels, the input among them
    n = L - 1
    saved = {
        k: 2 * n - threads.simulate(threads.leapfrog_schedule(n, k), 1, 1).makespan
        for k in range(1, n + 1)
    }
    printed = {k: n * (1 - Fraction(1, k)) for k in saved}
    assert all(saved[k] == printed[k] * (1 - Fraction(k, n)) for k in saved if n % k == 0)
    assert max(saved, key=lambda k: saved[k]) == 6 and saved[L - 1] == 0 and printed[n] == n - 1


# [003] Darve ---------------------------------------------------------------------------------------------------------


def test_hyperplane():
    d = 4
    w = np.random.default_rng(0).standard_normal((1, d))
    directions = np.linalg.svd(w)[2][1:]  # along which w x does not change
    assert np.allclose(directions @ w.T, 0) and np.linalg.matrix_rank(directions) == d - 1 != d


def test_row_times_w():
    d, H = 4, 5
    W, row, column = (H, d), (1, d), (d, 1)
    assert not fits(W, row) and fits(W, column) and fits(row, W[::-1])


def test_rows_or_columns():
    N, d, H = 7, 4, 5
    rng = np.random.default_rng(0)
    X, W = rng.random((N, d)), rng.random((H, d))
    assert not fits(W.shape, X.shape) and fits(W.shape, X.T.shape)
    assert np.allclose((W @ X.T).T, X @ W.T)


def test_softmax_sums():
    z = np.array([0.3, -1.2, 2.0])  # C = 3, counted from 0
    with pytest.raises(IndexError):
        [z[i] for i in range(len(z) + 1)]  # i from 0 to C
    printed = np.exp(z) / (np.exp(z).sum() + 1)  # a further class with z = 0
    assert printed.sum() < 0.95 and np.isclose((np.exp(z) / np.exp(z).sum()).sum(), 1)


def test_scalar_is_vector():
    y, c = np.array([0.0, 0.0, 1.0]), 2
    assert y.shape != () and y[c] == 1
    assert -np.log(y[c]) == 0 and -np.log(0.999) > 0, "CE is 0 at 1, and at nothing below"


def test_who_updates():
    params, X, Y = example()
    before = [W.copy() for W, _ in params]
    grads = serial.gradients(NET, params, X, Y)
    assert all(np.array_equal(W, old) for (W, _), old in zip(params, before, strict=True)), (
        "backpropagation"
    )
    serial.sgd_step(params, grads, 0.1)
    assert not any(np.array_equal(W, old) for (W, _), old in zip(params, before, strict=True)), (
        "eq. 2"
    )


def test_correct_label():
    c, C = 3, 5
    y = one_hot(np.array([c]), C)[0]
    assert c not in {int(entry) for entry in y}, "no entry of y is the label 3"
    assert [k for k in range(C) if y[k] == 1] == [c]


def penalised(lam=0.1):
    net = Network((6, 5, 3), loss="cross_entropy", lam=lam)
    return (net, *example(net))


def test_norm_or_square():
    net, params, *_ = penalised()
    W = params[0][0]
    squares = slope(lambda W: 0.5 * net.lam * np.sum(W**2), W)
    norms = slope(lambda W: 0.5 * net.lam * np.linalg.norm(W), W)
    assert np.allclose(squares, net.lam * W, atol=1e-8) and not np.allclose(
        norms, net.lam * W, atol=1e-3
    )


def test_penalty_in_the_gradient():
    net, params, X, Y = penalised()

    def printed(params, cache, Y):  # eq. 4 to 7, a sum over the columns
        dZ2 = cache.A[-1] - Y
        dZ1 = dZ2 @ params[1][0].T * cache.A[1] * (1 - cache.A[1])
        return [(X.T @ dZ1, dZ1.sum(axis=0)), (cache.A[1].T @ dZ2, dZ2.sum(axis=0))]

    def right(params, cache, Y):
        found = printed(params, cache, Y)
        return [
            (dW / len(Y) + net.lam * W, db / len(Y))
            for (dW, db), (W, _) in zip(found, params, strict=True)
        ]

    assert not serial.gradient_check(net, params, X, Y, backward=printed).ok
    assert serial.gradient_check(net, params, X, Y, backward=right).ok


def test_no_justification():
    """The negative log posterior: Gaussian weights with variance s^2 = 1/(N lam), times the data's probability."""
    net, _, X, Y = penalised()
    N, variance, apart = len(X), 1 / (len(X) * net.lam), []
    for seed in range(4):
        params = net.init_params(seed, np.float64)
        probability = serial.forward(params, X, net).A[-1][Y == 1]
        weights = np.concatenate([W.ravel() for W, _ in params])
        log_prior = -0.5 * np.log(2 * np.pi * variance) * len(weights) - np.sum(weights**2) / (
            2 * variance
        )
        apart.append(
            N * serial.loss_value(net, params, X, Y) + np.log(probability).sum() + log_prior
        )
    assert np.ptp(apart) < 1e-9 * abs(apart[0]), "one constant for all weights"


def test_mean_or_sum():
    net, params, X, Y = penalised(lam=0.0)
    b = params[-1][1]

    def mean(b):
        return serial.loss_value(net, [params[0], (params[1][0], b)], X, Y)

    assert np.allclose(slope(lambda b: len(X) * mean(b), b), len(X) * slope(mean, b), atol=1e-6)


def test_factors_in_order():
    H1, H2 = 5, 3
    W = np.random.default_rng(0).standard_normal((H2, H1))
    a, delta = np.ones(H1), np.arange(1.0, H2 + 1)[:, None]
    jacobian = np.stack([slope(lambda a, i=i: float((W @ a)[i]), a) for i in range(H2)])
    assert np.allclose(jacobian, W, atol=1e-8) and jacobian.shape != W.T.shape
    assert not fits(delta.shape, W.T.shape), "as printed"
    assert np.allclose(W.T @ delta, (delta.T @ jacobian).T), (
        "columns in the one order, rows in the other"
    )


def test_thread_or_block():
    rung = RUNGS["register_16x4"]
    assert rung.block[:2] == (16, 4) and math.prod(rung.block) == 64
    assert rung.grid(64, 16)[:2] == (1, 1), "a block for 64 x 16 elements of D: 16 a thread"


def test_gradient_below():
    net = Network((6, 5, 4), loss="cross_entropy")
    params, X, Y = example(net)
    cache = serial.forward(params, X, net)
    d = (cache.A[-1] - Y) / len(Y)
    printed = d @ params[1][0].T  # W^T d, an example a row
    right = printed * cache.A[1] * (1 - cache.A[1])

    def with_layer_1(dZ):
        return lambda params, cache, Y: [
            (X.T @ dZ, dZ.sum(axis=0)),
            (cache.A[1].T @ d, d.sum(axis=0)),
        ]

    assert not serial.gradient_check(net, params, X, Y, backward=with_layer_1(printed)).ok
    assert serial.gradient_check(net, params, X, Y, backward=with_layer_1(right)).ok


# [004] Singh ---------------------------------------------------------------------------------------------------------


def test_averaged_gradients():
    params, X, Y = example(B=50)

    def gradient(rows):
        return serial.gradients(NET, params, X[rows], Y[rows])[0][0]

    whole, parts = gradient(slice(0, 50)), [shard(50, 4, r) for r in range(4)]
    printed = np.mean([gradient(rows) for rows in parts], axis=0)
    right = sum(gradient(rows) * (rows.stop - rows.start) for rows in parts) / 50
    assert (
        np.allclose(right, whole, rtol=1e-12)
        and np.abs(printed - whole).max() > 1e-3 * np.abs(whole).max()
    )
    equal = [gradient(shard(48, 4, r)) for r in range(4)]
    assert np.allclose(np.mean(equal, axis=0), gradient(slice(0, 48))), (
        "equal shares: the average is right"
    )


def sizes(n, p):
    return [shard(n, p, r).stop - shard(n, p, r).start for r in range(p)]


def test_evenly_distributed():
    with pytest.raises(ValueError, match="equal division"):
        np.split(np.arange(10), 4)
    assert sizes(10, 4) == [3, 3, 2, 2] and 10 - 4 * (10 // 4) == 2
    assert sizes(60_000, 4) == [15_000] * 4 and sizes(1024, 4) == [256] * 4, (
        "where p divides n it is right"
    )


def test_compute_over_copy():
    def flops_a_byte(h, B):
        return measure.step_flops((784, h, 10), B).products / (4 * (784 + 10) * B)

    assert len({flops_a_byte(128, B) for B in (1, 64, 60_000)}) == 1, "more examples: the same"
    assert flops_a_byte(1024, 64) == 8 * flops_a_byte(128, 64), "wider layers: more"


def test_fifty_per_cent():
    """60 s on one machine, on two: the time fell by half; the rate rose by half; half of the ideal gain of 2."""
    one = 60.0
    two = {
        "the time fell by half": one * (1 - 0.5),
        "the rate rose by half": one / (1 + 0.5),
        "half of the ideal": one / (0.5 * 2),
    }
    speedups = {reading: one / seconds for reading, seconds in two.items()}
    assert sorted(speedups.values()) == [1, 1.5, 2]
    expected = [reading for reading, S in speedups.items() if S == 2]  # "two times faster"
    assert expected == ["the time fell by half"]


def test_class_of_shirts():
    names = load_fashion_mnist().class_names
    assert names[0] == "T-shirt/top" != "T-shirt" and names[6] == "Shirt"


# The list itself -----------------------------------------------------------------------------------------------------


def test_every_erratum_has_its_test():
    names = [erratum.name for erratum in ERRATA]
    assert len(set(names)) == len(names)
    assert [e.test for e in ERRATA if e.test not in globals()] == []
    assert {e.text for e in ERRATA} == {f"[00{i}]" for i in range(5)}


def test_document_is_made_from_the_list():
    text = (ROOT / ERRATA_DOCUMENT).read_text(encoding="utf-8")
    assert written(text, tables.errata_blocks()) == text, (
        "course bench papers --reuse FILE --record"
    )
