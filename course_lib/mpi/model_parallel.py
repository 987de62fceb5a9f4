"""Model parallelism, Darve 2019, section 4.3: each rank has all examples and a share of the weights.

With the examples in rows, Darve's "W1 by rows" is a split of W (n_in, n_out) by columns, and the "W2 by columns" one by
rows; Megatron-LM's names, column and row parallel, are ours. Layers alternate, the last one is split by rows:
a column layer needs its whole input and makes its part of the output, a row layer takes that part as it is and makes
a summand of the whole output. One allreduce a pair of layers and direction; none for dX of the first layer.
"""

import numpy as np

from course_lib.errors import BadInput
from course_lib.mpi.collectives import mpi_allreduce
from course_lib.mpi.flat import shard
from course_lib.serial import ACTIVATIONS, LOSSES
from course_lib.serial.network import Cache


def kinds(net):
    """How each layer is split: "row" or "column", in turn, the last one "row"."""
    return [("row", "column")[(net.n_layers - 1 - layer) % 2] for layer in range(net.n_layers)]


def most_ranks(net):
    """The most ranks that can share the net: the neurons of the narrowest layer that is split."""
    return min(net.sizes[layer + (kind == "column")] for layer, kind in enumerate(kinds(net)))


class ModelParallel:
    """Splits a net over the ranks of comm. Raises BadInput where a split layer is narrower than there are ranks."""

    def __init__(self, comm, net, allreduce=mpi_allreduce):
        self.comm, self.net, self.allreduce = comm, net, allreduce
        self.kinds = kinds(net)
        if comm.size > most_ranks(net):
            raise BadInput(f"{comm.size} ranks cannot share a layer of {most_ranks(net)} neurons")

    def split(self, params):
        """This rank's part of whole params: copies. A row layer's b is whole on every rank."""
        return [self._part(layer, W, b) for layer, (W, b) in enumerate(params)]

    def _part(self, layer, W, b):
        if self.kinds[layer] == "column":
            mine = self._mine(W.shape[1])
            return W[:, mine].copy(), b[mine].copy()
        return W[self._mine(W.shape[0])].copy(), b.copy()

    def _mine(self, n):
        return shard(n, self.comm.size, self.comm.rank)

    def join(self, local):
        """The whole params (or gradients) on every rank, from the parts of all."""
        parts = self.comm.allgather(local)
        whole = []
        for layer, kind in enumerate(self.kinds):
            Ws, bs = zip(*(part[layer] for part in parts), strict=True)
            if kind == "column":
                whole.append((np.concatenate(Ws, axis=1), np.concatenate(bs)))
            else:
                whole.append((np.concatenate(Ws), local[layer][1].copy()))
        return whole

    def forward(self, local, X):
        """Cache of this rank: Z and A whole after row layers, parts after column layers; the output is whole."""
        net, A, Z = self.net, [X if self.kinds[0] == "column" else X[:, self._mine(X.shape[1])]], []
        for layer, (W, b) in enumerate(local):
            z = A[-1] @ W
            z = self.allreduce(self.comm, z) if self.kinds[layer] == "row" else z
            Z.append(z + b)
            last = layer == net.n_layers - 1
            A.append((LOSSES[net.loss].output if last else ACTIVATIONS[net.activation].f)(Z[-1]))
        return Cache(A, Z, net)

    def backward(self, local, cache, Y):
        """This rank's part of the gradient of the mean loss, lam included: list of (dW, db), shaped as local."""
        net, A, Z, grads = self.net, cache.A, cache.Z, []
        dZ = LOSSES[net.loss].dZ(Z[-1], A[-1], Y)
        for layer in reversed(range(net.n_layers)):
            W, _ = local[layer]
            grads.append((A[layer].T @ dZ + net.lam * W, dZ.sum(axis=0)))
            if layer:
                dA = dZ @ W.T
                dA = self.allreduce(self.comm, dA) if self.kinds[layer] == "column" else dA
                dZ = dA * ACTIVATIONS[net.activation].derivative(Z[layer - 1], A[layer])
        return grads[::-1]
