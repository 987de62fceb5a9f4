"""Data parallelism, [003] section 4.1 and [004]: each rank has all weights and a share of the examples.

The gradient of the batch's mean loss is the sum over the ranks of (rows of the rank / B) times the gradient of the
rank's own mean loss, lam W included, since these weights add up to 1. Shards may be uneven, or empty.
"""

import numpy as np

from course_lib.errors import BadInput, check_array
from course_lib.mpi.collectives import mpi_allreduce
from course_lib.mpi.flat import pack, unpack
from course_lib.serial import ACTIVATIONS, LOSSES, forward, sgd_step
from course_lib.serial.minibatch import gradients_and_loss, loss_of


def shard(B, size, rank):
    """The rows of rank, a slice: B // size rows, and one more for the first B mod size ranks."""
    share, larger = divmod(B, size)
    start = rank * share + min(rank, larger)
    return slice(start, start + share + (rank < larger))


def weighted_gradients(net, params, X, Y, B):
    """One flat array: rows/B times (gradients of this shard, its loss); zeros for a shard without rows."""
    if len(X) == 0:
        return np.zeros(sum(W.size + b.size for W, b in params) + 1, params[0][0].dtype)
    grads, loss = gradients_and_loss(net, params, X, Y)
    flat = pack(grads, [loss])
    flat *= len(X) / B
    return flat


class DataParallel:
    """`train(..., gradients=DataParallel(comm))` on every rank: the same training as serial, each step by all ranks.

    Called as (net, params, X, Y) with the whole batch on each rank, takes its own rows; returns (grads, loss), the same
    bits on every rank if `allreduce` gives them (those of collectives do; default: MPI's own).
    """

    def __init__(self, comm, allreduce=mpi_allreduce):
        self.comm, self.allreduce = comm, allreduce

    def __call__(self, net, params, X, Y):
        rows = shard(len(check_array("X", X)), self.comm.size, self.comm.rank)
        flat = self.allreduce(self.comm, weighted_gradients(net, params, X[rows], Y[rows], len(X)))
        return unpack(flat[:-1], params), float(flat[-1])


class Overlapped(DataParallel):
    """As DataParallel, with one Iallreduce a layer, started as soon as backward has that layer's gradient."""

    def __call__(self, net, params, X, Y):
        from mpi4py import MPI

        rows = shard(len(check_array("X", X)), self.comm.size, self.comm.rank)
        if len(X) < self.comm.size:
            raise BadInput(f"a batch of {len(X)} rows leaves some of {self.comm.size} ranks without a layer to send")
        cache, weight, flying = forward(params, X[rows], net), (rows.stop - rows.start) / len(X), []
        for layer, pair in layer_gradients(params, cache, Y[rows]):
            flat = pack([pair], [loss_of(params, cache, Y[rows])] if layer == 0 else ())
            flat *= weight
            flying.append((flat, self.comm.Iallreduce(MPI.IN_PLACE, flat)))
        for _, request in flying:
            request.Wait()
        grads = [unpack(flat, [params[layer]])[0] for layer, (flat, _) in enumerate(reversed(flying))]
        return grads, float(flying[-1][0][-1])


def layer_gradients(params, cache, Y):
    """serial.backward, one layer at a time: yields (layer, (dW, db)), the last layer first."""
    A, Z, net = cache.A, cache.Z, cache.net
    dZ = LOSSES[net.loss].dZ(Z[-1], A[-1], Y)
    for layer in reversed(range(net.n_layers)):
        W, _ = params[layer]
        yield layer, (A[layer].T @ dZ + net.lam * W, dZ.sum(axis=0))
        if layer:
            dZ = (dZ @ W.T) * ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])


def master_worker_step(comm, net, params, X, Y, eta):
    """One step as [004] does it: rank 0 broadcasts the weights, scatters the rows, gathers the gradients, updates.

    X, Y: the batch, on rank 0 alone (None elsewhere). params: changed in place, on rank 0 alone. Returns the loss on
    rank 0, None elsewhere.
    """
    flat = comm.bcast(pack(params) if comm.rank == 0 else None, root=0)
    rows = [shard(len(X), comm.size, r) for r in range(comm.size)] if comm.rank == 0 else ()
    shares = [(X[s], Y[s], len(X)) for s in rows] or None
    mine = weighted_gradients(net, unpack(flat, params), *comm.scatter(shares, root=0))
    parts = comm.gather(mine, root=0)
    if comm.rank:
        return None
    total = sum(parts[1:], parts[0])
    sgd_step(params, unpack(total[:-1], params), eta)
    return float(total[-1])
