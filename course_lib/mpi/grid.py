"""Data and model parallelism at once on a grid of ranks, as Krizhevsky (2014) combines them."""

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.mpi.collectives import mpi_allreduce
from course_lib.mpi.flat import pack, shard, unpack
from course_lib.mpi.model_parallel import ModelParallel


class Grid:
    """data x model ranks: the weights are split over the `model` ranks of a group, the batch over the `data` groups.

    Rank r stands in group r // model, at place r % model. Raises BadInput unless data * model is the size of comm.
    """

    def __init__(self, comm, net, data, model, allreduce=mpi_allreduce):
        data, model = check_count("data", data), check_count("model", model)
        if data * model != comm.size:
            wanted = f"{comm.size}, the number of ranks"
            raise BadInput(f"data * model must be {wanted}, not {data} * {model}")
        group, place = divmod(comm.rank, model)
        self.model = ModelParallel(comm.Split(group, place), net, allreduce)
        self.data, self.group, self.groups = comm.Split(place, group), group, data
        self.allreduce = allreduce

    def gradients(self, local, X, Y):
        """This rank's part of the gradient over the whole batch X (B, n0), Y (B, nL): list of (dW, db) as local."""
        rows = shard(len(X), self.groups, self.group)
        if rows.start == rows.stop:
            flat = np.zeros_like(pack(local))
        else:
            flat = pack(self.model.backward(local, self.model.forward(local, X[rows]), Y[rows]))
            flat *= (rows.stop - rows.start) / len(X)
        return unpack(self.allreduce(self.data, flat), local)
