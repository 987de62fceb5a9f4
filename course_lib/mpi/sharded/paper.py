"""What a stage sends and what it keeps, on paper. Part r + 1 (of p, modulo p) of each layer belongs to rank r."""

from course_lib.errors import check_count
from course_lib.mpi.flat import length
from course_lib.mpi.layers import layer_sizes

STAGES = {
    0: "all ranks keep everything",
    1: "each rank keeps a part of the optimiser's state",
    2: "and of the gradients",
    3: "and of the parameters",
}


def check_stage(stage):
    """The stage, a whole number from 0 to 3; BadInput for another."""
    return check_count("stage", stage, 0, max(STAGES))


def sent(net, p, rank, stage, micro=1, itemsize=4):
    """(messages, bytes) that this rank sends in a step of Sharded: exact, for any sizes.

    With one micro-batch and many equal parts these are ZeRO's totals, 2 n and 3 n items (section 7).

    A layer's reduce-scatter is p - 1 messages, and all of its items but the rank's own part; its allgather all items
    but the part of the right neighbour. Stages 0 and 1 reduce once a batch, 2 and 3 once a micro-batch. Stage 3
    gathers each layer for each forward and again for each backward; the others once, after the update.
    """
    stage, micro = check_stage(stage), check_count("micro", micro)
    scatters = micro if stage >= 2 else 1
    gathers = 2 * micro if stage == 3 else 1
    scattered, gathered = (
        sum(n - length(n, p, (rank + place) % p) for n in layer_sizes(net)) for place in (1, 2)
    )
    messages = (scatters + gathers) * (p - 1) * net.n_layers
    return messages, itemsize * (scatters * scattered + gathers * gathered)


def memory(net, p, rank, stage, slots, itemsize=4):
    """{"parameters", "gradients", "state": bytes} of this rank at its fullest: exact.

    slots: arrays of state a parameter: 0 SGD, 1 momentum, 2 Adam. Whole is 4 + 4 + 4 slots bytes a parameter, of
    float32: 16 with Adam. What is cut is a p-th of it. One layer is whole for a moment: the gradient that backward has
    just made, in all stages; and in stage 3 the layer that is being computed. Not in it: activations, and the buffers
    of messages.
    """
    check_stage(stage)
    sizes = layer_sizes(net)
    whole, part = sum(sizes), sum(length(n, p, (rank + 1) % p) for n in sizes)
    items = {
        "parameters": part + max(sizes) if stage == 3 else whole,
        "gradients": (part if stage >= 2 else whole) + max(sizes),
        "state": slots * (part if stage >= 1 else whole),
    }
    return {name: itemsize * count for name, count in items.items()}


def mixed_precision(n, p, stage, K=12):
    """Bytes of the model states of n parameters on each of p ranks: ZeRO, section 3.1 and figure 1.

    Parameters and gradients in float16, 2 bytes each; the state has K = 12: Adam's m and v, and a copy of the
    parameters, in float32. Model states alone, as there: without the layer in flight.
    """
    check_stage(stage)
    cut = [p if stage >= least else 1 for least in (3, 2, 1)]
    return n * (2 / cut[0] + 2 / cut[1] + K / cut[2])
