"""A pipeline's schedule on paper where ranks share cores: `course_lib.mpi.pipeline.simulate` has a core for each rank.

k tasks that are under way on fewer cores take turns so short that each goes on at cores/k of its speed. A rank that
waits for a message needs no core. With a core for each rank this is `simulate`.
"""

import math
from collections import deque

import numpy as np

from course_lib.measure import Timeline


def simulate_shared(plan, costs, cores):
    """The Timeline of a schedule (see `simulate`) of ranks that share so many cores."""
    todo = [deque(plan.of(rank)) for rank in range(plan.p)]
    made: dict[tuple[str, int, int], float] = {}  # result -> when
    under_way: dict[int, tuple[float, float]] = {}  # rank -> (when its task started, seconds left)
    now, line = 0.0, Timeline()
    while any(todo):
        waiting = {
            rank: tasks[0] for rank, tasks in enumerate(todo) if tasks and rank not in under_way
        }
        ready = {rank: _ready(plan, costs, task, made) for rank, task in waiting.items()}
        for rank in [rank for rank, at in ready.items() if at <= now]:
            under_way[rank] = now, costs.of(waiting[rank])
            del ready[rank]
        slower = max(1.0, len(under_way) / cores)
        ends = {rank: now + left * slower for rank, (_, left) in under_way.items()}
        then = min([*ends.values(), *ready.values()])
        for rank, (start, left) in list(under_way.items()):
            under_way[rank] = start, left - (then - now) / slower
            if ends[rank] <= then:
                del under_way[rank]
                task = todo[rank].popleft()
                made |= dict.fromkeys(task.makes(), then)
                line.append(plan.span(task, start, then))
        now = then
    return line


def _ready(plan, costs, task, made):
    """When all that a task needs is there; infinite where some of it is not yet made."""
    at = 0.0
    for need in task.needs(plan.S):
        travel = 0.0
        if need[1] % plan.p != task.rank:
            travel = np.broadcast_to(costs.message, plan.S - 1)[min(task.stage, need[1])]
        at = max(at, made.get(need, math.inf) + travel)
    return at
