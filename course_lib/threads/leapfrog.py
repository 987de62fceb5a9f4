"""Leapfrogging, [002] algorithm 1: every thread walks the whole delta chain and takes every k-th gradient."""

from functools import partial

from course_lib.measure import blas_threads
from course_lib.threads.equations import Equations
from course_lib.threads.pool import fork_join
from course_lib.threads.schedule import leapfrog_schedule


def leapfrog_backward(params, cache, Y, k, timeline=None):
    """serial.backward's gradients, from `leapfrog_schedule(L, k)` carried out literally by k threads.

    params, cache, Y: as for serial.backward, B >= 1 rows; BLAS keeps to one thread. timeline: a Timeline that gets a
    span for each task. Raises BadInput unless 1 <= k <= L; a ThreadFault names the layer and the task that failed.
    """
    step = Equations(params, cache, Y, timeline)
    schedule = leapfrog_schedule(len(params), k)
    parent, children = schedule[: schedule.fork], schedule[schedule.fork :]
    handed: list = []  # the parent's deltas, the last layer's first: thread j starts from handed[j]
    with blas_threads(1):
        _walk(step, parent, None, handed.append)
        own = [[task for task in children if task.thread == j] for j in range(k)]
        fork_join([partial(_walk, step, own[j], handed[j]) for j in range(k)])
    return step.grads


def _walk(step, tasks, dZ, on_delta=lambda dZ: None):
    """Do the tasks in order, from dZ of the layer above. Each thread has its own chain, and keeps only its end."""
    for thread, kind, layer in tasks:
        if kind == "delta":
            dZ = step.delta(thread, layer, dZ)
            on_delta(dZ)
        else:
            step.grad(thread, layer, dZ)
