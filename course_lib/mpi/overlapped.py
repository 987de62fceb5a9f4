"""Data parallelism whose messages travel while the layers before are still computed."""

import numpy as np

from course_lib.errors import check_array, check_count
from course_lib.mpi.data_parallel import DataParallel
from course_lib.mpi.flat import shard, unpack
from course_lib.mpi.layers import layer_gradients, layer_sizes
from course_lib.serial.network import check_params


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

        check_params(params, net)
        check_array("X", X, ("B", net.sizes[0]), params[0][0].dtype)
        rows = shard(len(X), self.comm.size, self.comm.rank)
        weight, end = (rows.stop - rows.start) / max(len(X), 1), net.n_params + 1
        flat, flying = np.empty(end, X.dtype), list[MPI.Request]()
        starts = np.cumsum([0, *layer_sizes(net)])
        for layer, grad, loss in layer_gradients(net, params.__getitem__, X[rows], Y[rows]):
            np.multiply(grad, weight, out=flat[starts[layer] : starts[layer + 1]])
            if not flying:  # MPI owns what is under way
                flat[-1] = weight * loss
            if layer == 0 or (end - starts[layer]) * flat.itemsize >= self.bucket:
                flying.append(self.comm.Iallreduce(MPI.IN_PLACE, flat[starts[layer] : end]))
                end = starts[layer]
        for request in flying:
            request.Wait()
        return unpack(flat[:-1], params), float(flat[-1])
