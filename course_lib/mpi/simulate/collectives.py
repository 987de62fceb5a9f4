"""Allreduces as messages of a Program, each called as (program, ranks, nbytes, after).

after: for each of the ranks the task that it waits for, or NOTHING; what is returned has the same form, so that calls
follow one another. The time to add numbers up is left out, as in `course_lib.mpi.cost`.
"""

import numpy as np

from course_lib.errors import BadInput
from course_lib.mpi.simulate.events import NOTHING
from course_lib.mpi.tree import relatives


def ring_allreduce(program, ranks, nbytes, after=None):
    """2 (p - 1) rounds of nbytes/p to the right neighbour: `collectives.ring_allreduce`."""
    groups = np.arange(len(ranks))[None]
    return _rounds(program, ranks, groups, 2 * (len(ranks) - 1), nbytes, _start(ranks, after))


def ring_half(program, ranks, nbytes, after=None):
    """p - 1 rounds of nbytes/p: a reduce-scatter, or an allgather, of which a ring's allreduce has one each."""
    groups = np.arange(len(ranks))[None]
    return _rounds(program, ranks, groups, len(ranks) - 1, nbytes, _start(ranks, after))


def tree_allreduce(program, ranks, nbytes, after=None):
    """Up the binomial tree to the first of the ranks, and down again, all bytes in each message: `tree.py`."""
    ranks = np.asarray(ranks).tolist()
    family = [relatives(len(ranks), place) for place in range(len(ranks))]
    have = [[task] for task in _start(ranks, after).tolist()]
    for place in reversed(range(1, len(ranks))):  # children stand behind their parent
        parent = family[place][0]
        have[parent].append(program.message(ranks[place], ranks[parent], nbytes, have[place]))
    ends = [program.join(have[0]), *have[1:]]
    for place, (_, children) in enumerate(family):
        for child in reversed(children):  # the one with most ranks below it first
            ends[child] = program.message(ranks[place], ranks[child], nbytes, [ends[place]])
    return np.array(ends)


def by_nodes(program, ranks, per_node, nbytes, after=None, across=None):
    """As `two_levels.by_nodes`: a reduce-scatter inside each node, an allreduce across, an allgather inside.

    ranks: node after node. across: an allreduce for the parts of the same place in all nodes; None: by rings.
    Raises BadInput unless per_node divides the ranks.
    """
    ranks = np.asarray(ranks)
    if len(ranks) % per_node:
        raise BadInput(f"{len(ranks)} ranks are not a whole number of nodes of {per_node}")
    nodes = np.arange(len(ranks)).reshape(-1, per_node)
    have = _rounds(program, ranks, nodes, per_node - 1, nbytes, _start(ranks, after))
    if across is None:
        have = _rounds(program, ranks, nodes.T, 2 * (len(nodes) - 1), nbytes / per_node, have)
    else:
        for same in nodes.T:
            have[same] = across(program, ranks[same], nbytes / per_node, have[same])
    return _rounds(program, ranks, nodes, per_node - 1, nbytes, have)


def _rounds(program, ranks, groups, count, nbytes, have):
    """Each row of `groups` (places in ranks) is a ring: in each round all send on what came in the round before."""
    ranks = np.asarray(ranks)
    right, left = np.empty_like(have), np.empty_like(have)
    right[groups], left[groups] = np.roll(groups, -1, axis=1), np.roll(groups, 1, axis=1)
    sent = np.full_like(have, NOTHING)
    for _ in range(count):
        after = np.stack([have, sent], axis=1)
        sent = program.messages(ranks, ranks[right], nbytes / groups.shape[1], after)
        have = sent[left]
    return have


def _start(ranks, after):
    have = np.full(len(ranks), NOTHING) if after is None else np.array(after)
    if have.shape != (len(ranks),):
        raise BadInput(f"after must name one task for each of {len(ranks)} ranks, or NOTHING")
    return have
