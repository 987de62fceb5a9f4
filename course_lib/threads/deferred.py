"""Deferred weight gradients: one thread walks the deltas, each once; whoever is free takes the gradients.

Only deltas wait for each other; gradients can be put off. Zero-bubble pipelines rest on it too (Qi et al. 2023).
"""

from functools import partial
from queue import SimpleQueue

from course_lib.measure import blas_threads
from course_lib.threads.equations import Equations
from course_lib.threads.pool import fork_join
from course_lib.threads.schedule import Task, check_shape


def deferred_backward(params, cache, Y, k, timeline=None, pool=None):
    """serial.backward's gradients, by k threads. Arguments and errors as for `leapfrog_backward`."""
    step, (_, k) = Equations(params, cache, Y, timeline), check_shape(len(params), k)
    ready: SimpleQueue = SimpleQueue()  # of (layer, dZ), and at its end a None for each thread
    with blas_threads(1):
        others = [partial(_gradients, step, ready, t) for t in range(1, k)]
        run = fork_join if pool is None else pool.run
        run([partial(_chain, step, ready, k), *others])
    return step.grads


def _chain(step, ready, k):
    """Thread 0: hands over each delta as soon as it is there, then helps with the gradients that are left."""
    try:
        dZ = None
        for layer in reversed(range(len(step.params))):
            dZ = step.do(Task(0, "delta", layer), dZ)
            ready.put((layer, dZ))
    finally:  # even after a fault: nobody may wait for a delta that does not come
        for _ in range(k):
            ready.put(None)
    _gradients(step, ready, 0)


def _gradients(step, ready, thread):
    while (found := ready.get()) is not None:
        layer, dZ = found
        step.do(Task(thread, "grad", layer), dZ)
