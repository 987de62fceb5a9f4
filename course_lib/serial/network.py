"""What a network is, and what it computes: its sizes, activation and loss; forward and backward for a mini-batch.

Its parameters are a plain list of (W, b). Forward and backward are algorithms 4 and 5 of Kamra 2016 with the loop over
examples inside the matrix product: examples in rows, three matrix products a layer.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from course_lib.errors import BadInput, check_array, check_choice, check_count, check_number
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.losses import LOSSES

FLOATS = (np.float32, np.float64)


@dataclass(frozen=True)
class Network:
    """A fully connected network, without its parameters.

    sizes: neurons in each layer, input first: (784, 1024, 10) is Net-1h of Kamra 2016, section 5.2.
    activation: of the hidden layers: sigmoid, tanh, relu or identity.
    loss: "mse" puts a sigmoid on the output (Kamra 2016, eq. 1); "cross_entropy" a softmax (Darve 2019, eq. 1).
    lam: weight of the L2 penalty lam/2 sum ||W||^2, added to either loss; on W only, never on b (Darve 2019, eq. 1).
    Raises BadInput for impossible sizes, unknown names, a negative or infinite lam.
    """

    sizes: tuple[int, ...]
    activation: str = "sigmoid"
    loss: str = "mse"
    lam: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "sizes", check_sizes(self.sizes))
        check_choice("activation", self.activation, ACTIVATIONS)
        check_choice("loss", self.loss, LOSSES)
        object.__setattr__(self, "lam", check_number("lam", self.lam, positive=False))
        if self.loss == "cross_entropy" and self.sizes[-1] == 1:
            why = "the softmax of one is always 1"
            raise BadInput(f'cross_entropy needs at least 2 outputs ({why}): use loss="mse"')

    @property
    def n_layers(self) -> int:
        """Number of weight matrices: the input layer computes nothing and is not counted."""
        return len(self.sizes) - 1

    @property
    def n_params(self) -> int:
        """Weights and biases together."""
        return sum((n_in + 1) * n_out for n_in, n_out in pairwise(self.sizes))

    def init_params(self, seed, dtype=np.float32):
        """Fresh parameters: see `init_params`."""
        return init_params(self.sizes, seed, dtype)

    def forward(self, params, X):
        """`forward(params, X, self)`: see there."""
        return forward(params, X, self)

    def backward(self, params, cache, Y):
        """`backward(params, cache, Y)`: see there."""
        return backward(params, cache, Y)


@dataclass
class Cache:
    """What forward keeps for backward. A[0] is X, Z[l] (B, n_{l+1}) makes A[l+1], A[-1] is the output."""

    A: list[np.ndarray]
    Z: list[np.ndarray]
    net: Network


def forward(params, X, net=None):
    """Z[l] = A[l] W[l] + b[l], A[l+1] = f(Z[l]): Kamra 2016, algorithm 4 and eq. 7, for all rows of X at once.

    params: list of (W (n_in, n_out), b (n_out,)); X: (B, n0), of the dtype of the params, float32 or float64.
    net: a Network; without it, the shapes of params with the sigmoid and MSE of Kamra 2016.
    Returns a Cache. Raises BadInput for shapes or dtypes that do not fit.
    """
    net = network_of(params) if net is None else net
    check_params(params, net)
    check_array("X", X, ("B", net.sizes[0]), params[0][0].dtype)
    check_not_empty(X)
    A, Z = [X], []
    for layer, (W, b) in enumerate(params):
        z = A[-1] @ W
        z += b
        last = layer == net.n_layers - 1
        f = LOSSES[net.loss].output if last else ACTIVATIONS[net.activation].f
        Z.append(z)
        A.append(f(z))
    return Cache(A, Z, net)


def backward(params, cache, Y):
    """Gradient of the batch's mean loss, lam included: list of (dW, db), shaped as params. Kamra 2016, algorithm 5.

    cache: from forward(params, X, net); Y: (B, nL) one-hot, of the dtype of the params.
    Raises BadInput where Y or the params do not fit the cache.
    """
    A, Z, net = cache.A, cache.Z, cache.net
    check_params(params, net)
    check_array("Y", Y, A[-1].shape, A[-1].dtype)
    grads = []
    dZ = LOSSES[net.loss].dZ(Z[-1], A[-1], Y)
    for layer in reversed(range(net.n_layers)):
        W, _ = params[layer]
        dW = A[layer].T @ dZ
        if net.lam:
            dW += net.lam * W
        grads.append((dW, dZ.sum(axis=0)))
        if layer > 0:
            dA = dZ @ W.T
            dA *= ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])
            dZ = dA
    return grads[::-1]


def init_params(sizes, seed, dtype=np.float32):
    """List of (W (n_in, n_out), b (n_out,)): W drawn from N(0, 1/n_in), b zero.

    Layer l draws from default_rng([seed, l]): layers of equal shape start differently, and the draws of one layer do
    not depend on the others. With the variance 1/n_in a neuron's z neither grows nor shrinks with the width of the
    layer before it.
    """
    sizes, seed = check_sizes(sizes), check_count("seed", seed, low=0)
    if dtype not in FLOATS:
        raise BadInput(f"dtype must be np.float32 or np.float64, not {dtype!r}")
    params = []
    for layer, (n_in, n_out) in enumerate(pairwise(sizes)):
        W = np.random.default_rng([seed, layer]).standard_normal((n_in, n_out)) / math.sqrt(n_in)
        params.append((W.astype(dtype), np.zeros(n_out, dtype)))
    return params


def check_sizes(sizes):
    """`sizes` as a tuple of ints; BadInput unless it has two or more whole numbers >= 1."""
    if not isinstance(sizes, tuple | list):
        raise BadInput(f"sizes must be a tuple such as (784, 1024, 10), not {sizes!r}")
    if len(sizes) < 2:
        raise BadInput(f"sizes must name the input and the output layer at least, not {sizes!r}")
    return tuple(check_count(f"sizes[{i}]", n) for i, n in enumerate(sizes))


def check_params(params, net):
    """BadInput unless `params` is the list of (W, b) that `net` asks for, all of one float dtype.

    Looks at shapes and dtypes only: it runs in every step.
    """
    wanted = f"{net.n_layers} pairs (W, b) for sizes {net.sizes}"
    _check_length("params", params, net.n_layers, wanted)
    dtype = check_array("params[0][0]", params[0][0], dtype=FLOATS).dtype
    for layer, (W, b) in enumerate(params):
        check_array(f"params[{layer}][0] (W)", W, net.sizes[layer : layer + 2], dtype)
        check_array(f"params[{layer}][1] (b)", b, net.sizes[layer + 1 : layer + 2], dtype)


def check_grads(grads, params, dtype=None):
    """BadInput unless `grads` is a list of (dW, db) with the shapes of `params`, and of dtype, if given; returns it."""
    _check_length("gradients", grads, len(params), f"{len(params)} pairs (dW, db)")
    for layer, ((W, b), pair) in enumerate(zip(params, grads, strict=True)):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise BadInput(f"gradients[{layer}] must be a pair (dW, db), not {type(pair).__name__}")
        check_array(f"gradients[{layer}][0] (dW)", pair[0], W.shape, dtype)
        check_array(f"gradients[{layer}][1] (db)", pair[1], b.shape, dtype)
    return grads


def _check_length(name, pairs, n, wanted):
    if not isinstance(pairs, list | tuple):
        raise BadInput(f"{name} must be a list of {wanted}, not {type(pairs).__name__}")
    if len(pairs) != n:
        raise BadInput(f"{name} must be a list of {wanted}, not {len(pairs)} entries")


def network_of(params):
    """The Network with the sizes of `params`, and the sigmoid and MSE of Kamra 2016."""
    try:
        return Network((params[0][0].shape[0], *(len(b) for _, b in params)))
    except (TypeError, IndexError, AttributeError, ValueError) as error:
        what = "params must be a list of pairs (W, b)"
        raise BadInput(f"{what}: make them with init_params(sizes, seed)") from error


def check_not_empty(X):
    """BadInput where the batch X (B, n0) has no rows."""
    if len(X) == 0:
        raise BadInput("X has no rows: a batch needs at least one example")
