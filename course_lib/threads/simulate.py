"""What a schedule costs on paper: list scheduling of its tasks, and the closed formulas beside it."""

from collections import deque
from heapq import heapreplace

from course_lib.errors import BadInput, check_count
from course_lib.threads.schedule import check_shape, per_layer
from course_lib.threads.timeline import Span, Timeline


def simulate(schedule, f2, f3, f1=0, cores=None):
    """The Timeline of a schedule whose tasks cost f1 (forward), f2 (delta), f3 (grad), one number or one a layer.

    A thread does its tasks in order. A task starts from its own thread's delta if that has computed it before, else
    from thread 0's; and not before the fork. Forward comes first, on thread 0, where f1 > 0. With fewer cores than
    threads, the task that has been ready for longest goes first (on a tie that of the lower thread), to its end.
    Raises BadInput for costs that are negative, infinite or too few, cores < 1, and a schedule that waits for ever.
    """
    f1, f2, f3 = (per_layer(name, f, schedule.L) for name, f in (("f1", f1), ("f2", f2), ("f3", f3)))
    line = Timeline(Span(0, "forward", l, sum(f1[:l]), sum(f1[: l + 1])) for l in range(schedule.L) if f1[l])
    core = [sum(f1)] * check_count("cores", schedule.k if cores is None else cores)  # when each is free: a heap
    free, ends, needs = [sum(f1)] * schedule.k, {}, _needs(schedule)
    todo = {t: deque(n for n, task in enumerate(schedule) if task.thread == t) for t in range(schedule.k)}
    while any(todo.values()):
        heads = [(t, queue[0]) for t, queue in todo.items() if queue and all(m in ends for m in needs[queue[0]])]
        if not heads:
            raise BadInput(f"the schedule waits for ever for a delta: {[schedule[q[0]] for q in todo.values() if q]}")
        ready = {(t, n): max([free[t], *(ends[m] for m in needs[n])]) for t, n in heads}
        t, n = min(ready, key=lambda head: (max(ready[head], core[0]), ready[head], head))
        start, task = max(ready[t, n], core[0]), schedule[todo[t].popleft()]
        ends[n] = free[t] = start + (f2 if task.kind == "delta" else f3)[task.layer]
        heapreplace(core, free[t])
        line.append(Span(*task, start, free[t]))
    return line


def _needs(schedule):
    """For each task the numbers of the tasks of other threads that it waits for: who has its delta, and the fork."""
    first: dict[tuple[int, int], int] = {}  # (thread, layer) -> the task that first computes this delta there
    for n, task in enumerate(schedule):
        if task.kind == "delta":
            first.setdefault((task.thread, task.layer), n)
    needs = []
    for n, (thread, kind, layer) in enumerate(schedule):
        source = layer + 1 if kind == "delta" else layer
        own = first.get((thread, source), n) < n
        deltas = [] if own or source == schedule.L else [first.get((0, source), n)]
        needs.append(deltas + ([schedule.fork - 1] if schedule.fork and thread else []))
    return needs


def predicted_costs(L, k, f1, f2, f3):
    """What closed formulas say of one step: {"serial", "leapfrog", "deferred", "data parallel": cost}.

    F1, F2, F3 are the costs of all layers together, from f1, f2, f3: one number for all layers, or one for each.

        serial         F1 + F2 + F3
        leapfrog       F1 + F2 + F3 / k              [002] eq. 9
        deferred       F1 + max(F2, (F2 + F3) / k)
        data parallel  (F1 + F2 + F3) / k            without its reduction

    What `simulate` finds for equal layers and a core for each thread is more. Leapfrogging: see `leapfrog_cost`.
    Deferred: at most 2 (1 - 1/k) f3 more; f3 exactly where the other threads keep up, f3 <= (k - 1) f2: the
    gradient of layer 0 cannot start before the last delta. Raises BadInput unless 1 <= k <= L.
    """
    L, k = check_shape(L, k)
    F1, F2, F3 = (sum(per_layer(name, f, L)) for name, f in (("f1", f1), ("f2", f2), ("f3", f3)))
    return {
        "serial": F1 + F2 + F3,
        "leapfrog": F1 + F2 + F3 / k,
        "deferred": F1 + max(F2, (F2 + F3) / k),
        "data parallel": (F1 + F2 + F3) / k,
    }


def leapfrog_cost(L, k, f1, f2, f3):
    """What repaired leapfrogging costs, exactly, for L layers of equal cost and a core for each of the k threads.

        L f1 + k ceil(L / k) f2 + (k + ceil(L / k) - 1) f3

    The parent does k deltas and k gradients alone; thread 0 then has ceil(L / k) - 1 rounds of k deltas and one
    gradient. Where k divides L that is (k - 1) f3 more than [002]'s L (f1 + f2 + f3 / k), eq. 9. More threads do not
    always help: the gradients never cost less than (2 sqrt(L) - 1) f3, near k = sqrt(L), and at k = L all L f3 again.
    """
    L, k = check_shape(L, k)
    rounds = -(-L // k)
    return L * f1 + k * rounds * f2 + (k + rounds - 1) * f3
