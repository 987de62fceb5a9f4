"""The checks of chapter 02: no false alarm on many seeds, and other right ways of writing a task pass too.

That each planted wrong answer gets its message is tested with the chapter itself (course_tools.build.mutants).
"""

import numpy as np
import pytest

from course_lib.checks import ch02
from course_lib.checks.kit.core import CheckFailed


def forward_einsum(params, X):
    A = [X]
    for layer, (W, b) in enumerate(params):
        Z = np.einsum("bi,ij->bj", A[-1], W, dtype=np.float32) + b
        A.append(Z if layer == len(params) - 1 else np.where(Z > 0, Z, np.float32(0)))
    return tuple(A)


def loss_by_logsumexp(Z, Y, w):
    log_p = Z - np.logaddexp.reduce(Z, axis=1, keepdims=True)
    losses = [-float(row[k]) for row, k in zip(log_p, Y.argmax(axis=1), strict=True)]
    return np.average(losses, weights=w), (np.exp(log_p) - Y) * w[:, None] / w.sum()


def backward_by_outer_products(params, A, dZ, lam):
    grads = [None] * len(params)
    for layer in range(len(params) - 1, -1, -1):
        W, _ = params[layer]
        dW = sum(np.outer(a, dz) for a, dz in zip(A[layer], dZ, strict=True)) + np.float32(lam) * W
        grads[layer] = [dW, np.ones(len(dZ), dtype=np.float32) @ dZ]
        dZ = np.where(A[layer] > 0, dZ @ W.T, np.float32(0))
    return grads


def count_backwards(sizes, B):
    layers = list(zip(sizes, sizes[1:], strict=False))
    return np.int64(B * (6 * sum(n * m for n, m in layers) - 2 * layers[0][0] * layers[0][1]))


def batch_with_floats(n_in, n_out, peak, bandwidth):
    """1 / B is what is left of bandwidth / (2 peak) beside the bytes of X and Z."""
    left = bandwidth / (2.0 * peak) - 1 / n_in - 1 / n_out
    return np.int64(np.ceil(1 / left)) if left > 0 else 0


def batches_by_split(X, Y, B, rng):
    order = np.arange(len(X))
    rng.shuffle(order)
    return [[X[rows], Y[rows]] for rows in np.split(order, range(B, len(X), B))]


def epoch_with_average(params, batches, gradient, eta):
    losses = []
    for xb, yb in batches:
        loss, grads = gradient(params, xb, yb)
        losses.append(loss)
        for pair, dpair in zip(params, grads, strict=True):
            for p, dp in zip(pair, dpair, strict=True):
                np.subtract(p, eta * dp, out=p)
    return np.average(losses, weights=[len(xb) for xb, _ in batches])


def search_with_nan_to_num(etas, train, accuracy, data):
    nets = {eta: train(eta) for eta in etas}
    scores = {
        eta: np.nan_to_num(accuracy(net, data.x_val, data.y_val), nan=-1.0)
        for eta, net in nets.items()
    }
    best = max(scores, key=scores.get)
    return best, accuracy(nets[best], data.x_test, data.y_test)


RIGHT = {
    "forward_batch": forward_einsum,
    "weighted_cross_entropy": loss_by_logsumexp,
    "backward_batch": backward_by_outer_products,
    "count_flops": count_backwards,
    "smallest_batch": batch_with_floats,
    "minibatches": batches_by_split,
    "sgd_epoch": epoch_with_average,
    "grid_search": search_with_nan_to_num,
}


@pytest.mark.parametrize("name", RIGHT)
def test_another_right_way_passes_on_many_seeds(name, capsys):
    check = getattr(ch02, f"check_{name}")
    for seed in range(40):
        check(RIGHT[name], seed=seed)
    assert capsys.readouterr().out.count("✔") == 40


@pytest.mark.parametrize("name", sorted(set(RIGHT) - {"minibatches", "grid_search"}))
def test_no_diagnosis_is_like_the_truth(name):
    """A known wrong function that gave the truth on all cases of a draw would blame a right answer's neighbour."""
    check = getattr(ch02, f"check_{name}")
    for seed in range(20):
        for wrong, text in check.diagnoses:
            cases = check.draw(seed)
            assert not all(_gives_the_truth(check, wrong, case) for case in cases), (seed, text)


def _gives_the_truth(check, wrong, case):
    from course_lib.checks.kit.trees import leaves, upcast

    try:
        with np.errstate(all="ignore"):
            value = wrong(*upcast(case.args))
    except (TypeError, ValueError):
        return False
    got, want = leaves(value), leaves(check.truth(check.reference, case))
    return len(got) == len(want) and all(
        g == w
        if isinstance(w, str)
        else np.shape(g) == np.shape(w) and np.allclose(g, w, rtol=1e-9, atol=0)
        for g, w in zip(got, want, strict=True)
    )


def test_a_seed_draws_the_same_inputs_again(capsys):
    def wrong(sizes, B):
        return 0

    texts = []
    for _ in range(2):
        with pytest.raises(CheckFailed) as failure:
            ch02.check_count_flops(wrong, seed=77)
        texts.append(str(failure.value))
    assert texts[0] == texts[1]


def test_a_shuffle_that_cannot_be_told_from_the_file_order_is_refused():
    def reversed_blocks(X, Y, B, rng):
        rng.random()
        return [(X[s : s + B], Y[s : s + B]) for s in range(0, len(X), B)]

    with pytest.raises(CheckFailed, match="order of the file"):
        ch02.check_minibatches(reversed_blocks, seed=1)


def test_a_nan_in_a_gradient_is_never_right():
    def nan_inside(params, A, dZ, lam):
        grads = ch02.check_backward_batch.reference(params, A, dZ, lam)
        grads[0][0][0, 0] = np.nan
        return grads

    with pytest.raises(CheckFailed, match=r"dW\[0\]"):
        ch02.check_backward_batch(nan_inside, seed=1)


@pytest.mark.parametrize("shift", [lambda Z: Z[:, :1], lambda Z: Z[:, -1:], np.max])
def test_a_softmax_shifted_by_another_score_than_the_largest_of_its_row_is_told_so(shift):
    def wrong(Z, Y, w):
        with np.errstate(all="ignore"):
            s, share = Z - shift(Z), (w / w.sum())[:, None]
            log_sum = np.log(np.exp(s).sum(axis=1, keepdims=True))
            return float((share * (log_sum - s) * Y).sum()), share * (np.exp(s - log_sum) - Y)

    for seed in range(20):
        with pytest.raises(CheckFailed) as failure:
            ch02.check_weighted_cross_entropy(wrong, seed=seed)
        assert "keepdims=True" in dict(failure.value.report.rows)["cause"]
