"""Which layers make a stage: neighbours, so that the slowest stage is as fast as it can be.

A pipeline is no faster than its slowest stage: all others wait for it, in every micro-batch. So others split by cost,
too: GPipe (Huang et al. 2019, section 2.2) makes the variance of the stages' costs small, PipeDream (Narayanan et al.
2019, section 3.1) the slowest stage's time, messages and copies of stages included.
"""

from functools import cache
from itertools import accumulate, pairwise

from course_lib.errors import BadInput, check_count, check_number


def layer_flops(net):
    """[(forward, delta, grad)] of each layer and one row: 2 n_in n_out each; no delta leaves layer 0."""
    flops = [2 * n_in * n_out for n_in, n_out in pairwise(net.sizes)]
    return [(f, f if layer else 0, f) for layer, f in enumerate(flops)]


def split(costs, S):
    """How many layers each of S stages gets, a tuple: the largest sum of their costs is as small as it can be.

    costs: a number for each layer, or the (forward, delta, grad) of `layer_flops`. Of equal splits, the one with the
    shorter first stages. Raises BadInput for more stages than layers: a stage needs a layer.
    """
    costs = [sum(cost) if isinstance(cost, tuple) else cost for cost in costs]
    costs = [check_number(f"the cost of layer {l}", c, False) for l, c in enumerate(costs)]
    check_count(f"S (stages, no more than the {len(costs)} layers)", S, 1, len(costs))
    before = [0.0, *accumulate(costs)]

    @cache
    def best(first, stages):
        """(largest cost, lengths) of the layers from `first` on, cut into so many stages."""
        if stages == 1:
            return before[-1] - before[first], (len(costs) - first,)
        found = []
        for end in range(first + 1, len(costs) - stages + 2):
            rest, lengths = best(end, stages - 1)
            found.append((max(before[end] - before[first], rest), (end - first, *lengths)))
        return min(found)

    return best(0, S)[1]


def layers_of(lengths):
    """[range of the layers] of each stage."""
    ends = [0, *accumulate(lengths)]
    return [range(a, b) for a, b in pairwise(ends)]


def check_lengths(lengths, S, L):
    """The ranges of S stages; BadInput unless each has a layer and together they have all L."""
    if len(lengths) != S:
        raise BadInput(f"the schedule has {S} stages, and lengths {tuple(lengths)} {len(lengths)}")
    for stage, length in enumerate(lengths):
        if check_count(f"the layers of stage {stage}", length, 0) == 0:
            raise BadInput(f"stage {stage} has no layer: fewer ranks, or fewer chunks")
    if sum(lengths) != L:
        raise BadInput(f"the stages {tuple(lengths)} have {sum(lengths)} layers, the net {L}")
    return layers_of(lengths)
