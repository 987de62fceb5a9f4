"""Pipelines of course_lib on a rank: training by a schedule, how long ranks wait, what each task takes."""

import time

import numpy as np

from course_lib.mpi.pipeline import Pipeline, PipelineSchedule, Task, bubble
from course_lib.serial import gradients, sgd_step
from course_tools.bench.mpi.catalogue import MICRO, plan
from course_tools.bench.mpi.desk_ranks import WholeSteps
from course_tools.bench.training.catalogue import ETA

REPEATS = 3  # steps from which a bubble, or the time of a task, is taken


def trainer(desk, name, net, B):
    """Training by the schedule of this name; "alone": by the serial library, on one rank."""
    if name != "alone":
        return PipelineSteps(desk, name, net, B)
    weights = net.init_params(0)

    def step(rows):
        sgd_step(weights, gradients(net, weights, desk.X[rows], desk.Y[rows]), ETA)

    return WholeSteps(B, step, lambda: weights)


class PipelineSteps(WholeSteps):
    """Training by a schedule: each rank its stages. Only the first stage gathers X, only the last one Y."""

    def __init__(self, desk, name, net, B):
        self.desk, self.net, schedule = desk, net, plan(name, desk.size)
        self.pipe = Pipeline(desk.comm, net, schedule)
        self.ends = [stage in self.pipe.stages for stage in (0, schedule.S - 1)]
        self.local = self.pipe.split(net.init_params(0))
        super().__init__(B, self._train, lambda: self.pipe.join(self.local))

    def _train(self, rows):
        shapes = (len(rows), self.net.sizes[0]), (len(rows), self.net.sizes[-1])
        both = zip((self.desk.X, self.desk.Y), self.ends, shapes, strict=True)
        # nobody reads the zero that stands where another rank has the numbers
        X, Y = (a[rows] if mine else np.broadcast_to(a[:1, :1] * 0, n) for a, mine, n in both)
        sgd_step(self.local, self.pipe.gradients(self.local, X, Y)[0], ETA)

    def bubble(self):
        """The share of a step that ranks waited, on all ranks: the median of some."""
        found = []
        for _ in range(REPEATS):
            self.desk.barrier()
            self.step(np.arange(self.B))
            found.append(bubble(self.pipe.timelines()))
        return float(np.median(found))


def layer_by_layer(L):
    """One rank with a stage for each layer: every task of every layer and micro-batch by itself, in serial order."""
    tasks = []
    for i in range(MICRO):
        tasks += [Task(0, "forward", layer, i) for layer in range(L)]
        tasks += [Task(0, kind, l, i) for l in reversed(range(L)) for kind in ("delta", "grad")]
    return PipelineSchedule(tasks, 1, MICRO, L)


def tasks(desk, net, B):
    """{"forward": seconds of a micro-batch in layer 0, "forward 2": in layer 1, ...}, of one rank alone."""
    pipe = Pipeline(desk.comm, net, layer_by_layer(net.n_layers), (1,) * net.n_layers)
    local, found = net.init_params(0), dict[str, list[float]]()
    for again in range(REPEATS + 1):
        pipe.gradients(local, desk.X[:B], desk.Y[:B])
        for span in pipe.timeline if again else ():  # the first step wakes caches
            found.setdefault(span.kind, []).append(span.end - span.start)
    # means: a step takes the sum of its tasks, the slow ones too
    return {kind: float(np.mean(times)) for kind, times in found.items()}


def around(desk, net, B):
    """{"gather", "update"}: median seconds of what a step does besides, all of it on one rank."""
    params, rng = net.init_params(0), np.random.default_rng(3)
    grads, clock = [(0 * W, 0 * b) for W, b in params], time.perf_counter
    times = []
    for _ in range(REPEATS + 1):
        rows = rng.permutation(len(desk.X))[:B]
        start = clock()
        desk.X[rows]
        middle = clock()
        sgd_step(params, grads, ETA)
        times.append((middle - start, clock() - middle))
    gather, update = np.median(times[1:], axis=0)
    return {"gather": float(gather), "update": float(update)}
