"""The backward pass of a batch, with L2 on the weights."""

from course_lib.checks.ch02.forward import forward, longest_sum, make_params
from course_lib.checks.kit.core import Case, Check, normal, ragged


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
        params = make_params(rng, widths)
        A = forward(params, normal(rng, batch, widths[0]))
        cases.append(Case((params, A, normal(rng, batch, widths[-1]), lam), label))
    return cases


def _dW_plus(penalty):
    """dW with something else than lam W added."""
    return lambda p, A, dZ, lam: _backward(
        p, A, dZ, lam, lambda A_prev, dZ, W: A_prev.T @ dZ + penalty(lam, W)
    )


_TURNED = "dW is transposed: W is (n_in, n_out), so it is A_prev.T @ dZ"

check_backward_batch = Check(
    "backward_batch",
    _backward_cases,
    _backward_true,
    K=longest_sum,
    c=8.0,
    each=("dW", "db"),
    axes={"dW": ("input", "neuron"), "db": ("neuron",)},
    diagnoses=[
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
    ],
)
