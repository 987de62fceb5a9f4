"""Leapfrogging, Saraiya 2018, algorithm 1: every thread walks the deltas for itself and takes every k-th gradient."""

from functools import partial

from course_lib.measure import blas_threads
from course_lib.threads.equations import Equations
from course_lib.threads.pool import fork_join
from course_lib.threads.schedule import leapfrog_schedule


def leapfrog_backward(params, cache, Y, k, timeline=None, pool=None):
    """serial.backward's gradients, by carrying out `leapfrog_schedule(L, k)` literally with k threads.

    params, cache, Y: as for serial.backward. BLAS keeps to one thread. timeline: a Timeline that gets the spans.
    pool: a Pool of k threads or more; None forks k anew and joins them, as algorithm 1 does.
    Raises BadInput unless 1 <= k <= L; a ThreadFault names the layer and the task that failed.
    """
    step, schedule = Equations(params, cache, Y, timeline), leapfrog_schedule(len(params), k)
    with blas_threads(1):
        dZ, handed = None, {}
        for task in schedule[: schedule.fork]:
            dZ = handed[task.layer] = step.do(task, dZ)
        rest = [[task for task in schedule[schedule.fork :] if task.thread == j] for j in range(k)]
        run = fork_join if pool is None else pool.run
        run([partial(_thread, step, rest[j], handed[len(params) - 1 - j]) for j in range(k)])
    return step.grads


def _thread(step, tasks, dZ):
    for task in tasks:
        dZ = step.do(task, dZ)
