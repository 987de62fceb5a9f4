"""A step of training on all ranks, each of which keeps a part of what data parallelism keeps everywhere."""

import numpy as np

from course_lib.errors import BadInput, check_array, check_count
from course_lib.mpi.collectives import ring_allgather, ring_allreduce, ring_reduce_scatter
from course_lib.mpi.flat import pack, shard
from course_lib.mpi.layers import as_layer, layer_gradients, layer_sizes
from course_lib.mpi.sharded.paper import check_stage
from course_lib.serial.network import check_not_empty, check_params
from course_lib.serial.optimiser import Optimiser


class Sharded:
    """Training by ZeRO's stages 0 to 3 (see the package): made and used on every rank with the same arguments.

    params: copied, a part of them in stage 3; the same on all ranks. rule: a new Optimiser; it works on this rank's
    parts, and its state is as large as they are. `params()` gives the parameters back, `fullest` the most bytes that
    were kept at once of parameters, gradients and state.
    Raises BadInput for a stage that is none, params of another network, and a rule that was used before.
    """

    def __init__(self, comm, net, params, rule, stage):
        check_params(params, net)
        self.comm, self.net, self.stage = comm, net, check_stage(stage)
        self.rule = _unused(rule)
        layers = [pack([pair]) for pair in params]
        self.mine = layers if stage == 0 else [self._part(layer) for layer in layers]
        if stage == 3:  # a view would keep the whole layer alive
            self.mine = [part.copy() for part in self.mine]
        self.layers = layers if stage < 3 else []
        self.fullest = {"parameters": 0, "gradients": 0, "state": 0}

    def step(self, X, Y, micro=1):
        """One step by the batch X (B, n0), Y (B, nL), the same on all ranks, each of which takes its rows.

        micro: micro-batches that each rank makes of its rows; their gradients are added up before the update.
        Returns this rank's share of the batch's loss: the sum over the ranks is the loss before the step.
        """
        check_not_empty(check_array("X", X, ("B", self.net.sizes[0]), self.mine[0].dtype))
        check_array("Y", Y, (len(X), self.net.sizes[-1]), X.dtype)
        rows = shard(len(X), self.comm.size, self.comm.rank)
        sums, loss = self._gradients(X[rows], Y[rows], len(X), check_count("micro", micro))
        self.rule.update(self.mine, sums)
        self._note("state", [array for arrays in self.rule.state for array in arrays])
        if self.stage in (1, 2):
            for layer in self.layers:
                ring_allgather(self.comm, layer)
        return loss

    def params(self):
        """All parameters, a list of (W, b), on every rank; stage 3 gathers them for it."""
        return [tuple(part.copy() for part in self._weights(l)) for l in range(self.net.n_layers)]

    def _gradients(self, X, Y, B, micro):
        """(gradients of the batch for self.mine, this rank's share of the loss)."""
        whole = self.stage < 2
        sums = [np.zeros_like(a) for a in (self.layers if whole else self.mine)]
        loss = 0.0
        for number in range(micro):
            rows = shard(len(X), micro, number)
            weight = (rows.stop - rows.start) / B
            for layer, grad, value in layer_gradients(self.net, self._weights, X[rows], Y[rows]):
                grad *= weight
                self._note("gradients", [grad, *sums])
                sums[layer] += grad if whole else ring_reduce_scatter(self.comm, grad)
                del grad  # before the next layer's is made
                if layer == 0:  # the last that comes
                    loss += weight * value
        if self.stage == 0:
            return [ring_allreduce(self.comm, grad) for grad in sums], loss
        return [ring_reduce_scatter(self.comm, g) for g in sums] if whole else sums, loss

    def _weights(self, layer):
        """(W, b) of a layer: a view; in stage 3, gathered from all ranks, and gone when the caller lets it go."""
        if self.stage < 3:
            self._note("parameters", self.layers)
            return as_layer(self.layers[layer], self.net, layer)
        flat = np.empty(layer_sizes(self.net)[layer], self.mine[layer].dtype)
        self._part(flat)[:] = self.mine[layer]
        self._note("parameters", [flat, *self.mine])
        return as_layer(ring_allgather(self.comm, flat), self.net, layer)

    def _part(self, flat):
        """This rank's part of a layer, a view: the one that ring_reduce_scatter completes here."""
        return np.array_split(flat, self.comm.size)[(self.comm.rank + 1) % self.comm.size]

    def _note(self, kind, arrays):
        """Keep the most bytes behind the arrays: a view counts as the array that it keeps alive, and this once."""
        bases = [array if array.base is None else array.base for array in arrays]
        kept = sum({id(base): base.nbytes for base in bases}.values())
        self.fullest[kind] = max(self.fullest[kind], kept)


def _unused(rule):
    if not isinstance(rule, Optimiser):
        raise BadInput(f"rule must be an Optimiser, such as Adam(), not {type(rule).__name__}")
    if rule.t:
        raise BadInput(f"rule has done {rule.t} steps elsewhere: make a new {type(rule).__name__}")
    return rule
