"""The box of triples, Darve 2019, section 4.3: how to cut a product over ranks, and what each cut moves.

D = A B, with A (M, K), B (K, N), is one multiply-add for each triple (i, k, j): a box M x K x N. Cut into
cut.i x cut.k x cut.j parts, a rank has the part of the box, and needs the part of A under it, (i, k), of B, (k, j),
and of D, (i, j): three faces of its part. Axis j is not in A, so cut.j ranks need the same part of A; hence

    A: cut.j - 1 copies travel, (cut.j - 1) M K items in all, over all ranks: none where A is in place already;
    B: cut.i - 1 copies travel, (cut.i - 1) K N;
    D: each element is a sum of cut.k parts: cut.k - 1 of them travel, (cut.k - 1) M N, to one rank each;
       and once more as much if all cut.k ranks need the sum ("shared"): reduce-scatter, then allgather.

A rank computes the volume of its part and moves its faces, less what it has: among parts of one volume, those nearest
to a cube move least. Darve 2019 writes W A, examples in columns: its i is our j (neurons of the layer), its j our i.
"""

from typing import NamedTuple

import numpy as np

from course_lib.errors import BadInput, check_count
from course_lib.mpi.collectives import ring_allgather, ring_allreduce
from course_lib.mpi.flat import shard


class Cut(NamedTuple):
    """Into how many parts each axis of the box is cut: rows of A and D, the sum, columns of B and D."""

    i: int
    k: int
    j: int


def cuts(p, M, N, K):
    """All cuts for p ranks that leave no rank without a triple. Raises BadInput if there are none."""
    parts = [d for d in range(1, check_count("p", p) + 1) if p % d == 0]
    found = [Cut(i, k, p // i // k) for i in parts for k in parts if p // i % k == 0]
    found = [cut for cut in found if cut.i <= M and cut.k <= K and cut.j <= N]
    if not found:
        raise BadInput(f"a box of {M} x {K} x {N} cannot be cut into {p} parts")
    return found


def moved(M, N, K, cut, in_place="", shared=True):
    """{"A": items, "B": items, "D": items} that all ranks together send for one product. Exact for any sizes.

    in_place: names of matrices that lie where they are needed: inputs that were shared once, weights that stay.
    shared: each sum in D is wanted on all cut.k ranks, else on one of them.
    """
    i, k, j = cut
    items = {"A": (j - 1) * M * K, "B": (i - 1) * K * N, "D": (1 + shared) * (k - 1) * M * N}
    return {name: 0 if name in in_place else count for name, count in items.items()}


def best_cut(M, N, K, p, in_place="", shared=True):
    """The cut for p ranks that moves the fewest items."""

    def items(cut):
        return sum(moved(M, N, K, cut, in_place, shared).values())

    return min(cuts(p, M, N, K), key=items)


def layer_moved(B, n_in, n_out, cut, first=False):
    """{"X": items, "Z": items, "W": items} that all ranks send in a step of a layer, Z = X W: i rows, k in, j out.

    Forward Z = X W, backward dX = dZ W^T and dW = X^T dZ are one box with another face as their result. So each face
    is copied once and added up once, an allreduce along the axis that it lacks. X out, dX in: 2 (cut.j - 1) B n_in;
    Z in, dZ out: 2 (cut.k - 1) B n_out; dW in, and the sum out, for W: 2 (cut.i - 1) n_in n_out. Biases not counted.
    first: X is the input: shared once for all steps, and dX is not needed.
    Layer after layer this is what travels if the cuts fit: cut.i the same, cut.j of a layer cut.k of the next.
    """
    i, k, j = cut
    x = 0 if first else 2 * (j - 1) * B * n_in
    return {"X": x, "Z": 2 * (k - 1) * B * n_out, "W": 2 * (i - 1) * n_in * n_out}


def best_layer_cut(B, n_in, n_out, p, first=False):
    """The cut of a layer for p ranks that moves the fewest items in a step, whatever the layers beside it do."""

    def items(cut):
        return sum(layer_moved(B, n_in, n_out, cut, first).values())

    return min(cuts(p, B, n_out, n_in), key=items)


def multiply(comm, A, B, cut, in_place=""):
    """This rank's part of D = A B, its sums complete, by cut.i x cut.k x cut.j ranks. A, B: whole on every rank.

    It uses no more of them than it would have: 1/cut.j of its part of A, 1/cut.i of its part of B, and gets the rest.
    """
    i, k, j = (int(n) for n in np.unravel_index(comm.rank, cut))
    rows = shard(len(A), cut[0], i)
    inner = shard(len(B), cut[1], k)
    columns = shard(B.shape[1], cut[2], j)
    a = _gathered(comm.Split(i * cut[1] + k, j), A[rows, inner], "A" in in_place)
    b = _gathered(comm.Split(k * cut[2] + j, i), B[inner, columns], "B" in in_place)
    return ring_allreduce(comm.Split(i * cut[2] + j, k), a @ b)


def _gathered(group, part, here):
    """`part`, of which each rank of the group had one piece and got the others from the ring."""
    if here:
        return part
    got, own = np.full(part.shape, np.nan, part.dtype), (group.rank + 1) % group.size
    pieces, mine = (np.array_split(array.reshape(-1), group.size) for array in (got, part))
    pieces[own][:] = mine[own]
    return ring_allgather(group, got)
