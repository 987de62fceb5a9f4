"""Allreduces of large machines, as a model: on two trees, and first inside each node.

A ring of p ranks takes 2 (p - 1) messages one after the other: with 1,024 ranks that is most of the time of an array
that is not very long. Two trees (Sanders, Speck and Träff, 2009; NCCL has them) are log2 p deep and move as few bytes.
"""

import math

from course_lib.errors import BadInput

LONGEST = 1 << 60  # bytes


def flat_ring(p, n, alpha, beta):
    """Seconds of a ring over all p ranks, of n bytes."""
    return 2 * (p - 1) * (alpha + beta * n / p)


def trees(p, n, alpha, beta):
    """Seconds on two trees: half of the array on each, up and down again, in m pieces of n/m bytes.

    A rank that is inside of one tree is a leaf of the other, so that all links are busy. The last piece arrives after
    2 (depth + m - 1) messages; of all m the best is near sqrt((depth - 1) beta n / alpha).
    """
    depth = math.ceil(math.log2(p)) if p > 1 else 0
    if not depth:
        return 0.0
    best = math.sqrt(max(depth - 1, 0) * beta * n / alpha) if alpha else float(max(n, 1))
    pieces = (max(math.floor(best), 1), math.ceil(best) or 1)
    return min(2 * (depth + m - 1) * (alpha + beta * n / m) for m in pieces)


def by_nodes(p, per_node, n, inside, between, across=flat_ring):
    """Seconds in three steps: a reduce-scatter inside each node, an allreduce of each rank's part across the nodes, an
    allgather inside.

    inside, between: (alpha, beta) of links in a node, and of a node's one link to the others, which its ranks share.
    across: seconds of the middle step, as `flat_ring` or `trees`. Raises BadInput unless per_node divides p.
    """
    if p % per_node:
        raise BadInput(f"{p} ranks are not a whole number of nodes of {per_node}")
    local = 2 * (per_node - 1) * (inside[0] + inside[1] * n / per_node)
    alpha, beta = between
    nodes = p // per_node
    return local + (across(nodes, n / per_node, alpha, per_node * beta) if nodes > 1 else 0.0)


def crossover(p, alpha, beta):
    """Bytes from which on a ring is as fast as two trees: for longer arrays it is faster. Found by halving."""
    low, high = 1.0, float(LONGEST)
    while high / low > 1.0001:
        middle = math.sqrt(low * high)
        ring_wins = flat_ring(p, middle, alpha, beta) < trees(p, middle, alpha, beta)
        low, high = (low, middle) if ring_wins else (middle, high)
    return high
