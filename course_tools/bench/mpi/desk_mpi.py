"""A rank of course_lib.mpi: its allreduces, its schemes, and what a message and a rank that waits cost."""

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle

import mpi4py
import numpy as np
from mpi4py import MPI

from course_lib import mpi
from course_lib.machines.ranks.supervisor import unlink_shared_memory
from course_lib.mpi.data_parallel import weighted_gradients
from course_lib.mpi.flat import unpack
from course_lib.mpi.sharded import Sharded
from course_lib.serial import Network, sgd_step
from course_lib.serial.minibatch import gradients_and_loss
from course_lib.serial.optimiser import SGD
from course_tools.bench.mpi import our_pipeline
from course_tools.bench.mpi.catalogue import PIPELINE_NET
from course_tools.bench.mpi.desk_ranks import RankDesk, StepTrainer
from course_tools.bench.training import rates
from course_tools.bench.training.catalogue import ETA

ALLREDUCE = {
    "mpi": mpi.mpi_allreduce,
    "ring": mpi.ring_allreduce,
    "doubling": mpi.doubling_allreduce,
    "tree": mpi.tree_allreduce,
}


class MpiDesk(RankDesk):
    def __init__(self):
        super().__init__()
        self.comm = MPI.COMM_WORLD
        self.rank, self.size = self.comm.rank, self.comm.size
        self.barrier()  # all have mapped what they share; unlinked, it does not outlive ranks that are killed
        unlink_shared_memory(os.getpid())

    def hello(self):
        library = MPI.Get_library_version().split()  # "MPICH Version: 5.0.2 ..."
        version = next((word for word in library if word[:1].isdigit()), "")
        return {"numpy": np.__version__, "mpi4py": mpi4py.__version__, library[0]: version}

    def barrier(self):
        self.comm.Barrier()

    def slowest(self, seconds):
        return self.comm.allreduce(seconds, op=MPI.MAX)

    def first(self, value):
        return self.comm.bcast(value)

    def allreduce(self, name, array):
        return lambda: ALLREDUCE[name](self.comm, array)

    def rate(self, seconds):
        """GFLOP/s of NumPy's product of two 1024 x 1024 float32 matrices, on one thread a rank, of all ranks."""
        self.barrier()
        return self.comm.allreduce(rates.product_rate(1, seconds))

    def messages(self, sizes, repeats):
        """Median seconds of one message of each size between ranks 0 and 1, half a round trip; the others wait."""
        found = []
        for size in sizes:
            data, times = np.zeros(size, np.uint8), [0.0]
            for _ in range(repeats if self.rank < 2 else 0):
                start = time.perf_counter()
                for sender in (0, 1):
                    if self.rank == sender:
                        self.comm.Send(data, dest=1 - sender)
                    else:
                        self.comm.Recv(data, source=sender)
                times.append((time.perf_counter() - start) / 2)
            self.barrier()
            found.append(self.first(float(np.median(times[2:] or times))))
        return found

    def waiting(self, seconds):
        """(processor seconds a second that each waiting rank uses, GFLOP/s of rank 0 beside them, and alone)."""
        self.barrier()
        before, start = time.process_time(), time.perf_counter()
        if self.rank == 0:
            time.sleep(seconds)
        self.barrier()
        used = (time.process_time() - before) / (time.perf_counter() - start)
        found = []
        for idle in (self.barrier, lambda: time.sleep(seconds)):
            self.barrier()
            if self.rank == 0:
                found.append(rates.product_rate(1, seconds))
            idle()
            self.barrier()
        return [self.comm.allgather(used)[1:], *found]

    def parts(self, sizes, B, shares, seconds):
        """Median seconds of the parts of a data-parallel step, on all ranks at once; of the slowest rank.

        gather: the batch; update; a number: the gradient of so many rows and its packing; allreduce: of that.
        """
        net = Network(tuple(sizes))
        params, order = net.init_params(0), np.random.default_rng(3).permutation(len(self.X))
        X, Y = self.X[order[:B]], self.Y[order[:B]]
        flat = weighted_gradients(net, params, X, Y, B)
        starts = range(0, len(order) - B + 1, B)
        others = cycle(order[i : i + B] for i in starts)  # not those that a cache still has

        def gather():
            rows = next(others)
            return self.X[rows], self.Y[rows]

        def update():
            sgd_step(params, unpack(flat[:-1], params), 0.0)

        calls: dict[str, Callable] = {"gather": gather, "update": update}
        calls |= {str(n): partial(weighted_gradients, net, params, X[:n], Y[:n], B) for n in shares}
        found = {name: self._median(call, seconds) for name, call in calls.items()}
        summed = self.allreduce("mpi", flat)
        return found | {"allreduce": float(np.median([self.timed(summed, 1) for _ in range(5)]))}

    def _median(self, call, seconds):
        call()
        self.barrier()
        times, end = [0.0], time.perf_counter() + seconds
        while len(times) == 1 or time.perf_counter() < end:
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return self.slowest(float(np.median(times[1:])))

    def tasks(self, sizes, B):
        """Seconds of each layer's tasks for a micro-batch, of the batch's gathering and of the update."""
        net = Network(tuple(sizes), *PIPELINE_NET)
        return our_pipeline.tasks(self, net, B) | our_pipeline.around(self, net, B)

    def bubble(self, key):
        """The share of a step that ranks waited: the median of three."""
        return self.trainers[key].bubble()

    def make(self, key, net, B, threads):
        if key.startswith("pipeline-"):
            return our_pipeline.trainer(self, key.removeprefix("pipeline-"), net, B)
        weights = net.init_params(0)
        if key in ("model", "grid"):
            return StepTrainer(B, *self._split(key, net, weights))
        if key.startswith("sharded-"):  # ZeRO's stage: each rank its rows, and its parts
            made = Sharded(self.comm, net, weights, SGD(ETA), int(key[-1]))
            return StepTrainer(B, lambda rows: made.step(self.X[rows], self.Y[rows]), made.params)
        way = None if key == "master" else self._way(key)

        def step(rows):
            X, Y = (self.X[rows], self.Y[rows]) if way or self.rank == 0 else (None, None)
            if way:
                sgd_step(weights, way(net, weights, X, Y)[0], ETA)
            else:
                mpi.master_worker_step(self.comm, net, weights, X, Y, ETA)

        return StepTrainer(B, step, lambda: weights)

    def _way(self, key):
        """(net, params, X, Y) -> (grads, loss)."""
        if key == "serial":
            return gradients_and_loss
        if key == "overlapped":
            return mpi.Overlapped(self.comm)
        return mpi.DataParallel(self.comm, ALLREDUCE[key.removeprefix("data-")])

    def _split(self, key, net, weights):
        """Model parallelism, alone or in a grid of 2 groups: each rank trains its part."""
        grid = mpi.Grid(self.comm, net, 2, self.size // 2) if key == "grid" else None
        model = grid.model if grid else mpi.ModelParallel(self.comm, net)
        local = model.split(weights)

        def step(rows):
            X, Y = self.X[rows], self.Y[rows]
            if grid:
                grads = grid.gradients(local, X, Y)
            else:
                grads = model.backward(local, model.forward(local, X), Y)
            sgd_step(local, grads, ETA)

        return step, lambda: model.join(local)
