"""The checks of chapters 00 and 02 against what students write: refused with the cause, on many seeds; or passed."""

import numpy as np
import pytest

from course_lib.checks import ch00, ch02
from course_lib.checks.kit.core import Case, Check, CheckFailed, normal

SEEDS = range(1, 6)


def told(check, wrong, seed):
    with pytest.raises(CheckFailed) as failure:
        check(wrong, seed=seed)
    return failure.value


def epoch(pairs=lambda params, grads: zip(params, grads, strict=True), eta_of=lambda eta: eta):
    def train(params, batches, gradient, eta):
        total = 0.0
        for xb, yb in batches:
            loss, grads = gradient(params, xb, yb)
            for (W, b), (dW, db) in pairs(params, grads):
                W -= eta_of(eta) * dW
                b -= eta_of(eta) * db
            total += loss * len(xb)
        return total / sum(len(xb) for xb, _ in batches)

    return train


def epoch_replacing(params, batches, gradient, eta):
    total = 0.0
    for xb, yb in batches:
        loss, grads = gradient(params, xb, yb)
        for i, (dW, db) in enumerate(grads):
            params[i] = (params[i][0] - eta * dW, params[i][1] - eta * db)
        total += loss * len(xb)
    return total / sum(len(xb) for xb, _ in batches)


def epoch_replacing_at_the_end(params, batches, gradient, eta):
    loss = epoch()(params, batches, gradient, eta)
    params[0] = (params[0][0].copy(), params[0][1])
    return loss


def search(best=-np.inf, better=lambda score, best: score > best, pair=tuple):
    def choose(etas, train, accuracy, data):
        score, winner = best, None
        for eta in etas:
            params = train(eta)
            new = accuracy(params, data.x_val, data.y_val)
            if better(new, score):
                score, winner = new, (eta, params)
        eta, params = winner or (None, None)
        return pair((eta, accuracy(params, data.x_test, data.y_test)))

    return choose


def softmax_by(shift):
    def wrong(Z, Y, w):
        with np.errstate(all="ignore"):
            s, share = Z - shift(Z), (w / w.sum())[:, None]
            log_p = s - np.log(np.exp(s).sum(axis=1, keepdims=True))
            return float(-(share * Y * log_p).sum()), share * (np.exp(log_p) - Y)

    return wrong


def batches(cut=lambda order, B: order, pair=lambda x, y: (x, y)):
    def wrong(X, Y, B, rng):
        order = cut(rng.permutation(len(X)), B)
        return [pair(X[order[s : s + B]], Y[order[s : s + B]]) for s in range(0, len(X), B)]

    return wrong


def rest_last(order, B):
    left = len(order) % B
    return np.concatenate([order[order < len(order) - left], order[order >= len(order) - left]])


def forward(f):
    def wrong(params, X):
        A = [X]
        for W, b in params[:-1]:
            A.append(f(A[-1] @ W + b))
        return [*A, A[-1] @ params[-1][0] + params[-1][1]]

    return wrong


def needs_a_hidden_layer(params, X):
    A = [X, np.maximum(X @ params[0][0] + params[0][1], 0)]
    for W, b in params[1:-1]:
        A.append(np.maximum(A[-1] @ W + b, 0))
    return [*A, A[-1] @ params[-1][0] + params[-1][1]]


def flops_by_width(sizes, B):
    return sum(
        2 * B * n * m * (2 if n == sizes[0] else 3) for n, m in zip(sizes, sizes[1:], strict=False)
    )


def flops_by_position(sizes, B):
    return sum(
        2 * B * n * sizes[sizes.index(n) + 1] * (3 if sizes.index(n) else 2) for n in sizes[:-1]
    )


def flops_in_32_bits(sizes, B):
    s = np.array(sizes, dtype=np.int32)
    with np.errstate(all="ignore"):
        return int(6 * (B * s[:-1] * s[1:]).astype(np.int32).sum() - 2 * B * s[0] * s[1])


def backward(
    dW=lambda A, l, dZ, lam, W: A[l].T @ dZ + lam * W,
    down=lambda A, l, dZ, W: (dZ @ W.T) * (A[l] > 0),
):
    def wrong(params, A, dZ, lam):
        grads = []
        for l in reversed(range(len(params))):
            W, _ = params[l]
            grads.insert(0, (dW(A, l, dZ, lam, W), dZ.sum(axis=0)))
            dZ = down(A, l, dZ, W) if l else dZ
        return grads

    return wrong


def epoch_with_pair(params, batches, gradient, eta):
    for xb, yb in batches:
        for (W, b), (dW, db) in zip(params, gradient(params, xb, yb), strict=False):
            W -= eta * dW
            b -= eta * db


def epoch_losses(late=False, size=len, once=False):
    def wrong(params, batches, gradient, eta):
        total = 0.0
        for xb, yb in batches:
            loss = gradient(params, xb, yb)[0]
            epoch()(params, [(xb, yb)], gradient, eta)
            if once:
                return loss
            total += size(xb) * (gradient(params, xb, yb)[0] if late else loss)
        return total / sum(len(xb) for xb, _ in batches)

    return wrong


def search_last(etas, train, accuracy, data):
    best = -np.inf
    for eta in etas:
        params = train(eta)
        score = accuracy(params, data.x_val, data.y_val)
        if score > best:
            best, winner = score, eta
    return winner, accuracy(params, data.x_test, data.y_test)


def rows_by_label(y, n_classes):
    Y = np.zeros((len(y), n_classes))
    for i in y:
        Y[i, y[i]] = 1
    return Y


def returns_early(y, n_classes):
    Y = np.zeros((len(y), n_classes), np.float32)
    for i in range(len(y)):
        Y[i, y[i]] = 1
        return Y


def one_hot(change):
    def wrong(y, n_classes):
        Y = np.zeros((len(y), n_classes), np.float32)
        Y[np.arange(len(y)), y] = change(y, n_classes)
        return Y

    return wrong


WRONG = [
    (
        ch02.check_sgd_epoch,
        epoch(lambda p, g: zip(p[:1], g[:1], strict=True)),
        "only the first layer",
    ),
    (
        ch02.check_sgd_epoch,
        epoch(lambda p, g: zip(p[-1:], g[-1:], strict=True)),
        "only the last layer",
    ),
    (
        ch02.check_sgd_epoch,
        epoch(lambda p, g: zip(p[:2], g[:2], strict=True)),
        "only the first two layers",
    ),
    (ch02.check_sgd_epoch, epoch(lambda p, g: zip(p, g[::-1], strict=True)), "broadcast"),
    (ch02.check_sgd_epoch, epoch(eta_of=lambda eta: -eta), "climbs"),
    (ch02.check_sgd_epoch, epoch_replacing, "the arrays W and b themselves"),
    (ch02.check_sgd_epoch, epoch_replacing_at_the_end, "what params holds is 'new arrays'"),
    (ch02.check_grid_search, search(0.5), "start from -inf"),
    (ch02.check_grid_search, search(0.1), "start from -inf"),
    (ch02.check_grid_search, search(0.0), "start from -inf"),
    (
        ch02.check_grid_search,
        search(np.nan, lambda new, old: not new <= old),
        "NaN was chosen as the best",
    ),
    (
        ch02.check_grid_search,
        search(better=lambda new, old: not new <= old),
        "NaN was chosen as the best",
    ),
    (ch02.check_sgd_epoch, epoch_with_pair, "gradient returns two things"),
    (ch02.check_sgd_epoch, epoch_losses(late=True), "computed after its step"),
    (ch02.check_sgd_epoch, epoch_losses(size=lambda xb: 1), "weight it by the batch size"),
    (ch02.check_sgd_epoch, epoch_losses(once=True), "only the first batch is used"),
    (ch02.check_grid_search, search_last, ""),
    (ch02.check_grid_search, search(pair=lambda two: two[::-1]), "in the wrong order"),
    (
        ch02.check_backward_batch,
        backward(lambda A, l, dZ, lam, W: A[l].T @ dZ + lam),
        "lam is added",
    ),
    (
        ch02.check_backward_batch,
        backward(lambda A, l, dZ, lam, W: A[l].T @ dZ + lam / 2 * (W**2).sum()),
        "the penalty itself",
    ),
    (
        ch02.check_backward_batch,
        backward(lambda A, l, dZ, lam, W: dZ.T @ A[l] + lam * W),
        "dW is transposed",
    ),
    (
        ch02.check_backward_batch,
        backward(lambda A, l, dZ, lam, W: A[l + 1].T @ dZ + lam * W),
        "the layer's input",
    ),
    (
        ch02.check_backward_batch,
        backward(down=lambda A, l, dZ, W: dZ @ W),
        "shapes that do not fit",
    ),
    (
        ch02.check_backward_batch,
        backward(down=lambda A, l, dZ, W: (dZ @ W.T) * A[l]),
        "by A itself",
    ),
    (ch02.check_weighted_cross_entropy, softmax_by(lambda Z: abs(Z).max()), "the largest |z|"),
    (
        ch02.check_weighted_cross_entropy,
        softmax_by(lambda Z: abs(Z).max(axis=1, keepdims=True)),
        "the largest |z|",
    ),
    (ch02.check_weighted_cross_entropy, softmax_by(lambda Z: 0), "what may you subtract"),
    (ch02.check_minibatches, batches(rest_last), "left over in both epochs"),
    (ch02.check_minibatches, batches(pair=lambda x, y: (x.astype(float), y)), "dtype float64"),
    (ch02.check_minibatches, batches(pair=lambda x, y: (x, y.astype(float))), "dtype float64"),
    (ch02.check_minibatches, batches(pair=lambda x, y: (y, x)), "the pairs are (yb, xb)"),
    (
        ch02.check_minibatches,
        lambda X, Y, B, rng: [
            (X[i : i + B], Y[i : i + B]) for i in rng.permutation(range(0, len(X), B))
        ],
        "is not the last",
    ),
    (
        ch02.check_minibatches,
        lambda X, Y, B, rng: [
            (X[rows], Y[rows]) for rows in np.array_split(rng.permutation(len(X)), len(X) // B)
        ],
        "as np.array_split makes them",
    ),
    (ch02.check_forward_batch, forward(lambda Z: np.clip(Z, 0, 6)), "clipped at 6"),
    (
        ch02.check_forward_batch,
        lambda params, X: forward(lambda Z: Z * (Z > 0))(params, X)[-1],
        "only the scores",
    ),
    (ch02.check_forward_batch, needs_a_hidden_layer, "one layer, no hidden one"),
    (ch02.check_count_flops, flops_by_width, "equal widths"),
    (ch02.check_count_flops, flops_by_position, "equal widths"),
    (ch02.check_count_flops, flops_in_32_bits, "a large net"),
    (ch00.check_one_hot, lambda y, C: y[:, None] == np.arange(C), "use .astype(np.float32)"),
    (ch00.check_one_hot, one_hot(lambda y, C: y > 0), "one_hot: "),
    (ch00.check_one_hot, one_hot(lambda y, C: y < C - 1), "one_hot: "),
    (ch00.check_one_hot, rows_by_label, "one_hot: "),
    (ch00.check_one_hot, returns_early, "is `return` inside the loop"),
    (ch00.check_affine, lambda X, W, b: X @ W + b[0], "the bias of neuron 0"),
    (ch00.check_affine, lambda X, W, b: 1 / (1 + np.exp(-X @ W - b)), "a sigmoid is applied"),
    (ch00.check_to_rows, lambda W, b, X: (X.T, W.T, b.squeeze()), "squeeze drops every axis"),
]


@pytest.mark.parametrize(
    ("check", "wrong", "words"),
    WRONG,
    ids=[f"{w[0].__dict__.get('name', 'free')}-{i}" for i, w in enumerate(WRONG)],
)
def test_a_wrong_answer_of_a_student_is_refused_with_its_cause(check, wrong, words):
    for seed in SEEDS:
        text = " ".join(str(told(check, wrong, seed)).split())
        assert words in text, f"seed {seed}: {text}"
        assert "also it changes its argument params" not in text


@pytest.mark.parametrize(
    ("check", "right"),
    [
        (ch02.check_sgd_epoch, epoch()),
        (ch02.check_grid_search, search(-1.0)),
        (ch02.check_grid_search, search(pair=list)),
        (ch02.check_minibatches, batches()),
        (ch02.check_forward_batch, forward(lambda Z: Z * (Z > 0))),
        (ch00.check_one_hot, one_hot(lambda y, C: 1)),
    ],
)
def test_another_right_way_passes(check, right, capsys):
    for seed in range(100):
        check(right, seed=seed)


def test_a_search_that_ends_early_is_told_how_far_it_came():
    def two(etas, train, accuracy, data):
        return search()(etas[:2], train, accuracy, data)

    assert "it tried 2 of 6" in dict(told(ch02.check_grid_search, two, 1).report.rows)["cause"]


def test_a_softmax_report_does_not_give_the_solution_away():
    labels = [case.label for case in ch02.check_weighted_cross_entropy.draw(1)]
    assert not any("max" in label or "log" in label or "subtract" in label for label in labels)


@pytest.mark.parametrize(
    "spoil", [lambda A: A.reverse(), lambda A: A.pop(), lambda A: A.append(A[0])]
)
def test_a_changed_list_is_not_explained_as_a_changed_array(spoil):
    def total(A):
        return sum(float(a.sum()) for a in A)

    def wrong(A):
        result = total(A)
        spoil(A)
        return result

    check = Check("total", lambda rng: [Case(([normal(rng, 3), normal(rng, 3)],))], total, K=6)
    rows = dict(told(check, wrong, 1).report.rows)
    assert "list(A)" in rows["cause"] and "+=" not in rows["cause"]
    assert rows["what"].endswith("changes its argument A")


def test_a_wrong_truth_value_is_reported_like_any_other_result():
    check = Check(
        "positive",
        lambda rng: [Case((normal(rng, 3),)), Case((normal(rng, 4),))],
        lambda x: x.size > 0,
    )
    assert "differs" in dict(told(check, lambda x: False, 1).report.rows)["what"]
