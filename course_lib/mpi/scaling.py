"""How long a step takes on p ranks, by scheme: computing, measured, and the messages, from the cost model.

A model: equal ranks, each with its own core and link; no contention, no switches, no load of others.
"""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

from course_lib.errors import BadInput, check_choice
from course_lib.mpi.cost import allreduces, best_grid, grids, master_worker_sent, ring, seconds
from course_lib.mpi.model_parallel import most_ranks

SCHEMES = ("data", "overlap", "master", "model", "grid")
RANKS = (1, 4, 16, 64, 256, 1024)


class Prediction(NamedTuple):
    """seconds of a step, of them computing; bytes that the busiest rank sends (by ring, but for master); efficiency:
    seconds of one rank alone for the same rows, over p times these."""

    scheme: str
    p: int
    data: int
    model: int
    seconds: float
    computing: float
    bytes: float
    efficiency: float


def flops(net, rows):
    """Multiplications and additions of a step's products: Z, dW and, but for the first layer, dX: 2 rows n_in n_out."""
    return sum(2 * rows * a * b * (2 + (l > 0)) for l, (a, b) in enumerate(pairwise(net.sizes)))


def predict(scheme, net, B, p, alpha, beta, compute, allreduce="ring", itemsize=4):
    """A Prediction of one step of B rows on p ranks.

    scheme: data, overlap (an allreduce a layer, under way while the layers before are computed), master (and workers),
    model, or grid (that of the fewest bytes). compute: rows -> seconds of one rank's gradient with all weights: a
    measurement, or lambda rows: flops(net, rows) / rate. Split weights are taken to divide its time evenly.
    Raises BadInput for a scheme that is none, or for which there are too many ranks.
    """
    data, model = _split(check_choice("scheme", scheme, SCHEMES), net, B, p)
    if (data, model) not in grids(net, B, p):
        there = f"{B} rows and layers of {most_ranks(net)} neurons"
        raise BadInput(f"{scheme}: {p} ranks are too many for {there}")
    computing = compute(-(-B // data)) / model
    found = [(ranks, items * itemsize) for ranks, items, _ in allreduces(net, B, data, model)]
    message = partial(seconds, alpha=alpha, beta=beta, allreduce=allreduce)
    time = sum(message(*each) for each in found)
    count = sum(ring(*each)[1] for each in found)
    if scheme == "overlap":
        ended = _overlapped(net, computing, lambda n: message(p, n * itemsize))
        time = ended - computing
    elif scheme == "master":
        time, count = _master(net, B, p, alpha, beta, itemsize)
    whole = computing + time
    return Prediction(scheme, p, data, model, whole, computing, count, compute(B) / p / whole)


def _split(scheme, net, B, p):
    """(data, model): over how many ranks a scheme shares the rows, and the weights."""
    if scheme == "grid":
        return best_grid(net, B, p)
    return (1, p) if scheme == "model" else (p, 1)


def _overlapped(net, computing, allreduce):
    """When the last allreduce ends: each begins when its layer's dW is there and the one before has ended."""
    sizes = list(pairwise(net.sizes))
    product = [computing * 2 * n_in * n_out / flops(net, 1) for n_in, n_out in sizes]
    now, free = sum(product), 0.0  # forward is done; the network is idle
    for layer in reversed(range(net.n_layers)):
        now += product[layer]
        free = max(now, free) + allreduce((sizes[layer][0] + 1) * sizes[layer][1])
        now += product[layer] * (layer > 0)
    return max(now, free)


def _master(net, B, p, alpha, beta, itemsize):
    """(seconds, bytes sent) of rank 0: weights by a tree, then rows to each rank, then a gradient from each."""
    children, sent = (p - 1).bit_length(), master_worker_sent(net, B, p, 0, itemsize)[1]
    received = itemsize * (p - 1) * (net.n_params + 1)
    return (children + 3 * (p - 1)) * alpha + beta * (sent + received), sent


def extrapolate(net, B, alpha, beta, compute, ranks=RANKS, schemes=SCHEMES, weak=False, **how):
    """Predictions for each scheme and number of ranks for which there are rows and neurons enough: a table's rows.

    weak: B rows a rank, instead of B rows in all. A model, not a measurement: alpha and beta of NETWORKS or of a
    ping-pong; compute, as for predict, must be measured. how: allreduce, itemsize, as for predict.
    """
    found = []
    for scheme in schemes:
        for p in ranks:
            batch = B * p if weak else B
            there = grids(net, batch, p)
            if there and (scheme == "grid" or _split(scheme, net, batch, p) in there):
                found.append(predict(scheme, net, batch, p, alpha, beta, compute, **how))
    return found
