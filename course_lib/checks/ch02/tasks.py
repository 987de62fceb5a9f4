"""The checks of chapter 02: mini-batches, their gradients, their cost, and how to choose a learning rate."""

from itertools import groupby, pairwise
from types import SimpleNamespace

import numpy as np

from course_lib.checks.kit.core import Case, Check, normal, ragged, require
from course_lib.checks.kit.freeform import function_check

# 1. forward_batch -----------------------------------------------------------------------------------------------


def _relu(Z):
    return np.maximum(Z, 0)


def _make_params(rng, sizes):
    return [(normal(rng, n, m), normal(rng, m)) for n, m in pairwise(sizes)]


def _forward(params, X):
    A = [X]
    for W, b in params[:-1]:
        A.append(_relu(A[-1] @ W + b))
    W, b = params[-1]
    return [*A, A[-1] @ W + b]


def _forward_cases(rng):
    B, *sizes = ragged(rng, 4, 3, 11)
    deep = ragged(rng, 5, 2, 9)
    return [
        Case((_make_params(rng, sizes), normal(rng, B, sizes[0])), "one hidden layer"),
        Case((_make_params(rng, deep), normal(rng, 13, deep[0])), "three hidden layers"),
        Case((_make_params(rng, sizes), normal(rng, 1, sizes[0])), "a batch of one"),
        Case((_make_params(rng, sizes[:2]), normal(rng, B, sizes[0])), "one layer, no hidden one"),
        Case((_make_params(rng, sizes), normal(rng, B, sizes[0], scale=30)), "large values"),
    ]


def _wide(case):
    """The longest sum of a case with params first: over neurons, or over the examples of the batch."""
    sizes = [max(W.shape) for W, _ in case.args[0]]
    return max(*sizes, len(case.args[1][0]) if isinstance(case.args[1], list) else 1) * (
        len(sizes) + 1
    )


def _relu_everywhere(params, X):
    A = _forward(params, X)
    return [*A[:-1], _relu(A[-1])]


def _no_relu(params, X):
    A = [X]
    for W, b in params:
        A.append(A[-1] @ W + b)
    return A


def _relu6(params, X):
    A = [X]
    for W, b in params[:-1]:
        A.append(np.minimum(_relu(A[-1] @ W + b), 6))
    W, b = params[-1]
    return [*A, A[-1] @ W + b]


def _no_bias(params, X):
    return _forward([(W, 0 * b) for W, b in params], X)


def _from_X(params, X):
    return [X, *(_relu(X @ W + b) for W, b in params[:-1]), X @ params[-1][0] + params[-1][1]]


def _bias_after_relu(params, X):
    A = [X]
    for W, b in params[:-1]:
        A.append(_relu(A[-1] @ W) + b)
    W, b = params[-1]
    return [*A, A[-1] @ W + b]


check_forward_batch = Check(
    "forward_batch",
    _forward_cases,
    _forward,
    K=_wide,
    axes=("example", "neuron"),
    diagnoses=[
        (
            _relu_everywhere,
            "ReLU on the last layer too: its scores stay as they are, the softmax comes with the loss",
        ),
        (_no_relu, "no ReLU between the layers: without it the whole network is one linear map"),
        (_no_bias, "the bias b is missing"),
        (_relu6, "the activations are cut off at 6: ReLU has no upper end"),
        (
            _bias_after_relu,
            "the bias is added after the ReLU: it belongs inside, relu(A_prev @ W + b)",
        ),
        (lambda params, X: _forward(params, _relu(X)), "ReLU on the input: A[0] is X itself"),
        (
            lambda params, X: _forward(params, X)[1:],
            "A[0] is missing: the list begins with X, the backward pass needs it",
        ),
        (
            lambda params, X: _forward(params, X)[:-1],
            "the last layer is missing: the list ends with its scores",
        ),
        (
            lambda params, X: _forward(params, X)[-1],
            "only the scores are returned: the backward pass needs the whole list A, from X to the scores",
        ),
        (
            _from_X,
            "every layer reads X: layer l must read A[-1], the output of the layer before it",
        ),
    ],
)

# 2. softmax_cross_entropy ---------------------------------------------------------------------------------------


def _softmax_cross_entropy(Z, Y):
    shifted = Z - Z.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    loss = ((log_sum - shifted) * Y).sum(axis=1).mean()
    return float(loss), (np.exp(shifted - log_sum) - Y) / len(Z)


def _one_hot(rng, B, C):
    return np.eye(C, dtype=np.float32)[rng.integers(C, size=B)]


def _loss_cases(rng):
    B, C = ragged(rng, 2, 3, 9)
    large = normal(rng, B, C) + np.float32(1000) * (1 + np.arange(B, dtype=np.float32)[:, None])
    sure, best = normal(rng, B, C), rng.integers(C, size=B)
    best[:2] = (
        0,
        C - 1,
    )  # the largest score first, last and anywhere: subtracting another one must show
    sure[np.arange(B), best] += rng.uniform(300, 1200, B).astype(np.float32)
    Y = np.eye(C, dtype=np.float32)[(best + rng.integers(1, C, size=B)) % C]
    plan = [
        (normal(rng, B, C), _one_hot(rng, B, C), "ordinary scores"),
        (normal(rng, 1, C, scale=3), _one_hot(rng, 1, C), "a batch of one"),
        (large, _one_hot(rng, B, C), "scores in the thousands"),
        (normal(rng, B, C) - np.float32(1000), _one_hot(rng, B, C), "all scores near -1000"),
        (sure, Y, "wrong and certain"),
    ]
    return [Case((Z, Y), label, scale=float(np.abs(Z).max())) for Z, Y, label in plan]


def _with_loss(change):
    def wrong(Z, Y):
        loss, dZ = _softmax_cross_entropy(Z, Y)
        return change(loss, dZ, len(Z), Z.shape[1])

    return wrong


def _softmax_over_batch(Z, Y):
    P = np.exp(Z - Z.max(axis=0))
    P = P / P.sum(axis=0)
    with np.errstate(divide="ignore"):
        return float(-(np.where(Y > 0, np.log(P), 0)).sum() / len(Z)), (P - Y) / len(Z)


def _shifted_by(shift):
    def wrong(Z, Y):
        Z = Z.astype(np.float32)
        s = Z - shift(Z)
        log_sum = np.log(np.exp(s).sum(axis=1, keepdims=True))
        return float(((log_sum - s) * Y).sum(axis=1).mean()), (np.exp(s - log_sum) - Y) / len(Z)

    return wrong


def _quotient(shift):
    """The softmax as a quotient, and its logarithm after that."""

    def wrong(Z, Y):
        Z = Z.astype(np.float32)
        e = np.exp(Z - shift(Z))
        P = e / e.sum(axis=1, keepdims=True)
        return float(-np.log(P[Y > 0]).sum() / len(Z)), (P - Y) / len(Z)

    return wrong


_UNSHIFTED = (
    "exp of a large score is infinite, and of a very negative one 0: what may be subtracted from all scores "
    "of a row without changing its softmax?"
)
_ABS = (
    "the largest |z| is subtracted: where all scores are far below 0 that is not the largest score"
)
_ONE_SCORE = (
    "one score of each row is subtracted, the largest or not: subtract Z.max(axis=1, keepdims=True)"
)

check_softmax_cross_entropy = Check(
    "softmax_cross_entropy",
    _loss_cases,
    _softmax_cross_entropy,
    K=lambda case: sum(case.args[0].shape),
    dtype="input",
    parts=("loss", "dZ"),
    axes={"dZ": ("example", "class")},
    diagnoses=[
        (
            _with_loss(lambda loss, dZ, B, C: (loss * B, dZ * B)),
            "sums over the batch: loss and dZ both lack the 1/B",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss * B, dZ)),
            "the loss is a sum over the batch: it must be the mean",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss, dZ * B)),
            "dZ lacks the 1/B: it is the gradient of the mean loss",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss, dZ / B)),
            "dZ holds the 1/B twice: once is enough",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss, -dZ)),
            "the sign of dZ is flipped: it is (P - Y) / B, and Y - P climbs",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (-loss, dZ)),
            "the sign of the loss is flipped: minus the logarithm",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss / C, dZ)),
            "the loss is a mean over classes as well: sum over the classes, then take the mean over the batch",
        ),
        (
            _with_loss(lambda loss, dZ, B, C: (loss, dZ / C)),
            "dZ is divided by B and by the number of classes: by B only",
        ),
        (_shifted_by(lambda Z: Z[:, :1]), _ONE_SCORE),
        (_shifted_by(lambda Z: Z[:, -1:]), _ONE_SCORE),
        (
            _shifted_by(np.max),
            "the largest score of the whole batch is subtracted: exp of a row far below it is 0 throughout. "
            "Each row needs its own, Z.max(axis=1, keepdims=True)",
        ),
        (_shifted_by(lambda Z: 0), _UNSHIFTED),
        (_quotient(lambda Z: 0), _UNSHIFTED),
        (_shifted_by(lambda Z: np.abs(Z).max(axis=1, keepdims=True)), _ABS),
        (_shifted_by(lambda Z: np.abs(Z).max()), _ABS),
        (
            _quotient(lambda Z: Z.max(axis=1, keepdims=True)),
            "log(P) is log(0) where the softmax is 0 in float32: take the logarithm of the quotient on paper first",
        ),
        (
            _softmax_over_batch,
            "the softmax runs over the batch: sum over the classes of each row, axis=1, keepdims=True",
        ),
    ],
)

# 3. backward_batch ----------------------------------------------------------------------------------------------


def _backward(params, A, dZ, lam, dW=None, db=None, mask=None, feed=0, down=lambda dZ, W: dZ @ W.T):
    """The truth, and with dW, db, mask, the layer's input A[layer + feed] or `down` changed: a known wrong way."""
    make_dW = dW or (lambda A_prev, dZ, W: A_prev.T @ dZ + lam * W)
    make_db = db or (lambda dZ, b: dZ.sum(axis=0))
    make_mask = mask or (lambda A_prev, dA: A_prev > 0)
    grads = []
    for layer in range(len(params) - 1, -1, -1):
        W, b = params[layer]
        grads.append((make_dW(A[layer + feed], dZ, W), make_db(dZ, b)))
        if layer:
            dA = down(dZ, W)
            dZ = dA * make_mask(A[layer], dA)
    return grads[::-1]


def _backward_true(params, A, dZ, lam):
    return _backward(params, A, dZ, lam)


def _backward_cases(rng):
    B, *sizes = ragged(rng, 4, 3, 11)
    deep = ragged(rng, 4, 3, 9)
    plan = [
        (B, sizes, 0.3, "one hidden layer, lam 0.3"),
        (13, deep, 0.7, "two hidden layers, lam 0.7"),
        (B, sizes, 0.0, "lam 0"),
        (1, deep, 0.2, "a batch of one"),
    ]
    cases = []
    for batch, widths, lam, label in plan:
        params = _make_params(rng, widths)
        A = _forward(params, normal(rng, batch, widths[0]))
        cases.append(Case((params, A, normal(rng, batch, widths[-1]), lam), label))
    return cases


def _biases_too(params, A, dZ, lam):
    return _backward(params, A, dZ, lam, db=lambda dZ, b: dZ.sum(axis=0) + lam * b)


def _double_lam(params, A, dZ, lam):
    return _backward(params, A, dZ, lam, dW=lambda A_prev, dZ, W: A_prev.T @ dZ + 2 * lam * W)


def _dW_over_B(params, A, dZ, lam):
    return _backward(params, A, dZ, lam, dW=lambda A_prev, dZ, W: A_prev.T @ dZ / len(dZ) + lam * W)


def _dW_plus(penalty):
    """dW with something else than lam W added."""
    return lambda p, A, dZ, lam: _backward(
        p, A, dZ, lam, lambda A_prev, dZ, W: A_prev.T @ dZ + penalty(lam, W)
    )


def _both_over_B(params, A, dZ, lam):
    return _backward(
        params,
        A,
        dZ,
        lam,
        lambda A_prev, dZ, W: A_prev.T @ dZ / len(dZ) + lam * W,
        lambda dZ, b: dZ.mean(axis=0),
    )


_TURNED = "dW is transposed: W is (n_in, n_out), so it is A_prev.T @ dZ"

check_backward_batch = Check(
    "backward_batch",
    _backward_cases,
    _backward_true,
    K=_wide,
    c=8.0,
    each=("dW", "db"),
    axes={"dW": ("input", "neuron"), "db": ("neuron",)},
    diagnoses=[
        (
            _both_over_B,
            "1/B twice: dZ holds it already, so dW and db are plain sums over the batch",
        ),
        (_dW_over_B, "dW has 1/B twice: dZ holds it already"),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, db=lambda dZ, b: dZ.mean(axis=0)),
            "db is a mean over the batch: dZ holds the 1/B already, so sum the rows",
        ),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, db=lambda dZ, b: dZ.sum(axis=1)),
            "db sums over the neurons: examples lie in rows, so sum over axis=0",
        ),
        (
            lambda p, A, dZ, lam: _backward(
                p, A, dZ, lam, db=lambda dZ, b: dZ.sum(axis=0, keepdims=True)
            ),
            "db keeps the summed axis: it has the shape of b, (n_out,)",
        ),
        (_biases_too, "lam acts on the biases too: the penalty is 0.5 lam sum W**2, weights only"),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, 0.0),
            "lam is missing: the penalty 0.5 lam sum W**2 adds lam * W to dW",
        ),
        (_double_lam, "2 lam W: the penalty is 0.5 lam sum W**2, and its derivative is lam W"),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, mask=lambda A_prev, dA: 1),
            "the ReLU mask is missing or always true: dZ = dA * (A > 0); note that A >= 0 holds everywhere",
        ),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, mask=lambda A_prev, dA: dA > 0),
            "the ReLU mask looks at dA: it must look at the forward pass, A > 0",
        ),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, mask=lambda A_prev, dA: A_prev),
            "dA is multiplied by A itself: the slope of ReLU is 1 where A > 0 and 0 elsewhere, dZ = dA * (A > 0)",
        ),
        (_dW_plus(lambda lam, W: lam), "lam is added: the derivative of 0.5 lam W**2 is lam * W"),
        (
            _dW_plus(lambda lam, W: 0.5 * lam * (W**2).sum()),
            "the penalty itself is added: its derivative is lam * W",
        ),
        (
            lambda p, A, dZ, lam: _backward(
                p, A, dZ, lam, lambda A_prev, dZ, W: dZ.T @ A_prev + lam * W
            ),
            _TURNED,
        ),
        (
            lambda p, A, dZ, lam: _backward(
                p, A, dZ, lam, lambda A_prev, dZ, W: lam * W + dZ.T @ A_prev
            ),
            _TURNED,
        ),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, feed=1),
            "dW is made of the layer's output: it needs what the layer was fed with, A[layer]",
        ),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam, down=lambda dZ, W: dZ @ W),
            "on the way down it is dZ @ W.T: forward was A @ W",
        ),
        (
            lambda p, A, dZ, lam: _backward(p, A, dZ, lam)[::-1],
            "the list is in backward order: grads[0] belongs to the first layer, so reverse it at the end",
        ),
    ],
)

# 4. count_flops -------------------------------------------------------------------------------------------------


def _count_flops(sizes, B, each=2, products=(3, 2), bias=0):
    """each: operations per multiply-add; products: how many for an inner layer, and for the first one."""
    total = 0
    for layer, (n_in, n_out) in enumerate(pairwise(sizes)):
        total += (
            each * B * n_in * n_out * (products[0] if layer else products[1]) + bias * B * n_out
        )
    return total


def _count_true(sizes, B):
    return _count_flops(sizes, B)


def _count_with(**changes):
    return lambda sizes, B: _count_flops(sizes, B, **changes)


def _skips_last(sizes, B):
    return _count_flops(sizes[::-1], B)


def _count_cases(rng):
    plan = [(tuple(ragged(rng, n, 3, 40)), f"{n - 1} layer{'s' * (n > 2)}") for n in (3, 2, 4, 5)]
    plan += [
        ((8, 8, 8, 5), "equal widths"),
        ((64, 64, 10), "two equal widths"),
        ((3072, 4096, 4096, 1000), "a large net"),
    ]
    return [
        Case((sizes, int(rng.integers(2, 99)) * (256 if sizes[0] > 1000 else 1)), label)
        for sizes, label in plan
    ]


check_count_flops = Check(
    "count_flops",
    _count_cases,
    _count_true,
    dtype=None,
    diagnoses=[
        (
            _count_with(each=1),
            "half of it: a multiply-add is two operations, the multiplication and the addition",
        ),
        (
            _count_with(products=(3, 3)),
            "three products in the first layer too: its dA would be the gradient of the pixels, and nobody needs it",
        ),
        (
            _count_with(products=(1, 1)),
            "the forward pass only: dW and dA are products of the same size",
        ),
        (
            _count_with(products=(2, 2)),
            "dA is missing: each layer but the first multiplies dZ by W.T as well",
        ),
        (
            _count_with(products=(2, 1)),
            "one of the products is missing: forward, dW, and dA in all layers but the first",
        ),
        (
            lambda sizes, B: _count_flops(sizes, 1),
            "B is missing: every example of the batch costs the same again",
        ),
        (_skips_last, "dA is left out in the last layer: it is the first layer that needs none"),
        (
            _count_with(bias=1),
            "the additions of b are counted too: the task counts the matrix products alone",
        ),
    ],
)

# 5. matmul_bound ------------------------------------------------------------------------------------------------


def _matmul_bound(B, n_in, n_out, peak, bandwidth, numbers=None, itemsize=4, each=2, pick=min):
    numbers = numbers or (B * n_in + n_in * n_out + B * n_out)
    intensity = each * B * n_in * n_out / (itemsize * numbers)
    return intensity, pick(peak, intensity * bandwidth)


def _bound_true(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth)


def _bound_cases(rng):
    """Small and large batches, so that each roof is the lower one somewhere, whatever is drawn."""
    cases = []
    for B, label in (
        (1, "a batch of one"),
        (int(rng.integers(2, 6)), "a small batch"),
        (4096, "a large batch"),
    ):
        n_in, n_out = (int(n) for n in rng.integers(300, 1500, size=2))
        cases.append(
            Case((B, n_in, n_out, float(rng.uniform(180, 300)), float(rng.uniform(8, 20))), label)
        )
    return cases


def _bound_with(**changes):
    return lambda B, n_in, n_out, peak, bandwidth: _matmul_bound(
        B, n_in, n_out, peak, bandwidth, **changes
    )


def _weights_per_example(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth, B * (n_in + n_in * n_out + n_out))


def _no_output(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth, B * n_in + n_in * n_out)


def _weights_only(B, n_in, n_out, peak, bandwidth):
    return _matmul_bound(B, n_in, n_out, peak, bandwidth, n_in * n_out)


def _upside_down(B, n_in, n_out, peak, bandwidth):
    intensity = 1 / _bound_true(B, n_in, n_out, peak, bandwidth)[0]
    return intensity, min(peak, intensity * bandwidth)


check_matmul_bound = Check(
    "matmul_bound",
    _bound_cases,
    _bound_true,
    K=4,
    dtype=None,
    parts=("intensity", "bound"),
    diagnoses=[
        (
            _bound_with(pick=max),
            "the higher of the two roofs: the lower one is the one you bump into, min(...)",
        ),
        (_bound_with(itemsize=1), "numbers counted for bytes: a float32 has 4 bytes"),
        (
            _bound_with(each=1),
            "half of ours: a multiply-add is two operations, and a float32 has 4 bytes (8 would be float64)",
        ),
        (_no_output, "Z is not counted: the result is written to memory too"),
        (_weights_only, "only the bytes of W are counted: X is read and Z is written as well"),
        (
            _weights_per_example,
            "W is counted B times: a mini-batch reads it once, and that is its whole advantage",
        ),
        (_upside_down, "bytes per flop: the intensity is flops per byte"),
        (
            _bound_with(pick=lambda peak, slope: slope),
            "the flat roof is missing: no batch is faster than the peak",
        ),
    ],
)

# 6. minibatches -------------------------------------------------------------------------------------------------


def _numbered(N, n, C):
    """X with its row number in column 0, Y one-hot with class = row number mod C: pairs can be told apart."""
    X = np.zeros((N, n), dtype=np.float32)
    X[:, 0] = np.arange(N)
    return X, np.eye(C, dtype=np.float32)[np.arange(N) % C]


def _batches(fn, X, Y, B, rng):
    """Call the student's function; demand a series of pairs of arrays, and unchanged inputs."""
    X_before, Y_before = X.copy(), Y.copy()
    given = fn(X, Y, B, rng)
    require(
        given is not None,
        "minibatches returned None",
        cause="end with `return ...`, or use `yield xb, yb`",
    )
    require(
        hasattr(given, "__iter__"),
        f"minibatches returned {type(given).__name__}, not a list of pairs",
    )
    batches = list(given)
    pairs = all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in batches)
    require(
        bool(pairs and batches),
        "each batch must be a pair (xb, yb)",
        got=(batches or ["no batch at all"])[0],
    )
    swapped = all(
        np.shape(xb)[1:] == Y.shape[1:] and np.shape(yb)[1:] == X.shape[1:] for xb, yb in batches
    )
    require(not swapped, "the pairs are (yb, xb)", cause="the images come first: (xb, yb)")
    found = {np.asarray(part).dtype.name for pair in batches for part in pair} - {"float32"}
    require(
        not found,
        f"there are batches of dtype {', '.join(sorted(found))}",
        wanted="float32, as X and Y are",
        cause="X[rows] keeps the dtype of X; what was made from nothing, as by np.zeros, is float64",
    )
    require(
        np.array_equal(X, X_before) and np.array_equal(Y, Y_before),
        "the caller's X or Y was changed",
        cause="rng.shuffle(X) works in place: shuffle indices, order = rng.permutation(N), and take X[order]",
    )
    return batches


def _check_sizes(batches, N, B):
    sizes, full = [len(xb) for xb, _ in batches], [B] * (N // B)
    split = [len(part) for part in np.array_split(range(N), max(N // B, 1))]
    wanted = full + ([N % B] if N % B else [])
    causes = {
        "the ragged last batch is dropped: its examples would never be seen": sizes == full
        and N % B,
        "the last batch is filled up to B: some examples count twice": sizes == [*full, B]
        and N % B,
        "no batch but one: B is not used": sizes == [N],
        "the short batch is not the last: permute the examples, and cut after that": sizes != wanted
        and sorted(sizes) == sorted(wanted),
        "np.array_split evens the sizes out: batches have B examples, and the last has what is left": sizes
        == split,
        "there is an empty batch at the end": sizes and sizes[-1] == 0,
        "batches of size N // B: B is the size of a batch, not their number": sizes
        and sizes[0] == N // B != B,
    }
    cause = next((text for text, holds in causes.items() if holds), None)
    require(
        sizes == wanted,
        f"N = {N} examples in batches of B = {B}",
        got=_runs(sizes),
        wanted=_runs(wanted),
        cause=cause,
    )
    require(
        all(len(yb) == len(xb) for xb, yb in batches), "xb and yb of a batch have different lengths"
    )


def _runs(sizes):
    """Batch sizes in short: "54 of 8, 1 of 3"."""
    runs = [(size, len(list(same))) for size, same in groupby(sizes)]
    text = ", ".join(f"{n} of {size}" for size, n in runs[:8])
    return f"batches: {text}" + (", and more" if len(runs) > 8 else "")


def _check_rows(batches, N, C):
    """No example lost or doubled, and each with its own label."""
    rows = np.concatenate([np.asarray(xb)[:, 0] for xb, _ in batches]).astype(int)
    labels = np.concatenate([np.asarray(yb) for _, yb in batches])
    times = np.bincount(rows, minlength=N)
    lost, doubled = int((times == 0).sum()), int((times > 1).sum())
    require(
        lost == doubled == 0,
        f"of {N} examples, {lost} are lost and {doubled} doubled",
        cause="each epoch draws without replacement: rng.permutation(N), not rng.integers or rng.choice",
    )
    require(
        np.array_equal(labels.argmax(axis=1), rows % C),
        "images and labels no longer belong together",
        cause="shuffle X and Y by the SAME permutation: one order, used for both",
    )
    return rows


@function_check("minibatches")
def check_minibatches(fn, *, rng):
    """No example lost, doubled or mislabelled; ragged last batch kept; a new order at each call, from rng."""
    seed, C = int(rng.integers(1 << 30)), 7
    for N, B in ((int(rng.integers(30, 60)) * 8 + 3, 8), (24, 6), (19, 40), (5, 1)):
        X, Y = _numbered(N, 4, C)
        batches = _batches(fn, X, Y, B, np.random.default_rng(seed))
        _check_sizes(batches, N, B)
        _check_rows(batches, N, C)
    N, B = 203, 10
    X, Y = _numbered(N, 4, C)
    stream = np.random.default_rng(seed)
    first, second = (_check_rows(_batches(fn, X, Y, B, stream), N, C) for _ in range(2))
    require(
        (first != np.arange(N)).any(),
        "the examples come in the order of the file",
        cause="no shuffle: order = rng.permutation(N)",
    )
    require(
        np.ptp(first[:B]) >= B,
        "every batch holds neighbours from the file",
        cause="the batches are shuffled, the examples are not: permute the examples before you cut",
    )
    require(
        (first != second).any(),
        "two epochs with one rng have the same order",
        cause="the order is the same each time: draw it anew at each call, from the rng that is passed",
    )
    left = N % B
    require(
        set(first[-left:]) != set(second[-left:]),
        "the same examples are left over in both epochs",
        cause="the rest is set aside before the shuffle: permute all N examples, then cut",
    )
    again = _check_rows(_batches(fn, X, Y, B, np.random.default_rng(seed)), N, C)
    require(
        np.array_equal(first, again),
        "the same seed gives another order",
        cause="draw from rng alone, not from np.random",
    )
    return "nothing lost, doubled or mislabelled in 4 ragged splits, and a new order each epoch"


# 7. sgd_epoch ---------------------------------------------------------------------------------------------------


_OWN, _NEW = "its own arrays", "new arrays"


def _line_gradient(params, xb, yb):
    """Loss and gradients of a net of linear layers, mean of the squares: a stand-in for any. Returns (loss, grads)."""
    A = [xb]
    for W, b in params:
        A.append(A[-1] @ W + b)
    residual, grads = A.pop() - yb, []
    dZ = 2 * residual / len(xb)
    for (W, _), A_prev in zip(params[::-1], A[::-1], strict=True):
        grads.append((A_prev.T @ dZ, dZ.sum(axis=0)))
        dZ = dZ @ W.T
    return float((residual**2).sum() / len(xb)), grads[::-1]


def _sgd_epoch(params, batches, gradient, eta, step=lambda eta, B: eta, fresh=True, weigh=None):
    """The truth, and with step, fresh or weigh changed: a known wrong way. Returns (mean loss, params, _OWN)."""
    frozen = [(W.copy(), b.copy()) for W, b in params]
    losses, sizes = [], []
    for xb, yb in batches:
        loss, grads = gradient(params if fresh else frozen, xb, yb)
        for (W, b), (dW, db) in zip(params, grads, strict=True):
            W -= step(eta, len(xb)) * dW
            b -= step(eta, len(xb)) * db
        losses.append(loss)
        sizes.append(len(xb))
    return float((weigh or np.average)(losses, weights=sizes)), params, _OWN


def _sgd_true(params, batches, gradient, eta):
    return _sgd_epoch(params, batches, gradient, eta)


def _sgd_replaced(params, batches, gradient, eta):
    """The list gets new arrays; the old ones stay as they were."""
    new = [(W.copy(), b.copy()) for W, b in params]
    return _sgd_epoch(new, batches, gradient, eta)[0], params, _NEW


def _sgd_layers(which):
    """Only these layers are updated."""

    def wrong(params, batches, gradient, eta):
        def some(params, xb, yb):
            loss, grads = gradient(params, xb, yb)
            kept = range(len(params))[which]
            return loss, [(dW * (i in kept), db * (i in kept)) for i, (dW, db) in enumerate(grads)]

        return _sgd_epoch(params, batches, some, eta)

    return wrong


def _sgd_with(**changes):
    return lambda params, batches, gradient, eta: _sgd_epoch(
        params, batches, gradient, eta, **changes
    )


def _never_updates(params, batches, gradient, eta):
    return _sgd_epoch(params, batches, gradient, 0.0)


def _biases_stay(params, batches, gradient, eta):
    def weights_only(params, xb, yb):
        loss, grads = gradient(params, xb, yb)
        return loss, [(dW, 0 * db) for dW, db in grads]

    return _sgd_epoch(params, batches, weights_only, eta)


def _sgd_cases(rng):
    cases = []
    plan = (
        ((8, 8, 3), 3, "a ragged last batch"),
        ((5, 5), 2, "equal batches"),
        ((6, 1), 3, "a last batch of one"),
    )
    for sizes, n_layers, label in plan:
        widths = ragged(rng, n_layers + 1, 2, 7)
        params = [(normal(rng, n, m, scale=n**-0.5), normal(rng, m)) for n, m in pairwise(widths)]
        batches = [(normal(rng, B, widths[0]), normal(rng, B, widths[-1])) for B in sizes]
        label = f"{n_layers} layers, {label}"
        cases.append(Case((params, batches, _line_gradient, 0.05), label))
    return cases


def _pair_for_grads(params, batches, gradient, eta):
    for _, (dW, db) in zip(params, gradient(params, *batches[0]), strict=False):
        return dW, db


def _loss_after(params, batches, gradient, eta):
    """Each loss after its own step."""
    losses = []
    for xb, yb in batches:
        _sgd_epoch(params, [(xb, yb)], gradient, eta)
        losses.append(gradient(params, xb, yb)[0])
    return float(np.average(losses, weights=[len(xb) for xb, _ in batches])), params, _OWN


def _call_epoch(fn, params, batches, gradient, eta):
    """The returned loss, and the arrays in params, which the function changes in place."""
    held = [tuple(pair) for pair in params]
    loss = fn(params, batches, gradient, eta)
    now = [array for pair in params for array in pair]
    arrays = [array for pair in held for array in pair]
    kept = len(now) == len(arrays) and all(new is old for new, old in zip(now, arrays, strict=True))
    return loss, held, _OWN if kept else _NEW


check_sgd_epoch = Check(
    "sgd_epoch",
    _sgd_cases,
    _sgd_true,
    call=_call_epoch,
    K=60,
    may_change=(0,),
    parts=("the mean loss", "params", "what params holds"),
    diagnoses=[
        (
            _sgd_with(step=lambda eta, B: -eta),
            "W += eta dW climbs the loss: descend with W -= eta * dW",
        ),
        (
            _sgd_with(step=lambda eta, B: eta / B),
            "eta is divided by B: the gradient is of the mean loss, it holds the 1/B",
        ),
        (
            _sgd_with(step=lambda eta, B: eta * B),
            "eta is multiplied by B: the gradient is of the mean loss",
        ),
        (
            _sgd_replaced,
            "new arrays were put into the list: whoever holds the old ones sees no training. Change the arrays W and b "
            "themselves, W -= eta * dW",
        ),
        (
            lambda *args: (*_sgd_true(*args)[:2], _NEW),
            "leave the list as it is: W -= eta * dW is all that is needed",
        ),
        (
            _sgd_layers(slice(0, 1)),
            "only the first layer is updated: walk over all of params and grads",
        ),
        (
            _sgd_layers(slice(-1, None)),
            "only the last layer is updated: walk over all of params and grads",
        ),
        (
            _sgd_layers(slice(0, 2)),
            "only the first two layers are updated: walk over all of params and grads",
        ),
        (
            _never_updates,
            "params did not change: W = W - ... makes a new array and forgets it; W -= ... changes the one in params",
        ),
        (
            _sgd_with(fresh=False),
            "all gradients were taken at the first parameters: compute each one after the update before it",
        ),
        (
            _sgd_with(weigh=lambda losses, weights: np.mean(losses)),
            "the plain mean of the batch losses: a ragged last batch must count for less, "
            "weigh each loss with its size",
        ),
        (
            _sgd_with(weigh=lambda losses, weights: np.sum(losses)),
            "the sum of the batch losses: for the mean, weigh each with its size and divide by all examples",
        ),
        (
            _sgd_with(weigh=lambda losses, weights: np.dot(losses, weights)),
            "the total over all examples: divide by their number for the mean",
        ),
        (
            _sgd_with(weigh=lambda losses, weights: losses[-1]),
            "the loss of the last batch alone: the epoch's mean is asked for",
        ),
        (_biases_stay, "the biases are not updated: b -= eta * db"),
        (
            lambda params, batches, gradient, eta: _sgd_epoch(params, batches[:1], gradient, eta),
            "only the first batch is used: is `return` inside the loop?",
        ),
        (
            _loss_after,
            "a batch's loss is taken after its step: gradient returns it together with the gradients",
        ),
        (
            _sgd_with(weigh=lambda losses, weights: np.sum(losses) / np.sum(weights)),
            "each batch's loss is a mean: weigh it with the batch's size before you divide by the number of examples",
        ),
        (_pair_for_grads, "gradient returns two things: loss, grads = gradient(params, xb, yb)"),
    ],
)

# 8. grid_search -------------------------------------------------------------------------------------------------


class _Diary:
    """Training runs that are only pretended, and a note of each question asked about them."""

    SETS = ("train", "validation", "test")

    def __init__(self, rng, scores):
        """scores: {eta: (train, validation, test accuracy)}."""
        self.scores, self.asked, self.trained = scores, [], []
        N = [int(n) for n in rng.permutation(np.arange(5, 12))[:3]]
        X = [np.full((n, 2), i, dtype=np.float32) for i, n in enumerate(N)]
        y = [np.full(n, i, dtype=np.int64) for i, n in enumerate(N)]
        self.data = SimpleNamespace(
            x_train=X[0], x_val=X[1], x_test=X[2], y_train=y[0], y_val=y[1], y_test=y[2]
        )

    def train(self, eta):
        """Stands for a training run; its "params" are a name for the run."""
        self.trained.append(eta)
        return f"net trained with eta {eta}", eta

    def accuracy(self, params, X, y):
        """The score of that run on the set that X and y come from."""
        require(
            isinstance(params, tuple) and len(params) == 2,
            "accuracy got something else than a run's params",
            got=params if params is not None else "None",
            cause="was no run better than the start value? An accuracy may be small: begin with -inf",
        )
        require(
            int(X[0, 0]) == int(y[0]), "images of one set were scored with the labels of another"
        )
        self.asked.append((params[1], self.SETS[int(X[0, 0])]))
        return self.scores[params[1]][int(X[0, 0])]

    def times_tested(self):
        return sum(which == "test" for _, which in self.asked)


def _scores(rng, etas, nan_at, scale):
    """Train, validation and test accuracy for each eta, each set with its own favourite; run nan_at has diverged."""
    table = rng.uniform(0.6, 0.85, size=(len(etas), 3))
    *favourites, worst = rng.permutation(len(etas) - 1)[:4]
    for which, row in enumerate(favourites):
        table[row, which] = rng.uniform(0.9, 0.99)
    table[worst, 1] = rng.uniform(0.4, 0.5)
    table *= scale
    table[-1] = np.nan
    order = list(rng.permutation(len(etas) - 1))
    if (
        nan_at and order[0] == favourites[1]
    ):  # the winner is never the first: that one may win by the start value
        order = order[::-1]
    order.insert(nan_at, len(etas) - 1)
    return {eta: tuple(table[i]) for eta, i in zip(etas, order, strict=True)}


def _winner(scores, which, pick=max):
    right = {eta: row[which] for eta, row in scores.items() if row[which] == row[which]}
    return pick(right, key=right.__getitem__)


def _cause_of_eta(got, scores):
    values = [row[1] for row in scores.values()]
    if got in scores and scores[got][1] != scores[got][1]:
        return (
            "NaN was taken for the best: comparisons with NaN are False, and np.argmax returns its place: leave "
            "such runs out with np.isfinite"
        )
    if got not in scores:
        close = [v for v in values if v == got]
        return "that is an accuracy, not an eta" if close else "the eta must be one of etas"
    for which, text in (
        (0, "chosen by the TRAINING accuracy: it rewards learning by heart"),
        (2, "chosen by the TEST accuracy: then the test set is no longer a test"),
    ):
        if got == _winner(scores, which):
            return text
    return "the worst validation accuracy, not the best" if got == _winner(scores, 1, min) else None


@function_check("grid_search")
def check_grid_search(fn, *, rng):
    """Best eta by validation accuracy, NaN runs left out, the test set asked once, for the winner only."""
    # where the diverged run lies decides how a comparison with NaN goes wrong; poor grids find a start value above 0
    for nan_at, scale in (
        (0, 1.0),
        (5, 1.0),
        (int(rng.integers(1, 5)), 1.0),
        (4, 0.055),
        (0, 0.055),
        (3, 1.0),
    ):
        etas = [float(eta) for eta in np.round(10.0 ** rng.permutation(np.linspace(-3, 2, 6)), 4)]
        diary = _Diary(rng, _scores(rng, etas, nan_at, scale))
        given = fn(etas, diary.train, diary.accuracy, diary.data)
        require(
            given is not None,
            "grid_search returned None",
            cause="end with `return best_eta, test_accuracy`",
        )
        pair = isinstance(given, (tuple, list)) and len(given) == 2
        require(pair, "the result must be the pair (best_eta, test_accuracy)", got=given)
        tried = len(set(diary.trained))
        require(
            tried == len(etas),
            f"{tried} of {len(etas)} learning rates were tried",
            cause=f"it stops early: it tried {tried} of {len(etas)}; does a return or break stand inside the loop?",
        )
        _check_choice(given, diary)
    return "6 grids with a diverged run in each; the test set was asked once, at the end"


_OTHER_NET = "that is the test accuracy of another run: keep the winner's params beside its eta"


def _check_choice(given, diary):
    got, accuracy = given
    best = _winner(diary.scores, 1)
    swapped = got == diary.scores[best][2] and accuracy == best
    require(
        not swapped,
        "the two come in the wrong order",
        cause="return best_eta first, the test accuracy second",
    )
    require(
        got == best,
        "that is not the learning rate with the best validation accuracy",
        got=f"eta = {got}",
        wanted=f"eta = {best}",
        cause=_cause_of_eta(got, diary.scores),
    )
    wanted = diary.scores[best][2]
    too_good = "that is its validation accuracy: chosen as the largest of many, it is too good"
    others = [row[2] for row in diary.scores.values()]
    cause = (
        too_good
        if accuracy == diary.scores[best][1]
        else _OTHER_NET
        if accuracy in others
        else None
    )
    require(
        accuracy == wanted,
        "the second part must be the winner's test accuracy",
        accuracy,
        wanted,
        cause=cause,
    )
    times = diary.times_tested()
    require(
        times == 1,
        f"the test set was asked {times} times, it must be asked once",
        cause="only the winner meets the test set, after the choice: what is looked at for every eta gets used",
    )
