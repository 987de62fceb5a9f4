"""Gradient accumulation: a large batch as micro-batches, one after the other, with the memory of a small one."""

import numpy as np

from course_lib.errors import check_array, check_count
from course_lib.mpi.data_parallel import weighted_gradients
from course_lib.mpi.flat import shard, unpack
from course_lib.serial.minibatch import gradients_and_loss
from course_lib.serial.network import check_not_empty


class Accumulated:
    """`train(..., gradients=Accumulated(k))`: the gradient of a batch as a sum over k micro-batches.

    Called as (net, params, X, Y), returns (grads, loss) of the whole batch: its mean is the sum over the micro-batches
    of (their rows / B) times their own mean. Only B/k rows of activations exist at a time. k may exceed the rows.

    Where it stands decides what is sent. Inside, DataParallel(comm, gradients=Accumulated(k)) adds up on each rank and
    sends once a batch: DDP's no_sync (Li et al. 2020). Outside, Accumulated(k, DataParallel(comm)) sends
    after each micro-batch: k times the bytes for the same gradient.
    """

    def __init__(self, micro, gradients=gradients_and_loss):
        self.micro, self.gradients = check_count("micro", micro), gradients

    def __call__(self, net, params, X, Y):
        check_not_empty(check_array("X", X))
        sums = np.zeros(net.n_params + 1, params[0][0].dtype)
        for number in range(min(self.micro, len(X))):
            rows = shard(len(X), min(self.micro, len(X)), number)
            sums += weighted_gradients(net, params, X[rows], Y[rows], len(X), self.gradients)
        return unpack(sums[:-1], params), float(sums[-1])
