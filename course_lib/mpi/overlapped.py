"""Data parallelism whose messages travel while the layers before are still computed."""

import numpy as np

from course_lib.errors import check_array, check_count
from course_lib.mpi.data_parallel import DataParallel
from course_lib.mpi.flat import shard, unpack
from course_lib.serial import ACTIVATIONS, LOSSES, forward
from course_lib.serial.minibatch import loss_of


class Overlapped(DataParallel):
    """As DataParallel, by Iallreduces of neighbouring layers, each started as soon as backward has its gradients.

    bucket: the bytes that a message waits for. 0: one message a layer; more bytes than there are: one in all.
    The last layer comes first, and carries the loss. Shards may be empty.
    """

    def __init__(self, comm, bucket=0):
        super().__init__(comm)
        self.bucket = check_count("bucket", bucket, low=0)

    def __call__(self, net, params, X, Y):
        from mpi4py import MPI

        rows = shard(len(check_array("X", X)), self.comm.size, self.comm.rank)
        weight, end = (rows.stop - rows.start) / max(len(X), 1), net.n_params + 1
        flat, flying = np.empty(end, X.dtype), list[MPI.Request]()
        grads = unpack(flat[:-1], params)
        starts = np.cumsum([0] + [W.size + b.size for W, b in params])
        for layer, pair, loss in _layers(net, params, X[rows], Y[rows]):
            for mine, part in zip(grads[layer], pair, strict=True):
                np.multiply(part, weight, out=mine)
            if not flying:  # MPI owns what is under way
                flat[-1] = weight * loss
            if layer == 0 or (end - starts[layer]) * flat.itemsize >= self.bucket:
                flying.append(self.comm.Iallreduce(MPI.IN_PLACE, flat[starts[layer] : end]))
                end = starts[layer]
        for request in flying:
            request.Wait()
        return grads, float(flat[-1])


def _layers(net, params, X, Y):
    """serial.backward, one layer at a time: (layer, (dW, db), loss), the last layer first; zeros for no rows."""
    if len(X) == 0:
        yield from ((layer, (0, 0), 0) for layer in reversed(range(net.n_layers)))
        return
    cache = forward(params, X, net)
    A, Z, loss = cache.A, cache.Z, loss_of(params, cache, Y)
    dZ = LOSSES[net.loss].dZ(Z[-1], A[-1], Y)
    for layer in reversed(range(net.n_layers)):
        W, _ = params[layer]
        yield layer, (A[layer].T @ dZ + net.lam * W, dZ.sum(axis=0)), loss
        if layer:
            dZ = (dZ @ W.T) * ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])
