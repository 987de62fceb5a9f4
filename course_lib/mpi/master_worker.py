"""One step as Singh 2018 does it: a master with the weights and the data, workers that compute gradients."""

import numpy as np

from course_lib.mpi.data_parallel import weighted_gradients
from course_lib.mpi.flat import pack, shard, unpack
from course_lib.mpi.linear import linear_gather, linear_scatter
from course_lib.mpi.tree import tree_bcast
from course_lib.serial import sgd_step


def master_worker_step(comm, net, params, X, Y, eta):
    """Rank 0 broadcasts the weights, scatters the rows, gathers the gradients, and updates.

    X, Y: the batch, on rank 0 alone (None elsewhere). params: changed in place, on rank 0 alone. Returns the loss on
    rank 0, None elsewhere. B travels behind the weights, as one of their numbers: exact up to 2^24 in float32.
    """
    dtype, master = params[0][0].dtype, comm.rank == 0
    flat = tree_bcast(comm, pack(params, [len(X) if master else 0]))
    B = int(flat[-1])
    rows = shard(B, comm.size, comm.rank)
    x, y = (np.empty((rows.stop - rows.start, net.sizes[end]), dtype) for end in (0, -1))
    linear_scatter(comm, X, x)
    linear_scatter(comm, Y, y)
    mine = weighted_gradients(net, unpack(flat[:-1], params), x, y, B)
    parts = np.empty((comm.size, len(mine)), dtype) if master else None
    parts = linear_gather(comm, mine[None], parts)
    if not master:
        return None
    total = parts.sum(axis=0)
    sgd_step(params, unpack(total[:-1], params), eta)
    return float(total[-1])
