"""Kamra 2016, algorithm 3: each thread adds up the gradients of its examples; their sum over B is the gradient.

No lock: thread t writes its sums into row t of one buffer, and after the join it adds up its own slice of all rows.
"""

from functools import partial
from itertools import pairwise

import numpy as np

from course_lib.errors import BadInput, check_array, check_choice, check_count
from course_lib.measure import blas_threads
from course_lib.serial import ACTIVATIONS, LOSSES, Network, forward
from course_lib.serial.network import check_params
from course_lib.threads.pool import Pool, fork_join
from course_lib.threads.shards import cut, rows_text, shards


def data_parallel_gradients(net, params, X, Y, T, body="numpy", pool=None):
    """The gradient of the batch's mean loss, lam included, by T threads: list of (dW, db), as serial.backward's.

    X (B, n0), Y (B, nL), dtype of params; 1 <= T <= B. pool: a Pool of T threads or more; None forks T anew and joins
    them, twice. body: what computes a shard's sums: "numpy" (with one BLAS thread), or, for sigmoid and MSE, the loops
    of serial.per_example: "python", which the GIL lets run one at a time, or "numba", compiled, nogil.
    One T gives the same bits in each run, with and without a pool. Raises BadInput, and ThreadFault with the shard.
    """
    partials = _check(net, params, len(check_array("X", X)), T, body)
    run = fork_join if pool is None else pool.run
    return _gradients(net, params, X, Y, partials, _BODIES[body], run)


class DataParallel:
    """`with DataParallel(net, params, B, T) as gradients:` threads and buffer kept, for many calls.

    Called as (net, params, X, Y), for any batch of 1 to B rows, with min(T, rows) threads. What it returns lies in its
    buffer, until the next call; `train(..., gradients=without_loss(gradients))` trains with it. params: only their
    shapes and dtype count here. Other arguments and errors as for data_parallel_gradients. BLAS has one thread in a
    call, as before in between: OpenBLAS's threads spin for some 0.1 s after each product of their own, so put
    blas_threads(1) around a loop that also calls BLAS itself.
    """

    def __init__(self, net, params, B, T, body="numpy"):
        self.net, self.B, self._body = net, B, body
        self._partials = _check(net, params, B, T, body)
        self._pool = Pool(T)
        self.close = self._pool.close

    def __call__(self, net, params, X, Y):
        if net != self.net:
            raise BadInput(f"this DataParallel was made for {self.net}, not for {net}")
        rows = check_count("the number of rows of X", len(check_array("X", X)), 1, self.B)
        body, partials = _BODIES[self._body], self._partials[:rows]
        return _gradients(net, params, X, Y, partials, body, self._pool.run)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _gradients(net, params, X, Y, partials, body, run):
    """Algorithm 3's two halves: fork, sum over the shard, join; then the reduction, which also takes T threads."""
    check_params(params, net)
    check_array("params[0][0] (W)", params[0][0], dtype=partials.dtype)
    check_array("X", X, ("B", net.sizes[0]), partials.dtype)
    check_array("Y", Y, (len(X), net.sizes[-1]), partials.dtype)
    T, rows = len(partials), shards(len(X), len(partials))
    # else T callers fight for the cores, and OpenBLAS before 0.3.34 may mix up their products
    with blas_threads(1):
        if body is not _numpy:
            partials[:] = 0  # the loops add to what they find

        def shard(t):
            body(net, params, X[rows[t]], Y[rows[t]], _layers(net, partials[t]))

        run([partial(shard, t) for t in range(T)], lambda t: f"shard {t}, {rows_text(rows[t])}")
        slices = [partial(_reduce, net, params, partials, s, len(X)) for s in cut(net.n_params, T)]
        run(slices, lambda t: f"reduction, slice {t}")
    return _layers(net, partials[0])


def _reduce(net, params, partials, part, B):
    """partials[0, part] becomes the gradient: always the sum in the order of the shards, hence always the same bits."""
    total = partials[0, part]
    for sums in partials[1:, part]:
        total += sums
    total /= B  # not T, not B/T: the shards hold sums, not means
    for (W, _), (dW, _) in zip(params, _places(net), strict=True):
        start, stop = max(dW.start, part.start), min(dW.stop, part.stop)
        if net.lam and start < stop:  # once, not once a shard
            partials[0, start:stop] += net.lam * W.reshape(-1)[start - dW.start : stop - dW.start]


def _places(net):
    """Where W and b of each layer lie in a row of n_params numbers: list of (slice, slice)."""
    places, start = [], 0
    for n_in, n_out in pairwise(net.sizes):
        middle, end = start + n_in * n_out, start + (n_in + 1) * n_out
        places.append((slice(start, middle), slice(middle, end)))
        start = end
    return places


def _layers(net, row):
    """A row of n_params numbers as list of (dW, db), without a copy."""
    places = zip(_places(net), net.sizes[1:], strict=True)
    return [(row[W].reshape(-1, n_out), row[b]) for (W, b), n_out in places]


def _numpy(net, params, X, Y, out):
    """out[l] = sums over the rows of X. As serial.backward, but for the mean, lam, and where the results go."""
    cache = forward(params, X, net)
    dZ = LOSSES[net.loss].dZ(cache.Z[-1], cache.A[-1], Y)
    dZ *= len(X)  # the mean over this shard becomes the sum
    for layer in reversed(range(net.n_layers)):
        np.matmul(cache.A[layer].T, dZ, out=out[layer][0])
        dZ.sum(axis=0, out=out[layer][1])
        if layer > 0:
            dA = dZ @ params[layer][0].T
            dA *= ACTIVATIONS[net.activation].derivative(cache.Z[layer - 1], cache.A[layer])
            dZ = dA


def _python(net, params, X, Y, out):
    from course_lib.serial.per_example import backward_example

    lists = [(W.tolist(), b.tolist()) for W, b in params]
    for x, y in zip(X.tolist(), Y.tolist(), strict=True):
        for (sum_W, sum_b), (dW, db) in zip(out, backward_example(lists, x, y), strict=True):
            sum_W += dW
            sum_b += db


def _numba(net, params, X, Y, out):
    from course_lib.serial.per_example_numba import gradient_sums

    gradient_sums(params, X, Y, out)


_BODIES = {"numpy": _numpy, "python": _python, "numba": _numba}


def _check(net, params, B, T, body):
    """The buffer of T rows for partial sums, once everything is known to fit."""
    check_choice("body", body, _BODIES)
    if not isinstance(net, Network):
        raise BadInput(f"net must be a Network, not {type(net).__name__}")
    if body != "numpy" and (net.activation, net.loss) != ("sigmoid", "mse"):
        what = f'body="{body}" is Kamra 2016\'s network, sigmoid and mse'
        raise BadInput(f'{what}: for {net} use body="numpy"')
    check_params(params, net)
    return np.empty((len(shards(B, T)), net.n_params), params[0][0].dtype)
