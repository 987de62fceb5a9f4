"""What a schedule costs on paper: list scheduling of its tasks, and the closed formulas beside it."""

from collections import deque
from heapq import heapreplace
from itertools import pairwise

from course_lib.errors import BadInput, check_count
from course_lib.measure import Span, Timeline
from course_lib.threads.schedule import check_shape, per_layer


def simulate(schedule, f2, f3, f1=0, cores=None):
    """The Timeline of a schedule whose tasks cost f1 (forward), f2 (delta), f3 (grad), one number or one a layer.

    A thread does its tasks in order. A task starts from its own thread's delta if that has computed it before, else
    from thread 0's; and not before the fork. Forward comes first, on thread 0, where f1 > 0. With fewer cores than
    threads, the task that has been ready for longest goes first (on a tie the lower thread's), and to its end.
    Raises BadInput for costs that are negative, infinite or too few, cores < 1, and a schedule that waits for ever.
    """
    f1, f2, f3 = _costs(f1, f2, f3, schedule.L)
    ends_of = [sum(f1[:l]) for l in range(schedule.L + 1)]  # of the forward pass, layer by layer
    forward = enumerate(pairwise(ends_of))
    line = Timeline(Span(0, "forward", l, *ends) for l, ends in forward if f1[l])
    # when each is free: a heap
    core = [sum(f1)] * check_count("cores", schedule.k if cores is None else cores)
    free, needs = [sum(f1)] * schedule.k, _needs(schedule)
    ends: dict[int, float] = {}
    todo: list[deque] = [deque() for _ in range(schedule.k)]
    for n, task in enumerate(schedule):
        todo[task.thread].append(n)
    while any(todo):
        heads = [queue[0] for queue in todo if queue and needs[queue[0]] <= ends.keys()]
        if not heads:
            waiting = [schedule[queue[0]] for queue in todo if queue]
            raise BadInput(f"the schedule waits for ever: {waiting}")
        ready = {n: max([free[schedule[n].thread], *(ends[m] for m in needs[n])]) for n in heads}
        n = min(heads, key=lambda n: (max(ready[n], core[0]), ready[n], schedule[n].thread))
        (thread, kind, layer), start = schedule[n], max(ready[n], core[0])
        ends[n] = free[thread] = start + (f2 if kind == "delta" else f3)[layer]
        heapreplace(core, free[thread])
        line.append(Span(thread, kind, layer, start, free[thread]))
        todo[thread].popleft()
    return line


def _needs(schedule):
    """For each task the set of the tasks of others that it waits for: who makes its delta, and the end of the fork."""
    # (thread, layer) -> the number of the task that first makes this delta
    makes: dict[tuple[int, int], int] = {}
    for n, task in enumerate(schedule):
        if task.kind == "delta":
            makes.setdefault((task.thread, task.layer), n)
    needs = []
    for n, (thread, kind, layer) in enumerate(schedule):
        source = layer + 1 if kind == "delta" else layer
        own = source == schedule.L or makes.get((thread, source), n) < n
        fork = {schedule.fork - 1} if schedule.fork and thread else set()
        # a task that waits for itself: for ever
        needs.append(fork if own else fork | {makes.get((0, source), n)})
    return needs


def predicted_costs(L, k, f1, f2, f3):
    """What closed formulas say of one step: {"serial", "leapfrog", "deferred", "data parallel": cost}.

    f1, f2, f3: one number or one a layer; F1, F2, F3 are their sums over the layers.

        serial         F1 + F2 + F3
        leapfrog       F1 + F2 + F3 / k              Saraiya 2018, eq. 9, but see `leapfrog_cost`
        deferred       F1 + max(F2, (F2 + F3) / k)   no fewer; for equal layers at most 2 (1 - 1/k) f3 more
        data parallel  (F1 + F2 + F3) / k            without its reduction

    Deferred needs f3 more where f3 <= (k - 1) f2: layer 0 has its gradient after the last delta.
    """
    L, k = check_shape(L, k)
    F1, F2, F3 = map(sum, _costs(f1, f2, f3, L))
    serial, leapfrog, deferred = F1 + F2 + F3, F1 + F2 + F3 / k, F1 + max(F2, (F2 + F3) / k)
    costs = {"serial": serial, "leapfrog": leapfrog, "deferred": deferred}
    return costs | {"data parallel": serial / k}


def _costs(f1, f2, f3, L):
    """f1, f2 and f3, a list of L numbers each."""
    return per_layer("f1", f1, L), per_layer("f2", f2, L), per_layer("f3", f3, L)


def leapfrog_cost(L, k, f1, f2, f3):
    """What repaired leapfrogging costs, exactly, for L layers of equal cost and a core for each of the k threads.

        L f1 + k ceil(L / k) f2 + (k + ceil(L / k) - 1) f3

    The parent does k deltas and k gradients alone; thread 0 then has ceil(L / k) - 1 rounds of k deltas and one
    gradient. Where k divides L that is (k - 1) f3 more than eq. 9 of Saraiya 2018, L (f1 + f2 + f3 / k). More threads
    do not always help: the gradients never cost less than (2 sqrt(L) - 1) f3, near k = sqrt(L), and at k = L all L f3
    again.
    """
    L, k = check_shape(L, k)
    rounds = -(-L // k)
    return L * f1 + k * rounds * f2 + (k + rounds - 1) * f3
