"""Deferred weight gradients: one thread walks the delta chain, each delta once; the others take the gradients.

Only the deltas depend on each other. A gradient can wait, and is done by whoever is free: zero-bubble pipeline
schedules (Qi et al. 2023) rest on this split of the backward pass too.
"""

from functools import partial
from queue import SimpleQueue

from course_lib.measure import blas_threads
from course_lib.threads.equations import Equations
from course_lib.threads.pool import fork_join
from course_lib.threads.schedule import check_shape


def deferred_backward(params, cache, Y, k, timeline=None):
    """serial.backward's gradients, from k threads. Arguments and errors as for `leapfrog_backward`."""
    step = Equations(params, cache, Y, timeline)
    _, k = check_shape(len(params), k)
    ready: SimpleQueue = SimpleQueue()  # of (layer, dZ), and at its end one None for each thread
    with blas_threads(1):
        fork_join([partial(_chain, step, ready, k), *(partial(_gradients, step, ready, t) for t in range(1, k))])
    return step.grads


def _chain(step, ready, k):
    """Thread 0: hand over each delta as soon as it is there, then help with the gradients that are left."""
    try:
        dZ = None
        for layer in reversed(range(len(step.params))):
            dZ = step.delta(0, layer, dZ)
            ready.put((layer, dZ))
    finally:  # whatever happened here, nobody may wait for a delta that will not come
        for _ in range(k):
            ready.put(None)
    _gradients(step, ready, 0)


def _gradients(step, ready, thread):
    """Take layers from the queue until it says that there are no more."""
    while (found := ready.get()) is not None:
        layer, dZ = found
        step.grad(thread, layer, dZ)
