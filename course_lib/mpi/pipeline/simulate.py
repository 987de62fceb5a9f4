"""What a schedule costs on paper: when each task runs, and how long ranks wait. A core for each rank.

Messages take their time and never wait for each other: `course_lib.mpi.simulate` has links that can be busy.

A step ends for a rank with its own last task, and then its next step may begin. So a step costs the longest time from
a rank's first start to its own last end. Qi et al. (2023, section 5.3) count so too; section 4 says what that asks of
the optimiser: that it does not wait for all ranks.
"""

from typing import Any, NamedTuple

import numpy as np

from course_lib.errors import BadInput, check_number
from course_lib.measure import Timeline
from course_lib.mpi.pipeline.orders import schedule as schedule_of
from course_lib.mpi.pipeline.stages import check_lengths, layer_flops


class Costs(NamedTuple):
    """Seconds of a stage's forward, delta and grad for a micro-batch: one number, or one a stage; and of a message
    between ranks: one number, or one for each stage that it leaves upwards (s to s + 1, or back)."""

    forward: Any = 1.0
    delta: Any = 1.0
    grad: Any = 1.0
    message: Any = 0.0

    def of(self, task, recompute=False):
        """Seconds of a task; with recompute, a delta begins with its stage's forward."""
        parts = [what for what, _, _ in task.makes()]
        again = ["forward"] if recompute and "delta" in parts else []
        return sum(_at(getattr(self, part), task.stage) for part in [*again, *parts])

    def check(self, S):
        """The same; BadInput unless every cost is a finite number >= 0, or one for each stage."""
        for name, cost in zip(self._fields, self, strict=True):
            wanted = S - 1 if name == "message" else S
            if np.ndim(cost) and len(cost) != wanted:
                raise BadInput(f"{name} must be one number, or {wanted} of them, not {len(cost)}")
            for each in np.ravel(cost):
                check_number(f"a cost of {name}", each, False)
        return self


def _at(cost, stage):
    return cost if np.ndim(cost) == 0 else cost[stage]


UNIT = Costs()  # a unit of time for a forward, a delta and a gradient each, none for a message


def net_costs(net, lengths, rows, rate, alpha=0.0, beta=0.0, itemsize=4):
    """Costs of a net's stages for a micro-batch of so many rows: `rate` flops a second; alpha + beta n a message.

    lengths: layers in each stage. A message holds A, or dA, of the layer between two stages: n = rows n_out itemsize.
    """
    layers, flops = check_lengths(lengths, len(lengths), net.n_layers), layer_flops(net)
    parts = [[rows * sum(flops[l][k] for l in some) / rate for some in layers] for k in range(3)]
    widths = [net.sizes[some.stop] for some in layers[:-1]]
    message = [alpha + beta * rows * width * itemsize for width in widths]
    return Costs(parts[0], parts[1], parts[2], message)


def simulate(schedule, costs=UNIT, recompute=False):
    """The Timeline of a schedule: Span(rank, kind, micro-batch, start, end), in seconds or the units of the costs.

    A task starts when its rank is free and what it needs is there: a message of another rank arrives `message` later.
    Raises BadInput where ranks wait for ever.
    """
    S, costs = schedule.S, costs.check(schedule.S)
    free, line = [0.0] * schedule.p, Timeline()
    ends: dict[tuple[str, int, int], float] = {}
    alike = {(task.kind, task.stage): task for task in schedule}  # they take equally long
    seconds = {key: costs.of(task, recompute) for key, task in alike.items()}
    for task in schedule.in_order():
        start = free[task.rank]
        for need in task.needs(S):
            other = need[1] % schedule.p != task.rank
            travel = _at(costs.message, min(task.stage, need[1])) if other else 0.0
            start = max(start, ends[need] + travel)
        free[task.rank] = end = start + seconds[task.kind, task.stage]
        ends |= dict.fromkeys(task.makes(), end)
        line.append(schedule.span(task, start, end))
    return line


def step_seconds(line):
    """The longest time from a rank's first start to its own last end, of a Timeline, simulated or measured."""
    ranks = {span.thread for span in line}
    return max(Timeline(span for span in line if span.thread == rank).makespan for rank in ranks)


def bubble(line):
    """The share of a step in which ranks wait, of a Timeline: 1 - busy / (p step_seconds)."""
    ranks = {span.thread for span in line}
    return 1 - sum(map(line.busy, ranks)) / (len(ranks) * step_seconds(line))


def predicted_bubble(name, p, m, v=1, forward=1.0, delta=1.0, grad=1.0):
    """The bubble in closed form: equal stages, f, d, g for a micro-batch; messages that take no time.

    How long rank 0 takes: (p - 1) f until the first micro-batch is at the last stage; m v (f + d + g) there, without a
    pause; then the way back, (p - 1)(d + g), or (p - 1) d where only deltas are waited for. The grads that the last
    rank does after its last delta, p in zb-h1 and 2 p - 1 in zb-h2, are not on this way; one of rank 0 is.

        gpipe, 1f1b, interleaved   waits (p - 1)(f + d + g): a share of (p - 1)/(m v + p - 1)
        zb-h1                      waits (p - 1)(f + d - g), for m >= p
        zb-h2                      waits (p - 1)(f + d - 2 g), for m >= 2 p - 1: none where f = d = g

    GPipe: Huang et al. 2019, section 2.3; interleaved: Narayanan et al. 2021, Megatron-LM, section 2.2.2; zb: Qi et al.
    2023, section 2.3. Where messages take time 1f1b waits longer than gpipe: simulate it.
    Raises BadInput where a formula does not hold: m too small, or zb with g > f or g > d.
    """
    schedule_of(name, p, m, v)
    least = {"zb-h1": p, "zb-h2": 2 * p - 1}.get(name, 1)
    if m < least:
        raise BadInput(f"the formula of {name} needs m >= {least} for p = {p}: simulate m = {m}")
    if least > 1 and grad > min(forward, delta):
        raise BadInput("the formula needs grad <= forward and delta: simulate it")
    share = {"zb-h1": -1, "zb-h2": -2}.get(name, 1)
    wait = (p - 1) * max(forward + delta + share * grad, 0)
    return wait / (m * v * (forward + delta + grad) + wait)
