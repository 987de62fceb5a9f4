"""Data parallelism, Darve 2019, section 4.1 and Singh 2018: each rank has all weights and a share of the examples.

The gradient of the batch's mean loss is the sum over the ranks of (rows of the rank / B) times the gradient of the
rank's own mean loss, lam W included, since these weights add up to 1. Shards may be uneven, or empty.
"""

import numpy as np

from course_lib.errors import check_array
from course_lib.mpi.collectives import mpi_allreduce
from course_lib.mpi.flat import pack, shard, unpack
from course_lib.serial import loss_value
from course_lib.serial.minibatch import gradients_and_loss
from course_lib.serial.sgd import check_pair


def weighted_gradients(net, params, X, Y, B, gradients=gradients_and_loss):
    """One flat array: rows/B times (gradients of this shard, its loss); zeros for a shard without rows."""
    if len(X) == 0:
        return np.zeros(net.n_params + 1, params[0][0].dtype)
    grads, loss = check_pair(gradients(net, params, X, Y))
    flat = pack(grads, [loss_value(net, params, X, Y) if loss is None else loss])
    flat *= len(X) / B
    return flat


class DataParallel:
    """`train(..., gradients=DataParallel(comm))` on every rank: the same training as serial, each step by all ranks.

    Called as (net, params, X, Y) with the whole batch on each rank, takes its own rows; returns (grads, loss), the same
    bits on every rank if `allreduce` gives them (those of this library do; default: MPI's own).
    gradients: what computes a shard's: (net, params, X, Y) -> (grads, loss), as for train. One on a device gives a GPU,
    or the CPU engine, a rank: device number local_rank(comm) modulo those of its machine.
    """

    def __init__(self, comm, allreduce=mpi_allreduce, gradients=gradients_and_loss):
        self.comm, self.allreduce, self.gradients = comm, allreduce, gradients

    def __call__(self, net, params, X, Y):
        rows = shard(len(check_array("X", X)), self.comm.size, self.comm.rank)
        flat = weighted_gradients(net, params, X[rows], Y[rows], len(X), self.gradients)
        flat = self.allreduce(self.comm, flat)
        return unpack(flat[:-1], params), float(flat[-1])


def local_rank(comm):
    """This rank's number among the ranks of its own machine, from 0."""
    from mpi4py import MPI

    return comm.Split_type(MPI.COMM_TYPE_SHARED).rank
