"""What a network is: its sizes, activation and loss. Its parameters are a plain list of (W, b)."""

import math
from dataclasses import dataclass

import numpy as np

from course_lib.errors import BadInput, check_array, check_count
from course_lib.serial.activations import ACTIVATIONS
from course_lib.serial.losses import LOSSES

FLOATS = (np.float32, np.float64)


@dataclass(frozen=True)
class Network:
    """A fully connected network, without its parameters.

    sizes: neurons in each layer, input first: (784, 1024, 10) is Net-1h of [000] section 5.2.
    activation: of the hidden layers: sigmoid, tanh, relu or identity.
    loss: "mse" puts a sigmoid on the output ([000] eq. 1); "cross_entropy" a softmax ([003] eq. 1).
    lam: weight of the L2 penalty lam/2 sum ||W||^2, added to either loss; on W only, never on b ([003] eq. 1).
    Raises BadInput for impossible sizes, unknown names, a negative or infinite lam.
    """

    sizes: tuple[int, ...]
    activation: str = "sigmoid"
    loss: str = "mse"
    lam: float = 0.0

    def __post_init__(self):
        object.__setattr__(self, "sizes", check_sizes(self.sizes))
        _check_name("activation", self.activation, ACTIVATIONS)
        _check_name("loss", self.loss, LOSSES)
        object.__setattr__(self, "lam", check_number("lam", self.lam, positive=False))
        if self.loss == "cross_entropy" and self.sizes[-1] == 1:
            raise BadInput(
                'cross_entropy needs at least 2 outputs (the softmax of one is always 1): use loss="mse"'
            )

    @property
    def n_layers(self) -> int:
        """Number of weight matrices: the input layer computes nothing and is not counted."""
        return len(self.sizes) - 1

    @property
    def n_params(self) -> int:
        """Weights and biases together."""
        return sum(
            (n_in + 1) * n_out for n_in, n_out in zip(self.sizes, self.sizes[1:], strict=False)
        )

    def init_params(self, seed, dtype=np.float32):
        """Fresh parameters: see `init_params`."""
        return init_params(self.sizes, seed, dtype)

    def forward(self, params, X):
        """`forward(params, X, self)`: see there."""
        from course_lib.serial.minibatch import forward

        return forward(params, X, self)

    def backward(self, params, cache, Y):
        """`backward(params, cache, Y)`: see there."""
        from course_lib.serial.minibatch import backward

        return backward(params, cache, Y)


def init_params(sizes, seed, dtype=np.float32):
    """List of (W (n_in, n_out), b (n_out,)): W drawn from N(0, 1/n_in), b zero.

    Layer l draws from default_rng([seed, l]): layers of equal shape start differently, and the draws
    of one layer do not depend on the others. With the variance 1/n_in a neuron's z neither grows nor
    shrinks with the width of the layer before it.
    """
    sizes, seed = check_sizes(sizes), check_count("seed", seed, low=0)
    if dtype not in FLOATS:
        raise BadInput(f"dtype must be np.float32 or np.float64, not {dtype!r}")
    params = []
    for layer, (n_in, n_out) in enumerate(zip(sizes, sizes[1:], strict=False)):
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
    if not isinstance(params, list | tuple) or len(params) != net.n_layers:
        count = (
            f"{len(params)} entries" if isinstance(params, list | tuple) else type(params).__name__
        )
        raise BadInput(
            f"params must be a list of {net.n_layers} pairs (W, b) for sizes {net.sizes}, not {count}"
        )
    dtype = check_array("params[0][0]", params[0][0], dtype=FLOATS).dtype
    for layer, (W, b) in enumerate(params):
        check_array(f"params[{layer}][0] (W)", W, net.sizes[layer : layer + 2], dtype)
        check_array(f"params[{layer}][1] (b)", b, net.sizes[layer + 1 : layer + 2], dtype)


def check_grads(grads, params, dtype=None):
    """BadInput unless `grads` is a list of (dW, db) with the shapes of `params`, and of dtype, if given; returns it."""
    if not isinstance(grads, list | tuple) or len(grads) != len(params):
        got = f"{len(grads)} entries" if isinstance(grads, list | tuple) else type(grads).__name__
        raise BadInput(f"gradients must be a list of {len(params)} pairs (dW, db), not {got}")
    for layer, ((W, b), pair) in enumerate(zip(params, grads, strict=True)):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise BadInput(f"gradients[{layer}] must be a pair (dW, db), not {type(pair).__name__}")
        check_array(f"gradients[{layer}][0] (dW)", pair[0], W.shape, dtype)
        check_array(f"gradients[{layer}][1] (db)", pair[1], b.shape, dtype)
    return grads


def network_of(params):
    """The Network with the sizes of `params`, and the sigmoid and MSE of [000]."""
    try:
        return Network((params[0][0].shape[0], *(len(b) for _, b in params)))
    except (TypeError, IndexError, AttributeError, ValueError) as error:
        raise BadInput(
            "params must be a list of pairs (W, b): make them with init_params(sizes, seed)"
        ) from error


def check_number(name, value, positive=True):
    """`value` as a float; BadInput unless it is a finite number > 0 (or >= 0 where positive is False)."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and (number > 0 if positive else number >= 0)):
        raise BadInput(
            f"{name} must be a finite number {'above 0' if positive else 'of at least 0'}, not {value!r}"
        )
    return number


def _check_name(what, name, known):
    if name not in known:
        raise BadInput(f"{what} must be one of {', '.join(known)}, not {name!r}")
