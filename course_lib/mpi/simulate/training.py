"""Steps of training as tasks of a Program: data parallelism, shards, pipelines; pipelines side by side make a grid.

What is returned, and `after`, is as in `collectives.py`: for each rank the task that comes last.
"""

from course_lib.errors import BadInput
from course_lib.mpi.sharded.paper import check_stage
from course_lib.mpi.simulate.collectives import ring_allreduce, ring_half
from course_lib.mpi.simulate.events import NOTHING


def overlapped(program, ranks, products, nbytes, after=None, allreduce=ring_allreduce):
    """Data parallelism whose gradients travel while the layers before are computed: `overlapped.Overlapped`.

    products: for each layer the seconds of one matrix product of a rank's rows: forward has one, backward one for dW
    and, but in the first layer, one for dX. nbytes: of each layer's gradient, which is sent as soon as dW is there.
    """
    now, sums = after, []
    for kind, layer in _tasks(len(products)):
        now = _work(program, ranks, products[layer], now, (kind, layer))
        if kind == "grad":
            sums.append(allreduce(program, ranks, nbytes[layer], now))
    return [program.join(ends) for ends in zip(*sums, now, strict=True)]


def sharded(program, ranks, products, nbytes, stage, after=None):
    """A step of `sharded.Sharded`: in stage 3 each layer is gathered before it is used; nothing overlaps.

    products, nbytes: as for `overlapped`. The update takes no time.
    """
    now, layers = after, range(len(products))
    for kind, layer in _tasks(len(products)):
        if check_stage(stage) == 3 and kind != "delta":
            now = ring_half(program, ranks, nbytes[layer], now)
        now = _work(program, ranks, products[layer], now, (kind, layer))
        if stage >= 2 and kind == "grad":
            now = ring_half(program, ranks, nbytes[layer], now)
    for layer in [*layers, *layers] if stage < 2 else layers if stage == 2 else []:
        now = ring_half(program, ranks, nbytes[layer], now)
    return now


def _tasks(L):
    """(kind, layer) of one rank: forward, then dW and dX of each layer, the last first; the first needs no dX."""
    backward = [(kind, layer) for layer in reversed(range(L)) for kind in ("grad", "delta")]
    return [*(("forward", layer) for layer in range(L)), *backward[:-1]]


def _work(program, ranks, seconds, after, label):
    """The same task on all ranks, each after its own."""
    after = [NOTHING] * len(ranks) if after is None else after
    both = zip(ranks, after, strict=True)
    return [program.compute(rank, seconds, [task], label) for rank, task in both]


def pipeline(program, plan, ranks, seconds, nbytes, after=None):
    """A pipeline's schedule: each rank does its tasks in the plan's order.

    plan: `course_lib.mpi.pipeline.schedule(...)`. ranks: those of the cluster that do the work of the plan's ranks 0,
    1, ... seconds: task -> seconds. nbytes: bytes of a message from a stage to the next, or back: one number, or one
    for each stage that it leaves upwards. Messages are sent while their rank goes on.

    As `course_lib.mpi.pipeline.simulate`, but for messages that want the same rank or link at once: here they queue,
    there they don't. So it takes as long, or longer.
    """
    last = [NOTHING] * plan.p if after is None else list(after)
    sizes = _sizes(nbytes, plan.S)
    there: dict[tuple, int] = {}  # the task that makes a result, or the message that brings it
    for task in plan.in_order():
        comes = task.comes_in(plan.S)
        wait = [last[task.rank]]
        if comes is not None:
            source, dest = ranks[comes[1] % plan.p], ranks[task.rank]
            made, size = there[comes], sizes[min(task.stage, comes[1])]
            wait.append(made if source == dest else program.message(source, dest, size, [made]))
        label = (task.kind, task.micro)
        number = program.compute(ranks[task.rank], seconds(task), wait, label)
        there |= dict.fromkeys(task.makes(), number)
        last[task.rank] = number
    return last


def _sizes(nbytes, S):
    """Bytes of a message for each stage that it leaves upwards: one number stands for all."""
    sizes = list(nbytes) if isinstance(nbytes, tuple | list) else [nbytes] * (S - 1)
    if len(sizes) != S - 1:
        raise BadInput(f"nbytes must be one number, or {S - 1} of them, not {len(sizes)}")
    return sizes
