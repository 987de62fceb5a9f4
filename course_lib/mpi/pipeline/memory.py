"""What each rank keeps at most: micro-batches in flight, and the bytes of their activations.

From its forward to its last gradient a stage keeps, for each micro-batch: its input, and Z and A of its layers; after
the delta the inputs and dZ of its layers. With recompute (Chen et al. 2016, section 4; GPipe, Huang et al. 2019,
section 2.3) it keeps the input alone, and computes the others again when the delta begins.
"""

from course_lib.errors import check_count
from course_lib.mpi.flat import length
from course_lib.mpi.pipeline.stages import check_lengths

# what a stage holds of a micro-batch, one after the other, in a task of each kind
STATES = {
    "forward": ("whole", "kept"),
    "delta": ("whole", "deltas"),
    "grad": ("nothing",),
    "backward": ("whole", "deltas", "nothing"),
}


def peak(schedule, rank, size):
    """The largest sum that a rank holds of size(state, stage, micro), with a state of STATES."""
    held: dict[tuple[int, int], int] = {}
    most = 0
    for task in schedule.of(rank):
        for state in STATES[task.kind]:
            held[task.stage, task.micro] = size(state, task.stage, task.micro)
            most = max(most, sum(held.values()))
    return most


def in_flight(schedule):
    """[for each rank: how many pairs (stage, micro-batch) it keeps at most, from forward to grad]."""
    ranks = range(schedule.p)
    return [peak(schedule, rank, lambda state, *at: state != "nothing") for rank in ranks]


def activation_bytes(schedule, net, lengths, B, recompute=False, itemsize=4):
    """[for each rank: the bytes of activations that it keeps at most], for a batch of B rows: exact.

    lengths: layers in each stage. Counted are what `Pipeline` keeps, and what it measures as `peak_bytes`: not the
    weights, gradients and messages under way, nor what lives inside of a single product.
    """
    layers = check_lengths(lengths, schedule.S, net.n_layers)
    check_count(f"B (rows, for m = {schedule.m} micro-batches)", B, schedule.m)

    def size(state, stage, micro):
        n = stage_items(net, layers[stage], "input" if state == "kept" and recompute else state)
        return itemsize * length(B, schedule.m, micro) * n

    return [peak(schedule, rank, size) for rank in range(schedule.p)]


def stage_items(net, layers, state):
    """Numbers per row that a stage of these layers holds: all of input, Z, A ("whole", "kept"), inputs and dZ
    ("deltas"), the "input" alone, or "nothing"."""
    n0, *outputs = net.sizes[layers.start : layers.stop + 1]
    counts = {"input": n0, "nothing": 0, "deltas": n0 + sum(outputs[:-1]) + sum(outputs)}
    return counts.get(state, n0 + 2 * sum(outputs))
