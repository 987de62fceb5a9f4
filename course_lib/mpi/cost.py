"""What a scheme sends, exactly, and how long it takes, from alpha (seconds a message) and beta (seconds a byte).

Counts are of one rank and one step. Times are a model: it knows nothing of shared cores, contention or caches.
"""

import math
from itertools import pairwise

from course_lib.errors import BadInput, check_count
from course_lib.mpi.flat import length, shard
from course_lib.mpi.model_parallel import kinds, most_ranks
from course_lib.mpi.network import fit as fit
from course_lib.mpi.network import ping_pong as ping_pong
from course_lib.mpi.tree import relatives
from course_lib.mpi.two_levels import trees


def ring(p, n):
    """(messages, bytes) that a rank sends in a ring allreduce of n bytes, n divisible by p: exact."""
    return 2 * (p - 1), 2 * (p - 1) * n / p


def doubling(p, n):
    """(messages, bytes) of the busiest rank in a recursive doubling of n bytes: exact."""
    q = 1 << (p.bit_length() - 1)
    count = q.bit_length() - 1 + (p > q)
    return count, count * n


def sent(allreduce, p, n, rank=0, itemsize=4):
    """(messages, bytes) that this rank sends in an allreduce of n items, by ring, doubling or tree: exact for any n.

    ring: all items twice, but the part that it gets complete, r + 1, in the first half, and r + 2, which its right
    neighbour has, in the second. tree: to the parent and to each child. doubling: a message a round.
    """
    if allreduce == "ring":
        others = length(n, p, (rank + 1) % p) + length(n, p, (rank + 2) % p)
        return 2 * (p - 1), itemsize * (2 * n - others if p > 1 else 0)
    if allreduce == "tree":
        count = len(relatives(p, rank)[1]) + (rank > 0)
    elif allreduce == "doubling":
        q = 1 << (p.bit_length() - 1)
        count = 1 if rank >= q else q.bit_length() - 1 + (rank + q < p)
    else:
        raise BadInput(f"allreduce must be ring, doubling or tree, not {allreduce!r}")
    return count, count * n * itemsize


def seconds(p, n, alpha, beta, allreduce="ring"):
    """Predicted time of an allreduce of n bytes over p ranks, by ring, doubling, tree, trees or mpi.

    trees: half of the array on each of two trees, in the best number of pieces: see `two_levels.trees`. mpi: what
    MPICH chooses between, by Thakur, Rabenseifner and Gropp (2005): doubling for short arrays; for long ones
    reduce-scatter and allgather in log2 p steps each, which move as few bytes as the ring.
    """
    # extra: to ranks beyond a power of 2 and back
    rounds, extra = p.bit_length() - 1, 2 if p & (p - 1) else 0
    message = alpha + beta * n
    halving = 2 * rounds * alpha + 2 * (p - 1) / p * beta * n
    times = {
        "ring": 2 * (p - 1) * (alpha + beta * n / p),
        "doubling": (rounds + extra) * message,
        "tree": 2 * math.ceil(math.log2(p)) * message,
        "trees": trees(p, n, alpha, beta),
        "mpi": min(rounds * message, halving) + extra * message,
    }
    if allreduce not in times:
        raise BadInput(f"allreduce must be ring, doubling, tree, trees or mpi, not {allreduce!r}")
    return times[allreduce]


def allreduces(net, B, data, model, rank=None):
    """[(ranks, items, place)]: the allreduces of a step on a grid data x model, and this rank's place in each.

    Model: the output of each row layer, and dA of each column layer but the first, for the group's B/data rows, over
    `model` ranks. Then the gradient of the rank's own weights, over `data` ranks. Without a rank: parts of equal size.
    """
    group, place = divmod(rank or 0, model)

    def share(n, size, which):
        return n / size if rank is None else length(n, size, which)

    rows, items, found = share(B, data, group), 0, []
    layers = zip(kinds(net), pairwise(net.sizes), strict=True)
    for layer, (kind, (n_in, n_out)) in enumerate(layers):
        if kind == "row":
            items += (share(n_in, model, place) + 1) * n_out
        else:
            items += (n_in + 1) * share(n_out, model, place)
        if rows and (kind == "row" or layer):
            found.append((model, rows * (n_out if kind == "row" else n_in), place))
    return [*found, (data, items, group)]


def step_sent(net, B, data, model, rank, allreduce="ring", itemsize=4):
    """(messages, bytes) that this rank sends in a step of Grid, or of ModelParallel (data = 1): exact.

    DataParallel's is sent(allreduce, p, net.n_params + 1, rank): the loss travels with the gradient.
    """
    steps = allreduces(net, B, data, model, rank)
    counts = [sent(allreduce, ranks, items, at, itemsize) for ranks, items, at in steps]
    return sum(messages for messages, _ in counts), sum(count for _, count in counts)


def master_worker_sent(net, B, p, rank, itemsize=4):
    """(messages, bytes) that this rank sends in a master_worker_step: exact.

    All: the weights and B to its children in the tree. The master: their rows to all others. A worker: its gradient and
    loss. So the master sends ceil(log2 p) (n + 1) + (B - its rows)(n0 + nL) items, and receives (p - 1)(n + 1).
    """
    children, rows, n = len(relatives(p, rank)[1]), shard(B, p, 0), net.n_params + 1
    if rank:
        return children + 1, itemsize * (children + 1) * n
    items = children * n + (B - rows.stop) * (net.sizes[0] + net.sizes[-1])
    return children + 2 * (p - 1), itemsize * items


def step_bytes(net, B, data, model, itemsize=4):
    """Bytes that a rank sends in one step on a grid data x model, ring allreduces, parts of equal size.

    model = 1 is data parallelism, data = 1 model parallelism: for two layers 2 (p - 1)/p B nL items (Darve 2019,
    section 4.3).
    """
    steps = allreduces(net, B, data, model)
    return itemsize * sum(ring(ranks, items)[1] for ranks, items, _ in steps)


def grids(net, B, p):
    """All (data, model) with data * model = p for which there are rows and neurons enough."""
    splits = [(p // m, m) for m in range(1, check_count("p", p) + 1) if p % m == 0]
    return [(data, model) for data, model in splits if data <= B and model <= most_ranks(net)]


def best_grid(net, B, p):
    """(data, model) with data * model = p that sends the fewest bytes. Raises BadInput where no grid fits."""
    found = grids(net, B, p)
    if not found:
        raise BadInput(f"{p} ranks cannot share {B} rows and layers of {most_ranks(net)} neurons")
    return min(found, key=lambda split: step_bytes(net, B, *split))
